"""Scenarios THR: at most so often, and never the first time."""
from __future__ import annotations

from harness.scene import Scene, cells

OC, R, S, X = cells("o r s x")


def test_THR_001_a_throttle_is_set_and_cleared_before_its_node_is_registered() -> None:
    scene = Scene()
    scene.rt.set_throttle("n", 0.2)
    scene.E("n", lambda tx: None)
    assert scene.rt.node("n").throttle == 0.2
    scene.rt.clear_throttle("n")
    assert scene.rt.node("n").throttle is None
    scene.rt.set_throttle("m", 0.2)
    scene.rt.clear_throttle("m")
    scene.E("m", lambda tx: None)
    assert scene.rt.node("m").throttle is None


def test_THR_002_setting_zero_clears() -> None:
    scene = Scene()
    node = scene.E("n", lambda tx: None)
    scene.rt.set_throttle(node, 0.2)
    assert node.view().throttle == 0.2
    scene.rt.set_throttle(node, 0)
    assert node.view().throttle is None


def test_THR_003_a_throttle_given_at_registration_can_be_read() -> None:
    scene = Scene()
    scene.C("c", OC, lambda tx: 1, throttle=0.2)
    assert scene.rt.node("c").throttle == 0.2


def test_THR_004_clearing_a_throttle_runs_pending_work_at_once() -> None:
    scene = Scene(s=1)
    seen: list[int] = []
    scene.E("e", lambda tx: seen.append(tx[S]))
    scene.idle()
    scene.rt.set_throttle("e", 30.0)
    scene.commit(s=2)
    scene.drain()
    assert seen == [1]
    scene.rt.clear_throttle("e")
    scene.idle()
    assert (seen, scene.clock.now()) == ([1, 2], 0.0)


def test_THR_005_a_recently_run_node_is_skipped_and_pull_returns_the_old_value_instead_of_waiting() -> None:
    scene = Scene(x=0)
    scene.C("c", X, lambda tx: tx[X] + 1, reads=[X])
    assert (scene.pull(X), scene.runs["c"]) == (1, 1)
    scene.rt.set_throttle("c", 0.5)
    scene.C("c", X, lambda tx: tx[X] + 1, reads=[X])
    assert (scene.pull(X), scene.runs["c"], scene.clock.now()) == (1, 1, 0.0)


def test_THR_007_a_throttled_computation_stays_invalid() -> None:
    scene = Scene(s=1)
    scene.C("c", R, lambda tx: tx[S] * 2)
    assert scene.pull(R) == 2
    scene.rt.set_throttle("c", 0.5)
    scene.commit(s=2)
    assert scene.pull(R) == 2
    assert (scene.status("c"), scene.runs["c"]) == ("invalid", 1)
    scene.advance(500)
    assert (scene.pull(R), scene.runs["c"]) == (4, 2)


def test_THR_009_a_parked_throttled_effect_does_not_spin_the_scheduler() -> None:
    scene = Scene(s=1)
    scene.E("e", lambda tx: tx.get(S), throttle=0.1)
    scene.idle()
    passes = scene.passes()
    for value in range(2, 12):
        scene.commit(s=value)
    scene.drain()
    assert passes == []
    scene.advance(99)
    assert (scene.runs["e"], passes) == (1, [])
    scene.advance(1)
    assert (scene.runs["e"], len(passes)) == (2, 1)
    assert scene.rt.node("e").skipped < 5


def test_THR_011_a_first_run_is_never_throttled() -> None:
    scene = Scene(s=1)
    scene.E("e", lambda tx: tx.get(S), throttle=30.0)
    scene.C("c", OC, lambda tx: tx[S], throttle=30.0)
    assert scene.pull(OC) == 1
    assert (scene.runs, scene.clock.now()) == ({"e": 1, "c": 1}, 0.0)


def test_THR_a_throttle_counts_from_the_end_of_the_run() -> None:
    scene = Scene(s=1)
    scene.E("e", lambda tx: scene.spend(0.05) and tx.get(S), throttle=0.1)
    scene.idle()
    scene.commit(s=2)
    scene.advance(99)
    assert scene.runs["e"] == 1
    scene.advance(1)
    assert scene.runs["e"] == 2
