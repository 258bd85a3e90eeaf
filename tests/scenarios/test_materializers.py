"""Scenarios MAT: standing demand at idle priority, promotion, envelopes that order and nothing else."""
from __future__ import annotations

import weft
from harness.scene import Scene, cells
from weft import Tx

S, T, OC, SIDE, TRIG, U = cells("s t o side trig u")


def materializer(scene: Scene) -> None:
    scene.C("m", None, lambda tx: tx.set(T, {"value": tx[S]}), envelope=[T])


def test_MAT_001_a_materializer_runs_with_no_reader_at_registration_and_on_every_change() -> None:
    scene = Scene(s=1, t={"value": 0, "stable": 0})
    scene.C("m", None, lambda tx: tx.set(T, {"value": tx[S], "stable": 0}), envelope=[T])
    scene.idle()
    assert (scene.runs["m"], scene.get("t")) == (1, {"value": 1, "stable": 0})
    scene.commit(s=2)
    scene.idle()
    assert (scene.runs["m"], scene.get("t")) == (2, {"value": 2, "stable": 0})


def test_MAT_002_a_materializer_in_its_smallest_form() -> None:
    scene = Scene(s=1)
    materializer(scene)
    scene.idle()
    scene.commit(s=2)
    scene.idle()
    assert (scene.runs["m"], scene.get("t")) == (2, {"value": 2})


def test_MAT_003_ordinary_work_first_then_the_materializer_then_the_readers_it_changed() -> None:
    scene = Scene(s=0, o=0, side={"value": 0}, u=0)

    def m(tx: Tx) -> int:
        tx.set(SIDE, {"value": tx[S]})
        value: int = tx[S]
        return value

    seen: list[object] = []
    scene.C("m", OC, m, envelope=[SIDE])
    scene.E("eo", lambda tx: seen.append(tx.get(OC)))
    scene.E("eu", lambda tx: tx.get(U))
    scene.idle()
    scene.order()
    del seen[:]
    passes = scene.passes()
    scene.commit(s=1, u=1)
    scene.idle()
    assert seen == [1]
    assert scene.order() == ["eu", "m", "eo"]
    assert [(end.iterations, end.runs) for end in passes] == [(2, 3)]


def test_MAT_004_an_envelope_is_no_reader_edge() -> None:
    scene = Scene(s=1, t={"changed": 0, "stable": 0})
    materializer(scene)
    scene.E("changed", lambda tx: tx.get(T["changed"]))
    scene.E("stable", lambda tx: tx.get(T["stable"]))
    scene.idle()
    assert scene.rt.node("m").dependents == ()
    assert scene.rt.node("m").materializer


def test_MAT_005_invalidations_coalesce_behind_a_debounce_and_the_wide_idle_waits_for_it() -> None:
    scene = Scene(s=0)
    materializer(scene)
    scene.rt.set_debounce("m", 0.02)
    scene.idle(gated=True)
    assert scene.runs["m"] == 1
    for value in (1, 2, 3):
        scene.commit(s=value)
    scene.idle()
    assert scene.runs["m"] == 1  # what waits for a time does not hold idle
    scene.idle(gated=True)
    assert (scene.runs["m"], scene.get("t")) == (2, {"value": 3})


def test_MAT_006_rewriting_the_whole_object_wakes_only_the_reader_whose_key_changed() -> None:
    scene = Scene(s=0, t={f"k{i}": 0 for i in range(12)})
    scene.C("m", None, lambda tx: tx.set(T, {**tx[T], "k7": tx[S]}), envelope=[T])
    for i in range(12):
        scene.E(f"k{i}", lambda tx, key=f"k{i}": tx.get(T[key]))  # type: ignore[misc]
    scene.idle()
    scene.order()
    scene.commit(s=7)
    scene.idle()
    assert scene.order() == ["m", "k7"]


def test_MAT_007_promotion_under_demand_the_effect_sees_the_fresh_value_once() -> None:
    scene = Scene(s=1, trig=0, t={"value": 1})
    materializer(scene)
    seen: list[object] = []

    def e(tx: Tx) -> None:
        tx.get(TRIG)
        seen.append(tx[T["value"]])

    scene.E("e", e)
    scene.idle()
    del seen[:]
    scene.commit(s=2)
    scene.commit(trig=1)
    scene.drain()
    scene.idle()
    assert seen == [2]


def test_MAT_008_promotion_under_an_events_closure() -> None:
    scene = Scene(s=1)
    materializer(scene)
    stream: weft.Stream[int] = weft.stream("ev")
    seen: list[object] = []

    @weft.handler(stream, reads=[T["value"]])
    def h(tx: Tx, event: int) -> None:
        seen.append(tx[T["value"]])

    scene.rt.load(h)
    scene.idle()
    scene.commit(s=2)
    scene.rt.send(stream, 1)
    scene.idle()
    assert seen == [2]
