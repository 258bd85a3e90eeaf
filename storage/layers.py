"""The commits of a replica that are not yet settled, oldest first, and who built on whom.

Invariants
- `rests` of a layer names only older layers, so one scan in order finds everything that a fall pulls down: the cascade is total.
- A doomed layer was refused, or rests on one that was; nothing new may rest on it, so the cascade found at the verdict is still whole when the layer falls.
- A run that wrote nothing because a layer had already written the same leans on that layer; it is named when the layer falls, and forgotten when it is confirmed.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..scheduler.log import RunId
from ..scheduler.model import CommitId, Entity
from .commit import Verdict
from .link import Link
from .ticket import Ticket


class Layer:
    """One commit in flight: the documents it wrote, the layers it rests on, the run that made it."""

    __slots__ = ("entities", "id", "link", "rests", "run", "space", "ticket")

    def __init__(self, id: CommitId, space: str, link: Link, entities: tuple[Entity, ...], rests: frozenset[CommitId], run: RunId | None) -> None:
        self.id = id
        self.space = space
        self.link = link
        self.entities = entities
        self.rests = rests
        self.run = run
        self.ticket = Ticket(id)

    @property
    def verdict(self) -> Verdict | None:
        return self.ticket.verdict


class Layers:
    """Unsettled commits of all spaces."""

    def __init__(self) -> None:
        self._layers: dict[CommitId, Layer] = {}
        self._leaning: dict[CommitId, list[RunId]] = {}
        self.doomed: set[CommitId] = set()
        self.fallen: set[CommitId] = set()  # pulled down by another before their own verdict came

    def __iter__(self) -> Iterator[Layer]:
        return iter(self._layers.values())

    def __len__(self) -> int:
        return len(self._layers)

    def get(self, id: CommitId) -> Layer | None:
        return self._layers.get(id)

    def add(self, layer: Layer) -> None:
        self._layers[layer.id] = layer

    def lean(self, run: RunId, on: Iterable[CommitId]) -> None:
        for id in on:
            if id in self._layers:
                self._leaning.setdefault(id, []).append(run)

    def inside(self, space: str, ids: frozenset[CommitId]) -> frozenset[CommitId]:
        """Those of one space."""
        return frozenset(id for id in ids if (layer := self._layers.get(id)) is not None and layer.space == space) if ids else ids

    def certain(self, id: CommitId) -> bool:
        """It cannot fall any more."""
        layer = self._layers.get(id)
        return layer is None or layer.ticket.accepted

    def cascade(self, primary: Layer) -> list[Layer]:
        """The layer and everything that rests on it, directly or through others, oldest first. What the engine has accepted stays: its word is final."""
        fallen = [primary]
        ids = {primary.id}
        for layer in self._layers.values():
            if not ids.isdisjoint(layer.rests) and not layer.ticket.accepted:
                fallen.append(layer)
                ids.add(layer.id)
        return fallen

    def remove(self, id: CommitId) -> tuple[RunId, ...]:
        """Out of flight; says which runs leaned on it."""
        del self._layers[id]
        self.doomed.discard(id)
        return tuple(self._leaning.pop(id, ()))
