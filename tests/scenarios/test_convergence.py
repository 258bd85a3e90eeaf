"""Scenarios CONV: cycles are bounded, chains are not, and the statistics tell what ran."""
from __future__ import annotations

from typing import Any

import pytest
import weft
from harness.scene import Scene, cells
from weft import Tx

A, B, Bc, C, D, N, OC, OUT, S, X = cells("A B Bc C d n o out s x")


def test_CONV_001_a_converging_cycle_of_two_makes_progress_and_settles() -> None:
    scene = Scene(A=1, Bc=0, out=0)
    scene.C("a", Bc, lambda tx: tx[A] + 1, reads=[A])

    def b(tx: Tx) -> None:
        if tx[Bc] < 5:
            tx.set(A, tx[Bc])

    scene.C("b", None, b, reads=[Bc], writes=[A])
    scene.E("e", lambda tx: tx.set(OUT, tx[Bc]))
    scene.idle(gated=True)
    assert (scene.get("A"), scene.get("Bc"), scene.get("out")) == (4, 5, 5)
    assert dict(scene.runs) == {"a": 4, "b": 4, "e": 4}


def test_CONV_002_a_cycle_that_diverges_for_ever_is_bounded_and_idle_still_resolves() -> None:
    scene = Scene(A=0, Bc=0)
    nodes = [scene.C("a", A, lambda tx: tx[Bc] + 1), scene.C("b", Bc, lambda tx: tx[A] + 1), scene.E("e", lambda tx: tx.set(OUT, tx[Bc]))]
    scene.idle(gated=True)
    assert 0 < scene.runs["a"] <= 30
    assert 0 < scene.runs["b"] <= 30
    for node in nodes:
        node.cancel()
    scene.order()
    scene.advance(10_000)
    scene.idle(gated=True)
    assert scene.order() == []


def test_CONV_002_work_goes_on_behind_the_backoff() -> None:
    scene = Scene(A=0, Bc=0)
    scene.C("a", A, lambda tx: tx[Bc] + 1)
    scene.C("b", Bc, lambda tx: tx[A] + 1)
    scene.E("e", lambda tx: tx.set(OUT, tx[Bc]))
    scene.idle()
    first = scene.runs["a"]
    assert first <= 10
    scene.advance(251)
    assert first < scene.runs["a"] <= 2 * 10
    with pytest.raises(weft.NotSettled):
        scene.rt.pull(Bc)


def test_CONV_005_a_declared_chain_deeper_than_the_cap_settles_in_one_ordered_pass() -> None:
    xs = cells(" ".join(f"x{i}" for i in range(13)))
    scene = Scene(**{f"x{i}": 0 for i in range(13)})
    for i in range(12):
        scene.C(f"c{i}", xs[i + 1], lambda tx, i=i: tx[xs[i]] + 1, reads=[xs[i]])  # type: ignore[misc]
    scene.E("e", lambda tx: tx.get(xs[12]), reads=[xs[12]])
    passes = scene.passes()
    scene.commit(x0=5)
    scene.idle()
    assert scene.get("x12") == 17
    assert set(scene.runs.values()) == {1}
    assert [(end.iterations, end.deferred) for end in passes] == [(1, ())]
    assert scene.errors == []
    scene.commit(x0=6)
    scene.idle()
    assert scene.get("x12") == 18
    assert set(scene.runs.values()) == {2}
    assert [end.iterations for end in passes] == [1, 1]


def test_CONV_007_a_ring_of_three_converges_under_successive_pulls() -> None:
    scene = Scene(A=0, B=0, C=0)

    def a(tx: Tx) -> None:
        if tx[C] < 3:
            tx.set(A, tx[C] + 1)

    scene.C("a", None, a, writes=[A])
    scene.pull(A)
    scene.C("b", B, lambda tx: tx[A])
    scene.pull(B)
    scene.C("c", C, lambda tx: tx[B])
    assert scene.pull(C) == 3
    assert sum(scene.runs.values()) <= 20


