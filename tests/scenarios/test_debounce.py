"""Scenarios DEB: runs that wait until it is quiet, by hand and by themselves."""
from __future__ import annotations

import pytest
import weft
from harness.parts import parts
from harness.scene import Scene, cells

OC, S = cells("o s")


def test_DEB_001_a_debounce_is_set_and_cleared() -> None:
    scene = Scene()
    node = scene.E("n", lambda tx: None)
    assert node.view().debounce is None
    scene.rt.set_debounce(node, 0.1)
    assert node.view().debounce == 0.1
    scene.rt.clear_debounce(node)
    assert node.view().debounce is None


def test_DEB_004_a_debounced_undemanded_computation_does_not_run_before_it_is_pulled() -> None:
    scene = Scene(s=1)
    scene.rt.set_debounce("c", 0.05)
    scene.C("c", OC, lambda tx: tx[S])
    scene.drain()
    assert scene.runs["c"] == 0
    scene.advance(100)
    assert scene.runs["c"] == 0
    assert (scene.pull(OC), scene.runs["c"]) == (1, 1)


def test_DEB_005_five_registrations_are_one_run() -> None:
    scene = Scene(s=1)
    scene.rt.set_debounce("c", 0.05)
    for _ in range(5):
        scene.C("c", OC, lambda tx: tx[S])
        scene.advance(10)
    assert scene.runs["c"] == 0
    scene.advance(100)
    assert (scene.pull(OC), scene.runs["c"]) == (1, 1)


def test_DEB_006_a_debounce_given_at_registration_can_be_read() -> None:
    scene = Scene(s=1)
    node = scene.C("c", OC, lambda tx: tx[S], debounce=0.05)
    assert node.view().debounce == 0.05
    scene.drain()
    assert scene.runs["c"] == 0
    scene.advance(100)
    assert (scene.pull(OC), scene.runs["c"]) == (1, 1)


def test_DEB_009_removing_a_debounced_effect_releases_an_idle_that_would_wait_for_it() -> None:
    scene = Scene(s=1)
    node = scene.E("e", lambda tx: tx.get(S), debounce=30.0)
    scene.advance(20)
    assert scene.runs["e"] == 0
    scene.E("canceller", lambda tx: node.cancel(), debounce=0.5)
    scene.idle(gated=True)
    assert scene.runs["e"] == 0
    assert scene.clock.now() == pytest.approx(0.52)
    scene.advance(60_000)
    assert scene.runs["e"] == 0


def test_DEB_010_closing_cancels_a_debounce_that_waits() -> None:
    scene = Scene(s=1)
    scene.E("e", lambda tx: tx.get(S), debounce=0.05)
    scene.rt.close()
    scene.clock.advance(1.0)
    assert scene.runs["e"] == 0


def test_GATE_006_after_the_end_no_wake_can_be_armed() -> None:
    """White box: what invalidates the node, and what sets its gate, comes to the core when the runtime is closed already."""
    scene = Scene(s=1)
    node = scene.E("e", lambda tx: tx.get(S), debounce=0.05)
    shared, record = parts(scene.rt), scene.record("e")
    assert scene.clock.next_due() == 0.05
    scene.rt.close()
    assert scene.clock.next_due() is None
    shared.core.gates.invalidated(record, scene.clock.now())
    assert (shared.core.idle.wake(0.0), shared.loop.due(), scene.clock.next_due()) == (0.05, None, None)
    for setter in (scene.rt.set_debounce, scene.rt.set_throttle):
        with pytest.raises(weft.Misuse, match="closed"):
            setter(node, 0.01)
    scene.clock.advance(1.0)
    assert (scene.runs["e"], scene.clock.next_due()) == (0, None)


def test_DEB_012_a_fresh_node_has_no_debounce() -> None:
    scene = Scene()
    assert scene.C("c", OC, lambda tx: 1).view().debounce is None
    assert scene.E("e", lambda tx: None).view().debounce is None


def run_times(scene: Scene, times: int) -> None:
    for value in range(times):
        scene.commit(s=value)
        scene.idle(gated=True)


def test_DEB_013_a_slow_computation_is_never_debounced_by_itself() -> None:
    scene = Scene()
    scene.C("c", OC, lambda tx: scene.spend(0.06) and tx.get(S))
    scene.sink(OC)
    run_times(scene, 4)
    assert (scene.runs["c"], scene.rt.node("c").debounce) == (4, None)


def test_DEB_015_a_slow_effect_gets_a_debounce_unless_it_opts_out() -> None:
    scene = Scene(s=-1)
    scene.E("slow", lambda tx: scene.spend(0.06) and tx.get(S))
    scene.E("opted-out", lambda tx: scene.spend(0.06) and tx.get(S), auto_debounce=False)
    scene.E("set", lambda tx: scene.spend(0.06) and tx.get(S))
    scene.rt.set_auto_debounce("set", False)
    run_times(scene, 2)
    assert scene.rt.node("slow").debounce is None
    run_times(scene, 2)
    assert scene.rt.node("slow").debounce == 0.1
    assert scene.rt.node("opted-out").debounce is None
    assert scene.rt.node("set").debounce is None


def test_DEB_016_fast_nodes_get_none() -> None:
    scene = Scene(s=-1)
    scene.E("e", lambda tx: scene.spend(0.049) and tx.get(S))
    scene.C("c", OC, lambda tx: tx.get(S))
    scene.sink(OC)
    run_times(scene, 6)
    assert scene.runs["e"] >= 5
    assert scene.rt.node("e").debounce is None
    assert scene.rt.node("c").debounce is None


def test_DEB_a_debounced_effect_waits_until_it_is_quiet() -> None:
    scene = Scene(s=0)
    seen: list[int] = []
    scene.E("e", lambda tx: seen.append(tx[S]), debounce=0.05)
    scene.advance(50)
    assert seen == [0]
    for value in (1, 2, 3):
        scene.commit(s=value)
        scene.advance(40)
    assert seen == [0]
    scene.advance(10)
    assert seen == [0, 3]


def test_DEB_max_wait_bounds_a_debounce_that_is_never_quiet() -> None:
    scene = Scene(s=0)
    scene.E("e", lambda tx: tx.get(S), debounce=0.05, max_wait=0.1)
    scene.advance(50)
    assert scene.runs["e"] == 1
    for value in range(1, 7):
        scene.commit(s=value)
        scene.advance(30)
    assert scene.runs["e"] == 2


def test_DEB_a_clock_names_what_is_debounced() -> None:
    scene = Scene("memory:", weft.VirtualClock(autojump=False), s=1)
    scene.E("e", lambda tx: tx.get(S), debounce=0.05)
    with pytest.raises(weft.Stuck, match=r"0\.05.*\be\b"):
        scene.rt.idle(gated=True)
