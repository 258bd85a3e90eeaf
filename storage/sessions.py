"""Server-side sessions of one space: who is served, what they watch, and what they have not yet been told.

- A session is (principal, session id). Its key, both parts quoted, is the `session` of its commit ids, so ("a:b", "c") and ("a", "b:c") are two sessions.
- It is open on at most one connection, its outlet. A connection that shows the present token takes it over; the connection before is told, and each token serves once.
  If the connection that was given a new token is lost before it was used, the one before it serves again: the answer may have been lost with it.
- Without a connection it stays resumable for a time; until it expires, what it misses is staged.
- What was sent is kept until it is acknowledged. A frame that failed or was lost is rewound into what is staged, so a resumed session misses nothing and the staged
  set, never larger than what is watched, is all the memory that a slow reader costs.
Tokens and ids come from `mint`, time from the caller. Called by the desk alone.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hmac import compare_digest
from typing import NamedTuple, Protocol
from urllib.parse import quote

from ..scheduler.errors import SessionError
from ..scheduler.model import CommitId, Entity
from .commit import Verdict
from .link import Frame

SESSION_TTL = 30.0  # seconds without a connection; a laptop lid or a restarted proxy is shorter, a dead client's staging should not live longer
CREDIT = 64  # frames on their way at once; beyond it changes of one document coalesce instead of queueing


def session_key(principal: str, session: str) -> str:
    """The session's name in commit ids: splits on ":" into exactly the two quoted parts."""
    try:
        return f"{quote(principal, safe='')}:{quote(session, safe='')}"
    except UnicodeEncodeError as error:
        raise SessionError(f"the principal {principal!r} and the session id {session!r} must be encodable text: {error.reason}") from None


class Outlet(Protocol):
    """The way to one connection. An exception means that the connection is gone."""

    def verdict(self, verdict: Verdict) -> None: ...

    def frame(self, number: int, frame: Frame) -> None: ...

    def quiet(self, head: int) -> None:
        """Nothing that this session watches differs at `head` from what it was sent."""

    def taken_over(self) -> None: ...


class Settling(Outlet, Protocol):
    """The outlet of a session in this process: it also takes the verdicts of accepted commits together with the frame that names them and nothing else."""

    def settled(self, verdicts: Sequence[Verdict]) -> None: ...


class Sent(NamedTuple):
    """A frame that is not acknowledged yet, as far as it is needed to say it again."""

    head: int
    entities: tuple[Entity, ...]
    decided: tuple[CommitId, ...]


