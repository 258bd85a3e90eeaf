"""Structural differences as compact records (semantics C.1.2)."""
from __future__ import annotations

from typing import Any

import pytest
from harness.values import pairs, universe, values
from hypothesis import given, settings
from weft.scheduler.changes import COALESCE, diff
from weft.scheduler.changes import applied as applied_one
from weft.scheduler.errors import BrokenInvariant
from weft.scheduler.model import Change, Entity
from weft.scheduler.values import MISSING, ReadOnlyList, Value, freeze, same

DOC = Entity("main", "space", "doc")


def records(before: Value, after: Value) -> list[tuple[Any, ...]]:
    return [record[1:] for record in diff(DOC, freeze(before) if before is not MISSING else before, freeze(after) if after is not MISSING else after)]


def thawed(value: Value) -> Value:
    if isinstance(value, dict):
        return {key: thawed(item) for key, item in value.items()}
    return [thawed(item) for item in value] if isinstance(value, list) else value


def applied(document: Value, changes: list[Change]) -> Value:
    """The document after the records, worked out with no regard for cost."""
    document = {"": thawed(document)} if document is not MISSING else {}
    for change in changes:
        *way, last = ("", *change.path)
        holder: Any = document
        for step in way:
            holder = holder[int(step)] if isinstance(holder, list) else holder[step]
        key = int(last) if isinstance(holder, list) else last
        if change.kept >= 0:
            assert same(holder[key][change.kept:], thawed(change.before))
            holder[key][change.kept:] = thawed(change.after)
        elif change.after is MISSING:
            assert isinstance(holder, dict)
            del holder[key]
        else:
            holder[key] = thawed(change.after)
    return document.get("", MISSING)


def test_equal_documents_give_no_record() -> None:
    assert records({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}) == []
    assert records(MISSING, MISSING) == []
    assert records({"a": 1, "b": 2}, {"b": 2, "a": 1}) == []


def test_a_document_that_comes_or_goes_is_one_record_at_the_root() -> None:
    assert records(MISSING, {"a": 1}) == [((), MISSING, {"a": 1}, -1)]
    assert records({"a": 1}, MISSING) == [((), {"a": 1}, MISSING, -1)]


def test_a_key_that_comes_or_goes_is_a_record_at_that_key() -> None:
    assert records({"a": 1, "b": {"c": 1}}, {"b": {"c": 1, "d": None}, "e": [1]}) == [
        (("a",), 1, MISSING, -1),
        (("b", "d"), MISSING, None, -1),
        (("e",), MISSING, [1], -1),
    ]


def test_a_change_of_kind_is_a_record_at_the_position_itself() -> None:
    assert records({"a": {"0": 1}}, {"a": [1]}) == [(("a",), {"0": 1}, [1], -1)]
    assert records({"a": {"b": 1}}, {"a": 5}) == [(("a",), {"b": 1}, 5, -1)]


def test_type_strict_differences_are_differences() -> None:
    assert [path for path, *_ in records({"a": 1, "b": 1, "c": 0.0, "d": None}, {"a": True, "b": 1.0, "c": -0.0})] == [("a",), ("b",), ("c",), ("d",)]
    assert records({"nan": float("nan")}, {"nan": float("nan")}) == []


def test_an_array_of_another_length_is_one_record_with_the_tails_and_one_for_each_changed_kept_position() -> None:
    assert records({"l": [1, 2]}, {"l": [1, 2, 3]}) == [(("l",), [], [3], 2)]
    assert records({"l": [1, 2, 3]}, {"l": [9]}) == [(("l",), [2, 3], [], 1), (("l", "0"), 1, 9, -1)]
    assert records([{"a": 1}, 5], [{"a": 2}, 5, 6, 7]) == [((), [], [6, 7], 2), (("0", "a"), 1, 2, -1)]


def test_READ_015_in_place_edits_of_elements_stay_leaf_precise() -> None:
    assert records({"l": [{"a": 1}, {"a": 2}]}, {"l": [{"a": 1}, {"a": 3}]}) == [(("l", "1", "a"), 2, 3, -1)]


def test_READ_015_a_shift_is_a_record_of_the_array_and_of_each_position_that_moved() -> None:
    assert records([1, 2, 3], [2, 3]) == [((), [3], [], 2), (("0",), 1, 2, -1), (("1",), 2, 3, -1)]


