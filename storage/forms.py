"""The stored forms: which value a row's bytes hold, and the checks on the way back.

- A set holds its document, a patch the list of its operations `[word, field, ...]`, a delete nothing. What a program hands in is frozen on the way, so that the engine may keep it.
- What comes back from a row is believed only after it has been looked at; a row that does not hold what it must raises CorruptRow, naming the row, and is never guessed.
Called by the commit algorithm and by whoever reads history.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..scheduler.errors import CorruptRow, ProtocolError, WeftError
from ..scheduler.ids import shown
from ..scheduler.model import Address, CommitId
from ..scheduler.values import ReadOnlyDict, ReadOnlyList, Value, freeze
from .codec import Codec
from .patch import Add, AddUnique, Append, Increment, Move, PatchOp, Remove, RemoveByValue, Replace, Splice
from .tables import DELETE, OPS, PATCH, SET, Resolved, RevisionRow, SnapshotRow

_WORDS: dict[type[Any], str] = {
    Replace: "replace",
    Add: "add",
    Remove: "remove",
    Move: "move",
    Splice: "splice",
    Append: "append",
    AddUnique: "add-unique",
    RemoveByValue: "remove-by-value",
    Increment: "increment",
}
_PATHS, _VALUE, _VALUES, _COUNT, _NUMBER, _FLAG = "path", "value", "values", "count", "number", "flag"
_FIELDS: dict[type[Any], tuple[str, ...]] = {
    Replace: (_PATHS, _VALUE),
    Add: (_PATHS, _VALUE),
    Remove: (_PATHS,),
    Move: (_PATHS, _PATHS),
    Splice: (_PATHS, _COUNT, _COUNT, _VALUES),
    Append: (_PATHS, _VALUES, _FLAG),
    AddUnique: (_PATHS, _VALUES, _FLAG),
    RemoveByValue: (_PATHS, _VALUE),
    Increment: (_PATHS, _NUMBER, _FLAG),
}
_KINDS = {word: kind for kind, word in _WORDS.items()}


def operations(ops: object) -> tuple[tuple[PatchOp, ...], Value]:
    """The operations of a patch with their values frozen, and the list that is stored of them. Raises ProtocolError for what is no operation."""
    if type(ops) is not tuple or not ops:
        raise ProtocolError("a patch holds at least one operation, in a tuple")
    kept: list[PatchOp] = []
    listed: list[Value] = []
    for op in ops:
        fields = _FIELDS.get(type(op))
        if fields is None:
            raise ProtocolError(f"{shown(op)} is no patch operation")
        row: list[Value] = [_WORDS[type(op)]]
        strange = False  # holds a value that was not frozen yet
        for kind, given in zip(fields, op, strict=True):
            stored = _given(kind, given, op)
            row.append(stored)
            strange = strange or (kind is _VALUE and stored is not given) or (kind is _VALUES and any(a is not b for a, b in zip(stored, given, strict=True)))
        kept.append(_operation(type(op), fields, row) if strange else op)
        listed.append(ReadOnlyList(row))
    return tuple(kept), ReadOnlyList(listed)


def _given(kind: str, given: Any, op: object) -> Value:
    """One field of a submitted operation, as it is stored."""
    if kind is _PATHS:
        if type(given) is tuple and all([type(step) is str for step in given]):  # noqa: C419 (a list is twice as fast for the few steps there are)
            return ReadOnlyList(given)
    elif kind is _VALUE:
        return freeze(given)
    elif kind is _VALUES:
        if type(given) is tuple:
            return freeze(list(given))
    elif (kind is _NUMBER and type(given) is float) or (kind is _FLAG and type(given) is bool) or (kind in (_NUMBER, _COUNT) and type(given) is int):
        return freeze(given)
    raise ProtocolError(f"malformed patch operation {shown(op)}: {shown(given)} is no {kind}")


def _operation(kind: type[Any], fields: tuple[str, ...], row: list[Value]) -> PatchOp:
    return kind(*(tuple(item) if field in (_PATHS, _VALUES) else item for field, item in zip(fields, row[1:], strict=True)))  # type: ignore[no-any-return]


def row_document(codec: Codec, row: RevisionRow | SnapshotRow, where: str) -> Value:
    """The document that a set or a snapshot holds."""
    if type(row.data) is ReadOnlyDict:
        return row.data
    value = _decoded(codec, row.data, where)
    if not isinstance(value, dict):
        raise CorruptRow(f"stored documents must be plain object roots: {where} holds {type(value).__name__}")
    return freeze(value)


def row_operations(codec: Codec, row: RevisionRow, where: str) -> tuple[PatchOp, ...]:
    """The operations that a patch holds."""
    value = _decoded(codec, row.data, where)
    try:
        return listed(value)
    except ProtocolError as error:
        raise CorruptRow(f"stored patches must be lists of operations: {where}: {error}") from None


def listed(value: Value) -> tuple[PatchOp, ...]:
    """The operations whose stored form this is: what `operations` has listed. Raises ProtocolError."""
    try:
        if not isinstance(value, list) or not value:
            raise ValueError("no list of operations")
        return tuple(_stored(item) for item in value)
    except (TypeError, ValueError, KeyError, WeftError) as error:
        raise ProtocolError(str(error)) from None


def row_op(row: RevisionRow, where: str) -> str:
    """The word of a revision."""
    if row.op not in OPS:
        raise CorruptRow(f"unexpected stored revision op {row.op!r} in {where}; it is {SET}, {PATCH} or {DELETE}")
    return row.op


def _stored(item: Any) -> PatchOp:
    word, *given = item
    kind = _KINDS[word]
    fields = _FIELDS[kind]
    for field, value in zip(fields, given, strict=True):
        if not _CHECKS[field](value):
            raise ValueError(f"{value!r} is no {field}")
    return _operation(kind, fields, [word, *(freeze(value) for value in given)])


_CHECKS: dict[str, Callable[[Any], bool]] = {
    _PATHS: lambda value: isinstance(value, list) and all(type(step) is str for step in value),
    _VALUE: lambda value: True,
    _VALUES: lambda value: isinstance(value, list),
    _COUNT: lambda value: type(value) is int,
    _NUMBER: lambda value: type(value) in (int, float),
    _FLAG: lambda value: type(value) is bool,
}


def encode_resolution(codec: Codec, resolved: Resolved) -> bytes:
    return codec.encode(ReadOnlyList(ReadOnlyList((*id, seq)) for id, seq in resolved))


def decode_resolution(codec: Codec, data: bytes | Resolved | None, where: str) -> Resolved:
    if data is None:
        return ()
    if type(data) is tuple:
        return data
    try:
        return tuple((CommitId(session, local), seq) for session, local, seq in _decoded(codec, data, where))
    except (TypeError, ValueError) as error:
        raise CorruptRow(f"stored resolutions must be lists of (session, local sequence, seq): {where}: {error}") from None


def encode_triggers(codec: Codec, triggers: tuple[Address, ...]) -> bytes:
    return codec.encode(ReadOnlyList(ReadOnlyList((*trigger[:3], ReadOnlyList(trigger.path))) for trigger in triggers))


def decode_triggers(codec: Codec, data: bytes | tuple[Address, ...] | None, where: str) -> tuple[Address, ...]:
    if data is None:
        return ()
    if type(data) is tuple:
        return data
    try:
        return tuple(Address(space, scope, id, tuple(path)) for space, scope, id, path in _decoded(codec, data, where))
    except (TypeError, ValueError) as error:
        raise CorruptRow(f"stored triggers must be lists of addresses: {where}: {error}") from None


def _decoded(codec: Codec, data: Any, where: str) -> Value:
    if data is None:
        raise CorruptRow(f"{where} holds no data, and its op needs some")
    try:
        return codec.decode(data)
    except (WeftError, ValueError, TypeError) as error:
        raise CorruptRow(f"{where} does not decode: {error}") from error
