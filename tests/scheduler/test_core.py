"""The scheduler whole: demand that comes, goes and returns (SURF-*, PULL-*, DEB-*), observers, restored nodes, and a log that decides alone."""
from __future__ import annotations

import pytest
from harness.ledger_core import Body, LedgerCore, Tx, deep, doc, place, reading
from weft.scheduler.core import Core
from weft.scheduler.gates import GateConfig
from weft.scheduler.log import FenceEntry, PullEntry, RemovalEntry
from weft.scheduler.model import Change, Version
from weft.scheduler.records import Status
from weft.scheduler.values import MISSING, freeze


def times_ten(source: str, target: str) -> Body:
    return lambda tx: tx.set(target, tx.get(source) * 10)


def test_CORE_002_registration_runs_no_computation_and_demand_runs_it_once_with_the_latest_inputs() -> None:
    ledger = LedgerCore(a=1, b=2, c=0)
    ledger.computation("adder", reading("a", "b", into="c"), "c", declared=("a", "b"))
    ledger.idle()
    ledger.commit(a=2)
    assert (ledger.log, ledger.value("c")) == ([], 0)
    assert (ledger.pull("c"), ledger.log) == (4, ["adder"])


def test_CORE_009_a_removed_node_does_not_run() -> None:
    ledger = LedgerCore(a=1)
    ledger.computation("c", reading("a", into="o"), "o")
    assert ledger.pull("o") == 1
    ledger.remove("c")
    ledger.commit(a=3)
    assert (ledger.pull("o"), ledger.runs("c")) == (1, 1)
    ledger.core.check()


def test_PULL_001_and_REM_001_what_nobody_demands_stays_invalid_whoever_changed_it() -> None:
    ledger = LedgerCore(s=1)
    ledger.computation("x", times_ten("s", "r"), "r")
    assert (ledger.pull("r"), ledger.node("x").status) == (10, Status.CLEAN)
    ledger.commit(s=2)
    ledger.idle()
    assert (ledger.node("x").status, ledger.runs("x")) == (Status.INVALID, 1)
    ledger.integrate(s=3)
    ledger.idle()
    assert (ledger.pull("r"), ledger.runs("x"), ledger.node("x").status) == (30, 2, Status.CLEAN)


def test_PULL_005_an_unchanged_value_in_between_runs_nothing_below_it() -> None:
    ledger = LedgerCore(s=1)
    ledger.computation("c", lambda tx: tx.set("d", tx.get("s") % 2), "d")
    ledger.effect("e", reading("d", into="er"))
    ledger.idle()
    del ledger.log[:]
    for value, runs in ((3, ["c"]), (4, ["c", "c", "e"])):
        ledger.commit(s=value)
        ledger.idle()
        assert ledger.log == runs


def test_PULL_015_an_abandoned_input_does_not_count_any_more() -> None:
    ledger = LedgerCore(a=2, b=7, sel=0)
    ledger.computation("c", lambda tx: tx.set("m", (tx.get("b") if tx.get("sel") else tx.get("a")) * 10), "m")
    ledger.effect("e", reading("m", into="er"))
    ledger.idle()
    del ledger.log[:]
    seen = []
    for change in ({"sel": 1}, {"a": 999}, {"b": 6}):
        ledger.commit(**change)
        ledger.idle()
        seen.append((ledger.runs("e"), ledger.value("er")))
    assert seen == [(1, 70), (1, 70), (2, 60)]


def test_SURF_002_and_003_demand_that_returns_through_a_clean_node_reaches_the_invalid_one_behind_it() -> None:
    ledger = LedgerCore(s=1)
    ledger.computation("w1", times_ten("s", "m"), "m")
    ledger.computation("w2", reading("m", into="o"), "o")
    assert ledger.pull("o") == 10
    ledger.commit(s=2)
    ledger.idle()
    assert (ledger.node("w1").status, ledger.node("w2").status, ledger.core.idle.runnable(0.0)) == (Status.INVALID, Status.CLEAN, False)
    del ledger.log[:]
    ledger.core.observe([deep("o")])
    assert ledger.core.idle.runnable(0.0)
    ledger.idle()
    assert (ledger.value("o"), ledger.log) == (20, ["w1", "w2"])


