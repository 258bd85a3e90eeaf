"""Which readers does a change hit? (core.md section 17, and what of section 18 concerns matching alone)

Every row goes through three ways that must agree: the reader index, the matcher on compact records, and the definition over whole documents.
"""
from __future__ import annotations

from typing import Any

import pytest
from harness.values import pairs, paths, paths_of_the_universe, universe
from hypothesis import given, settings
from hypothesis import strategies as st
from weft.scheduler.cells import cell, link
from weft.scheduler.changes import diff
from weft.scheduler.matching import matches, matches_naive
from weft.scheduler.model import Change, Entity, Path, Read
from weft.scheduler.readers import Readers
from weft.scheduler.values import MISSING, Value, freeze

DOC = Entity("main", "space", "doc")


def at(text: str) -> Path:
    return tuple(text.split("/")) if text else ()


def part(document: Value, path: Path) -> Value:
    for step in path:
        document = document.get(step, MISSING) if isinstance(document, dict) else MISSING
    return document


def fired(before: Value, after: Value, readers: dict[str, list[str]], start: str = "", deep: bool = True) -> list[str]:
    """The readers, each with its read paths, that the change of the document hits; `start` is where the change notification starts."""
    before, after = (value if value is MISSING else freeze(value) for value in (before, after))
    changes = diff(DOC, part(before, at(start)), part(after, at(start)), at(start))
    index: Readers[str] = Readers()
    for reader, read in readers.items():
        index.add(reader, [Read(DOC, at(path), deep) for path in read])
    found: list[str] = []
    for change in changes:
        hit = index.readers_of(change)
        assert len(hit) == len(set(hit))
        found += [reader for reader in hit if reader not in found]
    for reader, read in readers.items():
        assert (reader in found) == any(matches(change, at(path), deep) for change in changes for path in read)
        assert (reader in found) == any(matches_naive(before, after, at(path), deep) for path in read)
    return sorted(found)


