"""Provisional demand and its exact lifetime: CUT-006 to 008, PULL-012 (seed 000 section 5.3, pitfall B-13)."""
from __future__ import annotations

from harness.ledger_core import Body, LedgerCore, Tx, reading
from weft.scheduler.gates import GateConfig
from weft.scheduler.records import Kind


def times_ten(source: str, target: str) -> Body:
    return lambda tx: tx.set(target, tx.get(source) * 10)


def test_CUT_006_provisional_demand_lasts_through_the_pass_so_that_later_siblings_can_become_readers() -> None:
    ledger, seen = LedgerCore(cs=1), list[int]()

    def parent(tx: Tx) -> None:
        tx.get("trig")
        ledger.computation("a", times_ten("cs", "co"), "co")
        ledger.effect("b", lambda tx: seen.append(tx.get("co")))

    ledger.effect("p", parent)
    ledger.idle()
    assert (ledger.runs("a"), seen, ledger.node("a").provisional, ledger.node("a").live) == (1, [10], False, True)
    ledger.commit(cs=2)
    ledger.idle()
    assert (ledger.runs("a"), seen) == (2, [10, 20])


def test_CUT_007_a_debounced_child_keeps_provisional_demand_until_its_first_run() -> None:
    ledger = LedgerCore(s=3)
    ledger.effect("p", lambda tx: ledger.computation("k", times_ten("s", "o"), "o", gates=GateConfig(debounce=0.2)))
    ledger.drain()
    assert (ledger.runs("k"), ledger.node("k").provisional, ledger.core.idle.wake(0.0)) == (0, True, 0.2)
    ledger.idle(gated=True)
    assert (ledger.now, ledger.runs("k"), ledger.value("o"), ledger.node("k").live) == (0.2, 1, 30, False)


def test_CUT_008_provisional_demand_ends_with_the_first_run() -> None:
    ledger = LedgerCore(s=3)
    ledger.effect("p", lambda tx: ledger.computation("k", times_ten("s", "o"), "o"))
    ledger.idle()
    assert (ledger.runs("k"), ledger.value("o"), ledger.node("k").live) == (1, 30, False)
    ledger.commit(s=4)
    ledger.idle()
    assert (ledger.runs("k"), ledger.value("o")) == (1, 30)
    ledger.core.check()


def test_children_of_what_this_pass_needs_though_it_is_not_live_run_once_too() -> None:
    ledger = LedgerCore()
    ledger.computation("c", lambda tx: (ledger.computation("k", reading("s"), "ko"), ledger.effect("ke", reading())), "o")
    ledger.effect("e", lambda tx: None, declared=("o",))
    ledger.idle()
    assert ledger.log == ["c", "e", "k", "ke"]
    assert (ledger.node("c").live, ledger.node("k").live, ledger.node("ke").live) == (False, False, True)


def test_PULL_012_an_effect_without_reads_that_makes_a_child_lets_it_run_once() -> None:
    ledger = LedgerCore(s=3)
    ledger.effect("e", lambda tx: ledger.computation("child", times_ten("s", "k"), "k"))
    ledger.idle()
    assert (ledger.log, ledger.value("k")) == (["e", "child"], 30)


def test_a_node_that_becomes_an_effect_while_it_is_provisional_stays_live() -> None:
    ledger = LedgerCore(s=1)
    ledger.effect("p", lambda tx: (ledger.computation("k", reading("s")), ledger.effect("k", reading("s"))))
    ledger.idle()
    assert (ledger.node("k").kind, ledger.node("k").live, ledger.node("k").provisional) == (Kind.EFFECT, True, False)
    ledger.core.check()
