"""From specs to registrations: ids, surfaces, families made by demand (API.md; seed 000 section 4.4).

- A node's id is its spec's; away from the runtime's home space it begins with the space, so that one module serves many.
- Registering and removing are entries of the log, so that storage refuses what a removed generation still sends (PROTOCOL H10).
- A spec whose output is a family registers nothing: a member's node is made when somebody reads the member, and forgotten when it is dormant and nobody reads it.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..scheduler.cells import Cell, Family
from ..scheduler.core import Core, Registration
from ..scheduler.errors import Misuse
from ..scheduler.gates import GateConfig
from ..scheduler.model import VALUE, Entity, Read
from ..scheduler.records import Kind, Node, Surface
from ..storage.place import place
from ..storage.replica import Replica
from .execution import Body
from .families import Families
from .specs import NodeSpec


class Nodes:
    """`home` is the runtime's own space."""

    def __init__(self, core: Core, replica: Replica, home: str, fallen: list[Node]) -> None:
        """`fallen` is where the core puts nodes that ceased to be live."""
        self._fallen = fallen
        self._core, self._replica, self._home = core, replica, home
        self._families = Families()
        self._regarded: set[Entity] = set()  # documents that are known to be no family's, or whose node there is
        self._members: dict[str, tuple[Entity, str]] = {}  # by node id: the document, and the id of the family's spec

    def id_of(self, id: str, space: str) -> str:
        return id if space == self._home else f"{space}:{id}"

    def register(self, spec: NodeSpec[..., Any], space: str, *, parent: str | None = None, group: str | None = None, hidden: bool = False, resume: bool = False) -> str:
        """The node's id. With `resume`, one that is registered equal already is left alone."""
        if isinstance(spec.output, Family):
            return self._declare(self.id_of(spec.id, space), spec, spec.output, space, resume)
        if spec.unbound:
            raise Misuse(f"{spec.id} still needs its argument {spec.unbound[0]!r}; bind it first: spec.bind(args={{…}})")
        id = self.id_of(spec.id, space)
        known = self._core.registry.get(id)
        if resume and known is not None and known.spec.spec == spec:
            return id
        kind = Kind.EFFECT if spec.kind == "effect" else Kind.COMPUTATION
        gates = GateConfig(spec.debounce, spec.max_wait, spec.throttle, spec.auto_debounce or kind is Kind.COMPUTATION)  # computations are never debounced by themselves
        what = Registration(kind, space, surface_of(spec, space), gates, Body.of(spec, space, hidden), parent, group)
        if known is not None and known.kind is Kind.EFFECT and kind is Kind.COMPUTATION:
            raise Misuse(f"{id} is an effect and cannot become a computation; remove it first, or give the computation another id")
        self._replica.register(id, self._core.next_generation(), what)
        return id

    def remove(self, id: str) -> bool:
        node = self._core.registry.get(id)
        if node is None:
            known = self._families.remove(id)
            for member in self._of(id):
                self.remove(member)
            return known
        made = self._members.pop(id, None)
        if made is not None:
            self._regarded.discard(made[0])
        self._replica.remove(id, node.generation)
        return True

    def demand(self, reads: Iterable[Read]) -> None:
        """Somebody reads these: members of families among them get their nodes."""
        if not self._families.keys:
            return
        for read in reads:
            entity = read.entity
            if entity not in self._regarded:
                self._regarded.add(entity)
                self._make(entity)

    def demand_known(self, space: str) -> None:
        """A family has been declared: those who read its members already do so now."""
        for entity in list(self._core.graph.readers.entities()):
            if entity.space == space:
                self.demand((Read(entity, VALUE),))

    def tidy(self) -> None:
        """Members that nobody reads any more are forgotten. Forgetting one may leave those that it read without a reader."""
        while self._fallen:
            node = self._fallen.pop()
            if node.id in self._members and not node.live and not node.downstream and self._core.registry.get(node.id) is node:  # else another has its name now
                above = list(node.upstream)
                self.remove(node.id)
                self._fallen += above

    def _make(self, entity: Entity) -> None:
        found = self._families.find(entity)
        if found is not None:
            id = self.id_of(found.member.id, found.home)
            if id not in self._core.registry:
                self._members[id] = (entity, found.family)
                self.register(found.member, found.home)

    def _declare(self, id: str, spec: NodeSpec[..., Any], family: Family[Any], space: str, resume: bool) -> str:
        """A family's spec. What it made when it was declared before is registered again, as any node would be, or goes with the family that it was of."""
        if resume and self._families.get(id) == spec:
            return id
        self._families.add(id, spec, family, space)
        self._regarded.clear()
        for member in self._of(id):
            found = self._families.find(self._members[member][0])
            if found is not None and found.family == id and self.id_of(found.member.id, space) == member:
                self.register(found.member, space)
            else:
                self.remove(member)
        self.demand_known(family.space or space)
        return id

    def _of(self, family: str) -> list[str]:
        """The members that this spec has made."""
        return [id for id, (_, made_by) in self._members.items() if made_by == family]


def surface_of(spec: NodeSpec[..., Any], space: str) -> Surface:
    def addresses(cells: Iterable[Cell[Any]]) -> tuple[Any, ...]:
        return tuple(cell.address(space) for cell in cells)

    output = (spec.output,) if isinstance(spec.output, Cell) and spec.kind == "computation" else ()
    outputs = output if spec.envelope else (*output, *spec.also_writes)
    declared = tuple(Read(*place(cell, space)) for cell in spec.declared_reads)
    return Surface(addresses(outputs), addresses(spec.envelope), declared)
