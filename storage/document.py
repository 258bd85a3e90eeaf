"""Documents: what a position of the store holds, `{value, ...metadata}`, and what one operation of a commit makes of it.

- A document is an object. MISSING is its absence, and what a delete leaves.
- `operate_recording` gives the change records along with the new document; for a patch its cost follows the operations, not the document.
- `value_hash` is canonical and type-strict: it is equal for two documents iff `values.same` says that they are, and the same in every process and on every machine.
The engine and the replica's overlay call this.
"""
from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from typing import Any

from ..scheduler.changes import diff
from ..scheduler.errors import NotStorable, ProtocolError
from ..scheduler.ids import shown
from ..scheduler.model import Change
from ..scheduler.values import MISSING, Link, ReadOnlyDict, Value, freeze
from .commit import Delete, Operation, Patch, Put, Set
from .patch import apply, apply_recording


def operate(document: Value, operation: Operation) -> Value:
    """The document after the operation; MISSING after a delete."""
    if isinstance(operation, Patch):
        return apply(document, operation.ops)
    if isinstance(operation, Set):
        after = checked_document(operation.document)
        return ReadOnlyDict({**document, **after}) if type(operation) is Put and document is not MISSING and document.keys() - after.keys() else after
    if isinstance(operation, Delete):
        return MISSING
    raise ProtocolError(f"{shown(operation)} is no operation of a commit")


def operate_recording(document: Value, operation: Operation) -> tuple[Value, list[Change]]:
    """The document after the operation, and what changed in it."""
    if isinstance(operation, Patch):
        return apply_recording(operation.entity, document, operation.ops)
    after = operate(document, operation)
    return after, diff(operation.entity, document, after)


def checked_document(document: Value) -> ReadOnlyDict:
    """The document, frozen. ProtocolError if it is none."""
    if not isinstance(document, dict):
        raise ProtocolError(f"stored documents must be plain object roots, not {type(document).__name__}: a cell's value is stored as {{'value': ...}}")
    try:
        frozen: ReadOnlyDict = freeze(document)
    except NotStorable as error:
        raise ProtocolError(f"the document is not storable: {error}") from None
    return frozen


def value_hash(document: Value) -> bytes | None:
    """What the precondition ValueHash names: a digest of the whole document, None for its absence."""
    if document is MISSING:
        return None
    digest = hashlib.sha256()
    _feed(freeze(document), digest.update)
    return digest.digest()


def _feed(value: Value, put: Callable[[bytes], object]) -> None:
    """Every value as a tag, and a length where one is needed, so that no two values give the same bytes."""
    if isinstance(value, dict):
        put(b"{" + _count(len(value)))
        for key in sorted(value):
            _text(key, put)
            _feed(value[key], put)
    elif isinstance(value, list):
        put(b"[" + _count(len(value)))
        for item in value:
            _feed(item, put)
    elif isinstance(value, str):
        _text(value, put)
    elif value is None or isinstance(value, bool):
        put({None: b"n", True: b"t", False: b"f"}[value])
    elif isinstance(value, int):
        put(b"i" + value.to_bytes(9, "big", signed=True))
    elif isinstance(value, float):
        put(b"d" + (struct.pack(">d", value) if value == value else b"nan     "))
    elif isinstance(value, bytes):
        put(b"b" + _count(len(value)) + value)
    else:
        _link(value, put)


def _link(link: Link[Any], put: Callable[[bytes], object]) -> None:
    put(b"l" + _count(len(link.path)) + (b"-" if link.space is None else b"+"))
    for part in (link.space or "", link.scope, link.id, *link.path):
        _text(part, put)


def _text(text: str, put: Callable[[bytes], object]) -> None:
    data = text.encode()
    put(b"s" + _count(len(data)) + data)


def _count(count: int) -> bytes:
    return count.to_bytes(8, "big")
