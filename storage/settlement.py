"""Verdicts and frames become state and entries: promote, or drop, cascade, repair, revert (semantics C.7.4-C.7.7).

Order of one step, and why
1. Delivered documents replace older confirmed ones. They hold every accepted commit up to their sequence.
2. Decided commits, in the order of decision: an accepted one is folded into confirmed state; a refused one falls, and with it every layer that rests on it.
3. What can be seen is rendered once, over both: so a revert leads straight to the repaired value, and a fold that changes nothing visible says nothing.
4. Entries: one revert for each commit that fell, the refused one before those it pulled down, then one integrate for whatever else can be seen to have changed.
5. Only then the committers hear: whoever tries again reads repaired state, and graph knew of the rejection first (PROTOCOL H8).
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ..scheduler.changes import diff
from ..scheduler.errors import BrokenInvariant, ConflictError
from ..scheduler.log import Entry, IntegrateEntry, RevertEntry, RunId, StampOf
from ..scheduler.model import Change, CommitId, Entity
from ..scheduler.rejection import Rejection, rejection
from ..scheduler.values import Value
from .commit import Accepted, Rejected, Verdict
from .journal import Journal
from .layers import Layer, Layers
from .link import Delivered
from .overlay import Overlay
from .ticket import tell


class _Fall(NamedTuple):
    layer: Layer
    primary: CommitId
    rejection: Rejection
    leaning: tuple[RunId, ...]


class Settlement:
    """Works on the replica's own documents, layers and log. `fetch` asks the engine for documents whose confirmed state here turned out not to be the engine's."""

    def __init__(self, documents: dict[Entity, Overlay], layers: Layers, journal: Journal, fetch: Callable[[Entity], Delivered]) -> None:
        self._documents, self._layers, self._journal, self._fetch = documents, layers, journal, fetch

    def accept(self, layer: Layer, verdict: Accepted) -> None:
        """The verdict alone: the layer stays an overlay until a frame names it."""
        for part in layer.parts.values():
            part.seq = verdict.seq
        layer.decide(verdict)
        if layer.awaited:
            tell((layer,))

    def settle(self, verdicts: Sequence[Verdict]) -> None:
        """Accepted commits, with nothing else to be told: verdict, fold and word to the committers in one go. What is seen does not change, unless the ground of a document has."""
        in_flight = self._layers.in_flight
        awaited: list[Layer] = []
        before: dict[Entity, Value] = {}
        for verdict in verdicts:
            if type(verdict) is not Accepted:
                continue
            id, seq, *_ = verdict
            layer = in_flight.get(id)
            if layer is None or layer.verdict is not None:
                continue
            layer.verdict, layer.settled = verdict, True
            for entity, part in layer.parts.items():
                part.seq = seq
                overlay = self._documents.get(entity)
                if overlay is not None and not overlay.fold(id):
                    overlay.rebase(self._fetch(entity))
                if overlay is not None and overlay.stale:
                    before.setdefault(entity, overlay.seen.document)
            self._layers.remove(id)
            if layer.awaited:
                awaited.append(layer)
        entries = self._entries(before, []) if before else []
        try:
            if entries:
                self._journal.append(*entries)
        finally:
            if awaited:
                tell(awaited)

    def doom(self, layer: Layer, verdict: Rejected) -> None:
        """The verdict alone: the layer and all that rests on it can still be seen, but nothing new may rest on them. What they pull down hears its fate now."""
        fallen = self._layers.cascade(layer)
        self._layers.doomed.update(other.id for other in fallen)
        local = rejection(ConflictError(f"pending dependency not resolved: {layer.id.local_seq}"))
        for other in fallen:
            if other.verdict is None:
                if other is not layer:
                    self._layers.fallen.add(other.id)
                other.decide(verdict if other is layer else Rejected(other.id, local, verdict.head))
        tell(other for other in fallen)

    def step(self, documents: Sequence[Delivered], decided: Iterable[CommitId]) -> None:
        """The five points above."""
        before: dict[Entity, Value] = {}
        for delivered in documents:
            overlay = self._documents.get(delivered.entity)
            if overlay is not None and overlay.rebase(delivered):
                before[delivered.entity] = overlay.seen.document
        folded: list[Layer] = []
        falls: list[_Fall] = []
        for id in decided:
            layer = self._layers.get(id)
            if layer is None:
                continue  # it fell with another, or was named before
            if type(layer.verdict) is Accepted:
                self._fold(layer, before)
                self._layers.remove(id)
                folded.append(layer)
            else:
                falls += self._fall(layer, before)
        entries = self._entries(before, falls) if before or falls else []
        settled = []
        for layer in (*folded, *(fall.layer for fall in falls)):
            layer.settle()
            if layer.awaited:
                settled.append(layer)
        try:
            if entries:
                self._journal.append(*entries)
        finally:
            tell(settled)

    def _held(self, layer: Layer) -> list[Overlay]:
        """The documents it wrote, without those that were forgotten after a delivery had taken its part in."""
        return [overlay for entity in layer.parts if (overlay := self._documents.get(entity)) is not None]

    def _fold(self, layer: Layer, before: dict[Entity, Value]) -> None:
        for entity in layer.parts:
            overlay = self._documents.get(entity)
            if overlay is None:
                continue  # forgotten after a delivery had taken its part in
            if not overlay.fold(layer.id):
                overlay.rebase(self._fetch(overlay.entity))
            if overlay.stale:
                before.setdefault(overlay.entity, overlay.seen.document)

    def _fall(self, primary: Layer, before: dict[Entity, Value]) -> list[_Fall]:
        falls = []
        for layer in self._layers.cascade(primary):
            verdict = layer.verdict
            if not isinstance(verdict, Rejected):
                raise BrokenInvariant(f"commit {layer.id} falls with {primary.id}, but was not doomed: {verdict}")
            for overlay in self._held(layer):
                before.setdefault(overlay.entity, overlay.seen.document)
                overlay.drop(layer.id)
            falls.append(_Fall(layer, primary.id, verdict.rejection, self._layers.remove(layer.id)))
        return falls

    def _entries(self, before: dict[Entity, Value], falls: list[_Fall]) -> list[Entry]:
        changes = self._render(before)
        entries: list[Entry] = []
        version = self._journal.next()
        for fall in falls:
            mine = [entity for entity in fall.layer.parts if entity in changes]
            records, stamps = self._show(mine, changes, version.n)
            entries.append(RevertEntry(version, fall.layer.id, fall.primary, fall.rejection, records, stamps, fall.layer.run, fall.leaning))
            version = version._replace(n=version.n + 1)
        if changes:
            records, stamps = self._show(list(changes), changes, version.n)
            entries.append(IntegrateEntry(version, records, stamps))
        return entries

    def _render(self, before: dict[Entity, Value]) -> dict[Entity, list[Change]]:
        """What differs, for each document that does. One that only stands on newer ground keeps its position."""
        changes = {}
        for entity, old in before.items():
            overlay = self._documents[entity]
            new = overlay.render()
            found = diff(entity, old, new) if new is not old else []
            if found:
                changes[entity] = found
            overlay.show(new, overlay.seen.n)
        return changes

    def _show(self, entities: list[Entity], changes: dict[Entity, list[Change]], n: int) -> tuple[tuple[Change, ...], tuple[StampOf, ...]]:
        """Takes the changes of these documents for the entry at `n`."""
        records: list[Change] = []
        stamps = []
        for entity in entities:
            overlay = self._documents[entity]
            records += changes.pop(entity)
            overlay.show(overlay.seen.document, n)
            stamps.append(StampOf(entity, overlay.shown_stamp))
        return tuple(records), tuple(stamps)
