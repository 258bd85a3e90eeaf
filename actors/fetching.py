"""A view of storage from afar: documents as of one version, that of the first of them. Transactions of a client read through it (PROTOCOL H7).

A document that cannot be had as of that version any more means that somebody has overtaken this transaction: it begins again with another view.
"""
from __future__ import annotations

from collections.abc import Iterable

from ..scheduler.model import Entity, Version
from ..storage.proposal import Seen
from ..storage.transaction import Transaction
from ..wire.feeding import Fetch, Fetched
from .caller import Line
from .site import Overtaken

NOW = Version(0, 0)


class AsOf:
    """`version` is that of what was read; (0, 0) before."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self.version = NOW
        self._held: dict[Entity, Seen] = {}

    def read(self, entity: Entity) -> Seen:
        seen = self._held.get(entity)
        if seen is None:
            self.load((entity,))
            seen = self._held[entity]
        return seen

    def load(self, entities: Iterable[Entity]) -> None:
        """Several in one question."""
        wanted = tuple(dict.fromkeys(entity for entity in entities if entity not in self._held))
        if not wanted:
            return
        found = self._line.ask("storage", Fetch(self.version, wanted))
        assert isinstance(found, Fetched)
        if found.moved:
            raise Overtaken(f"{found.moved[0]} has changed since this transaction began to read; begin it again")
        if self.version == NOW:
            self.version = found.version
        for document in found.documents:
            self._held[document.entity] = Seen(document.document, document.n)


class Opened(Transaction):
    """A transaction over such a view, which says as of which version it has read."""

    def __init__(self, view: AsOf, home: str, group: str | None) -> None:
        super().__init__(view, home, group=group)
        self.as_of = view
