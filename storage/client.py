"""The client end of a session over a connection that may be lost: no clock, no randomness and no socket inside; a caller dials, tells the time and passes on what it hears.

- A commit is kept, as the object that was first sent, until its verdict. After a reconnect what is outstanding goes out again in local sequence order, and the engine
  answers what it has already taken instead of taking it twice.
- While that lasts new commits wait; they follow, once, after the last replayed one is answered, so the server decides in local sequence order.
- One local sequence is one request, however often it is handed in while in flight.
- Every waiter is called exactly once: with the verdict, or with the reason why none will come.
- A session that could not be resumed (expired) keeps its id and key, so replay still holds; `interests` brings its documents up to date after the replays are answered.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from ..scheduler.errors import ProtocolError, SessionError, WeftError
from ..scheduler.model import Entity
from ..scheduler.rejection import rejection
from .commit import Commit, Rejected, Verdict
from .dialogue import Ack, Answer, Close, Decided, Documents, Failed, Flags, Forget, Forgotten, Open, Opened, Pushed, Request, TakenOver, Transact, Watch
from .interests import Interests, Loaded
from .link import Receiver
from .sessions import session_key

BACKOFF_FIRST = 0.025  # a dropped connection is mostly back at once
BACKOFF_LAST = 30.0  # a server that stays away is not hammered, and is noticed within the read-repair wait

Waiter: TypeAlias = Callable[[Verdict], None]


def reconnect_delay(attempt: int, jitter: float) -> float:
    """Before the attempt after the `attempt`-th failure in a row (from 0): doubling, less up to half by `jitter` in [0, 1), so that clients do not come back in step."""
    return min(BACKOFF_LAST, BACKOFF_FIRST * 2.0 ** min(attempt, 32)) * (1 - jitter / 2)


class Wire(Protocol):
    """One connection. `send` raises OSError when it is gone."""

    def send(self, request: Request) -> None: ...

    def close(self) -> None: ...


class _Outstanding(NamedTuple):
    commit: Commit
    waiters: list[Waiter]


class SessionClient:
    """States: waiting (for the next attempt), opening, restoring (replays are out), ready, closed."""

    def __init__(self, space: str, dial: Callable[[], Wire], receiver: Receiver, *, principal: str, session: str, jitter: Callable[[], float],
                 flags: Flags | None = None, issued: Callable[[Commit], None] = lambda commit: None) -> None:
        self.state = "waiting"
        self.id, self.key = session, session_key(principal, session)
        self.head = 0  # of the newest frame handled
        self._dial, self._receiver, self._principal = dial, receiver, principal
        self._jitter, self._flags, self._issued = jitter, Flags() if flags is None else flags, issued
        self._wire: Wire | None = None
        self._token: str | None = None
        self._attempt, self._dial_at = 0, 0.0
        self._outstanding: dict[int, _Outstanding] = {}
        self._replayed: set[int] = set()  # replays whose answer is awaited
        self._interests = Interests(space)
        self._request = 0

    def transact(self, commit: Commit, waiter: Waiter | None = None) -> None:
        """Sends a commit, now or when the connection allows. The verdict goes to the receiver and to every waiter."""
        self._alive()
        known = self._outstanding.get(commit.id.local_seq)
        if known is None:
            known = self._outstanding[commit.id.local_seq] = _Outstanding(commit, [])
            self._issued(commit)
            if self.state == "ready":
                self._send(Transact(self.id, commit))
        elif known.commit is not commit and repr(known.commit) != repr(commit):
            raise ProtocolError(f"commit replay mismatch: {commit.id} is in flight with other content; take a new local sequence")
        if waiter is not None:
            known.waiters.append(waiter)

    def watch(self, entities: Sequence[Entity], loaded: Loaded, branch: str = "") -> None:
        """Asks for documents; those of the default branch stay current through frames until they are forgotten."""
        self._alive()
        self._request += 1
        self._interests.ask(self._request, entities, branch, loaded)
        if self.state == "ready":
            self._send(Watch(self._request, self.id, tuple(entities), branch))

    def forget(self, entities: Sequence[Entity]) -> None:
        """These documents need not be kept current any more."""
        self._request += 1
        self._interests.forget(self._request, entities)
        if self.state == "ready":
            self._send(Forget(self._request, self.id, tuple(entities)))

    def close(self) -> None:
        """Ends the session. Whoever waits is told; the receiver hears nothing more."""
        if self.state == "ready":
            self._send(Close(self.id))
        self._end(SessionError("the session was closed before the verdict came"), tell=False)

    def tick(self, now: float) -> float | None:
        """Dials if it is time. Says when to call again."""
        if self._wire is None and self.state in ("opening", "restoring", "ready"):
            self.lost(now)
        if self.state == "waiting" and now >= self._dial_at:
            try:
                self._wire = self._dial()
            except OSError:
                self.lost(now)
            else:
                self.state = "opening"
                self._request += 1
                self._send(Open(self._request, self.id, self._token, tuple(sorted(self._outstanding)), self._flags))
        return self._dial_at if self.state == "waiting" else None

    def lost(self, now: float) -> None:
        """The connection is gone, or could not be made."""
        if self.state == "closed":
            return
        self.state, self._wire, self._replayed = "waiting", None, set()
        self._interests.lost()
        self._dial_at = now + reconnect_delay(self._attempt, self._jitter())
        self._attempt += 1

    def heard(self, answer: Answer) -> None:
        """One answer of the present connection."""
        if self.state == "closed":
            return
        if isinstance(answer, Opened):
            self._opened(answer)
        elif isinstance(answer, Decided):
            self._verdict(answer.verdict)
        elif isinstance(answer, Pushed):
            self._hand(self._interests.pushed(answer))
        elif isinstance(answer, Documents):
            self._loaded(answer)
        elif isinstance(answer, Forgotten):
            self._interests.forgotten(answer.request)
        elif isinstance(answer, TakenOver):
            self._end(SessionError(f"session {self.id!r} was taken over by another connection"))
        else:
            self._failed(answer)

    def _opened(self, answer: Opened) -> None:
        if answer.session != self.id:
            self._reject(list(self._outstanding), SessionError(f"session changed from {self.id!r} to {answer.session!r}; read again and send anew"))
            self.id, self.key = answer.session, session_key(self._principal, answer.session)
        self._token, self._attempt = answer.token, 0
        self._interests.opened(answer.resumed)
        self.state, self._replayed = "restoring", set(self._outstanding)
        for local_seq in sorted(self._outstanding):
            self._send(Transact(self.id, self._outstanding[local_seq].commit))
        self._restored()

    def _restored(self) -> None:
        """When the last replay is answered: what was watched or asked before, then what has waited, in order."""
        if self.state != "restoring" or self._replayed:
            return
        self.state = "ready"
        self._request += 1
        for request in self._interests.requests(self.id, self._request):
            self._send(request)
        for local_seq in sorted(self._outstanding):
            self._send(Transact(self.id, self._outstanding[local_seq].commit))

    def _verdict(self, verdict: Verdict) -> None:
        done = self._outstanding.pop(verdict.id.local_seq, None)
        if done is None:
            return  # answered before: a replay's second answer
        self._receiver.on_verdict(verdict)
        for waiter in done.waiters:
            waiter(verdict)
        self._replayed.discard(verdict.id.local_seq)
        self._restored()

    def _hand(self, pushed: Pushed | None) -> None:
        if pushed is not None:
            self.head = pushed.frame.head
            self._receiver.on_frame(pushed.frame)
            if pushed.number:
                self._send(Ack(self.id, pushed.number))

    def _loaded(self, answer: Documents) -> None:
        loaded, pushed = self._interests.loaded(answer)
        if loaded is not None:
            loaded(answer)
        self._hand(pushed)

    def _failed(self, answer: Failed) -> None:
        asked, loaded = self._interests.failed(answer.request)
        if loaded is not None:
            loaded(answer.rejection)
        elif asked or self.state == "opening":  # without its documents, or without its session, it cannot go on
            self._end(answer.rejection.error())

    def _reject(self, local_seqs: list[int], error: WeftError, tell: bool = True) -> None:
        for local_seq in sorted(local_seqs):
            done = self._outstanding.pop(local_seq)
            verdict = Rejected(done.commit.id, rejection(error), self.head)
            if tell:
                self._receiver.on_verdict(verdict)
            for waiter in done.waiters:
                waiter(verdict)

    def _end(self, error: WeftError, tell: bool = True) -> None:
        if self.state == "closed":
            return
        self.state = "closed"
        wire, self._wire = self._wire, None
        self._reject(list(self._outstanding), error, tell)
        for loaded in self._interests.abandoned():
            loaded(rejection(error))
        if wire is not None:
            wire.close()

    def _alive(self) -> None:
        if self.state == "closed":
            raise SessionError(f"session {self.id!r} is closed; open a new one")

    def _send(self, request: Request) -> None:
        """A failed send is a lost connection: the next tick sees to it, and what is outstanding goes out again."""
        try:
            if self._wire is not None:
                self._wire.send(request)
        except OSError:
            self._wire = None
