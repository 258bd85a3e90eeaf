"""Scenarios READ: what counts as a read, seen by sinks and effects."""
from __future__ import annotations

from typing import TypedDict

import weft
from harness.scene import Scene, cells

X, ARR, CONFIG = cells("x arr config")


def test_READ_001_two_views_of_one_cell_with_disjoint_fields() -> None:
    scene = Scene(x={"profile": {"name": "Alice", "age": 30}, "stats": {"points": 100, "tier": "gold"}})
    profile = scene.sink(X["profile"], lambda it: f"{it['name']}:{it['age']}")
    stats = scene.sink(X["stats"], lambda it: f"{it['points']}:{it['tier']}")
    scene.idle()
    scene.commit(x={"profile": {"name": "Bob", "age": 25}, "stats": {"points": 100, "tier": "gold"}})
    scene.idle()
    scene.commit(x={"profile": {"name": "Bob", "age": 25}, "stats": {"points": 200, "tier": "platinum"}})
    scene.idle()
    assert profile == ["Alice:30", "Bob:25"]
    assert stats == ["100:gold", "200:platinum"]


def test_READ_002_two_views_two_levels_deeper() -> None:
    def value(theme: str, timeout: int) -> dict[str, object]:
        return {"config": {"display": {"theme": theme, "size": 14}, "network": {"timeout": timeout, "retries": 3}}}

    scene = Scene(x=value("dark", 5000))
    display = scene.sink(X["config"]["display"], lambda it: f"{it['theme']}:{it['size']}")
    network = scene.sink(X["config"]["network"], lambda it: f"{it['timeout']}:{it['retries']}")
    scene.idle()
    scene.commit(x=value("light", 5000))
    scene.idle()
    scene.commit(x=value("light", 10000))
    scene.idle()
    assert display == ["dark:14", "light:14"]
    assert network == ["5000:3", "10000:3"]


def test_READ_003_a_list_view_and_an_object_view_of_one_cell() -> None:
    scene = Scene(x={"items": [1, 2], "summary": {"label": "test"}})
    counts = scene.sink(X["items"], len)
    labels = scene.sink(X["summary"], lambda it: it["label"])
    scene.idle()
    scene.commit(x={"items": [1, 2, 3], "summary": {"label": "test"}})
    scene.idle()
    assert (counts, labels) == ([2, 3], ["test"])
    scene.commit(x={"items": [1, 2, 3], "summary": {"label": "updated"}})
    scene.idle()
    assert (counts, labels) == ([2, 3], ["test", "updated"])


def lengths(scene: Scene) -> list[int]:
    """What a reader of the length saw."""
    seen: list[int] = []
    scene.E("length", lambda tx: seen.append(tx.length(ARR)))
    scene.idle()
    return seen


def test_READ_004_a_length_depends_on_the_length() -> None:
    scene = Scene(arr=["a", "b"])
    seen = lengths(scene)
    scene.rt.transact(lambda tx: tx.append(ARR, "c"))
    scene.idle()
    assert seen == [2, 3]


def test_READ_005_replacing_an_element_does_not_fire_a_reader_of_the_length() -> None:
    scene = Scene(arr=["a", "b"])
    seen = lengths(scene)
    scene.rt.set(ARR[0], "x")
    scene.idle()
    scene.commit(arr=["y", "z"])
    scene.idle()
    assert seen == [2]


def test_READ_006_removing_an_element_fires_a_reader_of_the_length() -> None:
    scene = Scene(arr=["a", "b"])
    seen = lengths(scene)
    scene.rt.transact(lambda tx: tx.remove_value(ARR, "a"))
    scene.idle()
    assert seen == [2, 1]


def test_READ_008_a_new_sibling_key_fires_a_typed_view_though_it_shows_the_same() -> None:
    class View(TypedDict, total=False):
        theme: str

    scene = Scene(config={"theme": "dark"})
    told = scene.sink(weft.cell("config", of=View), lambda it: it["theme"])
    scene.idle()
    scene.rt.set(CONFIG["language"], "en")
    scene.idle()
    assert told == ["dark", "dark"]


def test_READ_009_reading_a_length_is_a_tracked_read_of_the_list() -> None:
    scene = Scene(arr=["a", "b"])
    lengths(scene)
    assert scene.rt.node("length").reads == ((ARR, "shallow"),)


def test_READ_012_writing_an_identical_nested_leaf_changes_nothing() -> None:
    scene = Scene(x={"a": {"b": 1}})
    told = scene.sink(X)
    scene.idle()
    changed, version = scene.changes(), scene.rt.stats()["version"]
    commit = scene.rt.set(X["a"]["b"], 1)
    scene.idle()
    assert (changed, commit.status, scene.rt.stats()["version"]) == ([], "confirmed", version)
    assert told == [{"a": {"b": 1}}]