@pytest.mark.parametrize(("first", "then", "results"), [(0, 5, (0, 10)), (1, 9, (2, 18))])
def test_CONV_008_registering_again_with_a_changed_source_runs_once_and_settles(first: int, then: int, results: tuple[int, int]) -> None:
    scene = Scene(n=first)
    scene.C("c", D, lambda tx: tx[N] * 2)
    assert scene.pull(D) == results[0]
    scene.commit(n=then)
    scene.C("c", D, lambda tx: tx[N] * 2)
    assert scene.pull(D) == results[1]
    assert scene.runs["c"] == 2


def test_CONV_011_cyclic_and_acyclic_work_side_by_side() -> None:
    ca, cb = cells("ca0 cb")
    scene = Scene(s=1, ca0=1)
    scene.C("ac", X, lambda tx: tx[S] * 2)
    assert scene.pull(X) == 2
    scene.C("ca", cb, lambda tx: tx[ca])
    scene.pull(cb)

    def back(tx: Tx) -> None:
        if tx[cb] < 5:
            tx.set(ca, tx[cb])

    scene.C("cb'", None, back, writes=[ca])
    for _ in range(11):
        assert scene.pull(cb) == 1
    assert (scene.get("x"), scene.runs["ac"]) == (2, 1)
    assert scene.runs["ca"] + scene.runs["cb'"] <= 6


def test_CONV_015_statistics_of_a_first_run() -> None:
    scene = Scene(s=1)
    scene.C("c", OC, lambda tx: scene.spend(0.01) and tx[S])
    scene.pull(OC)
    view = scene.rt.node("c")
    assert view.runs == 1
    assert (view.mean_seconds, view.last_run_at) == pytest.approx((0.01, 0.01))


def test_CONV_016_statistics_accumulate() -> None:
    scene = Scene(s=1)
    took = iter([0.01, 0.03])
    scene.C("c", OC, lambda tx: scene.spend(next(took)) and tx[S])
    scene.pull(OC)
    scene.commit(s=2)
    scene.pull(OC)
    view = scene.rt.node("c")
    assert view.runs == 2
    assert (view.mean_seconds, view.last_run_at) == pytest.approx((0.02, 0.04))


def test_CONV_017_a_node_that_is_not_there_has_no_statistics() -> None:
    with pytest.raises(weft.WeftError, match="nobody"):
        Scene().rt.node("nobody")


def test_CONV_018_a_throwing_run_is_counted_and_reported() -> None:
    scene = Scene(s=1)

    def e(tx: Tx) -> Any:
        tx.get(S)
        raise ValueError("broken")

    scene.E("e", e)
    scene.idle()
    assert (scene.runs["e"], scene.rt.node("e").runs) == (1, 1)
    assert [(error.code, error.message, error.where) for error in scene.errors] == [("ValueError", "broken", "e")]
    error = scene.rt.node("e").error
    assert error is not None
    assert error.message == "broken"
    scene.commit(s=2)
    scene.idle()
    assert (scene.runs["e"], len(scene.errors)) == (2, 2)


def test_CONV_019_the_mean_over_three_registrations_of_an_effect() -> None:
    scene = Scene()
    for seconds in (0.01, 0.02, 0.03):
        scene.E("e", lambda tx, seconds=seconds: scene.clock.advance(seconds))  # type: ignore[misc]
        scene.idle()
    view = scene.rt.node("e")
    assert view.runs == 3
    assert view.mean_seconds == pytest.approx(0.02)


def test_CONV_020_statistics_survive_registering_again_and_a_self_reader_does_not_loop() -> None:
    scene = Scene(x=0)
    scene.C("c", X, lambda tx: tx[X] + 1, reads=[X])
    assert (scene.pull(X), scene.rt.node("c").runs) == (1, 1)
    scene.commit(x=10)
    scene.C("c", X, lambda tx: tx[X] + 1, reads=[X])
    assert scene.pull(X) == 11
    assert scene.rt.node("c").runs == scene.runs["c"] == 2
