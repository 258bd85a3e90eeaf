"""From log entries to invalid nodes: PULL-017, PULL-021, CFC-002, TXID-003, CUT-009; PROTOCOL H1 and H4; pitfalls B-19 to B-23."""
from __future__ import annotations

from harness.ledger_core import LedgerCore, Tx, deep, doc, place, reading, shallow
from weft.scheduler.log import CommitEntry, Outcome, ResultEntry, RunResult
from weft.scheduler.model import Change, CommitId, Version
from weft.scheduler.records import Status


def statuses(ledger: LedgerCore, *ids: str) -> list[str]:
    return [ledger.node(id).status.value for id in ids]


def chain() -> LedgerCore:
    ledger = LedgerCore(s=1)
    ledger.computation("a", lambda tx: tx.set("m", tx.get("s") + 1), "m")
    ledger.computation("b", lambda tx: tx.set("o", tx.get("m") + 1), "o")
    ledger.effect("e", reading("o", into="k"))
    ledger.idle()
    return ledger


def test_PULL_017_invalidity_is_local_to_the_value_and_never_transitive() -> None:
    ledger = chain()
    ledger.commit(s=2)
    assert statuses(ledger, "a", "b", "e") == ["invalid", "clean", "clean"]
    ledger.idle()
    assert (ledger.value("k"), ledger.log[-3:]) == (4, ["a", "b", "e"])


def test_PULL_021_after_a_switch_the_new_read_set_decides_at_commit_time() -> None:
    ledger = LedgerCore(sel=0, a=1, b=10)
    ledger.computation("c", lambda tx: tx.set("o", tx.get("b") if tx.get("sel") else tx.get("a")), "o")
    ledger.effect("e", reading("o"))
    ledger.idle()
    ledger.commit(sel=1)
    ledger.idle()
    ledger.commit(a=2)
    assert statuses(ledger, "c") == ["clean"]
    ledger.commit(b=11)
    assert statuses(ledger, "c") == ["invalid"]


def test_CFC_002_a_change_from_its_own_run_is_no_cause() -> None:
    ledger = LedgerCore(n=0, by=1)
    ledger.effect("inc", lambda tx: tx.set("n", tx.get("n") + tx.get("by")))
    ledger.idle()
    node = ledger.node("inc")
    assert (ledger.value("n"), node.status, node.causes, ledger.log) == (1, Status.CLEAN, {}, ["inc"])
    ledger.commit(n=10)
    assert node.causes == {place("n"): ledger.n}
    ledger.idle()
    assert (ledger.value("n"), ledger.runs("inc")) == (11, 2)


def test_the_commit_of_an_older_registration_is_not_its_own() -> None:
    """Suppression goes by run identity: here the record was restored, clean, while a run of the older registration was out."""
    ledger = LedgerCore(n=0)
    node = ledger.effect("inc", lambda tx: tx.set("n", tx.get("n") + 1))
    ledger.core.begin(0.0)
    run = ledger.core.next(0.0)
    assert run is not None
    ledger.effect("inc", reading("n"), restored=(deep("n"),))
    assert node.status is Status.CLEAN
    change = Change(doc("n"), ("value",), 0, 1)
    ledger.core.apply(CommitEntry(Version(1, 99), CommitId("s", 9), (change,), "inc", None, RunResult(run.id, Outcome.COMMITTED, (deep("n"), deep("x")))), 0.0)
    assert (node.status, node.causes, node.reads.reads()) == (Status.INVALID, {place("n"): 99}, (deep("n"),))


def test_a_revert_spares_nobody() -> None:
    ledger = LedgerCore(n=0)
    ledger.effect("inc", lambda tx: tx.set("n", tx.get("n") + 1))
    ledger.drain()
    ledger.reject(ledger.pending[-1].id)
    assert (ledger.value("n"), ledger.node("inc").status) == (0, Status.INVALID)
    assert place("n") in ledger.node("inc").causes


