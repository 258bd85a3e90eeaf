"""The pass: ORD-007, ORD-015 to 018, HDL-018, CONV-*, MAT-*, PULL-004, PULL-009 (decisions 1, 10, 29; I6, I9); exact orders and run counts."""
from __future__ import annotations

import random

import pytest
from harness.ledger_core import Body, LedgerCore, Tx, deep, reading
from weft.scheduler.errors import BrokenInvariant
from weft.scheduler.gates import GateConfig
from weft.scheduler.records import Status


def plus_one(source: str, target: str) -> Body:
    return lambda tx: tx.set(target, tx.get(source) + 1)


def chained(ledger: LedgerCore, length: int, declared: bool = False, backwards: bool = False) -> None:
    """`n1 … n{length}`, each reading the document before its own."""
    numbers = range(1, length + 1)
    for number in reversed(numbers) if backwards else numbers:
        source, target = f"x{number - 1}", f"x{number}"
        ledger.computation(f"n{number}", plus_one(source, target), target, declared=(source,) if declared else ())


@pytest.mark.parametrize("backwards", [False, True])
def test_a_discovered_chain_of_200_is_one_pass_and_at_most_two_runs_a_node(backwards: bool) -> None:
    ledger = LedgerCore(x0=5)
    chained(ledger, 200, backwards=backwards)
    ledger.effect("e", reading("x200", into="out"))
    ledger.idle()
    assert (ledger.value("out"), len(ledger.ends)) == (205, 1)
    assert max(ledger.runs(id) for id in ledger.core.registry.nodes) == 2


def test_a_chain_that_is_live_from_the_start_and_discovered_from_its_end_takes_two_runs_a_node_too() -> None:
    known = LedgerCore(x0=5)
    for number in range(60, 0, -1):
        known.computation(f"n{number}", plus_one(f"x{number - 1}", f"x{number}"), f"x{number}")
        known.core.observe([deep(f"x{number}")])
    known.idle()
    assert (known.value("x60"), len(known.ends), max(known.runs(f"n{number}") for number in range(1, 61))) == (65, 1, 2)


@pytest.mark.parametrize("backwards", [False, True])
def test_a_declared_chain_of_1000_is_one_iteration_and_one_run_a_node(backwards: bool) -> None:
    ledger = LedgerCore(x0=0)
    chained(ledger, 1_000, declared=True, backwards=backwards)
    ledger.effect("e", reading("x1000", into="out"), declared=("x1000",))
    ledger.idle()
    assert (ledger.value("out"), len(ledger.log), ledger.ends[0].iterations) == (1_000, 1_001, 1)
    ledger.commit(x0=5)
    ledger.idle()
    assert (ledger.value("out"), len(ledger.log), ledger.ends[1].iterations) == (1_005, 2_002, 1)


def test_CONV_005_a_declared_chain_deeper_than_the_iteration_cap_is_one_ordered_pass_without_backoff() -> None:
    ledger = LedgerCore(x0=0)
    chained(ledger, 12, declared=True)
    ledger.effect("e", reading("x12"), declared=("x12",))
    ledger.commit(x0=5)
    ledger.idle()
    assert (ledger.value("x12"), sorted(ledger.log), ledger.ends[0].deferred) == (17, sorted(["e", *(f"n{i}" for i in range(1, 13))]), ())


def test_an_effect_below_a_long_and_a_short_arm_runs_once() -> None:
    ledger, seen = LedgerCore(s=1), list[tuple[int, int]]()
    for id, source in (("a", "s"), ("b", "a"), ("c", "b")):
        ledger.computation(id, plus_one(source, id), id)
    ledger.effect("e", lambda tx: seen.append((tx.get("s"), tx.get("c"))))
    ledger.idle()
    del seen[:], ledger.log[:]
    ledger.commit(s=2)
    ledger.idle()
    assert (seen, ledger.log) == ([(2, 5)], ["a", "b", "c", "e"])


