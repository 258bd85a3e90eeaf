"""Change records from knowing where a document was changed, without comparing the rest.

A tree of marks says where operations were applied. The two documents are walked down the marks alone; at a marked position the difference below it is taken by
`diff`, which does not enter what both sides share. A list that only grew, or changed from some index on, is compared from there.
The result has the effect of `diff` over the whole documents: the same readers match.
"""
from __future__ import annotations

import sys

from ..scheduler.changes import COALESCE, diff
from ..scheduler.model import ROOT, Change, Entity, Path, index_of
from ..scheduler.values import ReadOnlyList, Value
from .spine import child

END = sys.maxsize  # the start of a change that left every element where it was


class Mark:
    """One position. `whole`: anything here may differ. `start`: the list here may differ from this index on. `shift`: it came or went; in a list its successors moved."""

    __slots__ = ("below", "shift", "start", "whole")

    def __init__(self) -> None:
        self.below: dict[str, Mark] = {}
        self.whole = False
        self.start = END
        self.shift = False

    def at(self, path: Path) -> Mark:
        mark = self
        for step in path:
            below = mark.below.get(step)
            if below is None:
                below = mark.below[step] = Mark()
            mark = below
        return mark

    def come_or_gone(self) -> None:
        self.whole = self.shift = True


def records(entity: Entity, before: Value, after: Value, marks: Mark) -> list[Change]:
    """The change records between two documents that differ nowhere but at the marks."""
    found: list[Change] = []
    _walk(entity, ROOT, before, after, marks, found)
    return found


def _walk(entity: Entity, path: Path, before: Value, after: Value, mark: Mark, found: list[Change]) -> None:
    if before is after:
        return
    if not mark.whole and isinstance(before, dict) and isinstance(after, dict):
        for step, below in mark.below.items():
            _walk(entity, (*path, step), child(before, step), child(after, step), below, found)
    elif not mark.whole and isinstance(before, list) and isinstance(after, list):
        _lists(entity, path, before, after, mark, found)
    else:
        found.extend(diff(entity, before, after, path))


def _lists(entity: Entity, path: Path, before: list[Value], after: list[Value], mark: Mark, found: list[Change]) -> None:
    kept, start = min(len(before), len(after)), mark.start
    for step, below in mark.below.items():
        if below.shift:
            start = min(start, _index(step))
    start = min(start, kept)
    moved: list[Change] = []
    for step, below in mark.below.items():
        if (index := _index(step)) < start:
            _walk(entity, (*path, step), before[index], after[index], below, moved)
    if len(before) != len(after):
        moved.append(Change(entity, path, ReadOnlyList(before[kept:]), ReadOnlyList(after[kept:]), kept))
    changed = 0
    for index in range(start, kept):
        if before[index] is not after[index]:
            differing = diff(entity, before[index], after[index], (*path, str(index)))
            moved += differing
            changed += bool(differing)
            if changed > COALESCE:  # as `diff` does: one record of the list is smaller, and quicker to match, than many of its elements
                moved = [Change(entity, path, before, after)]
                break
    found += moved


def _index(step: str) -> int:
    """The index a step names; the end for "-" and for what names none."""
    index = index_of(step)
    return END if index is None else index
