"""Values: what is stored, what is refused and where, what is the same (decision 21; MATCH-080, MATCH-081)."""
from __future__ import annotations

import copy
import json
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from enum import Enum, IntEnum
from typing import Any, NamedTuple

import pytest
from harness.values import LEAVES, values
from hypothesis import given
from hypothesis import strategies as st
from weft.scheduler.cells import cell, link
from weft.scheduler.errors import NotStorable, WeftError
from weft.scheduler.values import MAX_DEPTH, MAX_ITEMS, MAX_TEXT, MAX_WEIGHT, MISSING, MissingType, ReadOnlyDict, ReadOnlyList, Value, freeze, height, is_container, same, weight


class Text(str):
    pass


class Count(int):
    pass


class Colour(IntEnum):
    RED = 1


class Shade(Enum):
    DARK = "dark"


class Point(NamedTuple):
    x: int


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError

    def __hash__(self) -> int:
        return 1


def nested(depth: int, leaf: Value = 1) -> Value:
    value = leaf
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


def test_what_is_frozen_is_equal_and_read_only() -> None:
    value = {"a": [1, {"b": None}], "c": b"x", "d": link(cell("x")), "e": float("inf"), "f": -(2**63), "g": 2**64 - 1, "ä": "ü"}
    frozen = freeze(value)
    assert frozen == value
    assert (type(frozen), type(frozen["a"]), type(frozen["a"][1])) == (ReadOnlyDict, ReadOnlyList, ReadOnlyDict)
    value["a"].append(2)  # type: ignore[attr-defined]
    assert frozen["a"] == [1, {"b": None}]


@given(values)
def test_freezing_a_frozen_value_gives_that_value(value: Value) -> None:
    assert freeze(value) is value
    assert freeze([value])[0] is value


def test_dicts_and_lists_of_other_classes_are_stored_as_what_they_hold() -> None:
    assert type(freeze(OrderedDict(a=1))) is type(freeze(defaultdict(int, a=1))) is ReadOnlyDict


ASK_READ_ONLY: list[tuple[str, Callable[[Any], object]]] = [
    ("setitem", lambda v: v.__setitem__(0, 1)),
    ("delitem", lambda v: v.__delitem__(0)),
    ("clear", lambda v: v.clear()),
    ("pop", lambda v: v.pop()),
]


@pytest.mark.parametrize("value", [freeze({"a": 1}), freeze([1])], ids=["dict", "list"])
@pytest.mark.parametrize("write", [row[1] for row in ASK_READ_ONLY], ids=[row[0] for row in ASK_READ_ONLY])
def test_a_stored_value_refuses_writes_and_says_what_to_do(value: Value, write: Callable[[Any], object]) -> None:
    with pytest.raises(NotStorable, match=r"read-only.*tx\.set\(cell, value\)"):
        write(value)


def test_every_method_that_changes_a_dict_or_a_list_is_refused() -> None:
    stored_dict, stored_list = freeze({"a": 1}), freeze([2, 1])
    on_dicts: list[tuple[str, tuple[Any, ...]]] = [("popitem", ()), ("setdefault", ("b", 1)), ("update", ({"b": 1},)), ("__ior__", ({"b": 1},))]
    on_lists: list[tuple[str, tuple[Any, ...]]] = [("append", (1,)), ("extend", ([1],)), ("insert", (0, 1)), ("remove", (1,)), ("reverse", ()), ("sort", ()), ("__iadd__", ([1],))]
    for name, arguments in on_dicts:
        with pytest.raises(NotStorable):
            getattr(stored_dict, name)(*arguments)
    for name, arguments in [*on_lists, ("__imul__", (2,))]:
        with pytest.raises(NotStorable):
            getattr(stored_list, name)(*arguments)
    changing = {"clear", "pop", "popitem", "setdefault", "update", "append", "extend", "insert", "remove", "reverse", "sort"}
    reading = {"copy", "fromkeys", "get", "items", "keys", "values", "count", "index"}
    assert {name for kind in (dict, list) for name in dir(kind) if not name.startswith("_")} == changing | reading
    assert (stored_dict, stored_list) == ({"a": 1}, [2, 1])


def test_a_copy_of_a_stored_value_is_plain_and_can_be_written() -> None:
    stored = freeze({"a": [1, {"b": 2}]})
    for copied in (dict(stored), stored.copy(), copy.copy(stored), stored | {}):
        assert type(copied) is dict
        assert type(copied["a"]) is ReadOnlyList
    deep = copy.deepcopy(stored)
    deep["a"][1]["b"] = 3
    assert (type(deep), type(deep["a"]), deep, stored) == (dict, list, {"a": [1, {"b": 3}]}, {"a": [1, {"b": 2}]})
    assert type(copy.copy(stored["a"])) is type(stored["a"] + [1]) is type(stored["a"][:1]) is list
    assert json.loads(json.dumps(stored)) == stored


