"""Scenarios EFF and SURF-007: kinds of nodes, and the surface that they write."""
from __future__ import annotations

from harness.scene import Scene, cells
from weft import Tx

D, S, DECL, UNDECL = cells("d s decl undecl")


def kinds(scene: Scene) -> tuple[int, int]:
    stats = scene.rt.stats()
    return stats["computations"], stats["effects"]


def test_EFF_001_a_computation_counts_as_a_computation() -> None:
    scene = Scene()
    scene.C("c", D, lambda tx: 1)
    assert scene.rt.node("c").kind == "computation"
    assert kinds(scene) == (1, 0)


def test_EFF_002_an_effect_counts_as_an_effect_not_as_a_computation() -> None:
    scene = Scene()
    scene.E("e", lambda tx: None)
    assert scene.rt.node("e").kind == "effect"
    assert kinds(scene) == (0, 1)


def test_EFF_003_removal_decrements_the_right_counter_only() -> None:
    scene = Scene()
    computation, effect = scene.C("c", D, lambda tx: 1), scene.E("e", lambda tx: None)
    assert kinds(scene) == (1, 1)
    effect.cancel()
    assert kinds(scene) == (1, 0)
    computation.cancel()
    assert kinds(scene) == (0, 0)


def test_EFF_004_a_sink_is_an_effect() -> None:
    scene = Scene(s=1)
    node = scene.rt.sink(S, lambda value: None)
    assert kinds(scene) == (0, 1)
    assert node.view().kind == "effect"
    node.cancel()
    assert kinds(scene) == (0, 0)


def test_EFF_008_later_observed_writes_do_not_extend_the_surface() -> None:
    data = cells("data")[0]
    scene = Scene(s=1, data={"foo": 0, "bar": 0})

    scene.E("e", lambda tx: tx.get(data["bar"]))


    def c(tx: Tx) -> None:
        tx.set(data["foo"], tx[S])
        tx.set(data["bar"], tx[S])

    scene.C("c", None, c, writes=[data["foo"]])
    sink = scene.rt.sink(data["foo"], lambda value: None)
    scene.idle()
    assert scene.runs["c"] == 1
    assert "e" not in scene.rt.node("c").dependents
    sink.cancel()
    assert scene.rt.node("c").outputs == (data["foo"],)


def test_EFF_010_a_surface_does_not_move_when_a_run_writes_elsewhere() -> None:
    a, b = cells("A Bc")
    scene = Scene(s=1, A=0)
    scene.E("e", lambda tx: tx.get(a))
    scene.C("c", None, lambda tx: tx.set(b, tx[S]), writes=[a])
    scene.idle()
    assert (scene.runs["c"], scene.get("Bc")) == (1, 1)
    assert scene.rt.node("c").dependents == ("e",)
    assert scene.rt.node("c").outputs == (a,)


def test_EFF_011_an_attempted_write_is_no_evidence_of_a_dependency() -> None:
    scene = Scene(s=1, d=5)
    scene.E("e", lambda tx: tx.get(D))

    def c(tx: Tx) -> object:
        tx.set(D, 5)
        return tx[S]

    scene.C("c", DECL, c)
    scene.pull(DECL)
    assert scene.runs == {"e": 1, "c": 1}
    assert "e" not in scene.rt.node("c").dependents
    assert scene.rt.violations() == []


def test_SURF_007_writing_outside_the_declared_surface_is_allowed_and_diagnosed_once() -> None:
    scene = Scene(s=1)
    scene.C("w", None, lambda tx: tx.set(UNDECL, tx[S]), writes=[DECL])
    scene.commit(s=2)
    scene.sink(DECL)
    scene.idle()
    assert (scene.runs["w"], scene.get("undecl")) == (1, 2)
    assert len(scene.rt.violations()) == 1
    scene.commit(s=3)
    scene.idle()
    assert len(scene.rt.violations()) == 1
