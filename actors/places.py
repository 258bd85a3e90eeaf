"""Where the cells of one home space are in the store, remembered: a run that reads the same cells every time places each of them once.

An entry is the record of a deep read, which is also what `Reading.fetch` takes. Cells are equal whatever type they are declared `of`, so nothing here depends on the type.
One per runtime and home space; every `Tx` of that home uses it. It is bounded: families have any number of members, and what is dropped is placed again.
"""
from __future__ import annotations

from typing import Any

from ..scheduler.cells import Cell, Family, Link, Stream
from ..scheduler.errors import Misuse
from ..scheduler.ids import shown
from ..scheduler.model import Read
from ..storage.place import place

MOST = 16_384  # entries, some 6 MB: more cells than a large program names, far fewer than a family can have


class Places(dict[Any, Read]):
    """`places[cell]` for a cell or a link, given or not given before. What is neither raises Misuse, and is never kept."""

    __slots__ = ("home",)

    def __init__(self, home: str) -> None:
        super().__init__()
        self.home = home

    def __missing__(self, what: object) -> Read:
        if not isinstance(what, (Cell, Link)):
            raise misplaced(what)
        if len(self) >= MOST:
            self.clear()
        read = self[what] = Read(*place(what, self.home), True)
        return read


def misplaced(what: object) -> Misuse:
    """Something stands where a cell belongs: what to do."""
    if isinstance(what, Stream):
        return Misuse(f"{what} is a stream: it takes events and holds no value; send it one with tx.send(stream, payload)")
    if isinstance(what, Family):
        return Misuse(f"{what.id!r} is a family of cells; name the member: family({', '.join(what.params)})")
    return Misuse(f"{shown(what)} is no cell; make one with weft.cell(id), or read an address with weft.parse(text)")


def written(what: object) -> Cell[Any]:
    """The cell that a write is given."""
    if isinstance(what, Cell):
        return what
    if isinstance(what, Link):
        raise Misuse(f"{what} is a link, a stored reference; write where it leads with tx.set(link.cell, value)")
    raise misplaced(what)