YES, NO = True, False
DEEP = {"x": {"y": {"z": [1, 2, 3]}}}
ROWS: list[tuple[str, str, Any, Any, bool]] = [
    ("MATCH_002", "a", {"a": 1}, {"a": 2}, YES),
    ("MATCH_003", "a", {"a": 1}, {"a": 1}, NO),
    ("MATCH_005", "user/name", {"user": {"name": "Alice", "age": 30}}, {"user": {"name": "Bob", "age": 30}}, YES),
    ("MATCH_006", "a/b/c/d", {"a": {"b": {"c": {"d": 1}}}}, {"a": {"b": {"c": {"d": 2}}}}, YES),
    ("MATCH_007", "user/name", {"user": {"name": "Alice", "age": 30}}, {"user": {"name": "Alice", "age": 31}}, NO),
    ("MATCH_008", "user", {"user": {"name": "Alice"}}, {"user": {"name": "Bob"}}, YES),
    ("MATCH_011", "a", {"a": 1}, {}, YES),
    ("MATCH_012", "a", MISSING, {"a": 1}, YES),
    ("MATCH_013", "a/b", {"x": 1}, {"a": {"b": 2}}, YES),
    ("MATCH_014", "a/b", {"a": {"b": 2}}, {"x": 1}, YES),
    ("MATCH_015", "a", {"a": None}, {"a": None}, NO),
    ("MATCH_016", "a", {"a": None}, {"a": 1}, YES),
    ("MATCH_017", "items/0", {"items": ["a", "b", "c"]}, {"items": ["x", "b", "c"]}, YES),
    ("MATCH_018", "items", {"items": [1, 2]}, {"items": [1, 2, 3]}, YES),
    ("MATCH_019", "items/1/name", {"items": [{"name": "a"}, {"name": "b"}]}, {"items": [{"name": "a"}, {"name": "c"}]}, YES),
    ("MATCH_020", "items/5", {"items": ["a", "b"]}, {"items": ["x", "y"]}, NO),
    ("MATCH_028", "a", {}, {}, NO),
    ("MATCH_029", "data", {"data": DEEP}, {"data": DEEP}, NO),
    ("MATCH_030", "data", {"data": DEEP}, {"data": {"x": {"y": {"z": [1, 2, 4]}}}}, YES),
    ("MATCH_031", "value", {"value": "123"}, {"value": 123}, YES),
    ("MATCH_032", "flag", {"flag": True}, {"flag": False}, YES),
    ("MATCH_032_same", "flag", {"flag": True}, {"flag": True}, NO),
    ("MATCH_033", "count", {"count": 42}, {"count": 43}, YES),
    ("MATCH_033_same", "count", {"count": 42}, {"count": 42}, NO),
    ("MATCH_034", "message", {"message": "hello"}, {"message": "world"}, YES),
    ("MATCH_034_same", "message", {"message": "hello"}, {"message": "hello"}, NO),
    ("MATCH_035", "", 42, 43, YES),
    ("MATCH_035_same", "", 42, 42, NO),
    ("MATCH_036", "", "before", "after", YES),
    ("MATCH_036_same", "", "before", "before", NO),
    ("MATCH_037", "", True, False, YES),
    ("MATCH_038", "", None, "value", YES),
    ("MATCH_039", "", 42, {"value": 42}, YES),
    ("MATCH_040", "", {"value": 42}, 42, YES),
    ("MATCH_041", "field", 42, 43, NO),
    ("MATCH_043", "numbers", {"numbers": [1, 2, 3]}, {"numbers": [1, 2, 3, 4]}, YES),
    ("MATCH_043_same", "numbers", {"numbers": [1, 2, 3]}, {"numbers": [1, 2, 3]}, NO),
    ("MATCH_044", "items", {"items": [1, 2, 3]}, {"items": [3, 2, 1]}, YES),
    ("MATCH_045_grows", "", [1, 2], [1, 2, 3], YES),
    ("MATCH_045_same", "", [1, 2], [1, 2], NO),
    ("MATCH_045_element", "", [1, 2], [1, 3], YES),
    ("MATCH_046", "1", [1, 2, 3], [1, 9, 3], YES),
    ("MATCH_047", "", [1, 2], "1,2", YES),
    ("MATCH_048_filled", "items", {"items": []}, {"items": [1]}, YES),
    ("MATCH_048_emptied", "items", {"items": [1]}, {"items": []}, YES),
    ("MATCH_048_empty", "items", {"items": []}, {"items": []}, NO),
    ("MATCH_049", "mixed", {"mixed": [1, "two", True, None]}, {"mixed": [1, "two", False, None]}, YES),
    ("MATCH_050", "users", {"users": [{"name": "a"}, {"name": "b"}]}, {"users": [{"name": "a"}, {"name": "c"}]}, YES),
    ("MATCH_051", "matrix", {"matrix": [[1, 2], [3, 4]]}, {"matrix": [[1, 2], [3, 5]]}, YES),
    ("MATCH_052", "scores/2", {"scores": [10, 20, 30]}, {"scores": [10, 20, 35]}, YES),
    ("MATCH_057", "a/b/c", {"a": {}}, {"a": {"b": {"x": 1}}}, YES),
    ("MATCH_061", "data/value", {"data": {"value": {"x": 1}}}, {"data": {"value": "x"}}, YES),
    ("MATCH_062", "data", {"data": [1, 2, 3]}, {"data": {"0": 1, "1": 2, "2": 3}}, YES),
    ("MATCH_080_equal_bytes", "blob", {"blob": b"ab", "n": 1}, {"blob": b"ab", "n": 2}, NO),
    ("MATCH_080_other_bytes", "blob", {"blob": b"ab"}, {"blob": b"ac"}, YES),
    ("MATCH_081_nan", "x", {"x": float("nan"), "n": 1}, {"x": float("nan"), "n": 2}, NO),
    ("MATCH_081_zeros", "x", {"x": 0.0}, {"x": -0.0}, YES),
    ("MATCH_081_text", "x", {"x": "123"}, {"x": 123}, YES),
    ("MATCH_081_null", "x", {"x": None}, {}, YES),
    ("MATCH_081_bool", "x", {"x": True}, {"x": 1}, YES),
    ("MATCH_081_float", "x", {"x": 1}, {"x": 1.0}, YES),
]