def half_of_the_largest(inputs: list[str], target: str) -> Body:
    return lambda tx: tx.set(target, max(tx.get(name) for name in inputs) // 2)


def test_the_grid_runs_exactly_what_brute_force_finds_and_each_once() -> None:
    chance = random.Random(7)
    ledger = LedgerCore(**{f"c0_{i}": 0 for i in range(30)})
    above = {(layer, i): [i, *chance.sample(range(30), 3)] for layer in range(1, 8) for i in range(30)}
    for (layer, i), picks in above.items():
        ledger.computation(f"n{layer}_{i}", half_of_the_largest([f"c{layer - 1}_{p}" for p in picks], f"c{layer}_{i}"), f"c{layer}_{i}")
    ledger.effect("all", lambda tx: [tx.get(f"c7_{i}") for i in range(30)])
    ledger.idle()
    before = {id: ledger.value(id.replace("n", "c")) for id in (f"n{layer}_{i}" for layer, i in above)}
    del ledger.log[:]
    ledger.commit(c0_3=40)
    ledger.idle()
    changed, expected = {(0, 3)}, []
    for (layer, i), picks in above.items():
        if any((layer - 1, p) in changed for p in picks):
            expected.append(f"n{layer}_{i}")
            if ledger.value(f"c{layer}_{i}") != before[f"n{layer}_{i}"]:
                changed.add((layer, i))
    assert sorted(ledger.log) == sorted([*expected, *(["all"] if any(layer == 7 for layer, _ in changed) else [])])


def test_a_cutoff_chain_of_100_whose_first_node_says_the_same_is_one_run() -> None:
    ledger = LedgerCore(s=1)
    ledger.computation("n1", lambda tx: tx.set("x1", tx.get("s") % 2), "x1")
    for number in range(2, 101):
        ledger.computation(f"n{number}", plus_one(f"x{number - 1}", f"x{number}"), f"x{number}")
    ledger.effect("e", reading("x100"))
    ledger.idle()
    del ledger.log[:]
    ledger.commit(s=3)
    ledger.idle()
    assert ledger.log == ["n1"]


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_ORD_007_two_writers_of_one_place_run_in_registration_order_whatever_order_they_became_invalid_in(order: tuple[str, str]) -> None:
    ledger = LedgerCore(a=0, b=0)
    ledger.effect("first", lambda tx: tx.set("x", ("a", tx.get("a"))[0]))
    ledger.effect("second", lambda tx: tx.set("x", ("b", tx.get("b"))[0]))
    ledger.idle()
    del ledger.log[:]
    for source in order:
        ledger.commit(**{source: 1})
    ledger.turn()
    assert (ledger.log, ledger.value("x")) == (["first", "second"], "b")


def test_PULL_009_a_registered_read_set_makes_the_writer_live_before_the_effect_has_run() -> None:
    ledger = LedgerCore(s=1, d=0)
    node = ledger.computation("c", reading("s", into="d"), "d")
    ledger.effect("e", reading("d"), restored=(deep("d"),))
    assert node.live
    assert ledger.core.idle.runnable(0.0)
    ledger.idle()
    assert (ledger.runs("c"), ledger.value("d")) == (1, 1)


def test_PULL_004_a_parent_that_samples_its_child_too_early_converges_with_it_in_one_pass() -> None:
    ledger = LedgerCore(s=2, parent=0)

    def parent(tx: Tx) -> None:
        if "k" not in ledger.core.registry:
            ledger.computation("k", lambda tx: tx.set("child", tx.get("s") * 10), "child", declared=("s",))
        tx.set("parent", tx.get("child") + 1)

    ledger.computation("p", parent, "parent", declared=("child",))
    ledger.effect("e", reading("parent", into="er"), declared=("parent",))
    ledger.idle()
    assert (ledger.value("er"), len(ledger.ends)) == (21, 1)
    assert (ledger.runs("k"), ledger.runs("p"), ledger.runs("e")) == (1, 2, 2)


def test_HDL_018_a_gated_node_is_passed_over_and_taken_in_the_iteration_in_which_its_gate_is_open() -> None:
    ledger = LedgerCore(s=1)
    ledger.effect("gated", reading(), gates=GateConfig(debounce=1.0))
    ledger.effect("other", reading())
    core = ledger.core
    core.begin(0.0)
    first = core.next(0.0)
    assert first is not None
    assert first.node.id == "other"
    ledger._make(first)
    assert core.next(0.5) is None
    second = core.next(1.0)
    assert second is not None
    assert second.node.id == "gated"
    ledger._make(second)
    assert core.next(1.0) is None
    end = core.end(1.0)
    assert (end.runs, end.iterations, end.deferred) == (2, 2, ())


def test_ORD_015_017_and_018_three_generations_run_parents_first_when_made_and_when_all_are_invalid() -> None:
    ledger = LedgerCore(src=1)

    def child(tx: Tx) -> None:
        tx.get("src")
        if "g" not in ledger.core.registry:
            ledger.effect("g", reading("src"))

    def parent(tx: Tx) -> None:
        tx.get("src")
        if "c" not in ledger.core.registry:
            ledger.effect("c", child)

    ledger.effect("p", parent)
    ledger.idle()
    assert ledger.log == ["p", "c", "g"]
    ledger.commit(src=2)
    ledger.idle()
    assert ledger.log == ["p", "c", "g"] * 2


def test_a_parent_with_a_later_ordinal_still_runs_before_its_child() -> None:
    ledger = LedgerCore(src=1)
    ledger.effect("child", reading("src"))
    ledger.effect("parent", lambda tx: (tx.get("src"), ledger.effect("child", reading("src")) if tx.run.id.run == 1 else None))
    ledger.idle()
    del ledger.log[:]
    ledger.commit(src=2)
    ledger.idle()
    assert ledger.log == ["parent", "child"]


def test_ORD_016_a_child_that_its_parent_takes_away_in_this_pass_does_not_run() -> None:
    ledger = LedgerCore(toggle=1)

    def parent(tx: Tx) -> None:
        if tx.get("toggle"):
            ledger.computation("child", reading("toggle"), "o")
        else:
            ledger.remove("child")

    ledger.effect("parent", parent)
    ledger.idle()
    ledger.core.observe([deep("o")])
    ledger.commit(toggle=0)
    ledger.idle()
    assert ledger.log == ["parent", "child", "parent"]


def test_nodes_that_made_each_other_do_not_wait_for_each_other_for_ever() -> None:
    ledger = LedgerCore(s=1)

    def maker(other: str) -> Body:
        return lambda tx: (tx.get("s"), ledger.effect(other, ledger.node(other).spec) if tx.run.id.run == 1 else None)

    ledger.effect("a", maker("b"))
    ledger.effect("b", maker("a"))
    ledger.idle()
    assert (ledger.node("a").parent, ledger.node("b").parent) == ("b", "a")
    del ledger.log[:]
    ledger.commit(s=2)
    ledger.turn()
    assert sorted(ledger.log) == ["a", "b"]


def test_what_fell_behind_the_cursor_joins_again_when_the_cursor_goes_back() -> None:
    """Writers before readers, though a discovery sets the cursor back below a node that has become invalid behind it."""
    ledger, seen = LedgerCore(s=0, go=0, far=0), list[tuple[int, int]]()
    ledger.computation("x", lambda tx: tx.set("x", tx.get("far") + 1), "x")
    ledger.computation("low", lambda tx: tx.set("low", tx.get("s") + 1), "low")
    ledger.effect("y", lambda tx: seen.append((tx.get("x"), tx.get("low") if tx.get("go") else -1)))
    ledger.effect("z", lambda tx: tx.set("far", tx.get("go")))
    ledger.effect("finder", lambda tx: tx.get("low") if tx.get("go") else None)
    ledger.idle()
    del seen[:]
    ledger.commit(go=1)
    ledger.idle()
    assert seen[-1] == (2, 1)
    assert len(seen) <= 3


def test_B_18_writers_of_declared_reads_run_first_in_this_pass_and_are_not_made_live() -> None:
    ledger, seen = LedgerCore(s=1), list[int]()
    writer = ledger.computation("w", lambda tx: tx.set("q", tx.get("s") * 10), "q")
    ledger.effect("e", lambda tx: seen.append(tx.run.id.run), declared=("q",))
    ledger.idle()
    assert (ledger.log, ledger.value("q"), writer.live) == (["w", "e"], 10, False)
    ledger.commit(s=2)
    ledger.idle()
    assert (ledger.log, writer.status) == (["w", "e"], Status.INVALID)


def test_declared_reads_in_a_circle_end() -> None:
    ledger = LedgerCore()
    ledger.computation("a", plus_one("y", "x"), "x", declared=("y",))
    ledger.computation("b", lambda tx: tx.set("y", min(tx.get("x"), 3)), "y", declared=("x",))
    ledger.effect("e", reading("x"), declared=("x",))
    ledger.idle()
    assert (ledger.value("x"), ledger.value("y")) == (4, 3)


def test_check_names_what_is_wrong() -> None:
    ledger = LedgerCore()
    node = ledger.effect("e", reading())
    ledger.core.settle.work.clear()
    with pytest.raises(BrokenInvariant, match="S1: e is live and never-ran"):
        ledger.core.check()
    node.status = Status.CLEAN
    node.roots |= 4
    with pytest.raises(BrokenInvariant, match="S2"):
        ledger.core.check()


def test_nodes_that_declare_to_read_each_other_run_from_the_lowest_on() -> None:
    """c declares what b writes, b what a writes, a what c writes; the circle is entered at b and opened at c, which was registered first."""
    ledger = LedgerCore()
    ledger.computation("c", reading("b", into="c"), "c", declared=("b",))
    ledger.computation("a", reading("c", into="a"), "a", declared=("c",))
    ledger.computation("b", reading("a", into="b"), "b", declared=("a",))
    ledger.core.observe([deep("b")])
    ledger.turn()
    assert ledger.log[:3] == ["c", "a", "b"]


def test_a_writer_that_two_wait_for_runs_before_both() -> None:
    ledger = LedgerCore(s=1)
    ledger.computation("x", reading("a", into="x"), "x", declared=("a",))
    ledger.computation("a", reading("s", into="a"), "a", declared=("s",))
    ledger.effect("n", reading("x", "a"), declared=("x", "a"))
    ledger.turn()
    assert ledger.log == ["a", "x", "n"]
