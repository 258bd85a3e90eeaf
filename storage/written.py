"""Which paths a patch writes, so that the path rules of semantics C.2 miss nothing that the matcher would find.

The paths an operation names are not always all it changes. Whether more changes is decided by the document the patch met:
- an add, or a mergeable operation, makes the objects that are missing on its way: then it is the first of those that came;
- an add, remove or move of a list's element moves the elements behind it: then the list was written;
- any operation on an absent document makes the document: then everything was written.
The document before the patch is enough. Where an operation finds another one than that, an earlier operation wrote at that very place or above, and its path is among the answers.
Every answer is the named path or one above it, and a write above touches all that a write below touches. Called by the overlap queries.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..scheduler.model import ROOT, Path, index_of
from ..scheduler.overlap import compact
from ..scheduler.values import MISSING, Value
from .patch import Add, AddUnique, Append, Increment, Move, PatchOp, Remove, touched
from .spine import child

_MAKES = (Add, Move, Append, AddUnique, Increment)
_SHIFTS = (Add, Remove, Move)


def named_paths(ops: Sequence[PatchOp]) -> tuple[Path, ...]:
    """As the operations spell them."""
    return compact(touch.path for touch in touched(ops))


def written_paths(ops: Sequence[PatchOp], before: Value) -> tuple[Path, ...]:
    """All that the operations may change in the document they met."""
    return (ROOT,) if before is MISSING else compact(_written(ops, before))


def is_plain(ops: Sequence[PatchOp]) -> bool:
    """On a document that is there, the operations change nothing but what they name: it need not be looked at."""
    return not any((isinstance(op, _MAKES) and len(op.path) > 1) or (isinstance(op, _SHIFTS) and any(map(_is_position, _paths(op)))) for op in ops)


def _written(ops: Sequence[PatchOp], before: Value) -> Iterator[Path]:
    for op in ops:
        for path in _paths(op):
            yield _reached(before, path, path is op.path and isinstance(op, _MAKES), isinstance(op, _SHIFTS))


def _paths(op: PatchOp) -> tuple[Path, ...]:
    return (op.source, op.path) if isinstance(op, Move) else (op.path,)


def _is_position(path: Path) -> bool:
    return bool(path) and (path[-1] == "-" or index_of(path[-1]) is not None)


def _reached(before: Value, path: Path, makes: bool, shifts: bool) -> Path:
    """The first position that changes. What makes nothing and finds nothing changes nothing, unless an earlier operation was there before it."""
    here = before
    for length, step in enumerate(path[:-1], 1):
        here = child(here, step)
        if here is MISSING:
            return path[:length] if makes else path
    return path[:-1] if shifts and isinstance(here, list) else path
