"""Members of families, made by demand on graph's side: who reads a member's document gets its node, and when nobody reads it any more it is forgotten (API.md).

- A registration that was asked for counts as work until it is in the log (`owed`), so that nobody finds the ring idle in between (PROTOCOL H5).
- A family that is declared again renews its members; one that is removed takes them along.
Thread-free; the graph actor has one, and enters into storage's log what it asks for.
"""
from __future__ import annotations

from collections.abc import Iterable

from ..scheduler.cells import Family
from ..scheduler.fold import Fold
from ..scheduler.model import VALUE, Entity, Read
from ..scheduler.records import Node
from ..wire.ring import Declared
from .declared import declared_of, runnable
from .families import Families
from .functions import Functions


class Members:
    """`functions` finds the families' specs; `home` is the runtime's own space. `asked` and `given_up` are to be entered, until `take`."""

    def __init__(self, fold: Fold, functions: Functions | None, home: str) -> None:
        self._fold, self._home = fold, home
        self._shared, self._functions = functions, Functions() if functions is None else functions
        self._families = Families()
        self._regarded: set[Entity] = set()  # documents that are known to be no family's, or whose node there is
        self._made: dict[str, tuple[Entity, str]] = {}  # by node: its document and its family
        self._asked: dict[str, Declared] = {}
        self._given_up: dict[str, None] = {}
        self.owed: set[str] = set()

    @property
    def any(self) -> bool:
        return bool(self._families.keys)

    def declare(self, declared: Declared) -> None:
        """A family is in the log."""
        spec = runnable(declared.spec, self._functions).body.spec
        if not isinstance(spec.output, Family):
            return
        id = declared.node
        self._families.add(id, spec, spec.output, declared.space)
        self._regarded.clear()
        for member in self._of(id):
            found = self._families.find(self._made[member][0])
            if found is not None and found.family == id and self._id(found.member.id, found.home) == member:
                self._ask(member, declared_of(found.member, member, found.home, self._shared))
            else:
                self._given_up[member] = None
        space = spec.output.space or declared.space
        self.read(Read(entity, VALUE) for entity in list(self._fold.graph.readers.entities()) if entity.space == space)

    def remove(self, id: str) -> None:
        """A family, or a member, has gone."""
        if self._families.remove(id):
            self._given_up.update(dict.fromkeys(self._of(id)))
        if id in self.owed:
            return  # its next registration is on the way, behind this removal
        made = self._made.pop(id, None)
        if made is not None:
            self._regarded.discard(made[0])

    def registered(self, id: str) -> None:
        self.owed.discard(id)

    def read(self, reads: Iterable[Read]) -> None:
        """Somebody reads these."""
        for read in reads:
            entity = read.entity
            if entity not in self._regarded:
                self._regarded.add(entity)
                found = self._families.find(entity)
                if found is None:
                    continue
                id = self._id(found.member.id, found.home)
                if id not in self._fold.registry or (id in self._made and self._made[id][0] != entity):  # the one that has this id is of another document, and leaves
                    self._made[id] = (entity, found.family)
                    self._ask(id, declared_of(found.member, id, found.home, self._shared))

    def fell(self, nodes: Iterable[Node]) -> None:
        """These are not live any more: members among them that nobody reads are forgotten."""
        for node in nodes:
            if node.id in self._made and not node.live and not node.downstream:
                self._given_up[node.id] = None

    def take(self) -> tuple[tuple[Declared, ...], tuple[str, ...]]:
        """What is to be entered: registrations and removals."""
        taken = tuple(self._asked.values()), tuple(self._given_up)
        self._asked, self._given_up = {}, {}
        return taken

    def _ask(self, id: str, declared: Declared) -> None:
        self._asked[id] = declared
        self._given_up.pop(id, None)
        self.owed.add(id)

    def _of(self, family: str) -> list[str]:
        return [id for id, (_, made_by) in self._made.items() if made_by == family]

    def _id(self, id: str, space: str) -> str:
        return id if space == self._home else f"{space}:{id}"
