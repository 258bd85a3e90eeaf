"""The desk: one engine and those it serves, without threads and without a clock. The host pumps it in a thread of its own; tests, simulations and the inline runtime by hand.

Goals: each commit submitted is answered once while its sender is connected; what a session holds converges to what the engine holds.
Invariants
- Whatever was delivered is watched until it is forgotten. A commit that lands stages every written document for every session that watches it, the committer excepted:
  it folds its own layer. Documents that a session wrote without watching them, and all that a refused commit wrote, read or required, are staged and watched for the committer.
- `_scanned` is the sequence up to which everything that landed was staged, commits of other processes included. A frame is a cut: its documents are as of `_scanned`,
  and a commit that it names, or that an earlier one named, lies at or below it.
- A verdict leaves before the frame that names its commit, on the same outlet.
- What cannot be sent is staged again.
Why they give the goals: a frame at `_scanned` holds every document that differs from the session's last cut, so a session that folds its named commits into the cut before
equals the engine at `_scanned`; what is lost on the way is unacknowledged, hence staged, hence in a later frame.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ..scheduler.errors import ProtocolError, SessionError, WeftError
from ..scheduler.ids import shown
from ..scheduler.model import CommitId, Entity
from ..scheduler.rejection import rejection
from .authority import Authority, Landing, read_at
from .commit import Accepted, Commit, Rejected, Verdict
from .link import Delivered, Frame
from .seal import is_commit_id
from .sessions import SESSION_TTL, Outlet, Session, Sessions, Settling

FANOUT_DELAY = 0.005  # one frame for a burst of commits instead of one for each; below what a person or a pass would notice


class _Fresh(NamedTuple):
    seq: int
    id: CommitId
    branch: str
    entities: tuple[Entity, ...]


class Desk:
    """Takes commits, has the engine decide what waits as one group, answers, and keeps every session's documents current."""

    def __init__(self, engine: Authority, *, mint: Callable[[], str], report: Callable[[Exception], None], delay: float = FANOUT_DELAY, ttl: float = SESSION_TTL) -> None:
        self.engine = engine
        self.sessions = Sessions(mint, ttl)
        self.landed = 0  # commits of this desk that the engine took, for whoever tells other processes
        self._report, self._delay = report, delay
        self._queue: list[tuple[Session, Commit]] = []
        self._sender: Session | None = None  # who has sent all that is queued
        self._scanned = engine.head()
        self._take: Callable[[list[Commit]], list[Verdict]] | None = getattr(engine, "take", None)  # a shorter way for those who send each commit once; not every engine has one

    @property
    def head(self) -> int:
        """The cut at which the next frame stands."""
        return self._scanned

    def open(self, outlet: Outlet, now: float, *, principal: str = "", session: str | None = None, token: str | None = None,
             outstanding: Iterable[int] = (), settling: Settling | None = None) -> tuple[Session, bool]:
        """A new session, or the one that `token` resumes. No frame leaves before the `outstanding` commits, which its client sends again, are answered.
        `settling` is the outlet of one that is in this process and sends no commit twice."""
        opened, resumed = self.sessions.open(principal, session, token, outlet, now, self._scanned)
        opened.held = set(outstanding)
        opened.settling = settling
        return opened, resumed

    def submit(self, session: Session, commit: Commit) -> None:
        """Queues a commit for the next pump. One without an id has no verdict to wait for, and would keep its whole group from theirs."""
        if session.settling is None and (type(commit) is not Commit or not is_commit_id(commit.id)):
            raise ProtocolError(f"{shown(commit)} is no commit: it has an id of session and local sequence")
        if session is not self._sender:
            self._sender = None if self._queue else session
        self._queue.append((session, commit))

    def fetch(self, session: Session, entities: Sequence[Entity], now: float, branch: str = "") -> list[Delivered]:
        """Documents as of what the session was last sent, watched from here on. Those of another branch are the newest and are not watched."""
        if branch:  # frames speak of the default branch only, so there is no cut to keep to and nothing to watch
            return [self.engine.read(entity, branch) for entity in entities]
        cut = session.cut
        found = [read_at(self.engine, entity, cut) for entity in entities]
        self.watch(session, entities, cut, now)
        return found

    def watch(self, session: Session, entities: Iterable[Entity], cut: int, now: float) -> None:
        """The session holds these documents as of `cut`; what has landed on them since is staged."""
        watched = set(entities)
        session.watched |= watched
        if cut < self._scanned:
            moved = [entity for landing in self.engine.after(cut) if not landing.branch for entity in landing.entities if entity in watched]
            session.stage(moved, now + self._delay)

    def forget(self, session: Session, entities: Iterable[Entity]) -> None:
        session.forget(entities)

    def watching(self) -> bool:
        """Does anybody hold a document that another process could change?"""
        return any(session.watched for session in self.sessions)

    def catch_up(self, now: float) -> int:
        """Stages what landed since the last look, by whichever process; says how many commits that were."""
        landings = self.engine.after(self._scanned)
        self._stage(landings, now)
        return len(landings)

    def pump(self, now: float) -> float | None:
        """Decides everything queued as one group, answers in the order of decision, sends the frames that are due. Says when the next one is."""
        if self._queue:
            batch, self._queue = self._queue, []
            sender, self._sender = self._sender, None
            verdicts = self._decide(batch, sender)
            if sender is not None and self._settled(sender, batch, verdicts):
                return None
            self._note(batch, verdicts, now)
            for (session, commit), verdict in zip(batch, verdicts, strict=True):
                self._answer(session, commit, verdict, now)
        elif self.sessions.calm(self._scanned):
            return None
        self.sessions.expire(now)
        return self._fan_out(now)

    def _decide(self, batch: list[tuple[Session, Commit]], sender: Session | None) -> list[Verdict]:
        try:
            if self._take is not None and sender is not None and sender.settling is not None:
                return self._take([commit for _, commit in batch])
            decided = iter(self.engine.apply([commit for session, commit in batch if commit.id.session == session.key]))
            return [next(decided) if commit.id.session == session.key else self._stray(session, commit) for session, commit in batch]
        except Exception as error:  # the engine itself failed, so nothing of the group was taken: each sender learns why
            self._report(error)
            return [self._refused(commit, error) for _, commit in batch]

    def _stray(self, session: Session, commit: Commit) -> Rejected:
        return self._refused(commit, ProtocolError(f"{commit.id} was sent by session {session.key!r}; a session sends only its own commits"))

    def _refused(self, commit: Commit, error: Exception) -> Rejected:
        return Rejected(commit.id, rejection(error), self._scanned)

    def _note(self, batch: list[tuple[Session, Commit]], verdicts: list[Verdict], now: float) -> None:
        """Stages what this group wrote. Where the log has grown by more, that is another process's work, which may be what a refused commit must read again."""
        fresh = [(verdict, commit) for (_, commit), verdict in zip(batch, verdicts, strict=True) if type(verdict) is Accepted and not verdict.replayed]
        self.landed += len(fresh)
        head = self.engine.head()
        if head - self._scanned != len(fresh):
            self.catch_up(now)
        else:
            self._stage([_Fresh(verdict.seq, verdict.id, verdict.branch, tuple(dict.fromkeys(op.entity for op in commit.operations))) for verdict, commit in fresh], now)

    def _stage(self, landings: Sequence[Landing], now: float) -> None:
        for landing in landings:
            if not landing.branch:
                for session in self.sessions:
                    if session.key != landing.id.session:
                        session.stage([entity for entity in landing.entities if entity in session.watched], now + self._delay)
        if landings:
            self._scanned = landings[-1].seq

    def _settled(self, sender: Session, batch: list[tuple[Session, Commit]], verdicts: list[Verdict]) -> bool:
        """The common answer to a sender in this process, who is alone: all it sent was taken and there is nothing else to say, so verdicts and frame are one call."""
        outlet, watched, head = sender.settling, sender.watched, self.engine.head()
        if outlet is None or sender.outlet is not outlet or sender.due is not None or sender.unacked or sender.held or len(self.sessions) > 1:
            return False
        if head - self._scanned != len(batch):
            return False
        for (_, commit), verdict in zip(batch, verdicts, strict=True):
            if type(verdict) is not Accepted or commit[6]:
                return False
            for operation in commit[1]:
                if operation[0] not in watched:
                    return False
        self.landed += len(batch)
        self._scanned = sender.cut = sender.seen = head
        outlet.settled(verdicts)
        return True

    def _answer(self, session: Session, commit: Commit, verdict: Verdict, now: float) -> None:
        if type(verdict) is Accepted:
            watched = session.watched
            concerned = [] if commit.branch else [op.entity for op in commit.operations if op.entity not in watched]
        else:
            concerned = touched(commit)
        if concerned:
            session.watched.update(concerned)
            session.stage(concerned, now + self._delay)
        session.decide(verdict.id, now + self._delay)
        if session.held:
            session.held.discard(verdict.id.local_seq)
        outlet = session.outlet
        if outlet is not None:
            try:
                outlet.verdict(verdict)
            except Exception as error:
                self._lost(session, error, now)

    def _fan_out(self, now: float) -> float | None:
        wakes = []
        documents: dict[Entity, Delivered | None] = {}
        for session in self.sessions:
            if session.due is None:
                session.quiet(self._scanned)
            elif session.ready():
                if session.due <= now:
                    self._send(session, documents, now)
                else:
                    wakes.append(session.due)
        return min(wakes, default=None)

    def _send(self, session: Session, documents: dict[Entity, Delivered | None], now: float) -> None:
        number, sent = session.take(self._scanned)
        for entity in sent.entities:
            if entity not in documents:
                documents[entity] = self._document(entity)
        found = [documents[entity] for entity in sent.entities]
        frame = Frame(self.engine.space, sent.head, tuple(document for document in found if document is not None), sent.decided)
        outlet = session.outlet
        try:
            if outlet is not None:
                outlet.frame(number, frame)
        except Exception as error:
            self._lost(session, error, now)

    def _document(self, entity: Entity) -> Delivered | None:
        """None for a row that cannot be read: one corrupt document does not keep the others from their readers; whoever fetches it gets the error."""
        try:
            return read_at(self.engine, entity, self._scanned)
        except WeftError as error:
            self._report(error)
            return None

    def _lost(self, session: Session, error: Exception, now: float) -> None:
        self._report(SessionError(f"session {session.id!r}: the connection failed ({type(error).__name__}: {error}); what it missed is kept until it resumes or expires"))
        self.sessions.detach(session, now)


def touched(commit: Commit) -> list[Entity]:
    """The documents of the default branch that a commit writes, reads or requires. It may be malformed: what is not a document is passed over."""
    found: dict[Entity, None] = {}
    parts: tuple[Any, ...] = (commit.operations, commit.confirmed, commit.pending, commit.preconditions)
    for part in parts:
        for item in part if isinstance(part, tuple) else ():
            entity, branch = getattr(item, "entity", None), getattr(item, "branch", None)
            if isinstance(entity, Entity) and not (commit.branch if branch is None else branch):
                found[entity] = None
    return list(found)
