"""Scenarios ARR and REF: lists that grow, sinks that see it, and values behind references."""
from __future__ import annotations

from typing import Any

from harness.scene import Scene, cells
from weft import Tx, link

ARR, OUT, SRC = cells("arr out src")


def test_ARR_001_a_sink_fires_on_a_push() -> None:
    scene = Scene(arr=["a", "b"])
    told = scene.sink(ARR, list)
    scene.idle()
    assert told == [["a", "b"]]
    scene.rt.transact(lambda tx: tx.append(ARR, "c"))
    scene.idle()
    assert told == [["a", "b"], ["a", "b", "c"]]


def test_ARR_003_a_length_changes_by_setting_the_whole_list() -> None:
    scene = Scene(arr=[1, 2, 3])
    told = scene.sink(ARR, len)
    scene.idle()
    scene.commit(arr=[1, 2, 3, 4, 5])
    scene.idle()
    assert told == [3, 5]


def test_ARR_005_a_sink_on_a_computed_list_is_told_without_any_pull() -> None:
    scene = Scene(src=["a", "b"])
    scene.C("t", OUT, lambda tx: [item.upper() for item in tx[SRC]])
    told = scene.sink(OUT)
    assert scene.pull(OUT) == ["A", "B"]
    assert told[-1] == ["A", "B"]
    before = len(told)
    scene.rt.transact(lambda tx: tx.append(SRC, "c"))
    scene.idle()
    assert told[before:] == [["A", "B", "C"]]
    assert scene.runs["t"] == 2


def test_ARR_006_a_filtered_registry_shows_the_new_row() -> None:
    registry, visible = cells("space")[0]["registry"], cells("visible")[0]
    scene = Scene(space={"registry": [{"name": "Existing Note 1", "hidden": False}, {"name": "Hidden Note", "hidden": True}]})
    scene.C("v", visible, lambda tx: [{"name": row["name"]} for row in tx[registry] if not row["hidden"]])
    told = scene.sink(visible)
    scene.idle()
    assert told[-1] == [{"name": "Existing Note 1"}]
    scene.rt.transact(lambda tx: tx.append(registry, {"name": "New Note", "hidden": False}))
    scene.idle()
    assert told[-1] == [{"name": "Existing Note 1"}, {"name": "New Note"}]
    assert scene.runs["v"] == 2


def test_ARR_007_three_successive_pushes_are_each_observed() -> None:
    registry, count = cells("registry count")
    scene = Scene(registry=["one"])
    scene.C("n", count, lambda tx: tx.length(registry))
    told = scene.sink(count)
    scene.idle()
    assert told[-1] == 1
    for expected in (2, 3, 4):
        scene.rt.transact(lambda tx: tx.append(registry, "more"))
        scene.idle()
        assert told[-1] == expected
    assert scene.runs["n"] == 4


def test_REF_001_a_dependency_through_a_reference_held_in_a_cell() -> None:
    src, inner, outer_in, outer_out, er = cells("src inner oin oout er")
    scene = Scene(src=[], oin=link(inner), oout="default", er="")
    scene.C("in", inner, lambda tx: tx[src[0]], reads=[src])  # nothing there: no output
    scene.pull(inner)

    def out(tx: Tx) -> Any:
        return tx.get(outer_in) or "default"

    scene.C("out", outer_out, out, reads=[outer_in])
    scene.pull(outer_out)
    scene.E("e", lambda tx: tx.set(er, tx[outer_out]))
    assert scene.pull(er) == "default"
    assert scene.runs == {"in": 1, "out": 1, "e": 1}
    scene.commit(src=["apple"])
    assert scene.pull(er) == "apple"
    assert scene.runs == {"in": 2, "out": 2, "e": 2}


def test_REF_003_a_sink_over_an_update_of_a_link_target() -> None:
    t, ref = cells("t ref")
    scene = Scene(t={"name": "Ada"}, ref=link(t))
    told = scene.sink(ref["name"])
    scene.idle()
    assert told == ["Ada"]
    scene.commit(t={"name": "Grace"})
    scene.idle()
    assert told == ["Ada", "Grace"]
