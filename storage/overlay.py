"""One document of a replica: what the engine has confirmed, and the optimistic layers over it (semantics C.7).

Invariants
- What is seen is the confirmed document with the operations of every part applied in order; a part that no longer applies is passed over, and the engine decides its fate.
- `seq` only grows: confirmed state never moves back.
- While not `stale`, each part's `after` is what is seen up to and including it, so folding the lowest part costs nothing.
- `seen.n` is the log position at which the visible value last changed: equal positions mean equal values.
`settlement` changes overlays, `admission` reads them.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..scheduler.errors import PatchApplyError
from ..scheduler.log import ReadAt
from ..scheduler.model import CommitId, Entity, Stamp
from ..scheduler.values import Value
from .commit import Accepted, ConfirmedRead, Operation, PendingRead
from .document import operate
from .link import Delivered
from .proposal import Seen

_new: Any = tuple.__new__  # what the class of a named tuple calls in the end, at half the cost


class Part:
    """What one layer does to one document. `seq` is 0 until its commit is accepted; `applies` is False while what lies below does not fit it."""

    __slots__ = ("after", "applies", "declared", "id", "operations", "seq")

    def __init__(self, id: CommitId, operations: Sequence[Operation], after: Value) -> None:
        self.id = id
        self.operations = operations
        self.after = after
        self.seq = 0
        self.applies = True
        self.declared: PendingRead | None = None  # the read that was last made through this part alone: many read the same

    def over(self, below: Value) -> Value:
        """The document with this part over another state. Raises PatchApplyError."""
        for operation in self.operations:
            below = operate(below, operation)
        return below


class Overlay:
    """A document as this replica holds it."""

    __slots__ = ("at", "confirmed", "declared", "entity", "parts", "seen", "seq", "stale", "stamp")

    def __init__(self, loaded: Delivered, n: int) -> None:
        self.entity: Entity = loaded.entity
        self.confirmed: Value = loaded.document
        self.seq: int = loaded.seq
        self.stamp: Stamp = loaded.stamp
        self.parts: list[Part] = []
        self.seen = Seen(loaded.document, n)
        self.at: ReadAt | None = None  # position and stamp, if they were told since they last changed: many read the same
        self.declared: ConfirmedRead | None = None  # the confirmed read that was last made
        self.stale = False  # what lies under some part has changed since it was rendered

    @property
    def shown_stamp(self) -> Stamp:
        """Of the newest commit whose work can be seen."""
        for part in reversed(self.parts):
            if part.applies:
                return part.id
        return self.stamp

    def tell(self) -> ReadAt:
        """Position and stamp, for whoever reads it now."""
        self.at = _new(ReadAt, (self.entity, self.seen[1], self.shown_stamp))
        return self.at

    def layers(self) -> tuple[CommitId, ...]:
        return tuple(part.id for part in self.parts)

    def push(self, part: Part, n: int) -> None:
        """A new layer on top; its `after` is what is seen from log position `n` on."""
        self.parts.append(part)
        self.seen = _new(Seen, (part.after, n))
        self.at = None

    def accepted(self, verdict: Accepted) -> None:
        for part in self.parts:
            if part.id == verdict.id:
                part.seq = verdict.seq

    def rebase(self, delivered: Delivered) -> bool:
        """The engine's newer state. It holds every accepted commit up to its sequence, so those parts go. Says False, and does nothing, if it is not newer."""
        if delivered.seq <= self.seq:
            return False
        self.confirmed, self.seq, self.stamp = delivered.document, delivered.seq, delivered.stamp
        self.parts = [part for part in self.parts if not 0 < part.seq <= self.seq]
        self.stale, self.at = True, None
        return True

    def fold(self, id: CommitId) -> bool:
        """An accepted part becomes confirmed. Says whether its operations applied; if they did not, the replica's confirmed state is not the engine's."""
        parts = self.parts
        if parts and parts[0].id is id and parts[0].seq > self.seq and not self.stale:  # the common case
            part = parts.pop(0)  # what is shown, and by whom, stays as it is
            self.confirmed, self.seq, self.stamp = part.after, part.seq, id
            return True
        index, found = self._find(id)
        if found is None:
            return True  # a delivered document already held it
        part = found
        del parts[index]
        self.at = None
        if part.seq <= self.seq:
            self.stale = True
            return True
        if index or self.stale:
            self.stale = True
            try:
                self.confirmed = part.over(self.confirmed)
            except PatchApplyError:
                return False
        else:
            self.confirmed = part.after
        self.seq, self.stamp = part.seq, id
        return True

    def drop(self, id: CommitId) -> None:
        """A part that fell."""
        index, part = self._find(id)
        if part is not None:
            del self.parts[index]
            self.stale, self.at = True, None

    def render(self) -> Value:
        """What is to be seen now."""
        value = self.confirmed
        for part in self.parts:
            try:
                part.after, part.applies = part.over(value), True
            except PatchApplyError:
                part.after, part.applies = value, False
            value = part.after
        self.stale, self.at = False, None
        return value

    def show(self, document: Value, n: int) -> None:
        self.seen = Seen(document, n)
        self.at = None

    def _find(self, id: CommitId) -> tuple[int, Part | None]:
        for index, part in enumerate(self.parts):
            if part.id == id:
                return index, part
        return -1, None
