"""What a replica must show, from scratch and slowly: confirmed documents, surviving layers, and nothing cached. And a mirror that knows only the log.

`ReplicaModel` is told what happened, in order, and recomputes every visible document from its lists. `Mirror` follows the entries: it applies change records to copies and
counts versions, so it proves that the log alone leads to what is shown.
"""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from weft.scheduler.errors import PatchApplyError
from weft.scheduler.log import Entry, PullEntry, RevertEntry, changes_of
from weft.scheduler.model import Change, CommitId, Entity
from weft.scheduler.values import MISSING, Value, same
from weft.storage.commit import Accepted, Operation, Verdict
from weft.storage.document import operate
from weft.storage.link import Delivered, Frame


class ModelLayer(NamedTuple):
    id: CommitId
    operations: tuple[Operation, ...]
    rests: frozenset[CommitId]


class ReplicaModel:
    """One space of one replica."""

    def __init__(self) -> None:
        self.confirmed: dict[Entity, Delivered] = {}
        self.layers: list[ModelLayer] = []
        self.verdicts: dict[CommitId, Verdict] = {}
        self.frames: list[Frame] = []

    def pulled(self, document: Delivered) -> None:
        self.confirmed[document.entity] = document

    def forgotten(self, entity: Entity) -> None:
        del self.confirmed[entity]

    def visible(self, entity: Entity) -> Value:
        value = self.confirmed[entity].document
        for layer in self.layers:
            value = self._over(value, layer, entity)
        return value

    def touching(self, entities: Iterable[Entity]) -> frozenset[CommitId]:
        """The layers that write any of these documents, those that a delivered document already holds excepted."""
        wanted = set(entities)
        return frozenset(layer.id for layer in self.layers for operation in layer.operations if operation.entity in wanted and not self._held(layer, operation.entity))

    def doomed(self) -> set[CommitId]:
        """Refused and not yet taken back, and what rests on such."""
        ids: set[CommitId] = set()
        for layer in self.layers:
            verdict = self.verdicts.get(layer.id)
            if (verdict is not None and not isinstance(verdict, Accepted)) or ids & layer.rests:
                ids.add(layer.id)
        return ids

    def effective(self, operations: Sequence[Operation]) -> tuple[Operation, ...]:
        """Without the documents that they leave as they are. Raises PatchApplyError."""
        kept = set()
        for entity in {operation.entity for operation in operations}:
            before = after = self.visible(entity)
            for operation in operations:
                if operation.entity == entity:
                    after = operate(after, operation)
            if not same(before, after):
                kept.add(entity)
        return tuple(operation for operation in operations if operation.entity in kept)

    def committed(self, id: CommitId, operations: tuple[Operation, ...], rests: frozenset[CommitId]) -> None:
        self.layers.append(ModelLayer(id, operations, rests))

    def on_verdict(self, verdict: Verdict) -> None:
        if any(layer.id == verdict.id for layer in self.layers):
            self.verdicts.setdefault(verdict.id, verdict)
        self._apply_frames()

    def on_frame(self, frame: Frame) -> None:
        self.frames.append(frame)
        self._apply_frames()

    def _apply_frames(self) -> None:
        while self.frames and not (self._open() & set(self.frames[0].decided)):
            frame = self.frames.pop(0)
            for document in frame.documents:
                if document.entity in self.confirmed and document.seq > self.confirmed[document.entity].seq:
                    self.confirmed[document.entity] = document
            for id in frame.decided:
                self._decide(id)

    def _open(self) -> set[CommitId]:
        """The commits whose fate is not known here."""
        return {layer.id for layer in self.layers if layer.id not in self.verdicts} - self.doomed()

    def _decide(self, id: CommitId) -> None:
        layer = next((layer for layer in self.layers if layer.id == id), None)
        if layer is None:
            return
        verdict = self.verdicts[id]
        if isinstance(verdict, Accepted):
            for entity in {operation.entity for operation in layer.operations}:
                if entity in self.confirmed and verdict.seq > self.confirmed[entity].seq:
                    self.confirmed[entity] = Delivered(entity, verdict.seq, id, self._over(self.confirmed[entity].document, layer, entity))
            self.layers.remove(layer)
            return
        fallen = {id}
        while True:
            more = {layer.id for layer in self.layers if layer.rests & fallen} - fallen
            if not more:
                break
            fallen |= more
        self.layers = [layer for layer in self.layers if layer.id not in fallen]

    def _held(self, layer: ModelLayer, entity: Entity) -> bool:
        verdict = self.verdicts.get(layer.id)
        return entity not in self.confirmed or (isinstance(verdict, Accepted) and verdict.seq <= self.confirmed[entity].seq)

    def _over(self, value: Value, layer: ModelLayer, entity: Entity) -> Value:
        """All of the layer's operations on the document, or none if one does not apply."""
        if self._held(layer, entity):
            return value
        after = value
        try:
            for operation in layer.operations:
                if operation.entity == entity:
                    after = operate(after, operation)
        except PatchApplyError:
            return value
        return after


class Mirror:
    """Follows a log from its first entry on. `shown` and `changed_at` are what the entries alone say."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.entries: list[Entry] = []
        self.shown: dict[Entity, Value] = {}
        self.changed_at: dict[Entity, int] = {}
        self.stamps: dict[Entity, CommitId | None] = {}

    def __call__(self, entry: Entry) -> None:
        assert entry.version == (self.epoch, len(self.entries) + 1), f"{entry.version} follows {len(self.entries)}"
        self.entries.append(entry)
        if isinstance(entry, PullEntry):
            for stamp in entry.stamps:
                assert stamp.entity not in self.shown, "loaded twice"
                self.shown[stamp.entity], self.changed_at[stamp.entity] = MISSING, entry.version.n
        for change in changes_of(entry):
            self.shown[change.entity] = applied(self.shown[change.entity], change)
            self.changed_at[change.entity] = entry.version.n
        for stamp in getattr(entry, "stamps", ()):
            self.stamps[stamp.entity] = stamp.stamp

    def forgotten(self, entity: Entity) -> None:
        del self.shown[entity], self.changed_at[entity], self.stamps[entity]

    def kinds(self) -> list[str]:
        return [entry.kind for entry in self.entries]

    def reverts(self) -> list[list[str]]:
        """The documents of each revert, in order."""
        return [list(dict.fromkeys(change.entity.id for change in entry.changes)) for entry in self.entries if isinstance(entry, RevertEntry)]


def applied(document: Value, change: Change) -> Value:
    """The document after one change record; what the record says was there before must be there."""
    return _at(document, change, 0)


def _at(value: Value, change: Change, depth: int) -> Value:
    if depth == len(change.path):
        if change.kept < 0:
            assert same(value, change.before), f"{change} meets {value!r}"
            return change.after
        assert same(list(value[change.kept:]), list(change.before)), f"{change} meets {value!r}"
        return [*value[: change.kept], *change.after]
    step = change.path[depth]
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    key: Any = step if isinstance(copy, dict) else int(step)
    below = _at(copy.get(step, MISSING) if isinstance(copy, dict) else copy[key], change, depth + 1)
    if below is MISSING:
        del copy[key]
    else:
        copy[key] = below
    return copy
