"""A view of documents in a dictionary, for transactions without a replica: it counts its reads, and it may change under a transaction."""
from __future__ import annotations

from typing import Any

from weft.scheduler.cells import Link
from weft.scheduler.model import VALUE, Entity, Path, Read
from weft.scheduler.values import MISSING, Value, freeze
from weft.storage.document import operate
from weft.storage.proposal import Proposal, Seen, Use
from weft.storage.transaction import Transaction

HOME = "main"


def doc(id: str, space: str = HOME) -> Entity:
    return Entity(space, "space", id)


def at(*steps: str | int) -> Path:
    """The document path of a position in a cell's value."""
    return VALUE + tuple(str(step) for step in steps)


def linked(id: str, *steps: str, space: str | None = None) -> Link[Any]:
    return Link(space, "space", id, steps)


class Documents:
    """Whole documents by entity; `n` grows with every change, as a replica's positions do."""

    def __init__(self, **values: Value) -> None:
        self.n = 1
        self.read_count = 0
        self._seen = {doc(id): Seen(freeze({"value": value}), 1) for id, value in values.items()}

    def put(self, entity: Entity, document: Value) -> None:
        self.n += 1
        self._seen[entity] = Seen(MISSING if document is MISSING else freeze(document), self.n)

    def read(self, entity: Entity) -> Seen:
        self.read_count += 1
        return self._seen.get(entity, Seen(MISSING, 0))

    def value(self, id: str) -> Value:
        document = self.read(doc(id)).document
        return MISSING if document is MISSING else document.get("value", MISSING)

    def commit(self, proposals: tuple[Proposal, ...]) -> None:
        """Apply what is proposed to the present state."""
        for proposal in proposals:
            for operation in proposal.operations:
                self.put(operation.entity, operate(self.read(operation.entity).document, operation))


def begin(view: Documents, *, multi_space: bool = False, seed: str = "event-1") -> Transaction:
    return Transaction(view, HOME, multi_space=multi_space, seed=seed)


def reads_of(proposal: Proposal, use: Use = Use.BOTH) -> set[Read]:
    """The reads that are for all of `use`."""
    return {read for read, what in proposal.reads.items() if what & use == use}
