"""Scenarios TEL, and DEB-017 and 018: what does not settle is told once, and everything kept is bounded."""
from __future__ import annotations

import pytest
from harness.scene import Cell, Scene, cells
from weft.actors.statistics import Statistics
from weft.scheduler.constants import SETTLE_TRACE, STATISTICS
from weft.scheduler.unsettled import Unsettled

OUT, S = cells("out s")


def ring(scene: Scene, name: str) -> tuple[Cell, Cell]:
    """A pair of computations that feed each other for ever, and an effect that looks."""
    a, b = cells(f"{name}1 {name}2")
    scene.C(f"{name}1", a, lambda tx: tx.get(b, 0) + 1)
    scene.C(f"{name}2", b, lambda tx: tx.get(a, 0) + 1)
    scene.E(f"{name}-reader", lambda tx: tx.get(b))
    return a, b


def test_TEL_002_a_pass_that_defers_work_is_marked_with_the_nodes_and_reported_once_an_episode() -> None:
    scene = Scene()
    scene.rt.set_trace("settle", True)

    def marks() -> list[list[str]]:
        return [entry["deferred"] for entry in scene.rt.trace("settle") if entry["deferred"]]

    ring(scene, "x")
    scene.drain()
    assert [{name[0] for name in mark} for mark in marks()] == [{"x"}]
    assert scene.rt.stats()["non_settling"]
    ring(scene, "y")
    scene.drain()
    assert [{name[0] for name in mark} for mark in marks()] == [{"x"}, {"y"}]
    scene.advance(250)
    assert {name[0] for name in marks()[-1]} == {"x", "y"}
    scene.idle(gated=True)
    assert [error.code for error in scene.errors] == ["not-settled"]


def test_TEL_003_a_pass_that_deferred_nothing_leaves_no_mark() -> None:
    scene = Scene(s=1)
    scene.rt.set_trace("settle", True)
    scene.C("c", OUT, lambda tx: tx[S])
    scene.pull(OUT)
    assert [entry["deferred"] for entry in scene.rt.trace("settle")] == [[]]
    assert not scene.rt.stats()["non_settling"]
    assert scene.errors == []


def test_TEL_004_a_window_that_is_all_work() -> None:
    unsettled = Unsettled()
    found = unsettled.worked(0.0, 6.0)
    assert found is not None
    assert (found.busy, found.window, found.ratio) == (6.0, 6.0, 1.0)
    assert unsettled.flag


def test_TEL_005_the_second_stretch_of_an_episode_is_not_told_again() -> None:
    unsettled = Unsettled()
    unsettled.worked(0.0, 6.0)
    assert unsettled.worked(6.0, 12.0) is None


def test_TEL_006_a_short_stretch_is_nothing() -> None:
    unsettled = Unsettled()
    assert unsettled.worked(0.0, 0.1) is None
    assert not unsettled.flag


def test_TEL_007_the_window_slides_and_halves_what_was_busy() -> None:
    unsettled = Unsettled()
    assert unsettled.worked(0.001, 2.001) is None
    assert unsettled.worked(10.901, 11.001) is None
    assert unsettled.since == 11.001
    assert unsettled.busy == pytest.approx(1.05)


def test_TEL_009_a_bounded_history_drops_the_oldest() -> None:
    scene = Scene(s=0)
    scene.rt.set_trace("settle", True)
    scene.E("e", lambda tx: tx.get(S))
    for value in range(SETTLE_TRACE + 5):
        scene.commit(s=value)
        scene.idle()
    passes = [entry["pass"] for entry in scene.rt.trace("settle")]
    assert passes == list(range(passes[-1] - SETTLE_TRACE + 1, passes[-1] + 1))


def test_DEB_017_statistics_are_bounded_and_the_oldest_is_dropped() -> None:
    statistics = Statistics()
    for number in range(STATISTICS + 1):
        statistics.ran(f"n{number}", 0.0, 1.0)
    assert len(statistics) == STATISTICS
    assert statistics.counts("n0") is None
    newest = statistics.counts(f"n{STATISTICS}")
    assert newest is not None
    assert newest.runs == 1


def test_DEB_018_a_node_that_keeps_running_survives_with_its_count() -> None:
    statistics = Statistics()
    statistics.ran("keeps", 0.0, 1.0)
    for number in range(25_000):
        statistics.ran(f"n{number}", 0.0, 1.0)
        if number % 100 == 99:
            statistics.ran("keeps", 0.0, 1.0)
    kept = statistics.counts("keeps")
    assert kept is not None
    assert kept.runs == 251
    assert statistics.counts("n0") is None
