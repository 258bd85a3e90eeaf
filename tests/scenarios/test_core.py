"""Scenarios CORE: what runs, in which order, and what counts as a read."""
from __future__ import annotations

from harness.scene import Scene, cells
from weft import Tx, link

A, B, C, D, E, N, R, S = cells("a b c d e n r s")


def test_CORE_002_registration_never_runs_a_computation_demand_does_once_with_the_latest_inputs() -> None:
    scene = Scene(a=1, b=2, c=0)
    scene.C("adder", C, lambda tx: tx[A] + tx[B], reads=[A, B])
    assert (scene.runs["adder"], scene.get("c")) == (0, 0)
    scene.commit(a=2)
    assert scene.pull(C) == 4
    assert scene.runs["adder"] == 1


def test_CORE_006_downstream_is_invalidated_at_commit_not_when_the_function_returns() -> None:
    scene = Scene(a=0, b=0, c=0)

    def mid(tx: Tx) -> int:
        value: int = tx[A]
        if value == 1:
            scene.clock.advance(0.025)
        return value

    scene.C("mid", B, mid, reads=[A])
    scene.E("sink", lambda tx: tx.set(C, tx[B]), reads=[B])
    assert scene.pull(C) == 0
    scene.commit(a=1)
    scene.idle()
    scene.advance(25)
    scene.idle()
    assert scene.get("c") == 1
    assert scene.runs == {"mid": 2, "sink": 2}


def test_CORE_009_the_cancel_handle_is_equivalent_to_removal() -> None:
    scene = Scene(a=1, b=2, c=0)
    adder = scene.C("adder", C, lambda tx: tx[A] + tx[B], reads=[A, B])
    scene.commit(a=2)
    assert (scene.pull(C), scene.runs["adder"]) == (4, 1)
    adder.cancel()
    scene.commit(a=3)
    assert (scene.pull(C), scene.runs["adder"]) == (4, 1)


def test_CORE_010_chain_order_and_precise_set_of_what_runs_again() -> None:
    scene = Scene(a=1, b=2, c=0, d=1, e=0)
    scene.E("adder1", lambda tx: tx.set(C, tx[A] + tx[B]))
    scene.pull(E)
    scene.E("adder2", lambda tx: tx.set(E, tx[C] + tx[D]))
    assert scene.pull(E) == 4
    assert (scene.order(), scene.get("c")) == (["adder1", "adder2"], 3)
    scene.commit(d=2)
    assert scene.pull(E) == 5
    assert (scene.order(), scene.get("c")) == (["adder2"], 3)
    scene.commit(a=2)
    assert scene.pull(E) == 6
    assert (scene.order(), scene.get("c")) == (["adder1", "adder2"], 4)


def test_CORE_011_an_effect_cycle_longer_than_one_budget_still_finishes_without_errors() -> None:
    scene = Scene(a=1, b=2, c=0, d=1, e=0)
    left = [11]

    def third(tx: Tx) -> None:
        left[0] -= 1
        e, b = tx[E], tx[B]
        if left[0]:
            tx.set(C, e + b)

    scene.E("E1", lambda tx: tx.set(C, tx[A] + tx[B]))
    scene.pull(E)
    scene.E("E2", lambda tx: tx.set(E, tx[C] + tx[D]))
    scene.pull(E)
    scene.E("E3", third)
    scene.pull(E)
    scene.idle(gated=True)
    scene.pull(E)
    assert (left, scene.runs["E3"]) == ([0], 11)
    assert (scene.get("c"), scene.get("e")) == (33, 34)
    assert scene.errors == []


def test_CORE_012_a_node_that_reads_and_writes_its_own_output_does_not_loop() -> None:
    scene = Scene(n=0, by=1)
    by = cells("by")[0]
    scene.E("inc", lambda tx: tx.set(N, tx[N] + tx[by]))
    assert [scene.pull(N), scene.pull(N)] == [1, 1]
    scene.commit(by=2)
    assert scene.pull(N) == 3
    assert (scene.runs["inc"], scene.errors) == (2, [])


