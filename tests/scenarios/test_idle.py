"""Scenarios IDLE: what holds idle(), and what releases it."""
from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread

import pytest
import weft
from harness.parts import parts
from harness.scene import Scene, cells
from weft import Tx
from weft.scheduler.background import Background

KICK, MID, OUT, S, X0, X1, X2, X3 = cells("kick mid out s x0 x1 x2 x3")


def wave(scene: Scene, last: int | None) -> list[int]:
    """A head that counts up to `last`, kicked by what it wrote: each round is an iteration. Returns what arrives at the end of three relays."""
    scene.C("h", X0, lambda tx: tx.get(KICK, 0) + 1)

    def kick(tx: Tx) -> None:
        step = tx[X0]
        if last is None or step < last:
            tx.set(KICK, step)

    scene.E("kick", kick, reads=[X0])
    scene.C("r1", X1, lambda tx: tx[X0], reads=[X0])
    scene.C("r2", X2, lambda tx: tx[X1], reads=[X1])
    scene.C("r3", X3, lambda tx: tx[X2], reads=[X2])
    seen: list[int] = []
    scene.E("e", lambda tx: seen.append(tx[X3]), reads=[X3])
    return seen


def test_IDLE_001_idle_waits_for_a_slow_but_converging_wave_to_reach_its_effect() -> None:
    scene = Scene()
    seen = wave(scene, 25)
    passes = scene.passes()
    scene.rt.idle(timeout=5.0, gated=True)
    assert seen[-1] == 25
    assert any(end.deferred for end in passes)
    assert scene.runs["h"] == 25


def test_IDLE_002_idle_escapes_from_what_never_converges_and_warns_exactly_once() -> None:
    scene = Scene()
    wave(scene, None)
    scene.rt.idle(timeout=6.0, gated=True)
    assert scene.clock.now() == pytest.approx(0.75)
    assert scene.runs["h"] == 30
    (warning,) = scene.errors
    assert warning.code == "not-settled"
    assert "h" in warning.message
    assert "check_idempotency" in warning.message


def test_IDLE_008_the_hold_counter_of_a_dormant_node_is_reset_though_no_pass_runs() -> None:
    scene = Scene()
    a, b = cells("a b")
    scene.C("a", a, lambda tx: tx.get(b, 0) + 1)
    scene.C("b", b, lambda tx: tx.get(a, 0) + 1)
    reader = scene.E("e", lambda tx: tx.get(b))
    scene.drain()
    reader.cancel()
    held = [id for id in ("a", "b") if scene.record(id).holds]
    assert len(held) == 1
    assert (scene.rt.node(held[0]).live, scene.status(held[0])) == (False, "invalid")
    passes = scene.passes()
    scene.idle()
    assert (scene.record(held[0]).holds, passes) == (0, [])


def test_IDLE_010_idle_requested_after_the_end_resolves() -> None:
    scene = Scene(s=1)
    scene.E("e", lambda tx: tx.get(S), debounce=0.05)
    scene.rt.close()
    scene.rt.idle()
    scene.rt.idle(gated=True)
    assert scene.runs["e"] == 0


def test_IDLE_013_closing_works_on_what_is_closed() -> None:
    scene = Scene(s=1)
    scene.E("e", lambda tx: tx.get(S), debounce=0.05)
    scene.rt.close()
    scene.rt.close()
    with scene.rt:
        pass


class Later:
    """Somebody on the scene's clock who does these things at one time."""

    def __init__(self, scene: Scene, at: float, *do: Callable[[], object]) -> None:
        self._at: float | None = at
        self._do = do
        scene.clock.attach(self)

    def due(self) -> float | None:
        return self._at

    def wake(self) -> None:
        self._at = None
        for do in self._do:
            do()


def background(scene: Scene) -> Background:
    """White box: where work beside the graph is told."""
    return parts(scene.rt).core.idle.background


def test_IDLE_014_a_tracked_background_task_holds_idle() -> None:
    scene, order = Scene(s=1), list[str]()
    task = background(scene).begin("start of a piece", holds_idle=True)
    scene.E("e", lambda tx: tx.get(S))
    Later(scene, 0.02, lambda: order.append(f"released after {scene.runs['e']}"), task.end)
    scene.idle()
    order.append("idle")
    assert (order, scene.clock.now()) == (["released after 1", "idle"], 0.02)  # it holds the barrier, not the runs