def test_missing_is_one_thing_and_false() -> None:
    assert MissingType() is MISSING
    assert copy.copy(MISSING) is copy.deepcopy(MISSING) is MISSING
    assert not MISSING
    assert repr(MISSING) == "MISSING"


REFUSED: list[tuple[str, Value, str]] = [
    ("tuple", {"a": (1, 2)}, "/a: a tuple would come back as a list; store list(value)"),
    ("named tuple", [Point(1)], "/0: a tuple would come back as a list; store list(value)"),
    ("set", {"a": [{1}]}, "/a/0: a set has no stored form; store sorted(value)"),
    ("missing", {"a": MISSING}, "/a: MISSING is absence and is not stored; delete the cell instead"),
    ("cell", [0, cell("x")], "/1: a Cell is an address; store weft.link(cell)"),
    ("large integer", {"n": 2**64}, "/n: an integer of 65 bits does not fit 64; store it as a string"),
    ("small integer", {"n": -(2**63) - 1}, "/n: an integer of 64 bits does not fit 64; store it as a string"),
    ("huge integer", {"n": 10**6000}, "/n: an integer of 19932 bits does not fit 64; store it as a string"),
    ("integer key", {"a": {1: 2}}, "/a/1: the key is an int, and keys are strings; use str(key)"),
    ("none key", {None: 2}, "/None: the key is a NoneType, and keys are strings; use str(key)"),
    ("bool key", {True: 2}, "/True: the key is a bool, and keys are strings; use str(key)"),
    ("tuple key", {(1, "a/b"): 2}, "/(1, 'a~1b'): the key is a tuple, and keys are strings; use str(key)"),
    ("huge key", {10**6000: 2}, "/<int>: the key is an int, and keys are strings; use str(key)"),
    ("unprintable key", {Unprintable(): 2}, "/<Unprintable>: the key is an Unprintable, and keys are strings; use str(key)"),
    ("text subclass as key", {Text("k"): 2}, "/'k': the key is a Text, and keys are strings; use str(key)"),
    ("text subclass", {"a": Text("t")}, "/a: a Text would come back as its plain base type; convert it first"),
    ("int subclass", {"a": Count(1)}, "/a: a Count would come back as its plain base type; convert it first"),
    ("int enum", {"a": Colour.RED}, "/a: a Colour would come back as its plain base type; convert it first"),
    ("enum", {"a": Shade.DARK}, "/a: a Shade cannot be stored; values are JSON, bytes and links"),
    ("bytearray", {"a": bytearray(b"x")}, "/a: a bytearray can still change; store bytes(value)"),
    ("complex", 1j, "/: a complex cannot be stored; values are JSON, bytes and links"),
    ("object", {"a/b": {"~": object()}}, "/a~1b/~0: an object cannot be stored; values are JSON, bytes and links"),
    ("surrogate", {"a": ["x\ud800"]}, "/a/0: the text holds a lone surrogate, which has no UTF-8 form"),
    ("surrogate key", {"x\ud800": 1}, "/x\\ud800: the text holds a lone surrogate, which has no UTF-8 form"),
]