def test_CORE_013_own_commit_ignored_foreign_commit_to_the_same_cell_honoured() -> None:
    scene = Scene(n=0, step=1)
    step = cells("step")[0]
    scene.E("inc", lambda tx: tx.set(N, tx[N] + tx[step]), reads=[N, step])
    scene.idle()
    assert (scene.runs["inc"], scene.get("n")) == (1, 1)
    scene.commit(n=10)
    scene.idle()
    assert (scene.runs["inc"], scene.get("n")) == (2, 11)


def test_CORE_014_an_effect_without_dependencies_runs_once() -> None:
    scene = Scene()
    scene.E("inc", lambda tx: None)
    scene.idle()
    scene.commit(a=1)
    scene.idle()
    assert scene.runs["inc"] == 1


def test_CORE_015_a_read_flagged_to_be_ignored_creates_no_dependency() -> None:
    scene = Scene(s={"value": 1}, r={"count": 0, "last": None})
    scene.E("t", lambda tx: tx.set(R, {"count": scene.runs["t"], "last": tx.get(S, track=False)}))
    for value in (1, 5, 10):
        scene.commit(s={"value": value})
        assert scene.pull(R) == {"count": 1, "last": {"value": 1}}
    assert scene.runs["t"] == 1


def test_CORE_018_setting_a_nested_object_logs_only_the_leaf_that_changed() -> None:
    scene = Scene(x={"nested": {"a": 1, "b": "hello"}})
    nested = cells("x")[0]["nested"]
    scene.E("a", lambda tx: tx.get(nested["a"]))
    scene.E("b", lambda tx: tx.get(nested["b"]))
    scene.idle()
    changed = scene.changes()
    scene.rt.set(nested, {"a": 1, "b": "world"})
    scene.idle()
    assert changed == ["x/nested/b"]
    assert scene.runs == {"a": 1, "b": 2}


def test_CORE_021_a_shallow_read_is_logged_as_shallow() -> None:
    scene = Scene(x={"value": {"nested": 1}})
    x = cells("x")[0]
    scene.E("t", lambda tx: tx.keys(x["value"]))
    scene.idle()
    assert scene.rt.node("t").reads == ((x["value"], "shallow"),)


def test_CORE_022_reading_a_metadata_field_is_a_deep_read_at_its_path() -> None:
    scene = Scene(x=1)
    slug = cells("x")[0].meta["slug"]
    scene.rt.transact(lambda tx: tx.set(slug, "tracked-slug"))
    seen: list[object] = []
    scene.E("t", lambda tx: seen.append(tx.get(slug)))
    scene.idle()
    assert seen == ["tracked-slug"]
    assert scene.rt.node("t").reads == ((slug, "deep"),)
    scene.rt.set(slug, "another")
    scene.idle()
    assert seen == ["tracked-slug", "another"]


def test_CORE_023_tracking_without_loading_still_triggers() -> None:
    scene = Scene(s=1)

    def t(tx: Tx) -> None:
        tx.track(S)
        tx.set(R, {"count": scene.runs["t"], "last": None})

    scene.E("t", t)
    assert scene.pull(R) == {"count": 1, "last": None}
    scene.commit(s=2)
    assert scene.pull(R) == {"count": 2, "last": None}
    assert scene.runs["t"] == 2


def linked() -> Scene:
    """a → b/foo/bar, where b/foo → c."""
    return Scene(c={"baz": 1, "bar": 2}, b={"foo": link(C)}, a=link(B["foo"]["bar"]))


def test_CORE_024_shallow_reads_along_links_ignore_values_and_react_to_new_keys() -> None:
    scene = linked()

    def t(tx: Tx) -> None:
        tx.exists(A)
        tx.keys(B)
        tx.keys(C)

    scene.E("t", t)
    scene.idle()
    assert scene.runs["t"] == 1
    scene.rt.set(C["baz"], 2)
    scene.idle()
    assert scene.runs["t"] == 1
    scene.rt.set(C["fiz"], 2)
    scene.idle()
    assert scene.runs["t"] == 2


def test_CORE_025_a_value_read_through_links_depends_only_on_the_final_path() -> None:
    scene = linked()
    seen: list[object] = []
    scene.E("t", lambda tx: seen.append(tx.get(A)))
    scene.idle()
    scene.rt.set(C["baz"], 2)
    scene.idle()
    assert seen == [2]
    scene.rt.set(C["bar"], 3)
    scene.idle()
    assert seen == [2, 3]
