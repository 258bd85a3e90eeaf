"""What all transactions of one home space share: where its cells are, how types are fitted, and the cells of causes, each made once.

One `Homes` for each runtime; whoever opens a `Tx` asks it.
"""
from __future__ import annotations

from typing import Any

from ..scheduler.cells import Cell
from ..scheduler.model import VALUE, Address
from ..storage.place import spoken
from .conversion import Conversion
from .places import MOST, Places


class Home:
    __slots__ = ("_spoken", "conversion", "name", "places")

    def __init__(self, name: str) -> None:
        self.name = name
        self.places = Places(name)
        self.conversion = Conversion()
        self._spoken: dict[Address, Cell[Any]] = {}

    def cells(self, addresses: tuple[Address, ...]) -> tuple[Cell[Any], ...]:
        """The cells of these positions, as a program at home here writes them."""
        if not addresses:
            return ()
        known = self._spoken
        try:
            return (known[addresses[0]],) if len(addresses) == 1 else tuple([known[address] for address in addresses])
        except KeyError:
            if len(known) + len(addresses) > MOST:
                known.clear()
            for address in addresses:
                known[address] = spoken(address.entity, address.path or VALUE, self.name)
            return tuple([known[address] for address in addresses])


class Homes(dict[str, Home]):
    """`homes[space]`, made when it is first asked for."""

    def __missing__(self, name: str) -> Home:
        home = self[name] = Home(name)
        return home
