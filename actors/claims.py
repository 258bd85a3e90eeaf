"""Claims: which spec of one load writes which address and handles which stream, so that two that claim the same are named together.

- Static: only what specs declare counts, and an address without a space is another one than the same address with a space, because where *here* is, is not known yet.
- Two outputs overlap iff they are in one document and one path is a prefix of the other. A family claims the documents of all its members.
- The member's node, made by hand, does not contest its family: it is the node that demand would make.
- Envelopes are no claims: they order runs, and may overlap.
- A claim costs the length of its path, however many there are. `loading` calls this.
"""
from __future__ import annotations

from typing import Any, TypeAlias

from ..scheduler.cells import Cell, Family, Stream
from ..scheduler.errors import Misuse
from ..scheduler.model import Path
from .families import splits
from .specs import HandlerSpec, NodeSpec

Spec: TypeAlias = NodeSpec[..., Any] | HandlerSpec[Any, Any]
Document: TypeAlias = tuple[str | None, str, str]


class Claims:
    """What the specs of one load claim."""

    def __init__(self) -> None:
        self._streams: dict[Stream[Any], Spec] = {}
        self._families: dict[tuple[str | None, str, int], NodeSpec[..., Any]] = {}  # by space, id and number of parameters
        self._written: dict[tuple[Document, Path], NodeSpec[..., Any]] = {}  # who writes exactly there
        self._within: dict[tuple[Document, Path], NodeSpec[..., Any]] = {}  # somebody who writes there or below

    def add(self, specs: list[Spec]) -> None:
        """Take what these claim. Raises Misuse naming the two that claim the same."""
        nodes = [spec for spec in specs if isinstance(spec, NodeSpec)]
        for spec in specs:
            if isinstance(spec, HandlerSpec) and (other := self._streams.setdefault(spec.stream, spec)) is not spec:
                raise Misuse(f"{other.id} and {spec.id} both handle {spec.stream!r}, and an event has one handler; load one of them, or give one a stream of its own")
        families = [(node, node.output) for node in nodes if isinstance(node.output, Family)]
        for node, family in families:
            if (rival := self._families.setdefault((family.space, family.id, len(family.params)), node)) is not node:
                raise _contested(rival, node, repr(family))
        for node, family in families:
            for wider in self._families_of(family.space, family.id, len(family.params)):
                raise _contested(wider, node, repr(family))
        for node in nodes:
            for cell in (*([node.output] if isinstance(node.output, Cell) else []), *node.also_writes):
                self._claim_cell(node, cell)

    def _claim_cell(self, node: NodeSpec[..., Any], cell: Cell[Any]) -> None:
        document: Document = (cell.space, cell.scope, cell.id)
        for owner in self._families_of(cell.space, cell.id, 0) if cell.scope == "space" else ():
            if owner is not node and owner.member(cell) != node:
                raise _contested(owner, node, str(cell))
        above = [(document, cell.path[:length]) for length in range(len(cell.path) + 1)]
        other = next((self._written[place] for place in above if place in self._written), self._within.get(above[-1]))
        if other is not None and other is not node:
            raise _contested(other, node, str(cell))
        self._written[above[-1]] = node
        for place in above:
            self._within.setdefault(place, node)

    def _families_of(self, space: str | None, id: str, params: int) -> list[NodeSpec[..., Any]]:
        """The specs that write a family with members called `id` and as many further steps as there are `params`, other than a family of that very id."""
        owners = (self._families.get((space, prefix, arguments + params)) for prefix, arguments in splits(id))
        return [owner for owner in owners if owner is not None]


def _contested(one: NodeSpec[..., Any], two: NodeSpec[..., Any], what: str) -> Misuse:
    return Misuse(f"{one.id} and {two.id} both write {what}, and an address has one writer; load one of them, or give one an output of its own")