class Session:
    """One session's state. `cut` is the head up to which it was sent everything, `seen` the head up to which it acknowledged."""

    def __init__(self, principal: str, id: str, token: str, cut: int) -> None:
        self.principal, self.id, self.token = principal, id, token
        self.spent: str | None = None  # what was shown when the present token was given
        self.heard = False  # the present token is known to have arrived
        self.key = session_key(principal, id)
        self.settling: Settling | None = None  # the outlet of one in this process, which sends no commit twice
        self.outlet: Outlet | None = None
        self.expires: float | None = None  # when it is forgotten, if no connection takes it up before
        self.watched: set[Entity] = set()
        self.dirty: dict[Entity, None] = {}  # staged, in the order of staging
        self.decided: list[CommitId] = []  # commits that the next frame names
        self.due: float | None = None  # when the next frame leaves; None: nothing is staged
        self.held: set[int] = set()  # local sequences whose verdict must come before any frame (a resumed client would else see its own commits twice)
        self.unacked: dict[int, Sent] = {}
        self.cut = self.seen = cut
        self._number = 0

    def admits(self, token: str | None) -> bool:
        valid = [self.token] if self.heard or self.outlet is not None else [self.token, self.spent]
        return any(token is one if token is None or one is None else compare_digest(token.encode("utf-8", "surrogatepass"), one.encode("utf-8", "surrogatepass")) for one in valid)

    def stage(self, entities: Iterable[Entity], due: float) -> None:
        for entity in entities:
            self.dirty[entity] = None
            self._wake(due)

    def decide(self, id: CommitId, due: float) -> None:
        self.decided.append(id)
        self._wake(due)

    def _wake(self, due: float) -> None:
        if self.due is None:
            self.due = due

    def ready(self) -> bool:
        """May a frame leave? Staged, connected, in credit, and nothing held."""
        return self.due is not None and self.outlet is not None and not self.held and len(self.unacked) < CREDIT

    def take(self, head: int) -> tuple[int, Sent]:
        """What is staged becomes a numbered frame that waits for its acknowledgement."""
        sent = Sent(head, tuple(self.dirty), tuple(self.decided))
        self._number += 1
        self.unacked[self._number] = sent
        self.dirty, self.decided, self.due, self.cut = {}, [], None, head
        return self._number, sent

    def acknowledge(self, number: int) -> None:
        """Frames arrive in order, so one number answers for all before it."""
        for sent in [n for n in self.unacked if n <= number]:
            self.seen = self.unacked.pop(sent).head

    def rewind(self, due: float) -> None:
        """Everything unacknowledged is staged again, in front of what was staged since."""
        if not self.unacked:
            return
        lost = list(self.unacked.values())
        self.unacked = {}
        self.dirty = dict.fromkeys([entity for sent in lost for entity in sent.entities if entity in self.watched]) | self.dirty
        self.decided = [id for sent in lost for id in sent.decided] + self.decided
        self.cut = self.seen
        self._wake(due)

    def quiet(self, head: int) -> None:
        """Nothing is staged: the session stands at `head` without having been told."""
        if head == self.cut:
            return
        self.cut = head
        if not self.unacked:
            self.seen = head
        outlet = self.outlet
        if outlet is not None:
            outlet.quiet(head)

    def forget(self, entities: Iterable[Entity]) -> None:
        for entity in entities:
            self.watched.discard(entity)
            self.dirty.pop(entity, None)


class Sessions:
    """The sessions of one space by id."""

    def __init__(self, mint: Callable[[], str], ttl: float = SESSION_TTL) -> None:
        self._mint, self._ttl = mint, ttl
        self._by_id: dict[str, Session] = {}

    def __iter__(self) -> Iterator[Session]:
        return iter(list(self._by_id.values()))

    def __len__(self) -> int:
        return len(self._by_id)

    def calm(self, head: int) -> bool:
        """There is one session, in this process, and it stands at `head`: nobody waits for anything."""
        if len(self._by_id) != 1:
            return False
        (session,) = self._by_id.values()
        return session.settling is not None and session.due is None and session.cut == head and session.expires is None

    def open(self, principal: str, id: str | None, token: str | None, outlet: Outlet, now: float, head: int) -> tuple[Session, bool]:
        """The session on its new connection, and whether it was resumed. What was lost on the way to the old one is staged again."""
        self.expire(now)
        known = self._by_id.get(id) if id is not None else None
        if known is None:
            session = Session(principal, self._mint() if id is None else id, self._mint(), head)
            session.spent = token
            self._by_id[session.id] = session
        else:
            session = self._resumed(known, principal, token)
            session.rewind(now)
        session.outlet, session.expires = outlet, None
        return session, known is not None

    def _resumed(self, session: Session, principal: str, token: str | None) -> Session:
        if session.principal != principal:
            raise SessionError(f"session {session.id!r} is bound to another principal; open one of your own")
        if not session.admits(token):
            raise SessionError(f"session {session.id!r}: the resume token is no longer valid; open a new session")
        session.spent, session.token, session.heard = token, self._mint(), False
        if session.outlet is not None:
            old, session.outlet = session.outlet, None
            old.taken_over()
        return session

    def adopt(self, session: Session) -> None:
        """Takes in a session that was made elsewhere under an id of its own."""
        self._by_id[session.id] = session

    def detach(self, session: Session, now: float) -> None:
        """The connection is gone; what it did not acknowledge is staged again."""
        if session.outlet is not None:
            session.outlet, session.expires = None, now + self._ttl
            session.held = set()
            session.rewind(now)

    def drop(self, session: Session) -> None:
        session.outlet = None
        if self._by_id.get(session.id) is session:
            del self._by_id[session.id]

    def expire(self, now: float) -> None:
        for session in self:
            if session.expires is not None and session.expires <= now:
                self.drop(session)