def test_TXID_003_nodes_of_the_commits_change_group_are_spared_and_others_are_not() -> None:
    ledger, seen = LedgerCore(v=0), list[int]()
    ledger.effect("sink", lambda tx: seen.append(tx.get("v")), group="g")
    ledger.idle()
    ledger.commit_in("g", v=1)
    ledger.idle()
    assert seen == [0]
    ledger.commit_in("h", v=2)
    ledger.idle()
    assert seen == [0, 2]


def test_H1_a_cause_on_what_the_run_no_longer_reads_goes_with_the_run() -> None:
    ledger = LedgerCore(sel=1, z=1)
    ledger.effect("n", lambda tx: tx.get("z") if tx.get("sel") else None)
    ledger.idle()
    ledger.commit(sel=0)
    ledger.commit(z=2)
    assert set(ledger.node("n").causes) == {place("sel"), place("z")}
    ledger.idle()
    assert (ledger.runs("n"), ledger.node("n").status, ledger.node("n").causes) == (2, Status.CLEAN, {})


def test_H1_a_change_during_the_run_of_what_the_run_does_not_read_is_no_cause_afterwards() -> None:
    ledger = LedgerCore(sel=1, z=1)

    def body(tx: Tx) -> None:
        if tx.get("sel"):
            tx.get("z")
        else:
            ledger.integrate(z=5)

    ledger.effect("n", body)
    ledger.idle()
    ledger.commit(sel=0)
    ledger.idle()
    assert (ledger.runs("n"), ledger.node("n").status) == (2, Status.CLEAN)


def test_what_changes_during_a_run_after_it_was_read_makes_it_invalid_again() -> None:
    ledger, seen = LedgerCore(z=1), list[int]()

    def body(tx: Tx) -> None:
        seen.append(tx.get("z"))
        if len(seen) == 2:
            ledger.integrate(z=3)

    ledger.effect("n", body)
    ledger.idle()
    ledger.commit(z=2)
    ledger.idle()
    assert seen == [1, 2, 3]


def test_H4_a_document_first_read_in_this_run_that_moved_before_it_ended_is_a_cause() -> None:
    ledger, seen = LedgerCore(y=1), list[int]()

    def body(tx: Tx) -> None:
        seen.append(tx.get("y"))
        if len(seen) == 1:
            ledger.integrate(y=2)

    ledger.effect("n", body)
    ledger.turn()
    assert seen == [1, 2]
    assert ledger.node("n").status is Status.CLEAN


def test_causes_of_one_place_are_one_with_the_position_of_the_last_change() -> None:
    ledger = LedgerCore(s=1)
    node = ledger.computation("c", reading("s"), "o", restored=(deep("s"),))
    ledger.commit(s=2)
    ledger.commit(s=3)
    assert node.causes == {place("s"): ledger.n}


def test_a_shallow_reader_hears_of_keys_and_not_of_values() -> None:
    ledger = LedgerCore(s={"a": 1})
    ledger.computation("c", reading("s"), "o", restored=(shallow("s"),))
    ledger.commit(s={"a": 2})
    assert statuses(ledger, "c") == ["clean"]
    ledger.commit(s={"a": 2, "b": 1})
    assert statuses(ledger, "c") == ["invalid"]


def test_CUT_009_declared_reads_alone_never_trigger_a_node_that_never_ran() -> None:
    ledger = LedgerCore(s=1, o=0)
    node = ledger.computation("w", reading("s", into="o"), "o", declared=("s",))
    ledger.idle()
    ledger.commit(s=2)
    ledger.idle()
    assert (node.status, node.surface.declared, node.causes, ledger.log, ledger.value("o")) == (Status.NEVER_RAN, (deep("s"),), {}, [], 0)


def test_a_run_that_saw_what_is_there_now_is_clean_though_a_change_was_marked_before_it_read() -> None:
    ledger = LedgerCore(s=1)
    node = ledger.effect("n", reading("s"))
    ledger.core.begin(0.0)
    run = ledger.core.next(0.0)
    assert run is not None
    node.causes[place("s")] = 3
    ledger.core.apply(ResultEntry(Version(1, 5), RunResult(run.id, Outcome.UNCHANGED, (deep("s"),))), 0.0)
    assert (node.causes, node.status) == ({}, Status.CLEAN)
