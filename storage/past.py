"""Documents as they were a little while ago: what makes "as of version V" exact for the waves and the clients' transactions that are under way (PROTOCOL H7).

Invariants
- `as_of` answers with the very state that the log showed at that position, or not at all; it never guesses.
- A document that was loaded counts as having been so since its space last changed from outside: the engine answers as of the last frame that was handled, and nothing that came
  before that frame is in later ones. So the first read of a document does not cost its run a second attempt.
- At most `most` superseded states are kept, the oldest go first. There is no other bound: nobody says when the transaction of a client ends, and one that asks for more than is
  kept is refused and reads again.
Hears every entry of the log. The storage actor asks.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from ..scheduler.log import CommitEntry, Entry, IntegrateEntry, PullEntry, RevertEntry, changes_of
from ..scheduler.model import Entity
from .proposal import Seen

MOST = 20_000  # superseded states: at ten thousand writes a second, the last two seconds; mostly shared with what they were superseded by


class _State(NamedTuple):
    """What a document was from log position `since` on."""

    seen: Seen
    since: int


class Past:
    """`read` gives a document as it is now."""

    def __init__(self, read: Callable[[Entity], Seen], most: int = MOST) -> None:
        self._read, self._most = read, most
        self._now: dict[Entity, _State] = {}
        self._before: dict[Entity, deque[_State]] = {}  # oldest first
        self._order: deque[Entity] = deque()  # one for each state of `_before`, in the order in which they were superseded
        self._ground: dict[str, int] = {}  # by space: when it last changed from outside, or a commit fell

    def __len__(self) -> int:
        return len(self._order)

    def heard(self, entry: Entry) -> None:
        """The entry has been made, and what it changed is to be seen."""
        n = entry[0][1]
        if type(entry) is CommitEntry:
            for change in entry[2]:
                self._changed(change[0], n)
        elif isinstance(entry, PullEntry):
            for entity, _ in entry.stamps:
                self._now[entity] = _State(self._read(entity), min(n, self._ground.get(entity.space, 0)))
        elif isinstance(entry, (IntegrateEntry, RevertEntry)):
            for change in changes_of(entry):
                self._changed(change.entity, n)
                self._ground[change.entity.space] = n

    def as_of(self, entity: Entity, n: int) -> Seen | None:
        """The document as the log showed it at `n`; None: not any more."""
        present = self._read(entity)
        if present[1] <= n or self._now[entity].since <= n:
            return present
        for state in reversed(self._before.get(entity, ())):
            if state.since <= n:
                return state.seen
        return None

    def since(self, entity: Entity, n: int) -> list[Seen] | None:
        """The document as of `n`, and everything it became after that."""
        first = self.as_of(entity, n)
        if first is None:
            return None
        present = self._read(entity)
        if first is present:
            return [first]
        return [first, *(state.seen for state in self._before.get(entity, ()) if state.since > n), present]

    def forget(self, entity: Entity) -> None:
        """Nobody reads it any more; when it is loaded again, that is a new beginning."""
        self._now.pop(entity, None)
        if self._before.pop(entity, None) is not None:
            self._order = deque(other for other in self._order if other != entity)

    def _changed(self, entity: Entity, n: int) -> None:
        before = self._now.get(entity)
        if before is not None and before.since == n:
            return  # another change of the same entry
        self._now[entity] = _State(self._read(entity), n)
        if before is None:
            return
        self._before.setdefault(entity, deque()).append(before)
        self._order.append(entity)
        if len(self._order) > self._most:
            oldest = self._order.popleft()
            states = self._before[oldest]
            states.popleft()
            if not states:
                del self._before[oldest]
