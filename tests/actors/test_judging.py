"""I4 and I9 are judged on what really ran, from the first check on: a lane and a pass that break them are found out, whatever is traced."""
from __future__ import annotations

import pytest
import weft
from harness.parts import parts
from harness.scene import Scene, cells
from weft.actors.lane import InlineLane
from weft.scheduler.records import Node
from weft.scheduler.settle import Settle

A, M, OUT, S = cells("a m o s")
CLICK = weft.stream("click")


def clicking(scene: Scene) -> None:
    """A handler that is the only reader of the last of two computations."""
    scene.C("c1", M, lambda tx: tx[S] * 2)
    scene.C("c2", OUT, lambda tx: tx[M] + 1)

    @weft.handler(CLICK, reads=[OUT])
    def on_click(tx: weft.Tx, event: int) -> None:
        tx.set(A, tx[OUT] + event)

    scene.rt.load([on_click])
    scene.pull(OUT)
    scene.commit(s=10)


def test_I4_a_lane_that_does_not_wait_for_what_is_above_the_event_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(s=1)
    clicking(scene)
    monkeypatch.setattr(InlineLane, "_consistent", lambda self, head, now: True)
    scene.rt.send(CLICK, 5).result()
    with pytest.raises(weft.WeftError, match=r"I4: event \w+ was handled while c1 above it was not clean"):
        scene.rt.check()


def test_I4_holds_of_the_lane() -> None:
    scene = Scene(s=1)
    clicking(scene)
    scene.rt.send(CLICK, 5).result()
    scene.rt.check()
    assert scene.get("a") == 26


def diamond(scene: Scene) -> None:
    scene.C("a", A, lambda tx: tx[S] + 1)
    scene.E("e", lambda tx: (tx[S], tx[A]))
    scene.idle()
    scene.commit(s=10)


def test_I9_a_pass_that_runs_the_reader_first_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(s=1)
    diamond(scene)

    def from_behind(self: Settle) -> Node | None:
        return self._queue.pop(self._queue.index(max(self._queue)))[3] if self._queue else None

    monkeypatch.setattr(Settle, "_pop", from_behind)
    scene.rt.idle()
    with pytest.raises(weft.WeftError, match=r"I9: e#.* ran before a, which it reads from"):
        scene.rt.check()


def test_I9_holds_of_the_pass() -> None:
    scene = Scene(s=1)
    diamond(scene)
    scene.idle()
    assert scene.order() == ["e", "a", "e", "a", "e"]


def test_who_never_checks_does_not_pay_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with weft.Runtime(placement="inline", clock=weft.VirtualClock()) as rt:
        looking = parts(rt).looking
        monkeypatch.setattr(looking, "_late", lambda node, now: pytest.fail("looked up for nobody"))
        monkeypatch.setattr(looking, "_unclean", lambda reads: pytest.fail("looked up for nobody"))
        rt.set_trace("settle", True)

        @weft.computation(output=A)
        def add(tx: weft.Tx) -> int:
            return tx.get(S, 0)

        @weft.handler(CLICK)
        def on_click(tx: weft.Tx, event: int) -> None:
            tx.get(A)

        rt.load([add, on_click])
        rt.send(CLICK, 1).result()
        assert rt.pull(A) == 0