def test_an_array_with_many_changed_positions_is_one_record() -> None:
    before = list(range(100))

    def changed(count: int) -> list[int]:
        return [-1] * count + before[count:]

    assert [path for path, *_ in records({"l": before}, {"l": changed(COALESCE)})] == [("l", str(n)) for n in range(COALESCE)]
    assert records({"l": before}, {"l": changed(COALESCE + 1)}) == [(("l",), before, changed(COALESCE + 1), -1)]
    assert records({"l": before}, {"l": changed(50)[:60]}) == [(("l",), before, changed(50)[:60], -1)]


def test_positions_that_are_equal_and_not_shared_do_not_count_as_changed() -> None:
    assert records({"l": [[n] for n in range(100)]}, {"l": [[n] for n in range(99)] + [[-1]]}) == [(("l", "99", "0"), 99, -1, -1)]


def test_the_records_of_other_places_stay_when_an_array_is_made_one_record() -> None:
    found = records({"a": 1, "l": list(range(20)), "z": 1}, {"a": 2, "l": list(range(1, 21)), "z": 2})
    assert [path for path, *_ in found] == [("a",), ("l",), ("z",)]


def test_records_of_a_part_carry_the_path_from_the_document() -> None:
    assert diff(DOC, freeze({"b": 1}), freeze({"b": 2}), ("value", "a")) == [Change(DOC, ("value", "a", "b"), 1, 2)]


def test_shared_parts_are_not_entered() -> None:
    class Entered(Exception):
        pass

    class Sealed(dict[str, Any]):
        def items(self) -> Any:
            raise Entered

    shared = Sealed(a=1)
    assert diff(DOC, {"s": shared, "x": 1}, {"s": shared, "x": 2}) == [Change(DOC, ("x",), 1, 2)]
    assert diff(DOC, [shared, 1], [shared, 1, 2]) == [Change(DOC, (), [], [2], 2)]


def sound(before: Value, after: Value, changes: list[Change]) -> None:
    assert same(applied(before, changes), thawed(after))
    for change in changes:
        assert not same(change.before, change.after)
        if change.kept >= 0:
            assert type(change.before) is type(change.after) is ReadOnlyList
            assert (not change.before) != (not change.after)
    assert len({change.path for change in changes}) == len(changes)


@settings(max_examples=500)
@given(pairs)
def test_the_records_lead_from_before_to_after_and_each_is_a_difference(pair: tuple[Value, Value]) -> None:
    sound(*pair, diff(DOC, *pair))


def test_the_records_lead_from_before_to_after_for_every_pair_of_a_small_universe() -> None:
    documents = universe()
    for before in documents:
        for after in documents:
            sound(before, after, diff(DOC, before, after))


@settings(max_examples=500)
@given(pairs)
def test_READ_015_no_record_adds_or_removes_a_position_of_an_array(pair: tuple[Value, Value]) -> None:
    before, after = pair
    for change in diff(DOC, before, after):
        if change.path and (change.before is MISSING or change.after is MISSING):
            holder = before
            for step in change.path[:-1]:
                holder = holder[int(step)] if isinstance(holder, list) else holder[step]
            assert isinstance(holder, dict)


@given(values)
def test_a_value_does_not_differ_from_its_equal_copy(value: Value) -> None:
    assert diff(DOC, value, freeze(thawed(value))) == []


@settings(max_examples=400, deadline=None)
@given(pairs)
def test_records_applied_one_by_one_lead_to_the_other_document_and_leave_the_first_as_it_was(pair: tuple[Value, Value]) -> None:
    before, after = pair
    kept = thawed(before)
    document = before
    for change in diff(DOC, before, after):
        document = applied_one(document, change)
    assert same(document, after)
    assert same(before, kept if before is MISSING else freeze(kept))
    assert document is MISSING or freeze(document) is document, "what comes out is frozen, like any stored document"


def test_every_pair_of_the_universe_is_led_over_by_its_records() -> None:
    for before in universe():
        for after in universe():
            document = before
            for change in diff(DOC, before, after):
                document = applied_one(document, change)
            assert same(document, after), (before, after)


def test_what_a_record_does_not_touch_is_shared() -> None:
    document = freeze({"a": {"b": 1}, "c": [1, 2]})
    after = applied_one(document, Change(DOC, ("a", "b"), 1, 2))
    assert after == {"a": {"b": 2}, "c": [1, 2]}
    assert after["c"] is document["c"]


def test_a_record_of_another_document_is_refused() -> None:
    document = freeze({"list": [1, 2], "leaf": 1})
    for change in (Change(DOC, ("list",), freeze([3]), freeze([]), 4), Change(DOC, ("list", "7"), 1, 2), Change(DOC, ("leaf", "x"), 1, 2), Change(DOC, ("list", "x"), 1, 2)):
        with pytest.raises(BrokenInvariant):
            applied_one(document, change)
