"""Things at paths: the writer map and the envelopes (semantics C.2; SURF-009, ORD-009, TRIG-*)."""
from __future__ import annotations

from itertools import islice

import pytest
from harness.ledger_core import doc, place
from harness.values import STEPS
from hypothesis import given
from hypothesis import strategies as st
from weft.scheduler.errors import BrokenInvariant
from weft.scheduler.model import Address, Entity, Path
from weft.scheduler.overlap import write_touches
from weft.scheduler.trie import PathIndex

entities = st.sampled_from([doc("x"), doc("y"), doc("x", "session:1")])
paths = st.lists(st.sampled_from(STEPS[:3]), max_size=3).map(tuple)
places = st.builds(Entity.at, entities, paths)


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.lists(places, max_size=3))), entities, paths, st.booleans())
def test_a_look_up_finds_what_the_overlap_rule_names_whatever_was_put_and_taken_before(steps: list[tuple[str, list[Address]]], entity: Entity, path: Path, deep: bool) -> None:
    index: PathIndex[str] = PathIndex()
    held: dict[str, tuple[Address, ...]] = {}
    for thing, at in steps:
        index.put(thing, tuple(at))
        held.pop(thing, None)
        if at:
            held[thing] = tuple(at)
        index.check()
    expected = sorted(thing for thing, at in held.items() for where in set(at) if where.entity == entity and write_touches(where.path, path, deep))
    assert sorted(index.touching(entity, path, deep)) == expected
    assert sorted(thing for thing in "abcd" if thing in index) == sorted(held)
    for thing in held:
        index.take(thing)
    index.check()
    assert len(index) == 0
    assert list(index.touching(entity, path, deep)) == []


def test_answers_come_above_before_below_and_by_insertion() -> None:
    index: PathIndex[str] = PathIndex()
    for thing, where in (("below", place("x", "a", "b")), ("beside", place("x", "c")), ("second", place("x", "a")), ("top", place("x")), ("third", place("x", "a"))):
        index.put(thing, (where,))
    assert list(index.touching(doc("x"), ("value", "a"))) == ["top", "second", "third", "below"]


@pytest.mark.parametrize("deep", [True, False])
def test_SURF_009_a_scan_for_writers_can_stop_early(deep: bool) -> None:
    index: PathIndex[int] = PathIndex()
    for number in range(1000):
        index.put(number, (place("x", str(number)),))
    asked = index.touching(doc("x"), ("value",), deep)
    assert list(islice(asked, 2)) == [0, 1]


def test_a_shallow_read_sees_writers_of_direct_children_and_no_deeper_ones() -> None:
    index: PathIndex[str] = PathIndex()
    index.put("child", (place("x", "a"),))
    index.put("grandchild", (place("x", "a", "b"),))
    assert list(index.touching(doc("x"), ("value",), False)) == ["child"]
    assert list(index.touching(doc("x"), ("value",), True)) == ["child", "grandchild"]


def test_ORD_009_places_in_another_scope_are_other_places() -> None:
    index: PathIndex[str] = PathIndex()
    index.put("m", (doc("x", "session:1").at(("value",)),))
    assert list(index.touching(doc("x"), ("value",))) == []
    assert list(index.touching(doc("x", "session:1"), ("value",))) == ["m"]


def test_check_names_what_is_wrong() -> None:
    index: PathIndex[str] = PathIndex()
    index.put("a", (place("x"),))
    index._places["b"] = (place("y"),)
    with pytest.raises(BrokenInvariant, match="R1"):
        index.check()
    del index._places["b"]
    index._tries[doc("x")].at(("value", "empty"))
    with pytest.raises(BrokenInvariant, match="R2"):
        index.check()
