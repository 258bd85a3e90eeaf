"""Patch operations (semantics D.5): values, what they do to a document, and which paths they touch.

- `apply` is all or nothing, never changes what it was given, and shares what it does not change. An absent base is the empty document.
- An operation that no correct writer sends (a wrong type, an increment by nothing, the removal of the root) raises ProtocolError. One that is sound but does not fit the
  document it meets raises PatchApplyError, TooLarge where it would hold too many items. Nothing else is raised, whatever is passed in.
- Touched paths are what conflicts are decided on: they may say too much and never too little, given that writers address lists by splice and never by indexed add.
- `apply_recording` also gives the change records; it looks only where the operations say they touch, so its cost does not grow with the document.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from ..scheduler.errors import NotStorable, PatchApplyError, ProtocolError
from ..scheduler.ids import shown
from ..scheduler.model import Change, Entity, Path, pointer
from ..scheduler.values import MAX_DEPTH, MISSING, ReadOnlyDict, ReadOnlyList, Value, freeze, height, same
from .operands import below_root, checked, checked_path, checked_values, refuse
from .recording import Mark, records
from .spine import Spine, at, missing


class Replace(NamedTuple):
    path: Path
    value: Value


class Add(NamedTuple):
    path: Path
    value: Value


class Remove(NamedTuple):
    path: Path


class Move(NamedTuple):
    source: Path
    path: Path


class Splice(NamedTuple):
    path: Path
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody asks of an operation
    remove: int
    add: tuple[Value, ...]


class Append(NamedTuple):
    path: Path
    values: tuple[Value, ...]
    creates: bool = False  # the key may be new: readers of the parent's shape are touched too


class AddUnique(NamedTuple):
    path: Path
    values: tuple[Value, ...]
    creates: bool = False


class RemoveByValue(NamedTuple):
    path: Path
    value: Value


class Increment(NamedTuple):
    path: Path
    by: int | float
    creates: bool = False


PatchOp: TypeAlias = Replace | Add | Remove | Move | Splice | Append | AddUnique | RemoveByValue | Increment


class Touch(NamedTuple):
    """A path that an operation touches; with `shape`, the key set or length of its parent too."""

    path: Path
    shape: bool


def touched(ops: Sequence[PatchOp]) -> tuple[Touch, ...]:
    """Every path the operations name."""
    touches: list[Touch] = []
    for op in ops:
        if isinstance(op, Move):
            touches.append(Touch(op.source, True))
        touches.append(Touch(op.path, isinstance(op, (Add, Remove, Move)) or (isinstance(op, (Append, AddUnique, Increment)) and bool(op.creates))))
    return tuple(touches)


def apply(document: Value, ops: Sequence[PatchOp]) -> Value:
    """The document after the operations, in order."""
    spine = Spine(ReadOnlyDict() if document is MISSING else document)
    for op in ops:
        perform(spine, op)
    if not isinstance(spine.document, dict):
        raise ProtocolError("patched root is not an entity document: it must be an object with the cell's value under 'value'")
    return spine.document


def apply_recording(entity: Entity, document: Value, ops: Sequence[PatchOp]) -> tuple[Value, list[Change]]:
    """The document after the operations, and what changed in it."""
    after = apply(document, ops)
    root = Mark()
    for op in ops:
        if isinstance(op, Move):
            root.at(op.source).come_or_gone()
        mark = root.at(op.path)
        if isinstance(op, (Add, Remove, Move)):
            mark.come_or_gone()
        elif isinstance(op, Splice):
            mark.start = min(mark.start, op.index)
        elif not isinstance(op, (Append, AddUnique)):
            mark.whole = True
    return after, records(entity, document, after, root)


def perform(spine: Spine, op: PatchOp) -> None:
    """One operation. If it raises, what the spine holds is of no more use, but for a mergeable operation, which looks before it changes."""
    if not isinstance(op, _OPS):
        raise ProtocolError(f"{shown(op)} is no patch operation")
    path = checked_path(op.path)
    if isinstance(op, Replace):
        spine.put(path, checked(path, op.value))
    elif isinstance(op, Add):
        spine.insert(path, checked(path, op.value))
    elif isinstance(op, Remove):
        spine.remove(below_root(path, "remove"))
    elif isinstance(op, Move):
        _move(spine, below_root(checked_path(op.source), "move"), below_root(path, "move"))
    elif isinstance(op, Splice):
        _splice(spine, path, op)
    elif isinstance(op, (Append, AddUnique)):
        _extend(spine, path, op)
    elif isinstance(op, RemoveByValue):
        _remove_by_value(spine, path, checked(path, op.value))
    else:
        _increment(spine, below_root(path, "increment"), op)


_OPS = (Replace, Add, Remove, Move, Splice, Append, AddUnique, RemoveByValue, Increment)


def _move(spine: Spine, source: Path, path: Path) -> None:
    if len(path) > len(source) and path[: len(source)] == source:
        refuse(path, f"a move from {pointer(source)} into what it moves")
    value = at(spine.share(), source)  # shared: the height of a value is counted once, so nothing in it may change afterwards
    spine.remove(source)
    if len(path) + height(value) > MAX_DEPTH:
        raise PatchApplyError(f"{pointer(path)}: what is moved there would lie more than {MAX_DEPTH} levels deep")
    spine.insert(path, value)


def _splice(spine: Spine, path: Path, op: Splice) -> None:
    if type(op.index) is not int or type(op.remove) is not int or op.index < 0 or op.remove < 0:
        refuse(path, f"a splice at {shown(op.index)} that removes {shown(op.remove)}: both are integers from 0")
    add = checked_values(path, op.add)
    here = at(spine.document, path)
    if here is MISSING:
        missing(path)
    if not isinstance(here, list):
        raise PatchApplyError(f"{pointer(path)}: a splice needs a list")
    if op.index > len(here):
        raise PatchApplyError(f"{pointer(path)}: a splice at {op.index} of a list of {len(here)}")
    spine.splice(path, op.index, op.remove, add)


def _extend(spine: Spine, path: Path, op: Append | AddUnique) -> None:
    values = checked_values(path, op.values)
    here = at(spine.document, path)
    if here is MISSING:
        _create(spine, path, ReadOnlyList(unseen((), values) if isinstance(op, AddUnique) else values))
        return
    if not isinstance(here, list):
        raise PatchApplyError(f"{pointer(path)}: {'append' if isinstance(op, Append) else 'add-unique'} needs a list")
    if isinstance(op, AddUnique):
        values = unseen(here, values)
    if values:
        spine.splice(path, len(here), 0, values)


def unseen(known: Sequence[Value], values: Sequence[Value]) -> tuple[Value, ...]:
    """Those of `values` that equal nothing in `known` and nothing before them."""
    fresh: list[Value] = []
    for value in values:
        if not any(same(value, other) for other in known) and not any(same(value, other) for other in fresh):
            fresh.append(value)
    return tuple(fresh)


def _remove_by_value(spine: Spine, path: Path, value: Value) -> None:
    here = at(spine.document, path)
    if isinstance(here, list):
        kept = [item for item in here if not same(item, value)]
        if len(kept) != len(here):
            spine.put(path, ReadOnlyList(kept))


def _increment(spine: Spine, path: Path, op: Increment) -> None:
    by = op.by
    if type(by) not in (int, float) or not by or by != by or by in (float("inf"), float("-inf")):
        refuse(path, f"an increment by {shown(by)}: it is a finite number other than 0")
    checked(path, by)
    here = at(spine.document, path)
    if here is MISSING:
        _create(spine, path, by)
        return
    if type(here) not in (int, float):
        raise PatchApplyError(f"{pointer(path)}: increment needs a number")
    try:
        spine.put(path, freeze(here + by))
    except (NotStorable, OverflowError) as error:
        raise PatchApplyError(f"{pointer(path)}: {error}") from None


def _create(spine: Spine, path: Path, value: Value) -> None:
    """A mergeable operation meets nothing: an object gets the key; a list never gets an element it did not have."""
    if path and isinstance(at(spine.document, path[:-1]), list):
        missing(path)
    spine.put(path, value, create=True)
