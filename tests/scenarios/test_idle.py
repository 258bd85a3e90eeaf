"""Scenarios IDLE: what holds idle(), and what releases it."""
from __future__ import annotations

import pytest
import weft
from harness.scene import Scene, cells
from weft import Tx

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
