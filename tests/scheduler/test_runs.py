"""What becomes of a run: REJ-*, EFF and decisions 4, 7, 8; PROTOCOL H8 and H9; pitfalls B-21, B-23, B-45."""
from __future__ import annotations

import pytest
from harness.ledger_core import STALE, LedgerCore, Tx, deep, place, reading
from weft.scheduler.errors import Aborted, RetryLater
from weft.scheduler.records import Status
from weft.scheduler.rejection import Rejection

DOWN = Rejection("StorageUnavailable", "nobody answers", {})
FORBIDDEN = Rejection("PreconditionFailedError", "it is there already", {})
WRONG = Rejection("NotStorable", "a set cannot be stored", {})


def after_first_commit() -> LedgerCore:
    ledger = LedgerCore(s=1)
    ledger.effect("n", reading("s", into="o"))
    ledger.drain()
    ledger.accept()
    ledger.commit(s=2)
    ledger.accept()
    ledger.turn()
    return ledger


def test_REJ_001_a_transient_rejection_restores_the_causes_and_queues_the_node_once() -> None:
    ledger = after_first_commit()
    node, marked = ledger.node("n"), ledger.n
    ledger.reject(ledger.pending[-1].id, DOWN)
    assert (set(node.causes), node.status, node.attempts) == ({place("s")}, Status.INVALID, 1)
    assert node.causes[place("s")] < marked
    ledger.turn()
    assert (ledger.runs("n"), ledger.value("o"), ledger.reports) == (3, 2, [])
    ledger.drain()
    assert ledger.runs("n") == 3


def test_REJ_002_a_conflict_restores_causes_and_adds_what_the_repair_brings() -> None:
    ledger = after_first_commit()
    node = ledger.node("n")
    ledger.reject(ledger.pending[-1].id, STALE)
    ledger.integrate(s=5)
    assert (set(node.causes), node.reads.reads(), node.status) == ({place("s")}, (deep("s"),), Status.INVALID)
    assert node.causes[place("s")] == ledger.n
    ledger.drain()
    assert (ledger.value("o"), ledger.runs("n")) == (5, 3)


def test_REJ_004_the_node_is_queued_again_though_nothing_was_repaired() -> None:
    ledger = after_first_commit()
    ledger.reject(ledger.pending[-1].id, STALE)
    ledger.drain()
    assert (ledger.runs("n"), ledger.value("o")) == (3, 2)


def test_REJ_007_an_accepted_commit_restores_nothing() -> None:
    ledger = after_first_commit()
    ledger.accept()
    node = ledger.node("n")
    assert (node.causes, node.status, node.attempts, ledger.core.idle.runnable(0.0)) == ({}, Status.CLEAN, 0, False)


def test_REJ_008_after_ten_attempts_nothing_is_restored_and_a_change_runs_it_again() -> None:
    ledger = LedgerCore(s=1)
    ledger.refuse = lambda tx: DOWN
    node = ledger.effect("n", reading("s", into="o"))
    ledger.drain()
    assert (ledger.runs("n"), node.status, node.causes, len(ledger.reports)) == (10, Status.CLEAN, {}, 1)
    assert "10 attempts were made" in ledger.reports[0].message
    ledger.refuse = lambda tx: None
    ledger.commit(s=2)
    ledger.drain()
    ledger.accept()
    assert (ledger.runs("n"), node.attempts, node.failed, ledger.value("o")) == (11, 0, None, 2)


def test_stale_bases_use_up_no_budget_and_are_told_of_every_hundred() -> None:
    ledger = LedgerCore(s=1)
    ledger.refuse = lambda tx: STALE if tx.run.id.run <= 250 else None
    ledger.effect("n", reading("s", into="o"))
    ledger.drain()
    assert (ledger.runs("n"), len(ledger.reports), ledger.value("o")) == (251, 2, 1)
    assert ledger.reports[1].message.startswith("200 commits in a row were refused")


@pytest.mark.parametrize("why", [FORBIDDEN, WRONG], ids=["permanent", "terminal"])
def test_what_cannot_succeed_is_not_tried_again(why: Rejection) -> None:
    ledger = after_first_commit()
    node = ledger.node("n")
    ledger.reject(ledger.pending[-1].id, why)
    assert (node.causes, node.status, node.attempts) == ({}, Status.CLEAN, 0)
    assert node.failed is not None
    assert [report.code for report in ledger.reports] == [why.name]
    ledger.drain()
    assert ledger.runs("n") == 2


