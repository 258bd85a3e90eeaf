"""Which nodes there are: REG-*, CUT-010, decisions 6 and 8."""
from __future__ import annotations

import pytest
from harness.ledger_core import LedgerCore, Tx, deep, reading
from weft.scheduler.errors import BrokenInvariant, Misuse
from weft.scheduler.records import Kind, Node, Surface
from weft.scheduler.registry import Registry


def made(registry: Registry, id: str, kind: Kind = Kind.COMPUTATION, generation: int = 1) -> Node:
    return registry.register(id, kind, "main", Surface(), None, generation)[0]


def test_REG_001_a_removed_node_is_of_no_kind_and_not_enumerated_and_others_are() -> None:
    registry = Registry()
    x, y = made(registry, "x"), made(registry, "y", Kind.EFFECT)
    registry.remove(x)
    assert (list(registry.nodes.values()), "x" in registry, "y" in registry) == ([y], False, True)


def test_REG_002_a_record_that_somebody_still_holds_is_not_registered() -> None:
    registry = Registry()
    held = made(registry, "x", generation=1)
    registry.remove(held)
    assert registry.get("x") is None
    assert not registry.current(held, 1)
    again = made(registry, "x", generation=2)
    assert not registry.current(held, 1)
    assert not registry.current(again, 1)
    assert registry.current(again, 2)


def test_REG_003_the_first_ordinal_survives_removal_and_registering_again() -> None:
    registry = Registry()
    x, y = made(registry, "x"), made(registry, "y")
    registry.remove(x)
    assert made(registry, "x", generation=2).ordinal == x.ordinal < y.ordinal
    registry.remove(y, forget=True)
    assert made(registry, "y").ordinal > y.ordinal


def test_REG_004_a_parent_may_be_linked_before_it_registers() -> None:
    registry = Registry()
    child = made(registry, "child")
    registry.adopt(child, "parent")
    assert (child.parent, registry.get("parent")) == ("parent", None)
    registry.check()
    parent = made(registry, "parent")
    assert list(parent.children) == ["child"]
    registry.check()


def test_REG_006_restoring_in_another_run_keeps_the_parent_and_registering_there_changes_it() -> None:
    ledger = LedgerCore()

    def first(tx: Tx) -> None:
        ledger.computation("x", reading())
        ledger.computation("y", reading())

    def second(tx: Tx) -> None:
        ledger.computation("x", reading(), restored=())
        ledger.computation("y", reading())

    ledger.effect("p", first)
    ledger.idle()
    ledger.effect("r", second)
    ledger.idle()
    assert (ledger.node("x").parent, ledger.node("y").parent) == ("p", "r")
    assert (list(ledger.node("p").children), list(ledger.node("r").children)) == (["x"], ["y"])
    ledger.core.check()


def test_REG_008_a_child_registered_during_its_parents_run_has_it_for_a_parent_and_is_forgotten_by_it_when_removed() -> None:
    ledger = LedgerCore()
    ledger.effect("p", lambda tx: ledger.computation("x", reading()))
    ledger.idle()
    assert ledger.node("x").parent == "p"
    ledger.remove("x")
    assert ledger.node("p").children == {}
    ledger.core.check()


def test_a_child_outlives_its_parent_and_finds_it_again() -> None:
    registry = Registry()
    parent, child = made(registry, "p"), made(registry, "c")
    registry.adopt(child, "p")
    registry.remove(parent)
    registry.check()
    assert list(made(registry, "p", generation=2).children) == ["c"]
    registry.remove(child)
    registry.check()


def test_CUT_010_a_computation_may_become_an_effect_and_never_the_other_way() -> None:
    ledger = LedgerCore(s=1)
    ledger.computation("n", reading("s"))
    assert not ledger.node("n").live
    ledger.effect("n", reading("s"))
    assert (ledger.node("n").kind, ledger.node("n").live) == (Kind.EFFECT, True)
    ledger.idle()
    with pytest.raises(Misuse, match="n is an effect and cannot become a computation"):
        ledger.computation("n", reading("s"))
    ledger.remove("n")
    ledger.core.check()


def test_an_effect_has_no_envelope() -> None:
    with pytest.raises(Misuse, match="no envelope"):
        Registry().register("e", Kind.EFFECT, "main", Surface(envelope=(deep("x").entity.at(),)), None, 1)


def test_registering_again_keeps_ordinal_reads_and_runs_and_has_a_new_generation() -> None:
    ledger = LedgerCore(s=1)
    ledger.effect("e", reading("s"))
    ledger.idle()
    before = ledger.node("e")
    ordinal, generation = before.ordinal, before.generation
    after = ledger.effect("e", reading("s"))
    assert after is before
    assert (after.ordinal, after.reads.reads(), after.run, after.status.value) == (ordinal, (deep("s"),), 1, "invalid")
    assert after.generation > generation
    ledger.idle()
    assert ledger.runs("e") == 2


def test_check_names_what_is_wrong() -> None:
    registry = Registry()
    made(registry, "x").ordinal = 9
    with pytest.raises(BrokenInvariant, match="N1"):
        registry.check()
    other = Registry()
    made(other, "x").parent = "p"
    with pytest.raises(BrokenInvariant, match="N2: x is not among"):
        other.check()
    other.nodes["x"].parent = None
    other._children["p"] = {"x": None}
    with pytest.raises(BrokenInvariant, match="N2: p keeps x"):
        other.check()