def test_SURF_005_an_invalid_computation_restored_as_an_effect_runs_itself() -> None:
    ledger = LedgerCore(s=1)
    body = times_ten("s", "o")
    ledger.computation("c", body, "o")
    assert ledger.pull("o") == 10
    ledger.commit(s=3)
    ledger.effect("c", body, restored=(deep("s"),))
    assert ledger.node("c").status is Status.INVALID
    ledger.idle()
    assert (ledger.runs("c"), ledger.value("o")) == (2, 30)


def test_SURF_006_a_restored_materializer_wakes_the_invalid_writer_above_it() -> None:
    ledger = LedgerCore(s=1)
    ledger.computation("w", times_ten("s", "i"), "i")
    body = reading("i", into="o")
    ledger.materializer("m", body, "o")
    ledger.idle()
    ledger.remove("m")
    ledger.commit(s=2)
    ledger.idle()
    assert (ledger.runs("w"), ledger.node("w").status) == (1, Status.INVALID)
    ledger.materializer("m", body, "o", restored=(deep("i"),))
    ledger.idle()
    assert (ledger.runs("w"), ledger.value("o")) == (2, 20)


def test_a_restored_clean_effect_does_not_run_until_something_changes() -> None:
    ledger = LedgerCore(s=1)
    ledger.effect("e", reading("s"), restored=(deep("s"),))
    ledger.idle()
    assert ledger.log == []
    ledger.commit(s=2)
    ledger.idle()
    assert ledger.log == ["e"]


def test_ORD_019_parent_and_child_removed_run_no_more() -> None:
    ledger = LedgerCore(src=1)
    ledger.effect("p", lambda tx: (tx.get("src"), ledger.computation("k", reading("src"), "o")))
    ledger.idle()
    ledger.remove("p")
    ledger.remove("k")
    ledger.commit(src=2)
    ledger.idle()
    assert ledger.log == ["p", "k"]
    ledger.core.check()


def test_DEB_004_and_005_a_debounced_computation_registered_five_times_runs_once_when_pulled() -> None:
    ledger = LedgerCore(s=1)
    for _ in range(5):
        ledger.computation("c", reading("s", into="o"), "o", gates=GateConfig(debounce=0.05))
        ledger.advance(0.01)
    assert ledger.log == []
    ledger.advance(0.1)
    assert (ledger.pull("o"), ledger.log) == (1, ["c"])


def test_ORD_013_and_THR_005_registering_again_runs_it_again_unless_it_is_throttled() -> None:
    ledger = LedgerCore(x=0)
    body = reading("x", into="o")
    ledger.computation("c", body, "o")
    ledger.pull("o")
    ledger.computation("c", body, "o")
    ledger.pull("o")
    assert ledger.runs("c") == 2
    ledger.computation("c", body, "o", gates=GateConfig(throttle=0.5))
    ledger.pull("o")
    assert (ledger.runs("c"), ledger.node("c").status) == (2, Status.INVALID)


def test_MAT_001_and_005_a_materializer_runs_with_no_reader_and_coalesces_behind_its_debounce() -> None:
    ledger = LedgerCore(s=0)
    ledger.materializer("m", lambda tx: tx.set("t", {"value": tx.get("s")}), "t", gates=GateConfig(debounce=0.02))
    ledger.idle(gated=True)
    assert ledger.runs("m") == 1
    for value in (1, 2, 3):
        ledger.commit(s=value)
    ledger.idle(gated=True)
    assert (ledger.runs("m"), ledger.value("t")) == (2, {"value": 3})


def test_a_materializer_registered_again_without_its_envelope_is_an_ordinary_computation() -> None:
    ledger = LedgerCore(s=0)
    ledger.computation("w", times_ten("s", "i"), "i")
    ledger.materializer("m", reading("i", into="t"), "t")
    ledger.idle()
    assert ledger.node("w").live
    ledger.computation("m", reading("i", into="t"), "t")
    assert (ledger.node("m").live, ledger.node("w").live, ledger.core.idle.runnable(0.0)) == (False, False, False)
    ledger.core.check()


