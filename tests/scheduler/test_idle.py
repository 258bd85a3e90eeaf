"""What idle waits for: IDLE-003, 005 to 008, DEB-009, CONV-014; pitfalls B-33 to B-40 (semantics C.9)."""
from __future__ import annotations

import pytest
from harness.ledger_core import LedgerCore, Tx, deep, reading
from weft.scheduler.constants import HOLD_PASSES
from weft.scheduler.gates import GateConfig
from weft.scheduler.records import Node, Status


def endless(ledger: LedgerCore, id: str = "h") -> Node:
    """A node that disturbs what it has read every time."""

    def body(tx: Tx) -> None:
        ledger.integrate(x=tx.get("x") + 1)

    return ledger.effect(id, body)


def test_IDLE_003_at_any_one_time_work_is_either_runnable_or_has_a_wake() -> None:
    ledger = LedgerCore(s=1)
    ledger.effect("e", reading("s"), gates=GateConfig(debounce=0.15))
    for now in (0.05, 0.1, 0.15, 0.2):
        assert ledger.core.idle.runnable(now) is (now >= 0.15)
        assert ledger.core.idle.wake(now) == (None if now >= 0.15 else 0.15)


def test_IDLE_005_when_idle_escapes_the_holds_start_again_though_the_wake_stays() -> None:
    ledger = LedgerCore(x=0)
    node = endless(ledger)
    ledger.idle(gated=True)
    assert (node.holds, node.streak, node.status) == (0, HOLD_PASSES, Status.INVALID)
    assert ledger.core.idle.wake(ledger.now) == pytest.approx(0.25 + 0.5 + 1.0)
    assert ledger.runs("h") == 3 * 10


def test_IDLE_006_a_wake_of_dormant_work_holds_nothing() -> None:
    ledger = LedgerCore(s=1)
    node = ledger.computation("c", reading("s"), "o", restored=(deep("s"),), gates=GateConfig(debounce=30.0))
    ledger.commit(s=2)
    assert (node.status, node.gate is not None and node.gate.eligible_at) == (Status.INVALID, 30.0)
    assert (ledger.core.idle.wake(0.0), ledger.core.idle.holders(0.0), ledger.core.idle.runnable(60.0)) == (None, [], False)


def test_IDLE_007_and_008_idle_resets_the_holds_of_dormant_nodes_too_and_without_a_pass() -> None:
    ledger = LedgerCore(x=0)

    def body(tx: Tx) -> None:
        ledger.integrate(x=tx.get("x") + 1)

    node = ledger.computation("c", body, "o")
    observer = ledger.core.observe([deep("o")])
    for _ in range(HOLD_PASSES):
        ledger.turn()
        ledger.now += 10.0
    ledger.core.unobserve(observer)
    assert (node.holds, node.live, node.status) == (HOLD_PASSES, False, Status.INVALID)
    passes = len(ledger.ends)
    ledger.idle(gated=True)
    assert (node.holds, len(ledger.ends)) == (0, passes)


def test_who_holds_idle_gated_and_who_does_not() -> None:
    ledger = LedgerCore(s=1)
    gates = GateConfig(debounce=1.0)
    ledger.computation("c", reading("s", into="o"), "o", gates=gates)
    ledger.effect("e", reading("o"), gates=gates)
    ledger.materializer("m", reading("s", into="t"), "t", gates=gates)
    ledger.effect("p", lambda tx: ledger.computation("k", reading("s"), "ko", gates=gates))
    ledger.drain()
    assert [node.id for node in ledger.core.idle.holders(0.0)] == ["e", "k"]
    ledger.idle(gated=True)
    ledger.commit(s=2)
    assert ledger.node("c").status is Status.INVALID
    assert ledger.core.idle.wake(ledger.now) == ledger.now + 1.0
    assert [node.id for node in ledger.core.idle.holders(ledger.now)] == ["m"]


def test_strict_idle_waits_for_nothing_that_is_gated() -> None:
    ledger = LedgerCore()
    ledger.effect("e", reading(), gates=GateConfig(debounce=30.0))
    ledger.idle(gated=False)
    assert (ledger.log, ledger.now) == ([], 0.0)
    ledger.idle(gated=True)
    assert (ledger.log, ledger.now) == (["e"], 30.0)


def test_DEB_009_removing_a_debounced_effect_releases_who_waits_for_it() -> None:
    ledger = LedgerCore()
    ledger.effect("e", reading(), gates=GateConfig(debounce=30.0))
    assert [node.id for node in ledger.core.idle.holders(0.0)] == ["e"]
    ledger.remove("e")
    assert (ledger.core.idle.holders(0.0), ledger.core.idle.wake(0.0)) == ([], None)


def test_CONV_014_what_ends_a_pass_clean_has_no_backoff_streak_hold_or_wake() -> None:
    ledger = LedgerCore(s=1)
    node = ledger.effect("e", reading("s"))
    ledger.drain()
    ledger.core.gates.gate_of("e", node).back_off(0.0, 9)
    node.streak, node.holds = 1, 1
    ledger.core.settle.backoffs.backed[node] = None
    ledger.turn()
    assert node.gate is not None
    assert (node.streak, node.holds, node.gate.eligible_at, ledger.core.idle.wake(0.0)) == (0, 0, 0.0, None)


def test_each_node_holds_for_itself() -> None:
    """One that never converges does not release, nor delay, one that is only slow."""
    ledger = LedgerCore(x=0, y=0)
    endless(ledger)

    def slow(tx: Tx) -> None:
        if tx.get("y") < 25:
            ledger.integrate(y=tx.get("y") + 1)

    ledger.effect("slow", slow)
    ledger.idle(gated=True)
    assert (ledger.value("y"), ledger.node("slow").status) == (25, Status.CLEAN)


def test_a_refused_run_is_work_to_do_when_its_pass_is_over() -> None:
    ledger = LedgerCore(s=1)
    ledger.effect("n", lambda tx: (ledger.integrate(s=5) if tx.run.id.run == 1 else None, tx.get("s"), tx.set("o", tx.get("s"))))
    ledger.effect("m", lambda tx: (tx.get("s"), ledger.integrate(s=6) if tx.run.id.run == 1 else None, tx.set("q", tx.get("s"))))
    ledger.turn()
    assert ledger.core.idle.runnable(0.0)
    ledger.idle(gated=False)
    assert (ledger.value("o"), ledger.value("q")) == (6, 6)
