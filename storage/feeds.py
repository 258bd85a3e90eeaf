"""Who holds which documents, and what is owed to each holder as they change (DESIGN section 5; PROTOCOL H2).

Invariants
- A holder that has applied every batch up to the last one of a version, its own writes on top, holds exactly what storage showed at that version.
- Batches of one holder are numbered 1, 2, ... without a gap. There is at most one for each step of storage, so that each version that anybody speaks of ends a batch.
- A writer is not told of its own writes where it believes what storage made of them; where it does not, it gets the whole documents.
- Nothing blocks: a holder that has more under way than CREDIT gets one batch that says that all it holds is old, and holds nothing from then on.
Changes nothing but itself; the storage actor sends what is owed.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from ..scheduler.model import Change, Entity
from .proposal import Seen

CREDIT = 10_000  # changes and documents under way to one holder; what is applied faster than it is made never comes near, and a worker in a long run costs no more memory than this


class Batch(NamedTuple):
    """What one holder is told. `n`: the position of the log that it leads to."""

    holder: str
    number: int
    n: int
    changes: tuple[Change, ...]
    documents: tuple[tuple[Entity, Seen], ...]
    stale: bool


class _Holder:
    """held, what it has a copy of; number, of the last batch; owed and whole, what the next one has; under_way, positions and sizes of batches it has not applied."""

    __slots__ = ("held", "number", "owed", "size", "under_way", "whole")

    def __init__(self) -> None:
        self.held: set[Entity] = set()
        self.number = 0
        self.owed: list[Change] = []
        self.whole: dict[Entity, None] = {}
        self.under_way: deque[tuple[int, int]] = deque()
        self.size = 0


class Feeds:
    """`read` gives a document as it is shown now."""

    def __init__(self, read: Callable[[Entity], Seen], credit: int = CREDIT) -> None:
        self._read, self._credit = read, credit
        self._holders: dict[str, _Holder] = {}
        self._of: dict[Entity, dict[str, None]] = {}  # who holds it
        self._due: dict[str, None] = {}

    def hold(self, name: str, entities: Iterable[Entity]) -> None:
        """It has been given these, as they are now and since the version it asked for."""
        holder = self._holders.get(name)
        if holder is None:
            holder = self._holders[name] = _Holder()
        for entity in entities:
            holder.held.add(entity)
            self._of.setdefault(entity, {})[name] = None

    def holds(self, name: str, entity: Entity) -> bool:
        holder = self._holders.get(name)
        return holder is not None and entity in holder.held

    def changed(self, changes: Iterable[Change], writer: str | None = None) -> None:
        """Every holder is owed these, but for their writer."""
        of = self._of
        for change in changes:
            for name in of.get(change[0], ()):
                if name != writer:
                    self._holders[name].owed.append(change)
                    self._due[name] = None

    def correct(self, name: str, entities: Collection[Entity]) -> None:
        """This holder believes something else of these documents than what is shown."""
        holder = self._holders.get(name)
        if holder is not None:
            mine = [entity for entity in entities if entity in holder.held]
            if mine:
                holder.whole.update(dict.fromkeys(mine))
                self._due[name] = None

    def take(self, n: int) -> list[Batch]:
        """What is owed to everybody, now that the log is at `n`."""
        batches = []
        for name in self._due:
            batches.append(self._batch(name, self._holders[name], n))
        self._due.clear()
        return batches

    def applied(self, name: str, n: int) -> None:
        """The holder has applied every batch up to this position of the log."""
        holder = self._holders.get(name)
        if holder is not None:
            under_way = holder.under_way
            while under_way and under_way[0][0] <= n:
                holder.size -= under_way.popleft()[1]

    def drop(self, name: str) -> None:
        """The holder is gone. Its successor's numbers go on from there, so that nobody who has heard of the last one waits for it in vain."""
        holder = self._holders.get(name)
        if holder is not None:
            self._release(name, holder)
            holder.owed, holder.whole = [], {}
            holder.under_way.clear()
            holder.size = 0
            self._due.pop(name, None)

    def _batch(self, name: str, holder: _Holder, n: int) -> Batch:
        whole, owed = holder.whole, holder.owed
        holder.whole, holder.owed = {}, []
        holder.number += 1
        size = len(owed) + len(whole)
        if holder.size + size > self._credit:
            self._release(name, holder)
            holder.under_way.clear()
            holder.size = 0
            return Batch(name, holder.number, n, (), (), True)
        holder.under_way.append((n, size))
        holder.size += size
        changes = tuple([change for change in owed if change[0] not in whole]) if whole else tuple(owed)
        return Batch(name, holder.number, n, changes, tuple([(entity, self._read(entity)) for entity in whole]), False)

    def _release(self, name: str, holder: _Holder) -> None:
        for entity in holder.held:
            others = self._of[entity]
            del others[name]
            if not others:
                del self._of[entity]
        holder.held = set()
