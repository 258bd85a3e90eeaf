"""Whether an operation of the log touches a read (semantics C.5, D.3). It may say so too often and never too seldom.

- A set or a delete touches every read of its document, whatever the path and depth.
- A patch touches a deep read iff one of its leaf paths overlaps the read path either way; a shallow read iff one of its paths, or the parent of one that changes its
  parent's keys or length, is at the read path or above it. So say the names of its operations, and `operation_touches`.
- It also touches what it wrote beyond the names: what came into being with it, and the elements of a list that it moved. So says its `reach`, to be asked where the names say no.
- Nothing is asked of a write. One that was made without a read is taken whatever was committed meanwhile, and the last one stands (STO-085, pitfalls B-102); that holds for
  a set too, which means the whole document, with the metadata in it.
Called by the commit algorithm.
"""
from __future__ import annotations

from ..scheduler.model import Path
from ..scheduler.overlap import is_prefix, overlaps
from ..scheduler.values import Value
from .patch import PatchOp, touched
from .reach import Reach
from .tables import PATCH


def operation_touches(op: str, data: Value | tuple[PatchOp, ...], path: Path, deep: bool) -> bool:
    """By name. `data` is looked at for a patch only: its operations."""
    if op != PATCH:
        return True
    if deep:
        return any(overlaps(touch.path, path) for touch in touched(data))
    return any(is_prefix(touch.path, path) or (touch.shape and is_prefix(touch.path[:-1], path)) for touch in touched(data))


def reach_touches(reach: Reach, path: Path, deep: bool) -> bool:
    """Beyond the names."""
    return any(place.touches(path, deep) for place in reach)