def test_observers_never_run_demand_what_they_look_at_and_leave_nothing() -> None:
    ledger = LedgerCore(s=1)
    ledger.computation("c", reading("s", into="o"), "o")
    observer = ledger.core.observe([deep("s")])
    ledger.idle()
    assert (ledger.log, ledger.node("c").live) == ([], False)
    ledger.core.look(observer, [deep("o")])
    ledger.idle()
    assert ledger.log == ["c"]
    ledger.commit(s=2)
    ledger.commit(o=7)
    assert not ledger.core.idle.runnable(0.0) or ledger.node("c").status is Status.INVALID
    ledger.core.unobserve(observer)
    ledger.core.unobserve(observer)
    assert (list(ledger.core.registry.nodes), ledger.node("c").live, ledger.core.idle.runnable(0.0)) == (["c"], False, False)
    ledger.core.check()


def test_P1_when_apply_returns_everything_that_follows_is_decided() -> None:
    ledger = LedgerCore(s=1)
    ledger.effect("e", reading("s"))
    ledger.idle()
    ledger.commit(s=2)
    assert (ledger.node("e").status, ledger.node("e").causes, ledger.core.idle.runnable(0.0)) == (Status.INVALID, {place("s"): ledger.n}, True)


def test_I8_every_run_has_the_causes_that_made_it() -> None:
    ledger, causes = LedgerCore(a=1, b=1), list[tuple[object, ...]]()

    def body(tx: Tx) -> None:
        causes.append(tx.causes)
        tx.get("a")
        tx.get("b")

    ledger.effect("e", body)
    ledger.idle()
    ledger.commit(a=2, b=2)
    ledger.commit(a=3)
    ledger.idle()
    assert causes == [(), (place("a"), place("b"))]


def test_documents_that_are_loaded_invalidate_who_read_them_as_absent() -> None:
    ledger = LedgerCore()
    ledger.effect("e", reading("s"))
    ledger.idle()
    ledger._apply(PullEntry(ledger._version(), (Change(doc("s"), (), MISSING, freeze({"value": 1})),), ()))
    assert ledger.node("e").causes == {doc("s").at(): ledger.n}


def test_entries_that_concern_nobody_change_nothing() -> None:
    ledger = LedgerCore()
    ledger.effect("e", reading())
    core, generation = ledger.core, ledger.node("e").generation
    for entry in (FenceEntry(Version(1, 50), 3), RemovalEntry(Version(1, 51), "nobody", 9), RemovalEntry(Version(1, 52), "e", generation - 1)):
        core.apply(entry, 0.0)
    assert list(core.registry.nodes) == ["e"]
    core.check()


def test_a_removal_takes_the_generation_it_names_and_older_ones() -> None:
    ledger = LedgerCore()
    ledger.effect("e", reading())
    ledger.core.apply(RemovalEntry(Version(1, 51), "e", ledger.node("e").generation + 5), 0.0)
    assert "e" not in ledger.core.registry


def largest(inputs: tuple[str, ...], target: str) -> Body:
    return lambda tx: tx.set(target, min(7, max(tx.get(name) for name in inputs)))


def test_a_cycle_of_20000_nodes_runs() -> None:
    size = 20_000
    ledger = LedgerCore(x0=0)
    for number in range(1, size + 1):
        inputs = (f"x{number - 1}", f"x{size}") if number == 1 else (f"x{number - 1}",)
        ledger.computation(f"n{number}", largest(inputs, f"x{number}"), f"x{number}")
    ledger.core.observe([deep(f"x{size}")])
    ledger.idle()
    ledger.commit(x0=9)
    ledger.idle()
    assert ledger.value(f"x{size}") == 7
    assert len(ledger.log) <= 4 * size
    assert all(end.deferred == () for end in ledger.ends)


def test_who_looks_on_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """P10: a listener that is told everything, and one that hears nothing, see the same runs."""

    def runs(deaf: bool, patch: pytest.MonkeyPatch = monkeypatch) -> list[str]:
        ledger = LedgerCore(s=1, t=1)
        if deaf:
            patch.setattr(LedgerCore, "marked", lambda self, node: None)
            patch.setattr(LedgerCore, "lost", lambda self, node: None)
            patch.setattr(LedgerCore, "ended", lambda self, end, now: None)
        ledger.computation("c", reading("s", into="o"), "o")
        ledger.effect("e", reading("o", "t"))
        for value in range(5):
            ledger.idle()
            ledger.commit(s=value, t=value)
        ledger.idle()
        return ledger.log

    assert runs(False) == runs(True)


def test_generations_are_given_once() -> None:
    ledger = LedgerCore()
    core: Core = ledger.core
    assert len({core.next_generation() for _ in range(100)}) == 100