@pytest.mark.parametrize(("path", "before", "after", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_deep_reader_of_one_path(path: str, before: Value, after: Value, expected: bool) -> None:
    assert fired(before, after, {"reader": [path]}) == (["reader"] if expected else [])


def test_MATCH_001_without_readers_nobody_is_hit() -> None:
    assert fired({"a": 1}, {"a": 2}, {}) == []


def test_MATCH_004_two_readers_of_one_path_are_both_hit() -> None:
    assert fired({"a": 1}, {"a": 2}, {"one": ["a"], "two": ["a"]}) == ["one", "two"]


def test_MATCH_009_a_reader_of_two_paths_is_hit_by_either() -> None:
    assert fired({"a": 1, "b": 1}, {"a": 1, "b": 2}, {"reader": ["a", "b"]}) == ["reader"]


def test_MATCH_010_a_reader_of_two_changed_paths_is_hit_once() -> None:
    index: Readers[str] = Readers()
    index.add("reader", [Read(DOC, ("a",)), Read(DOC, ("b",))])
    found: dict[str, None] = {}
    for change in diff(DOC, freeze({"a": 1, "b": 1}), freeze({"a": 2, "b": 2})):
        index.gather(change, found)
    assert list(found) == ["reader"]
    assert index.readers_of(Change(DOC, (), freeze({"a": 1, "b": 1}), freeze({"a": 2, "b": 2}))) == ["reader"]


FROM: list[tuple[str, dict[str, list[str]], Any, Any, str, list[str]]] = [
    ("MATCH_021", {"1": ["user/name"], "2": ["post/title"]}, {"user": {"name": "a"}, "post": {"title": "t"}}, {"user": {"name": "b"}, "post": {"title": "t"}}, "user", ["1"]),
    ("MATCH_022", {"1": ["a/b/c"]}, {"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 2}}}, "a/b", ["1"]),
    ("MATCH_023", {"1": ["user/name"]}, {"user": {"name": "a"}, "post": {"title": "t"}}, {"user": {"name": "a"}, "post": {"title": "u"}}, "post", []),
    (
        "MATCH_024",
        {"1": ["users/123/profile/name"], "2": ["users/123/settings"]},
        {"users": {"123": {"profile": {"name": "a"}, "settings": {"x": 1}}}},
        {"users": {"123": {"profile": {"name": "b"}, "settings": {"x": 1}}}},
        "users/123",
        ["1"],
    ),
    ("MATCH_025", {"1": ["a/b"]}, {}, {"a": {"b": 1}}, "a", ["1"]),
    (
        "MATCH_026",
        {"1": ["users"], "2": ["users/123"], "3": ["users/123/profile"]},
        {"users": {"123": {"profile": {"name": "a"}}}},
        {"users": {"123": {"profile": {"name": "b"}}}},
        "users/123",
        ["1", "2", "3"],
    ),
    ("MATCH_027", {"1": ["a"], "2": ["a/b"]}, {"a": {"b": {"c": {"d": 1}}}}, {"a": {"b": {"c": {"d": 2}}}}, "a/b/c/d", ["1", "2"]),
    (
        "MATCH_042",
        {"1": ["user/age"], "2": ["user/name"], "3": ["user/active"]},
        {"user": {"age": 1, "name": "a", "active": True}},
        {"user": {"age": 2, "name": "a", "active": False}},
        "",
        ["1", "3"],
    ),
    ("MATCH_053", {"1": ["data/items"], "2": ["data/tags"]}, {"data": {"items": [1], "tags": ["a"]}}, {"data": {"items": [1], "tags": ["b"]}}, "", ["2"]),
    (
        "MATCH_058",
        {
            "P": ["value/internal/a", "value/internal/b/x", "value/internal/c", "value/internal/d"],
            "Q": ["value/internal/a", "value/internal/__#0/pieceRegistry"],
            "R": ["value/internal/__#0/pieceRegistry"],
        },
        {"value": {"internal": {"a": 1, "b": {"x": 1}}}},
        {"value": {"internal": {"a": 1, "b": {"x": 1}, "__#0": {"other": 1}}}},
        "",
        ["Q", "R"],
    ),
    (
        "MATCH_059",
        {"1": ["user"], "2": ["user/profile/name"], "3": ["user/settings"]},
        {"user": {"profile": {"name": "a"}, "settings": {"x": 1}}},
        {"user": {"profile": {"name": "b"}, "settings": {"x": 1}}},
        "",
        ["1", "2"],
    ),
    ("MATCH_060", {"1": ["obj/existing"], "2": ["obj/newKey"], "3": ["obj"]}, {"obj": {"existing": 1}}, {"obj": {"existing": 1, "newKey": 2}}, "", ["2", "3"]),
]


@pytest.mark.parametrize(("readers", "before", "after", "start", "expected"), [row[1:] for row in FROM], ids=[row[0] for row in FROM])
def test_several_readers(readers: dict[str, list[str]], before: Value, after: Value, start: str, expected: list[str]) -> None:
    assert fired(before, after, readers, start) == expected


def test_MATCH_054_of_a_thousand_readers_exactly_the_one_of_the_changed_item_is_hit() -> None:
    before = {f"item{n}": n for n in range(1000)}
    assert fired(before, {**before, "item500": -1}, {f"r{n}": [f"item{n}"] for n in range(1000)}) == ["r500"]


def test_MATCH_055_a_path_of_twenty_segments() -> None:
    def nested(leaf: int) -> Value:
        value: Value = leaf
        for _ in range(20):
            value = {"s": value}
        return value

    assert fired(nested(1), nested(2), {"reader": ["/".join("s" * 20)]}) == ["reader"]


def test_MATCH_056_one_reader_of_a_hundred_paths() -> None:
    before = {f"field{n}": n for n in range(100)}
    assert fired(before, {**before, "field50": -1}, {"reader": list(before)}) == ["reader"]


def test_MATCH_063_eight_readers_of_an_app_like_record() -> None:
    def record(theme: str, recent: list[str], unread: int, items: list[str], views: int, seen: int) -> Value:
        return {
            "user": {"name": "Ann", "preferences": {"theme": theme, "language": "en"}, "last_seen": seen},
            "posts": {"featured": ["p1"], "recent": recent, "drafts": seen},
            "notifications": {"unread": unread, "items": items},
            "settings": {"privacy": {"public": True}},
            "analytics": {"pageViews": views, "sessions": 7, "bounce": seen},
        }

    readers = {
        "preferences": ["user/preferences"],
        "name": ["user/name"],
        "featured": ["posts/featured"],
        "recent": ["posts/recent"],
        "unread": ["notifications/unread"],
        "items": ["notifications/items"],
        "settings": ["settings"],
        "analytics": ["analytics/pageViews", "analytics/sessions"],
    }
    assert fired(record("dark", ["p1"], 1, ["n1"], 10, 1), record("light", ["p2", "p1"], 2, ["n1", "n2"], 11, 2), readers) == [
        "analytics",
        "items",
        "preferences",
        "recent",
        "unread",
    ]


SHALLOW: list[tuple[str, Any, Any, bool]] = [
    ("MATCH_070", {"existing": 1}, {"existing": 2}, NO),
    ("MATCH_071", {"existing": 1}, {"existing": 1, "added": 2}, YES),
    ("MATCH_072", {"existing": 1, "added": 2}, {"existing": 1}, YES),
    ("MATCH_073", 1, 2, YES),
    ("MATCH_075", {"b": 1}, [], YES),
    ("MATCH_080_equal_bytes", b"ab", b"ab", NO),
    ("MATCH_080_other_bytes", b"ab", b"ac", YES),
    ("one_key_for_another", {"b": 1}, {"c": 1}, YES),
    ("element_replaced", [1, 2], [1, 3], NO),
    ("element_added", [1, 2], [1, 2, 3], YES),
    ("array_for_an_object", [1], {"0": 1}, YES),
    ("equal_links", link(cell("x")), link(cell("x")), NO),
    ("another_link", link(cell("x")), link(cell("y")), YES),
    ("a_link_for_an_object", link(cell("x")), {}, YES),
    ("a_key_two_levels_below", {"b": {"c": 1}}, {"b": {"c": 1, "d": 2}}, NO),
]


@pytest.mark.parametrize(("before", "after", "expected"), [row[1:] for row in SHALLOW], ids=[row[0] for row in SHALLOW])
def test_a_shallow_reader_of_one_path(before: Value, after: Value, expected: bool) -> None:
    assert fired({"value": {"a": before}}, {"value": {"a": after}}, {"reader": ["value/a"]}, deep=False) == (["reader"] if expected else [])


def test_MATCH_074_a_changed_child_hits_the_deep_reader_and_not_the_shallow_one() -> None:
    index: Readers[str] = Readers()
    index.add("deep", [Read(DOC, ("value", "a"), True)])
    index.add("shallow", [Read(DOC, ("value", "a"), False)])
    (change,) = diff(DOC, freeze({"value": {"a": {"existing": 1}}}), freeze({"value": {"a": {"existing": 2}}}))
    assert index.readers_of(change) == ["deep"]


def test_MATCH_075_a_write_above_that_changes_the_kind_hits_the_shallow_reader() -> None:
    assert matches(Change(DOC, ("value",), freeze({"a": {"b": 1}}), freeze({"a": []})), ("value", "a"), False)


class Opaque:
    def __eq__(self, other: object) -> bool:
        raise NotImplementedError

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("deep", [True, False])
def test_MATCH_076_a_comparison_that_fails_is_not_turned_into_changed(deep: bool) -> None:
    for before, after in ((Opaque(), Opaque()), (1, Opaque()), (Opaque(), 1), ({"a": 1}, Opaque()), (1.5, Opaque()), ([], Opaque())):
        with pytest.raises(TypeError, match="Opaque cannot be compared"):
            diff(DOC, before, after)
        with pytest.raises(TypeError, match="Opaque cannot be compared"):
            matches(Change(DOC, ("value",), {"a": before}, {"a": after}), ("value", "a"), deep)
        with pytest.raises(TypeError, match="Opaque cannot be compared"):
            matches_naive({"a": before}, {"a": after}, ("a",), deep)


WRITES: list[tuple[str, Any]] = [
    ("a.x=2", {"a": {"x": 2}, "l": [1, 2]}),
    ("a.y=1", {"a": {"x": 1, "y": 1}, "l": [1, 2]}),
    ("a.x=1", {"a": {"x": 1}, "l": [1, 2]}),
    ("a=5", {"a": 5, "l": [1, 2]}),
    ("l append", {"a": {"x": 1}, "l": [1, 2, 3]}),
    ("l.0=9", {"a": {"x": 1}, "l": [9, 2]}),
    ("l shift", {"a": {"x": 1}, "l": [2]}),
    ("deleted", MISSING),
]
HITS = {
    "a.x=2": "a a.x",
    "a.y=1": "a a.y ~a",
    "a.x=1": "",
    "a=5": "a a.x a.y ~a",
    "l append": "l ~l l.length",
    "l.0=9": "l l.0",
    "l shift": "l l.0 ~l l.length",
    "deleted": "a a.x a.y ~a l l.0 ~l l.length",
}


@pytest.mark.parametrize(("write", "after"), WRITES, ids=[row[0] for row in WRITES])
def test_the_table_of_semantics_C_1(write: str, after: Value) -> None:
    before = {"a": {"x": 1}, "l": [1, 2]}
    deep = fired(before, after, {path: [path.replace(".", "/")] for path in ("a", "a.x", "a.y", "l", "l.0", "l.length")})
    shallow = fired(before, after, {f"~{path}": [path] for path in ("a", "l")}, deep=False)
    assert sorted(deep + shallow) == sorted(HITS[write].split())


def test_READ_001_disjoint_views_of_one_rewritten_document_are_hit_one_at_a_time() -> None:
    views = {"P": ["profile/name", "profile/age"], "S": ["stats/score", "stats/level"]}
    first = {"profile": {"name": "Alice", "age": 30}, "stats": {"score": 100, "level": "gold"}}
    second = {"profile": {"name": "Bob", "age": 25}, "stats": {"score": 100, "level": "gold"}}
    third = {"profile": {"name": "Bob", "age": 25}, "stats": {"score": 200, "level": "platinum"}}
    assert [fired(first, second, views), fired(second, third, views)] == [["P"], ["S"]]


def test_READ_002_disjoint_views_two_levels_deeper() -> None:
    views = {"display": ["config/display"], "network": ["config/network"]}
    first = {"config": {"display": {"theme": "dark", "size": 14}, "network": {"timeout": 5000, "retries": 3}}}
    second = {"config": {"display": {"theme": "light", "size": 14}, "network": {"timeout": 5000, "retries": 3}}}
    third = {"config": {"display": {"theme": "light", "size": 14}, "network": {"timeout": 10000, "retries": 3}}}
    assert [fired(first, second, views), fired(second, third, views)] == [["display"], ["network"]]


def test_READ_003_an_array_view_and_an_object_view_of_one_document() -> None:
    views = {"counts": ["items"], "labels": ["summary/label"]}
    first = {"items": [{"n": 1}, {"n": 2}], "summary": {"label": "test"}}
    second = {"items": [{"n": 1}, {"n": 2}, {"n": 3}], "summary": {"label": "test"}}
    third = {"items": [{"n": 1}, {"n": 2}, {"n": 3}], "summary": {"label": "updated"}}
    assert [fired(first, second, views), fired(second, third, views)] == [["counts"], ["labels"]]


@pytest.mark.parametrize(
    ("after", "expected"),
    [([1, 2, 3], True), ([1, 9], False), ([9, 8], False), ([1], True), ([], True), ([2, 1], False), ({"length": 2}, False), ({"length": 3}, True), ("ab", True), (MISSING, True)],
    ids=["READ_004_inserted", "READ_005_replaced", "READ_005_all_replaced", "READ_006_removed", "emptied", "reordered", "object_same", "object_other", "text", "gone"],
)
def test_a_reader_of_length_is_hit_exactly_when_the_length_changes(after: Value, expected: bool) -> None:
    document = {} if after is MISSING else {"l": after}
    assert fired({"l": [1, 2]}, document, {"length": ["l/length"]}) == (["length"] if expected else [])


def test_READ_008_a_sibling_key_hits_the_shape_read_of_the_container_and_not_the_field() -> None:
    before, after = {"settings": {"theme": "dark"}}, {"settings": {"theme": "dark", "size": 1}}
    assert fired(before, after, {"field": ["settings/theme"]}) == []
    assert fired(before, after, {"shape": ["settings"]}, deep=False) == ["shape"]


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ([1, 2, 3, 4], ["3", "all", "length"]),
        ([1, 2], ["2", "all", "length"]),
        ([2, 3], ["0", "1", "2", "all", "length"]),
        ([0, 1, 2, 3], ["0", "1", "2", "3", "all", "length"]),
        ([1, 9, 2, 3], ["1", "2", "3", "all", "length"]),
        ([3, 2, 1], ["0", "2", "all"]),
        ([], ["0", "1", "2", "all", "length"]),
        ([1, 9, 3], ["1", "all"]),
    ],
    ids=["push", "pop", "shift", "unshift", "insert", "reorder", "clear", "in_place"],
)
def test_READ_015_readers_of_shifted_siblings_are_hit(after: Value, expected: list[str]) -> None:
    readers = {"all": ["l"], "length": ["l/length"], **{str(n): [f"l/{n}"] for n in range(5)}}
    assert fired({"l": [1, 2, 3]}, {"l": after}, readers) == expected


def test_a_reader_of_one_position_of_a_long_array_is_hit_only_if_that_position_changed_although_the_array_is_one_record() -> None:
    before, after = list(range(100)), [*range(1, 51), *range(50, 100)]
    assert fired({"l": before}, {"l": after}, {str(n): [f"l/{n}"] for n in (0, 49, 50, 99)} | {"length": ["l/length"]}) == ["0", "49"]


def test_an_index_is_its_canonical_decimal() -> None:
    assert fired({"l": [1, 2]}, {"l": [1, 3]}, {path: [f"l/{path}"] for path in ("1", "01", "-1", "1.0", "+1", "\u0661")}) == ["1"]


@settings(max_examples=1000)
@given(pairs, st.lists(st.tuples(paths, st.booleans()), max_size=8))
def test_some_record_matches_iff_the_definition_says_so(pair: tuple[Value, Value], reads: list[tuple[Path, bool]]) -> None:
    changes = diff(DOC, *pair)
    for path, deep in reads:
        assert any(matches(change, path, deep) for change in changes) == matches_naive(*pair, path, deep)


@settings(max_examples=1000)
@given(pairs, paths, st.booleans())
def test_one_record_of_the_whole_document_matches_as_its_parts_do(pair: tuple[Value, Value], path: Path, deep: bool) -> None:
    changes = diff(DOC, *pair)
    if changes:
        assert matches(Change(DOC, (), *pair), path, deep) == matches_naive(*pair, path, deep)


def test_every_pair_of_a_small_universe_hits_the_readers_that_the_definition_names() -> None:
    reads = [(path, deep) for path in paths_of_the_universe() for deep in (True, False)]
    index: Readers[tuple[Path, bool]] = Readers()
    for path, deep in reads:
        index.add((path, deep), [Read(DOC, path, deep)])
    documents = universe()
    for before in documents:
        for after in documents:
            changes = diff(DOC, before, after)
            expected = {read for read in reads if matches_naive(before, after, *read)}
            assert {read for read in reads if any(matches(change, *read) for change in changes)} == expected
            found: dict[tuple[Path, bool], None] = {}
            for change in changes:
                index.gather(change, found)
            assert set(found) == expected