def test_every_retry_waits_for_another_pass() -> None:
    ledger = LedgerCore(s=1)
    ledger.refuse = lambda tx: STALE if tx.run.id.run < 4 else None
    ledger.effect("n", reading("s", into="o"))
    ledger.drain()
    assert [end.runs for end in ledger.ends] == [1, 1, 1, 1]


def test_H8_a_run_that_is_no_longer_the_last_is_not_repeated() -> None:
    ledger = LedgerCore(s=1)
    node = ledger.effect("n", lambda tx: tx.set("o", 7 if tx.run.id.run == 1 else 8))
    ledger.drain()
    first = ledger.pending[-1]
    ledger.effect("n", node.spec)
    ledger.drain()
    ledger.core.runs.refused(first.run, STALE) if first.run else None
    assert (node.status, ledger.core.idle.runnable(0.0)) == (Status.CLEAN, False)


def test_H9_a_run_that_wrote_nothing_because_a_fallen_commit_had_runs_again() -> None:
    ledger = LedgerCore(s=1)
    ledger.accept()
    ledger.effect("n", lambda tx: tx.set("o", tx.get("s") % 2))
    ledger.drain()
    first = ledger.pending[-1].id
    ledger.integrate(s=3)
    ledger.drain()
    assert (ledger.runs("n"), len(ledger.pending)) == (2, 1)
    ledger.reject(first)
    assert ledger.value("o") is None
    assert set(ledger.node("n").causes) == {place("s")}
    ledger.drain()
    assert (ledger.runs("n"), ledger.value("o")) == (3, 1)


def test_a_throwing_node_keeps_its_reads_drops_its_writes_is_reported_once_and_runs_when_they_change() -> None:
    ledger = LedgerCore(s=0)

    def body(tx: Tx) -> None:
        tx.set("o", 1)
        tx.set("o", 1 // tx.get("s"))

    node = ledger.effect("n", body)
    ledger.idle()
    assert (ledger.value("o"), node.status, node.reads.reads(), len(ledger.reports)) == (None, Status.CLEAN, (deep("s"),), 1)
    assert node.failed is not None
    ledger.commit(s=1)
    ledger.idle()
    assert (ledger.value("o"), ledger.node("n").failed, len(ledger.reports)) == (1, None, 1)


def test_an_aborted_run_keeps_its_reads_too() -> None:
    ledger = LedgerCore(s=0)

    def body(tx: Tx) -> None:
        tx.set("o", 1)
        if not tx.get("s"):
            raise Aborted("not yet")

    ledger.effect("n", body)
    ledger.idle()
    ledger.commit(s=1)
    ledger.idle()
    assert (ledger.runs("n"), ledger.value("o")) == (2, 1)


def test_RetryLater_runs_again_in_another_pass_with_the_same_causes() -> None:
    ledger, causes = LedgerCore(s=1), list[tuple[object, ...]]()

    def body(tx: Tx) -> None:
        causes.append(tx.causes)
        tx.get("s")
        if len(causes) == 2:
            raise RetryLater("soon")

    ledger.effect("n", body)
    ledger.idle()
    ledger.commit(s=2)
    ledger.idle()
    assert causes == [(), (place("s"),), (place("s"),)]
    assert [end.runs for end in ledger.ends] == [1, 1, 1]


def test_decision_8_a_node_removed_during_its_own_run_installs_nothing() -> None:
    ledger = LedgerCore(s=1)

    def body(tx: Tx) -> None:
        tx.get("s")
        ledger.remove("n")

    ledger.effect("n", body)
    ledger.idle()
    ledger.core.check()
    assert ("n" in ledger.core.registry, len(ledger.core.graph.readers)) == (False, 0)
    ledger.commit(s=2)
    ledger.idle()
    assert ledger.log == ["n"]


def test_decision_8_what_a_run_of_an_older_registration_brings_is_not_installed() -> None:
    ledger = LedgerCore(s=1, t=1)

    def old(tx: Tx) -> None:
        tx.get("s")
        ledger.effect("n", reading("t"))

    ledger.effect("n", old)
    ledger.idle()
    node = ledger.node("n")
    assert (ledger.runs("n"), node.reads.reads(), node.run) == (2, (deep("t"),), 2)


def test_a_refused_first_run_of_a_child_does_not_end_its_provisional_demand() -> None:
    ledger = LedgerCore(s=3)
    ledger.refuse = lambda tx: STALE if tx.run.id == ("k", tx.run.id.generation, 1, 0) else None
    ledger.effect("p", lambda tx: ledger.computation("k", reading("s", into="o"), "o"))
    ledger.idle()
    assert (ledger.runs("k"), ledger.value("o"), ledger.node("k").live) == (2, 3, False)
