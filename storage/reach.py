"""What a patch wrote beyond the paths it names: told from the document it met, so that conflicts miss nothing that a reader could see (semantics C.5, D.3).

Rule: a read is stale if what it sees was *written* after its basis, whether or not the value came out different. What a read sees is what C.1 compares: deep, whether the
position can be reached and all that is there; shallow, the same but of a container only its kind and its keys or length; `length` below a list, its length; a position behind
the end of a list, that the list ends before it.
C.5 finds most of that by the names of the operations alone. What it cannot know without the document is added here:
- `Came`: a position was made that the operation does not name as new. Objects missing on the way of an add, move or mergeable operation (the first of them is what came);
  a replaced key that was not there; what a mergeable operation created without being flagged as creating. Any patch of an absent document makes the document: everything
  was written.
- `Shifted`: an element came into a list or went from it by its index; that index and all behind it have other elements now, and the list has another length. Those before
  it are as they were (STO-045).
The document before the patch is enough. Where an operation finds another one than that, an earlier operation wrote there or above, and touches whatever this one could.
A patch that replaces what is there has no reach. Called by the commit algorithm as it accepts a patch, and when old history is looked at.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from ..scheduler.matching import LENGTH
from ..scheduler.model import ROOT, Path, index_of
from ..scheduler.overlap import is_prefix, overlaps
from ..scheduler.values import MISSING, Value
from .patch import Add, AddUnique, Append, Increment, Move, PatchOp, Remove, Replace, Splice
from .spine import at, child

_END = "-"  # the position behind the last element


class Came(NamedTuple):
    """The position was not there before; all below it, and its parent's keys, were written."""

    path: Path

    def touches(self, read: Path, deep: bool) -> bool:
        return overlaps(self.path, read) if deep else is_prefix(self.path, read) or self.path[:-1] == read


class Shifted(NamedTuple):
    """The list at the path has another length, and other elements from `start` on."""

    path: Path
    start: int

    def touches(self, read: Path, deep: bool) -> bool:
        length = len(self.path)
        if read[:length] != self.path:
            return deep and is_prefix(read, self.path)
        if len(read) == length:
            return True
        index = index_of(read[length])
        return read[length] == LENGTH if index is None else index >= self.start


Reach: TypeAlias = tuple[Came | Shifted, ...]
NOTHING: Reach = ()
EVERYTHING: Reach = (Came(ROOT),)


def reach_of(ops: Sequence[PatchOp], before: Value) -> Reach:
    """Of operations that apply to the document."""
    return EVERYTHING if before is MISSING else tuple(_reached(ops, before))


def may_reach(ops: Sequence[PatchOp], read: Path, deep: bool) -> bool:
    """Could the operations, on some document that they apply to, touch a read that their names do not touch? If not, the document need not be looked at."""
    return any(_may_reach(op, read, deep) for op in ops)


def _reached(ops: Sequence[PatchOp], before: Value) -> Iterator[Came | Shifted]:
    for op in ops:
        if isinstance(op, Replace):
            if op.path and _is_new(before, op.path):
                yield Came(op.path)
        elif isinstance(op, Remove):
            yield from _shifted(before, op.path)
        elif isinstance(op, Move):
            yield from _shifted(before, op.source)
            yield from _inserted(before, op.path)
        elif isinstance(op, Add):
            yield from _inserted(before, op.path)
        elif isinstance(op, (Append, AddUnique, Increment)):
            came = _first_missing(before, op.path)
            if came is not None and not (op.creates and came == op.path):
                yield Came(came)


def _is_new(before: Value, path: Path) -> bool:
    parent = at(before, path[:-1])
    return isinstance(parent, dict) and path[-1] not in parent


def _shifted(before: Value, path: Path) -> Iterator[Shifted]:
    parent = at(before, path[:-1]) if path else MISSING
    if isinstance(parent, list):
        index = len(parent) if path[-1] == _END else index_of(path[-1])
        yield Shifted(path[:-1], index or 0)


def _inserted(before: Value, path: Path) -> Iterator[Came | Shifted]:
    came = _first_missing(before, path[:-1])
    if came is None:
        yield from _shifted(before, path)
    else:
        yield Came(came)


def _first_missing(before: Value, path: Path) -> Path | None:
    here = before
    for length, step in enumerate(path, 1):
        here = child(here, step)
        if here is MISSING:
            return path[:length]
    return None


def _may_reach(op: PatchOp, read: Path, deep: bool) -> bool:
    """An operation that applies to an absent document may reach everything: all but a splice, a removal, and the replacement of what lies inside something."""
    if isinstance(op, Replace):
        return len(op.path) == 1 or (not deep and bool(op.path) and op.path[:-1] == read)
    if isinstance(op, Remove):
        return len(read) >= len(op.path) and is_prefix(op.path[:-1], read)
    return not isinstance(op, Splice)

