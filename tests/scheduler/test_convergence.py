"""The bounds of a pass: CONV-*, CORE-011, pitfalls B-30 to B-33 (seed 000 section 7.7; I6)."""
from __future__ import annotations

import pytest
from harness.ledger_core import LedgerCore, Tx, deep, reading
from weft.scheduler.constants import MAX_ITERATIONS, RUN_BUDGET
from weft.scheduler.gates import GateConfig
from weft.scheduler.records import Kind, Status


def test_CONV_001_a_converging_cycle_settles() -> None:
    ledger = LedgerCore(a=1, b=0)
    ledger.computation("na", lambda tx: tx.set("b", tx.get("a") + 1), "b")
    ledger.computation("nb", lambda tx: tx.set("a", tx.get("b")) if tx.get("b") < 5 else None, "a")
    ledger.effect("e", reading("b", into="out"))
    ledger.idle()
    assert (ledger.value("a"), ledger.value("b"), ledger.value("out"), ledger.runs("na")) == (4, 5, 5, 4)
    ledger.core.check()


def test_CONV_002_a_diverging_cycle_is_bounded_and_idle_resolves() -> None:
    ledger = LedgerCore(a=0, b=0)
    ledger.computation("na", lambda tx: tx.set("a", tx.get("b") + 1), "a")
    ledger.computation("nb", lambda tx: tx.set("b", tx.get("a") + 1), "b")
    ledger.effect("e", reading("b", into="out"))
    ledger.idle(gated=True)
    assert 0 < ledger.runs("na") <= 3 * RUN_BUDGET
    assert 0 < ledger.runs("nb") <= 3 * RUN_BUDGET
    assert all(end.iterations <= MAX_ITERATIONS for end in ledger.ends)
    assert ledger.core.idle.wake(ledger.now) is not None


def test_CORE_011_a_cycle_longer_than_one_budget_still_finishes() -> None:
    ledger, left = LedgerCore(a=1, b=2, d=1), [RUN_BUDGET + 1]
    ledger.effect("e1", reading("a", "b", into="c"))
    ledger.idle()
    ledger.effect("e2", reading("c", "d", into="e"))
    ledger.idle()

    def third(tx: Tx) -> None:
        left[0] -= 1
        total = tx.get("e") + tx.get("b")
        if left[0]:
            tx.set("c", total)

    ledger.effect("e3", third)
    ledger.idle()
    assert (left, ledger.value("c"), ledger.value("e"), ledger.reports) == ([0], 33, 34, [])


def test_B_31_only_nodes_at_their_budget_are_backed_off_and_bystanders_run_at_once() -> None:
    ledger = LedgerCore(x=0, s=0)
    ledger.effect("cycling", lambda tx: ledger.integrate(x=tx.get("x") + 1, s=tx.get("x")))
    ledger.effect("bystander", reading("s"))
    ledger.turn()
    assert ledger.ends[-1].deferred == ("cycling",)
    ledger.drain()
    assert ledger.node("bystander").status is Status.CLEAN
    assert (ledger.node("bystander").streak, ledger.now) == (0, 0.0)


def test_B_32_at_the_iteration_cap_everything_still_runnable_is_backed_off() -> None:
    ledger = LedgerCore(max_iterations=3, run_budget=100, x=0)
    ledger.effect("b", lambda tx: ledger.integrate(x=tx.get("x") + 1))
    ledger.effect("c", reading("x"))
    end = ledger.turn()
    assert (end.iterations, set(end.deferred)) == (3, {"b"})
    assert ledger.node("b").streak == 1


@pytest.mark.parametrize("case", ["undemanded", "debounced", "gated"])
def test_CONV_013_who_is_not_runnable_is_not_backed_off(case: str) -> None:
    ledger = LedgerCore(max_iterations=1, x=0, s=0)
    ledger.now = 10_000.0
    ledger.effect("cycling", lambda tx: ledger.integrate(x=tx.get("x") + 1))
    kind = Kind.COMPUTATION if case == "undemanded" else Kind.EFFECT
    node = ledger.register("n", reading("s"), kind, restored=(deep("s"),), gates=GateConfig(debounce=5.0) if case == "debounced" else GateConfig())
    if case == "gated":
        ledger.core.gates.gate_of("n", node).hold_until = 10_030.0
    ledger.commit(s=1)
    end = ledger.turn()
    assert end.deferred == ("cycling",)
    assert (node.status, node.streak, node.holds) == (Status.INVALID, 0, 0)
    assert node.gate is None or node.gate.backoff_until == 0.0


def test_backoffs_double_while_it_lasts_and_start_again_when_it_has_converged() -> None:
    ledger = LedgerCore(x=0, stop=0)
    node = ledger.effect("n", lambda tx: None if tx.get("stop") else ledger.integrate(x=tx.get("x") + 1))
    waits = []
    for _ in range(5):
        ledger.turn()
        wake = ledger.core.idle.wake(ledger.now)
        assert wake is not None
        waits.append(wake - ledger.now)
        ledger.now = wake
    assert waits == [0.25, 0.5, 1.0, 2.0, 2.0]
    ledger.commit(stop=1)
    ledger.drain()
    assert (node.streak, node.status, ledger.core.idle.wake(ledger.now)) == (0, Status.CLEAN, None)
