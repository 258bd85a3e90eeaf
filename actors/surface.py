"""What a declaration says beside its function: cells to write and read, and times. Checked where it is declared, so that nothing downstream checks again.

`specs` and `declaring` call this.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from ..scheduler.cells import Cell, Family, Stream
from ..scheduler.errors import Misuse
from ..scheduler.ids import shown
from ..scheduler.overlap import overlaps


def checked_output(output: object, owner: str) -> Cell[Any] | Family[Any] | None:
    if output is None or isinstance(output, (Cell, Family)):
        return output
    if isinstance(output, Stream):
        raise Misuse(f"{owner}: output={shown(output)} is a stream and takes events; send to it with tx.send, and write to a cell")
    raise Misuse(f"{owner}: output={shown(output)} is neither a cell nor a family; make one with weft.cell or weft.family")


def checked_cells(cells: object, what: str, owner: str) -> tuple[Cell[Any], ...]:
    """A list of cells, such as `declared_reads`."""
    if not isinstance(cells, Sequence) or isinstance(cells, str):
        raise Misuse(f"{owner}: {what}={shown(cells)} is no list of cells; write {what}=[cell]")
    for cell in cells:
        if not isinstance(cell, Cell):
            raise Misuse(f"{owner}: {what} holds {shown(cell)}, which is no cell; make one with weft.cell, or name a family's member: family('ann')")
    return tuple(cells)


def check_apart(output: Cell[Any] | Family[Any] | None, also_writes: Iterable[Cell[Any]], owner: str) -> None:
    """A node writes each place under one name only: an output inside another one would have two values."""
    taken: list[Cell[Any]] = [output] if isinstance(output, Cell) else []
    for cell in also_writes:
        if isinstance(output, Family) and output.space == cell.space and output.match(cell) is not None:
            raise Misuse(f"{owner}: also_writes holds {cell}, which is a member of its output {output!r}; take it out")
        for other in taken:
            if (cell.space, cell.scope, cell.id) == (other.space, other.scope, other.id) and overlaps(cell.path, other.path):
                raise Misuse(f"{owner}: the outputs {other} and {cell} overlap; keep the one that holds the other")
        taken.append(cell)


def checked_seconds(seconds: object, what: str, owner: str) -> float | None:
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not math.isfinite(seconds) or seconds < 0:
        raise Misuse(f"{owner}: {what}={shown(seconds)} is no time; it is a number of seconds from 0, or None")
    return float(seconds)


def checked_flag(flag: object, what: str, owner: str) -> bool:
    if not isinstance(flag, bool):
        raise Misuse(f"{owner}: {what}={shown(flag)} is neither True nor False")
    return flag


def checked_version(version: object, owner: str) -> str:
    if type(version) is not str:
        raise Misuse(f"{owner}: version={shown(version)} is no text; write version={str(version)!r}")
    return version


def checked_group(group: object) -> str | None:
    if group is not None and type(group) is not str:
        raise Misuse(f"group={shown(group)} is no text; write group='editor', or none")
    return group
