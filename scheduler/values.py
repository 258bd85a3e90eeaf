"""Values: JSON plus bytes plus links, read-only once stored, compared type-strictly (decision 21).

Invariants
- `freeze` is the only door: what it returns holds nothing but None, bool, int (64 bits), float (NaN and infinities too), str, bytes, Link, ReadOnlyDict with str keys, and
  ReadOnlyList, within the limits below. They are no wider than the codec's, so that what cannot be sent or stored is refused where it is written, with its path.
- A frozen value never changes, so it is shared, not copied; `freeze` of a frozen value is that value.
- `same` is round-trip-faithful: two values are the same iff they encode alike (key order aside; all NaN are one). It raises on a type it does not know rather than call it changed.
"""
from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any, Final, NoReturn

from .cells import Cell, Link
from .errors import NotStorable
from .ids import encodable, shown
from .model import Value, pointer

__all__ = [
    "MAX_DEPTH", "MAX_ITEMS", "MAX_TEXT", "MAX_WEIGHT", "MISSING", "Link", "MissingType", "ReadOnlyDict", "ReadOnlyList", "Value",
    "children", "freeze", "height", "is_container", "same", "weight",
]  # fmt: skip

MAX_DEPTH = 100  # containers inside containers; far below what the codec and Python's stack can take
MAX_WEIGHT = 1_000_000  # of the whole: a few shared lists can spell out to more than any memory holds, and would when they are encoded
CONTAINER = 5  # what an object or array weighs, a leaf being 1: about what they take in memory
MAX_ITEMS = 131_072  # of one object or array
MAX_TEXT = 8 << 20  # bytes of one text, key or bytes
_INT_MIN, _INT_MAX = -(2**63), 2**64 - 1  # what msgpack's integers hold


class MissingType:
    """The type of MISSING: absent, which None is not."""

    __slots__ = ()
    _one: MissingType | None = None

    def __new__(cls) -> MissingType:
        if cls._one is None:
            cls._one = super().__new__(cls)
        return cls._one

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return "MISSING"  # by its name in this module: a copy is the thing itself


MISSING: Final = MissingType()


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    raise NotStorable("a value that was read is read-only, because other runs share it: write with tx.set(cell, value), or copy it first with dict(value) or list(value)")


class ReadOnlyDict(dict[str, Any]):
    """A stored object. It reads like a dict and refuses writes; a copy is a plain dict."""

    __slots__ = ("_size",)
    _size: tuple[int, int]
    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)


class ReadOnlyList(list[Any]):
    """A stored array. It reads like a list and refuses writes; a copy is a plain list."""

    __slots__ = ("_size",)
    _size: tuple[int, int]
    __setitem__ = __delitem__ = __iadd__ = __imul__ = append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> tuple[type[list[Any]], tuple[list[Any]]]:
        return list, (list(self),)


def children(value: Value) -> Iterable[Value]:
    return value.values() if isinstance(value, dict) else value


def height(value: Value) -> int:
    """How many containers deep a frozen value is; 0 for what is no container."""
    return _size(value)[0] if isinstance(value, (ReadOnlyDict, ReadOnlyList)) else 0


def weight(value: Value) -> int:
    """How much a frozen value is when it is written out: 1 for a leaf, CONTAINER and what it holds for a container."""
    return _size(value)[1] if isinstance(value, (ReadOnlyDict, ReadOnlyList)) else 1


def _size(value: ReadOnlyDict | ReadOnlyList) -> tuple[int, int]:
    """Height and weight: measured once, when somebody asks, because most are never asked."""
    try:
        return value._size
    except AttributeError:
        deepest, held = 0, CONTAINER
        for child in children(value):
            if isinstance(child, (ReadOnlyDict, ReadOnlyList)):
                below, inside = _size(child)
                deepest, held = max(deepest, below), held + inside
            else:
                held += 1
        value._size = size = deepest + 1, held
        return size


def is_container(value: Value) -> bool:
    return isinstance(value, (dict, list))


def freeze(value: Value) -> Value:
    """The value as it is stored: checked, read-only, shared where it already is. Raises NotStorable naming the path."""
    try:
        return _frozen(value, MAX_DEPTH, [MAX_WEIGHT - 1])
    except _Refused as refused:
        raise NotStorable(f"{refused.where()}: {refused.why}") from None


class _Refused(Exception):
    """Why a part is not storable, and the steps to it, gathered on the way out so that a good value pays nothing for them."""

    def __init__(self, why: str) -> None:
        self.why = why
        self.steps: list[str] = []  # innermost first

    def where(self) -> str:
        steps = [step if len(step) <= 80 else f"{step[:80]}…" for step in reversed(self.steps)]
        if len(steps) > 20:
            steps = [*steps[:10], f"… {len(steps) - 15} more …", *steps[-5:]]
        return (pointer(tuple(steps)) or "/").encode("utf-8", "backslashreplace").decode()


_TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep, or inside itself; put inner parts into documents of their own and link them"
_TOO_MUCH = f"too much for one value (at most {MAX_WEIGHT} leaves, an object or array counting as {CONTAINER}); put parts into documents of their own and link them"
_TOO_LONG = f"longer than {MAX_TEXT} bytes; store it in parts"
_TOO_MANY = f"more than {MAX_ITEMS} items in one object or array; put parts into documents of their own and link them"
_NO_UTF8 = "the text holds a lone surrogate, which has no UTF-8 form"


def _frozen(value: Value, room: int, left: list[int]) -> Value:
    """`room` is how deep it may be, `left` what the whole may still weigh; whoever holds this value has counted it as a leaf."""
    kind = type(value)
    if kind is str:
        return value if value.isascii() and len(value) < 1000 else _text(value)
    if kind is bool or value is None or kind is float or kind is Link:
        return value
    if kind is int:
        if not _INT_MIN <= value <= _INT_MAX:
            raise _Refused(f"an integer of {value.bit_length()} bits does not fit 64; store it as a string")
        return value
    if kind is ReadOnlyDict or kind is ReadOnlyList:
        deep, held = _size(value)
        if deep > room:
            raise _Refused(_TOO_DEEP)
        _weigh(held - 1, left)
        return value
    if kind is bytes:
        if len(value) > MAX_TEXT:
            raise _Refused(_TOO_LONG)
        return value
    if not is_container(value):
        raise _Refused(_advice(value))
    if not room:
        raise _Refused(_TOO_DEEP)
    if len(value) > MAX_ITEMS:
        raise _Refused(_TOO_MANY)
    _weigh(len(value) + CONTAINER - 1, left)
    return _frozen_dict(value, room - 1, left) if isinstance(value, dict) else _frozen_list(value, room - 1, left)


def _weigh(amount: int, left: list[int]) -> None:
    left[0] -= amount
    if left[0] < 0:
        raise _Refused(_TOO_MUCH)


def _text(value: str) -> str:
    if not encodable(value):
        raise _Refused(_NO_UTF8)
    if len(value) > MAX_TEXT // 4 and len(value.encode()) > MAX_TEXT:  # a character takes four bytes at most
        raise _Refused(_TOO_LONG)
    return value


def _frozen_dict(value: dict[Any, Any], room: int, left: list[int]) -> ReadOnlyDict:
    out = {}
    key: object = None
    try:
        for key, item in value.items():
            if type(key) is not str:
                raise _Refused(f"the key is {_a(key)}, and keys are strings; use str(key)")
            out[key if key.isascii() and len(key) < 1000 else _text(key)] = _frozen(item, room, left)
    except _Refused as refused:
        refused.steps.append(key if type(key) is str else shown(key))
        raise
    return ReadOnlyDict(out)


def _frozen_list(value: list[Any], room: int, left: list[int]) -> ReadOnlyList:
    out: list[Any] = []
    try:
        for item in value:
            out.append(_frozen(item, room, left))
    except _Refused as refused:
        refused.steps.append(str(len(out)))
        raise
    return ReadOnlyList(out)


def _advice(value: object) -> str:
    if isinstance(value, tuple):
        return "a tuple would come back as a list; store list(value)"
    if isinstance(value, (set, frozenset)):
        return "a set has no stored form; store sorted(value)"
    if value is MISSING:
        return "MISSING is absence and is not stored; delete the cell instead"
    if isinstance(value, Cell):
        return "a Cell is an address; store weft.link(cell)"
    if isinstance(value, (bytearray, memoryview)):
        return f"{_a(value)} can still change; store bytes(value)"
    if isinstance(value, (bool, int, float, str, bytes)):
        return f"{_a(value)} would come back as its plain base type; convert it first"
    return f"{_a(value)} cannot be stored; values are JSON, bytes and links"


def _a(value: object) -> str:
    name = type(value).__name__
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"


_LEAVES = frozenset({str, int, bool, bytes, type(None), MissingType, Link})  # what compares by type and ==; a float does not


def same(a: Value, b: Value) -> bool:
    """Type-strict deep equality: True is not 1, 1 is not 1.0, NaN is NaN, -0.0 is not 0.0, MISSING is not None."""
    if a is b:
        return True
    kind = type(a)
    if kind in _LEAVES:
        return bool(a == b) if type(b) is kind else _different(b)
    if kind is float:
        if type(b) is not float:
            return _different(b)
        return struct.pack("d", a) == struct.pack("d", b) if a == b else a != a and b != b
    if isinstance(a, dict):
        if not isinstance(b, dict):
            return _different(b)
        if len(a) != len(b):
            return False
        for key, item in a.items():
            other = b.get(key, MISSING)
            if item is not other and not same(item, other):
                return False
        return True
    if isinstance(a, list):
        if not isinstance(b, list):
            return _different(b)
        return len(a) == len(b) and all(x is y or same(x, y) for x, y in zip(a, b, strict=True))
    raise TypeError(f"{_a(a)} cannot be compared: it is not a value that can be stored")


def _different(b: Value) -> bool:
    """Values of two types differ, provided that the second is a value at all: the first has been looked at already."""
    if type(b) in _LEAVES or type(b) is float or is_container(b):
        return False
    raise TypeError(f"{_a(b)} cannot be compared: it is not a value that can be stored")