def test_IDLE_014_what_a_task_has_written_is_settled_before_idle_returns() -> None:
    scene = Scene(s=1)
    scene.E("e", lambda tx: tx.set(OUT, tx[S] * 10))
    task = background(scene).begin("start of a piece", holds_idle=True)
    Later(scene, 0.02, lambda: scene.rt.set(S, 2), task.end)
    scene.idle()
    assert (scene.get("out"), scene.runs["e"]) == (20, 2)


def test_IDLE_014_a_task_that_another_thread_ends() -> None:
    scene = Scene()
    task = background(scene).begin("start of a piece", holds_idle=True)
    asked = Event()
    scene.E("e", lambda tx: asked.set())

    def ends() -> None:
        asked.wait()
        task.end()

    thread = Thread(target=ends)
    thread.start()
    scene.idle()
    thread.join()
    assert background(scene).holding() == []


def test_IDLE_014_a_timeout_names_the_task() -> None:
    scene = Scene()
    with background(scene).begin("start of a piece", holds_idle=True):
        with pytest.raises(weft.WaitTimeout, match="start of a piece"):
            scene.rt.idle(timeout=1.0)
        assert scene.clock.now() == 1.0
    scene.idle()


def test_IDLE_015_a_failing_background_task_releases_idle_without_raising() -> None:
    scene = Scene()
    task = background(scene).begin("start of a piece", holds_idle=True)

    def fail() -> None:
        with pytest.raises(ValueError, match="cannot start"), task:
            raise ValueError("cannot start")

    Later(scene, 0.02, fail)
    scene.idle()
    assert (scene.clock.now(), scene.errors) == (0.02, [])


def test_IDLE_016_idle_does_not_ask_about_work_beside_the_graph_and_settled_waits_for_it() -> None:
    scene, asked, busy = Scene(s=1), list[float](), [True]

    def pending() -> bool:
        asked.append(scene.clock.now())
        return busy[0]

    stop = background(scene).ask("peers", pending)
    scene.idle()
    assert asked == []
    Later(scene, 0.1, lambda: busy.__setitem__(0, False))
    scene.rt.settled()
    assert (asked, scene.clock.now()) == ([0.0, 0.1], 0.1)
    busy[0] = True
    stop()
    scene.rt.settled()
    assert len(asked) == 2


@pytest.mark.parametrize("what", ["load", "write-back", "compilation"])
def test_IDLE_017_each_kind_of_work_beside_the_graph_holds_settled_until_its_entry_is_gone(what: str) -> None:
    scene = Scene()
    task = background(scene).begin(what)
    scene.idle()
    assert (background(scene).holding(settled=True), background(scene).holding()) == ([what], [])
    with pytest.raises(weft.WaitTimeout, match=what):
        scene.rt.settled(timeout=1.0)
    Later(scene, 3.0, task.end)
    scene.rt.settled()
    assert (scene.clock.now(), background(scene).holding(settled=True)) == (3.0, [])


def test_IDLE_018_a_rejected_task_counts_as_settled() -> None:
    scene = Scene()

    def rejected() -> None:
        with pytest.raises(weft.WeftError), background(scene).begin("write-back"):
            raise weft.WeftError("refused")

    rejected()
    task = background(scene).begin("write-back")
    task.end()
    task.end()
    scene.rt.settled()
    assert (scene.clock.now(), scene.errors) == (0.0, [])


def test_IDLE_gated_work_does_not_hold_the_strict_idle() -> None:
    scene = Scene(s=1)
    scene.E("e", lambda tx: tx.get(S), debounce=30.0)
    scene.idle()
    assert (scene.clock.now(), scene.runs["e"]) == (0.0, 0)
    scene.idle(gated=True)
    assert (scene.clock.now(), scene.runs["e"]) == (30.0, 1)


def test_IDLE_a_clock_that_may_not_jump_says_what_it_waits_for() -> None:
    scene = Scene("memory:", weft.VirtualClock(autojump=False), s=1)
    scene.E("slow-effect", lambda tx: tx.get(S), debounce=30.0)
    with pytest.raises(weft.Stuck, match="slow-effect"):
        scene.rt.idle(gated=True)


def test_IDLE_a_timeout_names_what_it_waited_for() -> None:
    scene = Scene(s=1)
    scene.E("slow-effect", lambda tx: tx.get(S), debounce=30.0)
    with pytest.raises(weft.WaitTimeout, match="slow-effect"):
        scene.rt.idle(timeout=1.0, gated=True)
    assert scene.clock.now() == 1.0
