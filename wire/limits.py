"""How much one decode may cost, and the check of a value against it.

A hostile megabyte of msgpack can become ninety in memory (one byte is an empty object), so bytes alone bound nothing: containers, elements, the size of one collection, the
length of one text and the depth are bounded too. What may be decoded may be encoded, and the other way round, because both sides ask here. Called by the codec only.
"""
from __future__ import annotations

from typing import NamedTuple

from ..scheduler.errors import Undecodable
from ..scheduler.values import MAX_DEPTH, MAX_ITEMS, MAX_TEXT, Link, ReadOnlyDict, ReadOnlyList, Value

SMALL = 32 * 1024  # up to here the worst that a decode can cost is 3 MB, so nothing is counted


class Limits(NamedTuple):
    """The most that one piece may hold. `containers` and `elements` count the whole piece, `collection` one array or object, `text` one string or bytes."""

    bytes: int
    depth: int
    containers: int
    elements: int
    collection: int
    text: int


# What `freeze` lets pass fits (its weight counts a container as 5 leaves). 200,000 containers are 20 MB of headers in memory; MAX_ITEMS are the megabyte that an array's
# header may reserve before its first item has come.
DOCUMENT = Limits(bytes=16 << 20, depth=MAX_DEPTH, containers=200_000, elements=1_000_000, collection=MAX_ITEMS, text=MAX_TEXT)
# A message holds a document or two at their limit beside its own fields.
MESSAGE = Limits(bytes=40 << 20, depth=MAX_DEPTH, containers=500_000, elements=2_500_000, collection=MAX_ITEMS, text=2 * MAX_TEXT)

_OPENERS = bytes([*range(0x80, 0xA0), *range(0xDC, 0xE0)])  # what may begin a container
_BINARY = bytes([*range(0xC4, 0xCA), *range(0xD4, 0xD9)])  # what may begin a bin or an ext
_OTHERS = bytes(byte for byte in range(256) if byte not in _OPENERS and byte not in _BINARY)
_SCALARS = frozenset({type(None), bool, int, float, Link})


def suspects(data: bytes) -> bytes:
    """The bytes of an encoding that may begin a container, a bin or an ext. There are at least as many as it has of these: text and numbers may hold such bytes too."""
    return data.translate(None, _OTHERS)


def is_small(found: bytes, size: int, limits: Limits) -> bool:
    """Whether its suspects alone show that an encoding holds no more containers and elements than allowed."""
    return size <= SMALL or (len(found) <= limits.containers and size <= limits.elements)


def is_flat(found: bytes, size: int, limits: Limits) -> bool:
    """Whether its suspects alone show that the value keeps every limit and holds only JSON, so that it need not be examined."""
    return len(found) <= limits.depth and size <= min(limits.text, limits.collection) and not found.translate(None, _OPENERS)


def examine(value: Value, limits: Limits) -> None:
    """Walk a value level by level; refuse what breaks a limit or is of no storable type."""
    level: list[Value] = [value]
    containers = elements = 0
    for _ in range(limits.depth):
        below: list[Value] = []
        for item in level:
            kind = type(item)
            if kind is ReadOnlyDict or kind is ReadOnlyList:
                containers += 1
                below += _items(item, limits)
            elif kind not in _SCALARS:
                _examine_text(item, limits)
        if not below:
            return
        elements += len(below)
        if elements > limits.elements or containers > limits.containers:
            raise excess("too-many", f"more than {limits.containers} containers or {limits.elements} elements in one piece")
        level = below
    if any(type(item) is ReadOnlyDict or type(item) is ReadOnlyList for item in level):
        raise excess("too-deep", f"nested more than {limits.depth} levels deep")
    examine_leaves(level, limits)


def examine_leaves(level: list[Value], limits: Limits) -> None:
    for item in level:
        if type(item) not in _SCALARS:
            _examine_text(item, limits)


def _items(item: Value, limits: Limits) -> Value:
    if len(item) > limits.collection:
        raise excess("too-many", f"one array or object of {len(item)} items, where {limits.collection} are allowed")
    if type(item) is ReadOnlyList:
        return item
    for key in item:
        if type(key) is not str:
            raise Undecodable(f"an object has {key!r} for a key, and keys are texts", reason="key")
        if len(key) > limits.text:
            raise excess("oversized", f"a key of {len(key)} characters, where {limits.text} are allowed")
    return item.values()


def _examine_text(item: Value, limits: Limits) -> None:
    if type(item) is not str and type(item) is not bytes:
        raise Undecodable(f"{type(item).__name__} is no value that can be stored", reason="ext")
    if len(item) > limits.text:
        raise excess("oversized", f"a text of {len(item)} characters or bytes, where {limits.text} are allowed")


def excess(reason: str, what: str) -> Undecodable:
    return Undecodable(f"{what}; put parts into documents of their own and link them", reason=reason)
