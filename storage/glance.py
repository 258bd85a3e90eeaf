"""What a proposal read, told in one look: for one whose documents are all still the very ones that it saw, each read once, for scheduling and conflict alike.

That is what nearly every run proposes whose view is the replica itself. Then nothing has raced and nothing has moved, and what `admission` finds out in several questions is
one pass over the reads. For any other proposal the answer is None, and admission is asked; where both answer, they answer the same.
The way in (`intake`) calls this. It changes nothing.
"""
from __future__ import annotations

from typing import Any, NamedTuple

from ..scheduler.log import ReadAt
from ..scheduler.model import VALUE, Change, CommitId, Entity, Read
from ..scheduler.values import MISSING, ReadOnlyDict, Value, same
from .commit import ConfirmedRead, PendingRead
from .overlay import Overlay
from .proposal import Proposal, Use

_new: Any = tuple.__new__  # what the class of a named tuple calls in the end, at half the cost; several are made for every run
_BOTH = Use.BOTH
_KEY = VALUE[0]
_SCALARS = frozenset({int, float, bool, str, type(None)})


class Glance(NamedTuple):
    """The reads of a run, the documents they are in with position and stamp, and, for what is sent, the reads as the engine checks them and the layers they were made through."""

    reads: tuple[Read, ...]
    at: tuple[ReadAt, ...]
    confirmed: tuple[ConfirmedRead, ...]
    pending: tuple[PendingRead, ...]
    layers: tuple[CommitId, ...]


def glance(proposal: Proposal, documents: dict[Entity, Overlay]) -> Glance | None:
    space, seen, reads = proposal[0], proposal[1], proposal[2]
    at: list[ReadAt] = []
    confirmed: list[ConfirmedRead] = []
    pending: list[PendingRead] = []
    layers: tuple[CommitId, ...] = ()
    for read, use in reads.items():
        entity = read[0]
        overlay = documents.get(entity)
        if use is not _BOTH or overlay is None or seen.get(entity) is not overlay.seen:
            return None
        at.append(overlay.at or overlay.tell())
        if entity[0] != space:
            continue
        if overlay.parts:
            mine = _pending(overlay, read)
            pending.append(mine)
            layers = layers + mine[3] if layers else mine[3]
        else:
            known = overlay.declared
            if known is None or known[2] != overlay.seq or known[1] != read[1] or known[3] is not read[2]:
                known = overlay.declared = _new(ConfirmedRead, (entity, read[1], overlay.seq, read[2], None))
            confirmed.append(known)
    if len(at) > 1 and len(set(map(id, at))) < len(at):  # a document that was read at several places
        return None
    return _new(Glance, (tuple(reads), tuple(at), tuple(confirmed), tuple(pending), layers))  # type: ignore[no-any-return]


def _pending(overlay: Overlay, read: Read) -> PendingRead:
    """A read through all layers of a document."""
    _, path, deep = read
    parts = overlay.parts
    if len(parts) > 1:
        return _new(PendingRead, (overlay.entity, path, overlay.seq, overlay.layers(), deep))  # type: ignore[no-any-return]
    part = parts[0]
    known = part.declared
    if known is None or known[1] != path or known[2] != overlay.seq or known[4] is not deep:
        known = part.declared = _new(PendingRead, (overlay.entity, path, overlay.seq, (part.id,), deep))
    return known


def replaced(entity: Entity, before: Value, after: Value) -> Change | None:
    """The one change between two documents that hold a number, a text or null and nothing else; None if there is none, or if they are not such."""
    if type(before) is not ReadOnlyDict or type(after) is not ReadOnlyDict or len(before) != 1 or len(after) != 1:
        return None
    old, new = before.get(_KEY, MISSING), after.get(_KEY, MISSING)
    kind = type(old)
    if kind not in _SCALARS or type(new) not in _SCALARS or (old == new if kind is int and type(new) is int else same(old, new)):
        return None
    return _new(Change, (entity, VALUE, old, new, -1))  # type: ignore[no-any-return]
