"""What a client of a session wants to be kept current, and the frames that do it, over connections that come and go.

Goal: the receiver's documents are always one cut of the log, and the watched ones of the last frame handed over.
Invariants
- `watched` is what the server watches for this session, once everything on its way has arrived. Requests are answered in order and, after a reconnect, asked again in order.
- A document that was forgotten does not come back with a frame that was on its way: until the server has answered, frames are handed over without it.
- While `fresh`, the server has forgotten what is watched. What is held may then be behind any frame, and a frame that names commits would fold them into documents that
  miss what happened meanwhile; so frames wait until everything watched was asked for again, and are handed over with the answer as one.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from ..scheduler.model import Entity
from ..scheduler.rejection import Rejection
from .dialogue import Documents, Forget, Pushed, Watch
from .link import Frame

Loaded: TypeAlias = Callable[[Documents | Rejection], None]


class _Asked(NamedTuple):
    entities: tuple[Entity, ...]
    branch: str
    loaded: Loaded | None  # None: everything watched, asked for again


class Interests:
    """The documents of one session's client."""

    def __init__(self, space: str) -> None:
        self.watched: dict[Entity, None] = {}
        self._space = space
        self._fresh = False
        self._asked: dict[int, _Asked] = {}
        self._forgetting: dict[int, tuple[Entity, ...]] = {}
        self._early: list[Pushed] = []  # frames that wait

    def ask(self, request: int, entities: Sequence[Entity], branch: str, loaded: Loaded) -> None:
        self._asked[request] = _Asked(tuple(entities), branch, loaded)

    def forget(self, request: int, entities: Sequence[Entity]) -> None:
        for entity in entities:
            self.watched.pop(entity, None)
        self._forgetting[request] = tuple(entities)
        self._early = [self._trimmed(pushed) for pushed in self._early]

    def forgotten(self, request: int) -> None:
        self._forgetting.pop(request, None)

    def lost(self) -> None:
        """What was on its way is gone; the server sends unacknowledged frames again."""
        self._early = []
        self._asked = {request: asked for request, asked in self._asked.items() if asked.loaded is not None}

    def opened(self, resumed: bool) -> None:
        if not resumed:
            self._forgetting, self._fresh = {}, bool(self.watched)

    def requests(self, session: str, unused: int) -> list[Watch | Forget]:
        """Everything that is not answered, in the order in which it was first asked; behind it, where the server has forgotten it, all that is watched."""
        if self._fresh:
            self._asked[unused] = _Asked(tuple(self.watched), "", None)
        asked: list[Watch | Forget] = [Watch(request, session, one.entities, one.branch) for request, one in self._asked.items()]
        return sorted([*asked, *(Forget(request, session, entities) for request, entities in self._forgetting.items())], key=lambda one: one.request)

    def pushed(self, pushed: Pushed) -> Pushed | None:
        """What is to be handed over now, if anything, under the number that acknowledges it."""
        self._early.append(self._trimmed(pushed))
        return None if self._fresh else self._merged([])

    def loaded(self, answer: Documents) -> tuple[Loaded | None, Pushed | None]:
        """Who asked for these documents; where nobody did, because all was asked for again, the frame that brings what is held up to date."""
        asked = self._asked.pop(answer.request, None)
        if asked is None:
            return None, None
        gone = self._gone()
        if not asked.branch:
            self.watched.update(dict.fromkeys(entity for entity in asked.entities if entity not in gone))
        if asked.loaded is not None:
            return asked.loaded, None
        self._fresh = False
        return None, self._merged([self._trimmed(Pushed(0, Frame(self._space, answer.head, answer.documents)))])

    def failed(self, request: int) -> tuple[bool, Loaded | None]:
        """Whether this request was asked here, and by whom."""
        asked = self._asked.pop(request, None)
        return asked is not None, None if asked is None else asked.loaded

    def abandoned(self) -> Iterable[Loaded]:
        """Everybody who still waits. Nothing is answered any more."""
        asked, self._asked = self._asked, {}
        return [one.loaded for one in asked.values() if one.loaded is not None]

    def _gone(self) -> set[Entity]:
        """Forgotten after whatever arrives now was said: an earlier request has its answer already."""
        return {entity for entities in self._forgetting.values() for entity in entities}

    def _trimmed(self, pushed: Pushed) -> Pushed:
        if not self._forgetting:
            return pushed
        gone = self._gone()
        return pushed._replace(frame=pushed.frame._replace(documents=tuple(document for document in pushed.frame.documents if document.entity not in gone)))

    def _merged(self, last: list[Pushed]) -> Pushed:
        """The cut of the last, the newest of each document, every name, and the number that acknowledges all."""
        early, self._early = self._early, []
        frames = [pushed.frame for pushed in early + last]
        newest = {document.entity: document for frame in frames for document in frame.documents}
        self.watched.update(dict.fromkeys(newest))
        decided = tuple(id for frame in frames for id in frame.decided)
        return Pushed(early[-1].number if early else 0, Frame(self._space, frames[-1].head, tuple(newest.values()), decided))
