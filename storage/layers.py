"""The commits of a replica that are not yet settled, oldest first, and who built on whom.

Invariants
- `rests` of a layer names only older layers, so one scan in order finds everything that a fall pulls down: the cascade is total.
- A doomed layer was refused, or rests on one that was; nothing new may rest on it, so the cascade found at the verdict is still whole when the layer falls.
- A run that wrote nothing because a layer had already written the same leans on that layer; it is named when the layer falls, and forgotten when it is confirmed.
"""
from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from ..scheduler.log import RunId
from ..scheduler.model import CommitId, Entity
from .link import Link
from .overlay import Part
from .ticket import Ticket


class Layer(Ticket):
    """One commit in flight: the documents it wrote, the layers it rests on, the run that made it. To its committer it is the ticket."""

    __slots__ = ("link", "parts", "rests", "run", "space")

    def __init__(self, id: CommitId, space: str, link: Link, parts: dict[Entity, Part], rests: Collection[CommitId], run: RunId | None) -> None:
        self.id = id
        self.verdict = None
        self.settled = False
        self._on_verdict = self._on_settled = None
        self.space = space
        self.link = link
        self.parts = parts
        self.rests = rests
        self.run = run


class Layers:
    """Unsettled commits of all spaces, by id, `in_flight`."""

    def __init__(self) -> None:
        self.in_flight: dict[CommitId, Layer] = {}
        self._leaning: dict[CommitId, list[RunId]] = {}
        self.doomed: set[CommitId] = set()
        self.fallen: set[CommitId] = set()  # pulled down by another before their own verdict came

    def __iter__(self) -> Iterator[Layer]:
        return iter(self.in_flight.values())

    def __len__(self) -> int:
        return len(self.in_flight)

    def get(self, id: CommitId) -> Layer | None:
        return self.in_flight.get(id)

    def lean(self, run: RunId, on: Iterable[CommitId]) -> None:
        for id in on:
            if id in self.in_flight:
                self._leaning.setdefault(id, []).append(run)

    def inside(self, space: str, ids: frozenset[CommitId]) -> frozenset[CommitId]:
        """Those of one space."""
        return frozenset(id for id in ids if (layer := self.in_flight.get(id)) is not None and layer.space == space) if ids else ids

    def certain(self, id: CommitId) -> bool:
        """It cannot fall any more."""
        layer = self.in_flight.get(id)
        return layer is None or layer.accepted

    def cascade(self, primary: Layer) -> list[Layer]:
        """The layer and everything that rests on it, directly or through others, oldest first. What the engine has accepted stays: its word is final."""
        fallen = [primary]
        ids = {primary.id}
        for layer in self.in_flight.values():
            if not ids.isdisjoint(layer.rests) and not layer.accepted:
                fallen.append(layer)
                ids.add(layer.id)
        return fallen

    def remove(self, id: CommitId) -> tuple[RunId, ...]:
        """Out of flight; says which runs leaned on it."""
        del self.in_flight[id]
        if self.doomed:
            self.doomed.discard(id)
        return tuple(self._leaning.pop(id)) if id in self._leaning else ()