@pytest.mark.parametrize(("value", "message"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_cannot_be_stored_is_refused_with_its_path_and_what_to_do(value: Value, message: str) -> None:
    with pytest.raises(NotStorable) as caught:
        freeze(value)
    assert str(caught.value) == message
    str(caught.value).encode()
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, WeftError)


def test_a_long_path_or_step_is_shortened_in_the_message() -> None:
    with pytest.raises(NotStorable) as caught:
        freeze({"k" * 10_000: nested(60, {1})})
    assert len(str(caught.value)) < 300


def test_a_value_may_be_as_deep_as_the_limit_and_no_deeper() -> None:
    assert height(freeze(nested(MAX_DEPTH))) == MAX_DEPTH
    for value in (nested(MAX_DEPTH + 1), nested(50_000), [freeze(nested(MAX_DEPTH))], nested(60, freeze(nested(41)))):
        with pytest.raises(NotStorable, match="nested more than 100 levels deep"):
            freeze(value)
    assert height(freeze(nested(60, freeze(nested(40))))) == MAX_DEPTH


def test_a_value_inside_itself_is_refused() -> None:
    row: list[Any] = []
    row.append({"a": row})
    record: dict[str, Any] = {}
    record["self"] = record
    for value in (row, record, {"x": row}):
        with pytest.raises(NotStorable, match="or inside itself"):
            freeze(value)


def test_a_few_shared_lists_that_spell_out_to_too_many_values_are_refused() -> None:
    plain: Value = []
    for _ in range(60):
        plain = [plain, plain]
    with pytest.raises(NotStorable, match="too much for one value"):
        freeze(plain)
    frozen = freeze([])
    while 2 * weight(frozen) + 5 <= MAX_WEIGHT:
        frozen = freeze([frozen, frozen])
    with pytest.raises(NotStorable, match="too much for one value"):
        freeze([frozen, frozen])


def test_a_value_may_weigh_as_much_as_the_limit_and_no_more() -> None:
    row = [0] * 95
    fits = [[row] * 5000, [row] * 4949, [0] * 85]  # an array of 95 leaves weighs 100, and 5 for each array around them
    assert weight(freeze(fits)) <= MAX_WEIGHT < weight(freeze(fits)) + 10_000
    room = MAX_WEIGHT - weight(freeze(fits))
    exact = [*fits, [0] * (room - 5)]
    assert weight(freeze(exact)) == MAX_WEIGHT
    for value in ([*exact, 0], [freeze(exact)], [*fits, freeze([0] * (room - 4))]):
        with pytest.raises(NotStorable, match="too much for one value"):
            freeze(value)


def test_one_collection_and_one_text_have_their_own_limits() -> None:
    assert len(freeze({"a": [0] * MAX_ITEMS})["a"]) == MAX_ITEMS
    assert len(freeze({"a": "x" * MAX_TEXT})["a"]) == len(freeze(b"x" * MAX_TEXT)) == MAX_TEXT
    with pytest.raises(NotStorable, match=r"^/a: more than 131072 items"):
        freeze({"a": [0] * (MAX_ITEMS + 1)})
    for text in ("x" * (MAX_TEXT + 1), "€" * (MAX_TEXT // 3 + 1), b"x" * (MAX_TEXT + 1)):
        with pytest.raises(NotStorable, match=r"^/a: longer than 8388608 bytes"):
            freeze({"a": text})


@given(values)
def test_height_and_weight_are_what_counting_gives(value: Value) -> None:
    def counted(some: Value) -> tuple[int, int]:
        if not is_container(some):
            return 0, 1  # an object or array weighs 5
        inner = [counted(item) for item in (some.values() if isinstance(some, dict) else some)]
        return 1 + max((deep for deep, _ in inner), default=0), 5 + sum(held for _, held in inner)

    assert (height(value), weight(value)) == counted(value)


NAN = float("nan")
DIFFERENT: list[tuple[Value, Value]] = [
    (True, 1), (False, 0), (1, 1.0), (0.0, -0.0), (MISSING, None), (None, False), ("123", 123), ("a", b"a"), ([], {}), (None, []), ("", []), (NAN, 1.0), (NAN, None),
    ([1], {"0": 1}), ({"a": None}, {}), ({"a": None}, {"b": None}), ([1, 2], [2, 1]), ([1], [1, 1]), ([True], [1]), ({"a": 0.0}, {"a": -0.0}),
    (link(cell("x")), link(cell("y"))), (link(cell("x")), link(cell("x", "here"))), (link(cell("x")), None), (2**63, float(2**63)),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), DIFFERENT, ids=lambda value: repr(value))
def test_MATCH_081_values_that_look_alike_and_are_not_the_same(a: Value, b: Value) -> None:
    assert not same(a, b)
    assert not same(b, a)


def test_MATCH_081_values_that_are_the_same() -> None:
    for a, b in ((NAN, float("nan")), (-NAN, NAN), (-0.0, -0.0), ({"a": 1, "b": [NAN]}, {"b": [float("nan")], "a": 1}), (freeze({"a": []}), {"a": []}), (MISSING, MISSING)):
        assert same(a, b)


def test_MATCH_080_bytes_and_links_compare_by_content() -> None:
    assert same(bytes([1, 2]), bytes([1, 2]))
    assert same(link(cell("x")["a"]), link(cell("x")["a"]))
    assert not same(b"\x01", b"\x02")


@given(st.sampled_from(LEAVES), st.sampled_from(LEAVES))
def test_sameness_of_leaves_is_that_of_their_type_and_spelling(a: Value, b: Value) -> None:
    assert same(a, b) == (type(a) is type(b) and repr(a) == repr(b))


@given(values, values)
def test_sameness_goes_both_ways_and_holds_for_copies(a: Value, b: Value) -> None:
    assert same(a, b) == same(b, a)
    assert same(a, freeze(copy.deepcopy(a)))
    assert same([a, {"k": b}], [a, {"k": b}])


def test_MATCH_076_what_is_no_value_is_not_called_different() -> None:
    for a, b in ((object(), object()), (1, object()), (object(), 1), ([1], (1,)), ((1,), [1]), ({"a": 1}, {"a": {1}}), (1.5, Text("x"))):
        with pytest.raises(TypeError, match="cannot be compared"):
            same(a, b)
