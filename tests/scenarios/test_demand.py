"""Scenarios SURF and CUT: demand that arrives, leaves and returns; provisional demand."""
from __future__ import annotations

from harness.parts import parts
from harness.scene import Scene, cells
from weft import Tx
from weft.scheduler.core import Registration
from weft.scheduler.records import Kind, Surface

CO, CS, IC, M, OC, S, TRIG = cells("co cs i m o s trig")


def test_SURF_002_a_late_sink_wakes_the_dirty_writer() -> None:
    scene = Scene(s=1)
    scene.C("w", OC, lambda tx: tx[S] * 10, reads=[S])
    scene.commit(s=3)
    scene.idle()
    assert scene.runs["w"] == 0
    told = scene.sink(OC)
    scene.idle()
    assert told[-1] == 30
    assert (scene.runs["w"], scene.get("o")) == (1, 30)


def test_SURF_003_demand_that_returns_through_a_clean_middle_node_reaches_the_dirty_writer() -> None:
    scene = Scene(s=1)
    scene.C("w1", M, lambda tx: tx[S] * 10, reads=[S])
    scene.C("w2", OC, lambda tx: tx[M], reads=[M])
    told: list[object] = []
    sink = scene.rt.sink(OC, told.append)
    scene.idle()
    assert told[-1] == 10
    sink.cancel()
    assert scene.runs == {"w1": 1, "w2": 1}
    scene.commit(s=2)
    scene.idle()
    assert (dict(scene.runs), scene.get("o")) == ({"w1": 1, "w2": 1}, 10)
    assert (scene.status("w1"), scene.status("w2")) == ("invalid", "clean")
    again = scene.sink(OC)
    scene.idle()
    assert again[-1] == 20
    assert (dict(scene.runs), scene.get("o")) == ({"w1": 2, "w2": 2}, 20)


def restore(scene: Scene, id: str, kind: Kind, surface: Surface) -> None:
    """White box: register again with the reads of its last run, as a resumed node is."""
    shared = parts(scene.rt)
    record = scene.record(id)
    what = Registration(kind, record.space, surface, spec=record.spec, restored=tuple(record.reads))
    shared.replica.register(id, shared.core.next_generation(), what)
    scene.rt.check()


def test_SURF_005_a_dormant_invalid_computation_restored_as_an_effect_runs_itself() -> None:
    scene = Scene(s=1)
    scene.C("c", OC, lambda tx: tx[S] * 10)
    sink = scene.rt.sink(OC, lambda value: None)
    scene.idle()
    assert (scene.runs["c"], scene.get("o")) == (1, 10)
    sink.cancel()
    scene.commit(s=2)
    scene.idle()
    assert (scene.runs["c"], scene.get("o"), scene.status("c")) == (1, 10, "invalid")
    assert (scene.pull(OC), scene.runs["c"]) == (20, 2)
    scene.commit(s=3)
    assert scene.status("c") == "invalid"
    restore(scene, "c", Kind.EFFECT, Surface())
    scene.idle()
    assert (scene.runs["c"], scene.get("o")) == (3, 30)


def test_SURF_006_a_restored_materializer_wakes_its_dirty_writer() -> None:
    scene = Scene(s=1)
    scene.C("w", IC, lambda tx: tx[S] * 10)
    materializer = scene.C("m", None, lambda tx: tx.set(OC, tx[IC]), reads=[IC], envelope=[OC])
    scene.idle()
    assert (dict(scene.runs), scene.get("o")) == ({"w": 1, "m": 1}, 10)
    record = scene.record("m")
    reads = tuple(record.reads)
    materializer.cancel()
    scene.commit(s=2)
    scene.idle()
    assert (scene.runs["w"], scene.get("i"), scene.status("w")) == (1, 10, "invalid")
    shared = parts(scene.rt)
    what = Registration(Kind.COMPUTATION, record.space, record.surface, spec=record.spec, restored=reads)
    shared.replica.register("m", shared.core.next_generation(), what)
    scene.idle()
    assert (dict(scene.runs), scene.get("o")) == ({"w": 2, "m": 2}, 20)


def test_CUT_005_one_run_of_the_effect_for_each_changed_output() -> None:
    scene = Scene(s=0)
    scene.C("c", OC, lambda tx: tx[S] * 10)
    scene.E("e", lambda tx: tx.get(OC))
    scene.idle()
    scene.runs.clear()
    for i in (1, 2, 3):
        scene.commit(s=i)
        scene.idle()
        assert (scene.get("o"), dict(scene.runs)) == (10 * i, {"c": i, "e": i})


def test_CUT_006_provisional_demand_lasts_through_the_creating_pass_then_real_demand_takes_over() -> None:
    scene = Scene(trig=0, cs=1, co=0)
    seen: list[object] = []
    a = scene.spec("a", CO, lambda tx: tx[CS] * 10)
    b = scene.effect("b", lambda tx: seen.append(tx[CO]))

    def p(tx: Tx) -> None:
        tx.get(TRIG)
        if scene.runs["p"] == 1:
            tx.register(a)
            tx.register(b)

    scene.E("p", p)
    scene.idle()
    assert (scene.runs["a"], seen[-1]) == (1, 10)
    scene.commit(cs=2)
    scene.idle()
    assert (scene.runs["a"], seen[-1]) == (2, 20)


def test_CUT_007_a_debounced_child_keeps_provisional_demand_until_its_first_run_and_the_wide_idle_waits_for_it() -> None:
    scene = Scene(s=3)
    k = scene.spec("k", OC, lambda tx: tx[S] * 10, debounce=0.2)
    scene.E("p", lambda tx: tx.register(k))
    scene.idle(gated=True)
    assert scene.clock.now() >= 0.18
    assert (scene.runs["k"], scene.get("o")) == (1, 30)


def test_CUT_008_provisional_demand_expires_after_the_first_run() -> None:
    scene = Scene(s=3)
    k = scene.spec("k", OC, lambda tx: tx[S] * 10)
    scene.E("p", lambda tx: tx.register(k))
    scene.idle()
    assert (scene.runs["k"], scene.get("o")) == (1, 30)
    scene.commit(s=4)
    scene.idle()
    assert (scene.runs["k"], scene.get("o")) == (1, 30)


def test_CUT_009_declared_reads_alone_never_trigger_a_node_that_never_ran() -> None:
    scene = Scene(s=1, o=0)
    scene.C("w", OC, lambda tx: tx[S] * 10, reads=[S])
    scene.idle()
    assert (scene.status("w"), scene.runs["w"]) == ("never-ran", 0)
    assert [read.entity.id for read in scene.record("w").surface.declared] == ["s"]
    assert scene.record("w").causes == {}
    scene.commit(s=2)
    scene.idle()
    assert (scene.record("w").causes, scene.runs["w"], scene.get("o")) == ({}, 0, 0)


def test_CUT_010_a_computation_may_become_an_effect_never_the_other_way() -> None:
    scene = Scene(s=1)
    first = scene.C("n", OC, lambda tx: tx[S])
    second = scene.E("n", lambda tx: tx.get(S))
    assert scene.rt.node("n").kind == "effect"
    scene.idle()
    assert scene.runs["n"] == 1
    first.cancel()
    second.cancel()
    scene.idle()
