"""Scenarios ORD: the order of runs, parents and children, and what the counters say of it."""
from __future__ import annotations

from harness.scene import Scene, cells
from weft import Tx

A, X, N, OC, S, SRC, TOGGLE = cells("A X n o s src toggle")


def test_ORD_001_a_surface_equals_its_declaration_right_after_registration() -> None:
    scene = Scene()
    scene.C("c", OC, lambda tx: 1, writes=[X])
    assert scene.rt.node("c").outputs == (OC, X)


def test_ORD_002_a_surface_is_unchanged_after_a_run_that_wrote_a_different_cell() -> None:
    scene = Scene(s=1)
    scene.C("c", None, lambda tx: tx.set(X, tx[S]), writes=[OC])
    scene.pull(OC)
    assert (scene.runs["c"], scene.get("X")) == (1, 1)
    assert scene.rt.node("c").outputs == (OC,)


def test_ORD_003_a_surface_is_unchanged_after_a_run_that_did_nothing() -> None:
    scene = Scene()
    scene.C("c", None, lambda tx: None, writes=[OC])
    scene.pull(OC)
    assert scene.runs["c"] == 1
    assert scene.rt.node("c").outputs == (OC,)


def test_ORD_006_a_surface_stays_at_the_collection_when_a_run_writes_one_child() -> None:
    scene = Scene(o={"items": [0, 0]})
    scene.C("c", None, lambda tx: tx.set(OC["items"][1], 7), writes=[OC["items"]])
    assert scene.pull(OC["items"][1]) == 7
    assert scene.rt.node("c").outputs == (OC["items"],)


def test_ORD_007_two_writers_of_one_address_run_in_the_order_in_which_they_were_registered() -> None:
    scene = Scene(s=0)
    scene.E("A", lambda tx: tx.set(X, ("A", tx[S])[0]))
    scene.E("B", lambda tx: tx.set(X, ("B", tx[S])[0]))
    scene.idle()
    assert (scene.order(), scene.get("X")) == (["A", "B"], "B")
    scene.E("A", lambda tx: tx.set(X, ("A", tx[S])[0]))  # arrives after B now, and keeps its place
    scene.commit(s=1)
    scene.idle()
    assert (scene.order(), scene.get("X")) == (["A", "B"], "B")


def test_ORD_010_a_first_demanded_run_is_made_and_not_skipped() -> None:
    scene = Scene(s=1)
    scene.C("c", OC, lambda tx: tx[S])
    assert scene.pull(OC) == 1
    view = scene.rt.node("c")
    assert (view.runs, view.skipped) == (1, 0)


def test_ORD_011_the_counter_of_runs_increases_when_a_pull_is_served() -> None:
    scene = Scene(s=1)
    scene.C("c", OC, lambda tx: tx[S])
    before = scene.rt.stats()["executed"]
    scene.pull(OC)
    assert scene.rt.stats()["executed"] == before + 1


def test_ORD_012_a_foreign_write_triggers_a_read_write_effect_exactly_once() -> None:
    scene = Scene(n=0)
    scene.E("inc", lambda tx: tx.set(N, tx[N] + 1))
    scene.idle()
    scene.commit(n=10)
    scene.idle()
    scene.idle()
    assert (scene.runs["inc"], scene.get("n")) == (2, 11)


def test_ORD_013_registering_again_makes_it_run_again_on_the_next_pull() -> None:
    scene = Scene(s=1)
    scene.C("c", OC, lambda tx: tx[S])
    scene.pull(OC)
    scene.C("c", OC, lambda tx: tx[S] * 2)
    assert (scene.pull(OC), scene.runs["c"]) == (2, 2)
    assert scene.rt.node("c").skipped == 0


def test_ORD_014_counters_are_reset_to_zero() -> None:
    scene = Scene(s=1)
    scene.E("e", lambda tx: tx.get(S))
    scene.idle()
    assert scene.rt.stats()["executed"] == 1
    scene.rt.reset_stats()
    assert scene.rt.stats()["executed"] == 0
    assert scene.rt.node("e").runs == 0


def test_ORD_015_parent_before_child_on_creation() -> None:
    scene = Scene()
    child = scene.effect("child", lambda tx: None)
    scene.E("parent", lambda tx: tx.register(child))
    scene.idle()
    assert scene.order() == ["parent", "child"]


def test_ORD_016_a_child_removed_by_its_parent_in_the_same_pass_does_not_run() -> None:
    scene = Scene(toggle=True)
    child = scene.spec("child", None, lambda tx: tx.get(TOGGLE))

    def parent(tx: Tx) -> None:
        if tx[TOGGLE]:
            tx.register(child)
        else:
            scene.rt.remove("child")

    scene.E("parent", parent, reads=[TOGGLE])
    scene.idle()
    assert scene.order() == ["parent", "child"]
    scene.commit(toggle=False)
    scene.idle()
    assert scene.order() == ["parent"]


def test_ORD_016_even_an_effect_that_is_invalid_too() -> None:
    scene = Scene(toggle=True)
    child = scene.effect("child", lambda tx: tx.get(TOGGLE))

    def parent(tx: Tx) -> None:
        if tx[TOGGLE]:
            tx.register(child)
        else:
            scene.rt.remove("child")

    scene.E("parent", parent, reads=[TOGGLE])
    scene.idle()
    assert scene.order() == ["parent", "child"]
    scene.commit(toggle=False)
    scene.idle()
    assert scene.order() == ["parent"]


def test_ORD_017_parent_before_child_when_both_are_invalidated_by_the_same_cell() -> None:
    scene = Scene(src=1)
    child = scene.effect("child", lambda tx: tx.get(SRC))

    def parent(tx: Tx) -> None:
        tx.get(SRC)
        if scene.runs["parent"] == 1:
            tx.register(child)

    scene.E("parent", parent)
    scene.idle()
    assert scene.order() == ["parent", "child"]
    scene.commit(src=2)
    scene.idle()
    assert scene.order() == ["parent", "child"]


def test_ORD_018_three_generations_keep_the_order_of_creation_when_they_run_again() -> None:
    scene = Scene(src=1)
    grandchild = scene.effect("grandchild", lambda tx: tx.get(SRC))

    def register_once(id: str, spec: object) -> object:
        def body(tx: Tx) -> None:
            tx.get(SRC)
            if scene.runs[id] == 1:
                tx.register(spec)  # type: ignore[arg-type]

        return body

    child = scene.effect("child", register_once("child", grandchild))  # type: ignore[arg-type]
    scene.E("parent", register_once("parent", child))  # type: ignore[arg-type]
    scene.idle()
    assert scene.order() == ["parent", "child", "grandchild"]
    scene.commit(src=2)
    scene.idle()
    assert scene.order() == ["parent", "child", "grandchild"]


def test_ORD_019_when_parent_and_child_are_removed_neither_runs_later() -> None:
    scene = Scene(src=1)
    child = scene.spec("child", None, lambda tx: tx.get(SRC), reads=[SRC])

    def parent(tx: Tx) -> None:
        tx.get(SRC)
        tx.register(child)

    node = scene.E("parent", parent, reads=[SRC])
    scene.idle()
    assert scene.order() == ["parent", "child"]
    scene.rt.remove("child")
    node.cancel()
    scene.commit(src=2)
    scene.idle()
    assert scene.order() == []
