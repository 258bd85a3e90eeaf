"""Storage decides at the commit (PROTOCOL rule 4): what of a proposal is left to write, whether what it read still holds, and what is told to the engine and to graph.

- Elision is against the present state, document by document: operations that leave a document as it is are dropped.
- A read that still finds its value takes basis, layers, stamp and position from the present state, so that a foreign commit which changed nothing visible cannot make every
  retry stale (PROTOCOL H3). The basis is the confirmed sequence under the layers, and every layer of the document is named (pitfalls B-103, B-104).
- An elided write counts as a read of the layers it was equal to, for the cascade only (PROTOCOL H9): the engine is asked whether they were accepted, nothing more.
- Whole-document validation (semantics C.5, left column) holds only for what is sent; a proposal that writes nothing and requires nothing succeeds as it is.
`replica.commit` calls these in order; they change nothing.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from ..scheduler.changes import diff
from ..scheduler.log import NO_STAMP, ReadAt
from ..scheduler.matching import matches_naive
from ..scheduler.model import Change, CommitId, Entity, Path, Read
from ..scheduler.overlap import compact
from ..scheduler.values import same
from .commit import ConfirmedRead, Operation, PendingRead
from .document import operate_recording
from .overlay import Overlay, Part
from .proposal import Proposal, Use

Find: TypeAlias = Callable[[Entity], Overlay]
NOBODY: frozenset[CommitId] = frozenset()
_SCHEDULING, _CONFLICT = Use.SCHEDULING, Use.CONFLICT  # compared by identity: flag arithmetic costs more than all else that is done for a read


class Effects(NamedTuple):
    """What a proposal does to the present state. `leans` are the layers under documents that a dropped write was equal to."""

    operations: tuple[Operation, ...]
    parts: dict[Entity, Part]
    changes: list[Change]
    leans: frozenset[CommitId]


def effects(proposal: Proposal, id: CommitId, find: Find) -> Effects:
    """Raises PatchApplyError if a patch does not fit the present state."""
    leans = leaning(proposal, find) if proposal.elided else NOBODY
    operations = proposal.operations
    if len(operations) == 1:
        operation = operations[0]
        overlay = find(operation.entity)
        after, changes = operate_recording(overlay.seen.document, operation)
        if changes:
            return Effects(operations, {operation.entity: Part(id, operations, after)}, changes, leans)
        return Effects((), {}, [], leans.union(overlay.layers()))
    return _several(operations, id, find, leans)


def _several(operations: tuple[Operation, ...], id: CommitId, find: Find, leans: frozenset[CommitId]) -> Effects:
    """Operations on one document count as one: what they undo of each other is no change."""
    grouped: dict[Entity, list[Operation]] = {}
    for operation in operations:
        grouped.setdefault(operation.entity, []).append(operation)
    parts: dict[Entity, Part] = {}
    changes: list[Change] = []
    for entity, group in grouped.items():
        overlay = find(entity)
        before = after = overlay.seen.document
        for operation in group:
            after, recorded = operate_recording(after, operation)
        if len(group) > 1:
            recorded = diff(entity, before, after)
        if recorded:
            parts[entity] = Part(id, group, after)
            changes += recorded
        else:
            leans = leans.union(overlay.layers())
    if len(parts) < len(grouped):
        operations = tuple(operation for operation in operations if operation.entity in parts)
    return Effects(operations, parts, changes, leans)


def leaning(proposal: Proposal, find: Find) -> frozenset[CommitId]:
    """The layers that the transaction's own elided writes were equal to."""
    layers: set[CommitId] = set()
    for address in proposal.elided:
        layers.update(find(address.entity).layers())
    return frozenset(layers) if layers else NOBODY


def raced(proposal: Proposal, find: Find) -> Entity | None:
    """A document that has changed since the transaction pinned it, among those whose reads may conflict and those where a write was left out because the value was there."""
    equal: set[Entity] = set()
    for read, use in proposal.reads.items():
        entity = read.entity
        if use is not _SCHEDULING and entity not in equal:
            seen, now = proposal.seen.get(entity), find(entity).seen
            if seen is not None and seen.n != now.n:
                if not same(seen.document, now.document):
                    return entity
                equal.add(entity)
    for address in proposal.elided:
        seen, now = proposal.seen.get(address.entity), find(address.entity).seen
        if seen is not None and seen.n != now.n and matches_naive(seen.document, now.document, address.path, True):
            return address.entity
    return None


def scheduling(proposal: Proposal) -> tuple[Read, ...]:
    """The reads that the run depends on."""
    return tuple([read for read, use in proposal.reads.items() if use is not _CONFLICT])


def moved(proposal: Proposal, find: Find) -> tuple[Read, ...]:
    """The scheduling reads whose value is no longer the one that was read."""
    found = []
    for read, use in proposal.reads.items():
        if use is not _CONFLICT:
            seen, now = proposal.seen.get(read.entity), find(read.entity).seen
            if seen is not None and seen.n != now.n and matches_naive(seen.document, now.document, read.path, read.deep):
                found.append(read)
    return tuple(found)


def read_at(proposal: Proposal, moved: tuple[Read, ...], find: Find) -> tuple[ReadAt, ...]:
    """Every document that the run's scheduling reads are in, with position and stamp."""
    found: dict[Entity, ReadAt] = {read.entity: ReadAt(read.entity, proposal.seen[read.entity].n, NO_STAMP) for read in moved}
    for read, use in proposal.reads.items():
        entity = read.entity
        if use is not _CONFLICT and entity not in found:
            overlay = find(entity)
            found[entity] = ReadAt(entity, overlay.seen.n, overlay.shown_stamp)
    return tuple(found.values())


class Declared(NamedTuple):
    """The reads of a commit as the engine checks them, and the layers they were made through."""

    confirmed: tuple[ConfirmedRead, ...]
    pending: tuple[PendingRead, ...]
    layers: frozenset[CommitId]


def declare(proposal: Proposal, find: Find) -> Declared:
    """Reads of other spaces are not the engine's to judge: they were validated here, and their changes are causes like any other."""
    grouped: dict[Entity, list[Read]] = {}
    for read, use in proposal.reads.items():
        if use is not _SCHEDULING and read.entity.space == proposal.space:
            grouped.setdefault(read.entity, []).append(read)
    confirmed: list[ConfirmedRead] = []
    pending: list[PendingRead] = []
    layers: set[CommitId] = set()
    for entity, reads in grouped.items():
        overlay = find(entity)
        basis, through = overlay.seq, overlay.layers()
        layers.update(through)
        for path, deep in _compacted(reads):
            if through:
                pending.append(PendingRead(entity, path, basis, through, deep))
            else:
                confirmed.append(ConfirmedRead(entity, path, basis, deep))
    return Declared(tuple(confirmed), tuple(pending), frozenset(layers) if layers else NOBODY)


def _compacted(reads: list[Read]) -> list[tuple[Path, bool]]:
    """A deep read covers the deep reads below it; a shallow one stands for itself (pitfalls B-114)."""
    if len(reads) == 1:
        return [(reads[0].path, reads[0].deep)]
    deep = compact(read.path for read in reads if read.deep)
    return [*((path, True) for path in deep), *((read.path, False) for read in reads if not read.deep)]
