"""A worker's documents: exactly as of the version that its wave names (DESIGN section 5; PROTOCOL H7).

Invariants
- Between two calls of `advance` nothing changes but by the wave's own writes: feeds that lead beyond the version wait, in order.
- A fetch tells what a document was at the version, and all it became until storage answered; feeds tell the rest. So what came by both ways counts once.
- Own writes stand as they were made. Where storage made something else of them, the whole document is in a feed, and changes before it speak of another state.
- What is not known to be right is not kept: after a gap, under another epoch of storage, and own writes of a wave whose token is no longer settle's.
One worker's thread uses it. A transaction reads through it (`storage.proposal.View`).
"""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from ..scheduler.changes import applied
from ..scheduler.model import Entity, Version
from ..scheduler.values import Value
from ..storage.proposal import Seen
from ..wire.feeding import Feed, Fetched
from .context import Moved

MOST = 100_000  # documents held; beyond it the half that was fetched first goes, and what of it is read again is fetched again

Fetching = Callable[[Version, tuple[Entity, ...]], Fetched]


class Documents:
    """`fetch` asks storage, and waits for the answer.

    version   what all documents are as of
    received  the number of the last feed that came
    wrote     the documents that the wave has written, each with the member that did so last
    """

    def __init__(self, fetch: Fetching, most: int = MOST) -> None:
        self.version = Version(0, 0)
        self.received = 0
        self.wrote: dict[Entity, int] = {}
        self._token = 0
        self._fetch, self._most = fetch, most
        self._held: dict[Entity, Seen] = {}
        self._ahead: dict[Entity, list[Seen]] = {}  # what fetched documents became after the version
        self._through: dict[Entity, int] = {}  # up to where the log is in what was fetched; only while feeds up to there may still come
        self._waiting: deque[Feed] = deque()

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, entity: object) -> bool:
        return entity in self._held

    def read(self, entity: Entity) -> Seen:
        """Raises Moved if it cannot be had as of the version."""
        seen = self._held.get(entity)
        if seen is None:
            self.load((entity,))
            seen = self._held.get(entity)
            if seen is None:
                raise Moved((entity,))
        return seen

    def load(self, entities: Iterable[Entity]) -> None:
        """Those that are not held, in one question. What cannot be had stays away."""
        missing = tuple([entity for entity in dict.fromkeys(entities) if entity not in self._held])
        if not missing:
            return
        answer = self._fetch(self.version, missing)
        for entity, n, document in answer.documents:
            if entity not in self._held:
                self._held[entity] = Seen(document, n)
                self._through[entity] = answer.version.n
            else:
                self._ahead.setdefault(entity, []).append(Seen(document, n))

    def write(self, entity: Entity, document: Value, member: int) -> None:
        """A member of the wave has written this; the next ones see it."""
        self._held[entity] = Seen(document, self.version.n)
        self.wrote[entity] = member

    def receive(self, feed: Feed) -> None:
        """A feed has come. It is applied when a version asks for it."""
        if feed.fed != self.received + 1 or feed.version.epoch != self.version.epoch:
            self.clear()
        self.received = feed.fed
        if feed.version.epoch == self.version.epoch:
            self._waiting.append(feed)

    def reaches(self, version: Version, fed: int) -> bool:
        """Has every feed come that this version needs? Who holds nothing needs none."""
        return fed <= self.received or not self._held or version.epoch != self.version.epoch

    def advance(self, version: Version, token: int) -> None:
        """Everything is as of this version from now on; the wave before it is over."""
        if version.epoch != self.version.epoch:
            self.clear()  # what came from another storage means nothing (PROTOCOL C1)
            self.received = 0
        if self.wrote:
            if token != self._token:
                self.forget(self.wrote)
            self.wrote = {}
        self._token, self.version = token, version
        n = version.n
        if self._ahead:
            self._catch_up(n)
        if self._waiting and self._waiting[0].version.n <= n:
            self._apply(n)
        if self._through:
            self._through = {entity: through for entity, through in self._through.items() if through > n}
        if len(self._held) > self._most:
            self.forget(list(self._held)[: len(self._held) // 2])

    def forget(self, entities: Iterable[Entity]) -> None:
        """They are not held any more."""
        for entity in list(entities):
            self._held.pop(entity, None)
            self._ahead.pop(entity, None)
            self._through.pop(entity, None)

    def clear(self) -> None:
        """Nothing is held, and nothing waits."""
        self._held, self._ahead, self._through, self.wrote = {}, {}, {}, {}
        self._waiting.clear()

    def _catch_up(self, n: int) -> None:
        for entity, states in list(self._ahead.items()):
            while states and states[0].n <= n:
                self._held[entity] = states.pop(0)
            if not states:
                del self._ahead[entity]

    def _apply(self, n: int) -> None:
        due: list[Feed] = []
        while self._waiting and self._waiting[0].version.n <= n:
            due.append(self._waiting.popleft())
        whole = {fed.entity: index for index, feed in enumerate(due) for fed in feed.documents}
        held, through = self._held, self._through
        for feed in due:
            if feed.stale:  # first of all: changes before it may speak of another state than an own write that it covers
                self.forget([entity for entity in held if through.get(entity, 0) < feed.version.n])
        for index, feed in enumerate(due):
            at = feed.version.n
            for change in feed.changes:
                entity = change[0]
                seen = held.get(entity)
                if seen is not None and at > through.get(entity, 0) and index >= whole.get(entity, 0):
                    held[entity] = Seen(applied(seen[0], change), at)
            for entity, since, document in feed.documents:
                if entity in held and at > through.get(entity, 0):
                    held[entity] = Seen(document, since)
