"""Mergeable writes into a draft: append, add-unique, remove-by-value, increment.

They are sent as what they are, so that two runs that append to one list, or count in one number, do not conflict. Looking at what is there for their sake is no read
(semantics C.3). They stop being mergeable, and become plain writes that are validated, as soon as the same transaction does anything else to that position, above it or
below it; and where not even the object that would hold the position exists.
"""
from __future__ import annotations

from typing import NoReturn

from ..scheduler.errors import Misuse, NotStorable, PatchApplyError
from ..scheduler.ids import shown
from ..scheduler.model import Path
from ..scheduler.values import MISSING, ReadOnlyList, Value, same
from .draft import Draft, Merge
from .patch import AddUnique, Append, Increment, RemoveByValue, perform, unseen
from .place import named
from .proposal import Use
from .spine import at
from .writing import blocked, write


def merge(draft: Draft, op: Merge) -> bool:
    """Its operands are frozen. Says whether what can be seen has changed."""
    here = at(draft.document, op.path)
    _check(draft, op, here)
    if not _works(op, here):
        draft.idle[op.path] = None
        return False
    if here is MISSING and len(op.path) > 1:
        parent = at(draft.document, op.path[:-1])
        if isinstance(parent, list):
            blocked(draft, op.path[:-1], f"a list of {len(parent)} has no element {op.path[-1]!r} to change")
        if not isinstance(parent, dict):
            return write(draft, op.path, _first(op))
    try:
        perform(draft.spine(), op)
    except PatchApplyError as error:
        raise NotStorable(f"{named(draft.entity, op.path)}: {error}") from None
    draft.changed()
    _keep(draft, op if here is not MISSING or isinstance(op, RemoveByValue) else op._replace(creates=True))
    return True


def _check(draft: Draft, op: Merge, here: Value) -> None:
    if isinstance(op, Increment):
        if type(op.by) not in (int, float) or op.by - op.by != 0:
            _refuse(draft, op.path, f"an increment by {shown(op.by)}: it is a finite number")
        if here is not MISSING and type(here) not in (int, float):
            blocked(draft, op.path, f"{shown(here)} is no number, so it cannot be incremented")
    elif not isinstance(here, list) and here is not MISSING and not isinstance(op, RemoveByValue):
        blocked(draft, op.path, f"{shown(here)} is no list, so nothing can be added to it")
    if not op.path:
        _refuse(draft, op.path, "a document is an object; append to, or count in, a position inside it")


def _refuse(draft: Draft, path: Path, why: str) -> NoReturn:
    raise Misuse(f"{named(draft.entity, path)}: {why}")


def _works(op: Merge, here: Value) -> bool:
    """Does it change anything?"""
    if isinstance(op, Increment):
        return op.by != 0
    if isinstance(op, RemoveByValue):
        return isinstance(here, list) and any(same(item, op.value) for item in here)
    if here is MISSING or isinstance(op, Append):
        return bool(op.values)
    return bool(unseen(here, op.values))


def _first(op: Merge) -> Value:
    """What it makes of nothing."""
    if isinstance(op, Increment):
        return op.by
    if isinstance(op, RemoveByValue):
        return MISSING
    return ReadOnlyList(unseen((), op.values) if isinstance(op, AddUnique) else op.values)


def _keep(draft: Draft, op: Merge) -> None:
    path = op.path
    if draft.covered(path):
        return
    if any(path[:length] in draft.made for length in range(len(path))):
        draft.decide(path, whole=False)
        return
    known = draft.merges.get(path)
    joined = None if draft.crossed(path) else [op] if known is None else _joined(known, op)
    if joined is not None:
        draft.keep(path, joined)
        return
    draft.note(path, True, Use.CONFLICT)
    draft.decide(path, whole=False)


def _joined(known: list[Merge], op: Merge) -> list[Merge] | None:
    """Several of one kind as one; None where they have no sum."""
    last = known[-1]
    if isinstance(op, RemoveByValue) and isinstance(last, RemoveByValue):
        return [*known, op]
    if isinstance(op, Append) and isinstance(last, Append):
        return [last._replace(values=last.values + op.values)]
    if isinstance(op, AddUnique) and isinstance(last, AddUnique):
        return [last._replace(values=last.values + op.values)]
    if isinstance(op, Increment) and isinstance(last, Increment):
        by = last.by + op.by
        whole = by - by == 0 if type(by) is float else -(2**63) <= by < 2**64
        return [last._replace(by=by)] if by and whole else None
    return None


