"""The host: an engine and its desk in a thread of their own, for any number of sessions in other threads.

- Only the host's thread touches the engine and the desk. Other threads leave work in the inbox and ring; what waits when the thread looks becomes one group.
- `fetch` never waits for that thread: it reads through a reader of the calling thread and leaves the watch in the inbox. So a receiver may fetch from inside a callback,
  and a caller may fetch while it holds a lock that a callback wants.
- Receivers are called through `deliver`, which the owner gives: it may post to a mailbox. Without one they are called in the host's thread.
- Nothing that a callback raises ends the thread, SystemExit included.
- `close` decides what was sent before it, says what there is to say, and joins the thread.
"""
from __future__ import annotations

import logging
import math
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from typing import TypeVar

from ..scheduler.errors import SessionError
from ..scheduler.ids import shown
from .authority import Readable, Source
from .bell import Bell
from .desk import FANOUT_DELAY, Desk
from .hints import Hints
from .hostlink import Deliver, HostLink
from .lent import Lent
from .link import Receiver
from .pace import Pace
from .sessions import Session

T = TypeVar("T")
Job = Callable[[float], None]


def _mint() -> str:
    return secrets.token_hex(16)


def _log(error: Exception) -> None:
    logging.getLogger("weft.storage").error("%s", error, exc_info=error)


def _at_once(call: Callable[[], None]) -> None:
    call()


class Host:
    """Runs one engine. `opener` opens it in the host's thread, then `hints` its way to the other processes; what they raise is raised here."""

    def __init__(self, opener: Callable[[], Readable], *, delay: float = FANOUT_DELAY, pace: Pace | None = None, hints: Callable[[], Hints] | None = None,
                 clock: Callable[[], float] = time.monotonic, report: Callable[[Exception], None] = _log) -> None:
        self._pace, self._clock, self._tell_owner = pace, clock, report
        self._hints: Hints | None = None
        self._inbox: deque[Job] = deque()
        self._gate = threading.Lock()  # between leaving work and closing
        self._closing = self._closed = False
        self._bell = Bell()
        self._readers: dict[int, Lent] = {}
        opened: Future[tuple[Readable, Desk]] = Future()
        self._thread = threading.Thread(target=self._run, args=(opener, hints, delay, opened), name="weft-engine", daemon=True)
        self._thread.start()
        try:
            self._engine, self._desk = opened.result()
        except BaseException:
            self._thread.join()
            raise

    @property
    def space(self) -> str:
        return self._engine.space

    def connect(self, receiver: Receiver, *, principal: str = "", session: str | None = None, token: str | None = None, deliver: Deliver | None = None) -> HostLink:
        """A link for one replica. A new session needs no answer of the host's thread; a named one may be refused and is waited for."""
        link = HostLink(self, receiver, deliver or _at_once, self._desk.head)
        if session is None:
            made = Session(principal, _mint(), _mint(), self._desk.head)  # a fresh id meets no other session, so nobody need be asked
            made.outlet = link
            link.opened = made
            self.post(lambda now: self._desk.sessions.adopt(made))
        else:
            link.opened, _ = self.call(lambda now: self._desk.open(link, now, principal=principal, session=session, token=token))
            link.start(link.opened.cut)
        link.opened.heard = True  # nothing lies between: the token has arrived
        return link

    def post(self, job: Job, wake: bool = True) -> None:
        """Leaves work for the host's thread; never waits."""
        with self._gate:
            if self._closed:
                raise SessionError(f"the store of space {self.space!r} is closed; connect again")
            self._inbox.append(job)
        if wake:
            self._bell.ring()

    def call(self, ask: Callable[[float], T]) -> T:
        """Asks the host's thread and waits for the answer. Not from under a lock that a receiver takes."""
        if self.here:
            return ask(self._clock())
        answer: Future[T] = Future()

        def job(now: float) -> None:
            try:
                answer.set_result(ask(now))
            except BaseException as error:
                answer.set_exception(error)

        self.post(job)
        return answer.result()

    def report(self, error: BaseException) -> None:
        """Says what went wrong. Never raises: whoever reports has others to serve."""
        told = error
        if not isinstance(told, Exception):
            told = SessionError(f"{type(error).__name__} was raised in the engine's thread of space {self.space!r}, which serves others and does not end for it: {shown(error)}")
        try:
            self._tell_owner(told)
        except BaseException as failed:
            _log(told)
            _log(SessionError(f"the report itself failed: {type(failed).__name__}: {shown(failed)}"))

    @property
    def here(self) -> bool:
        """Whether this is the host's thread."""
        return threading.get_ident() == self._thread.ident

    def desk(self) -> Desk:
        """For jobs and calls, which run in the host's thread."""
        return self._desk

    def reader(self) -> Source:
        """The calling thread's way to committed documents."""
        if self.here:
            return self._engine
        me = threading.get_ident()
        found = self._readers.get(me)
        if found is None:
            with self._gate:
                if self._closed:
                    raise SessionError(f"the store of space {self.space!r} is closed; connect again")
                self._prune()
                found = self._readers[me] = Lent(self._engine.reader(), self.space)
        return found

    def _prune(self) -> None:
        """Readers of threads that have ended."""
        for gone in self._readers.keys() - {thread.ident for thread in threading.enumerate()}:
            self._readers.pop(gone).close()

    def close(self) -> None:
        """Decides what was sent, hands over what is staged, closes the engine and joins. Called inside a callback it only asks for that."""
        self._closing = True
        self._bell.ring()
        if not self.here:
            self._thread.join()

    def _run(self, opener: Callable[[], Readable], hints: Callable[[], Hints] | None, delay: float, opened: Future[tuple[Readable, Desk]]) -> None:
        with ExitStack() as undo:
            try:
                engine = opener()
                undo.callback(engine.close)
                desk = Desk(engine, mint=_mint, report=self.report, delay=delay)
                self._hints = None if hints is None else hints()
                if self._hints is not None and self._hints.socket is not None:
                    self._bell.listen(self._hints.socket)
            except BaseException as error:
                self._shut()
                opened.set_exception(error)
                return
            undo.pop_all()
        opened.set_result((engine, desk))
        try:
            self._serve(engine, desk)
        finally:
            self._end(engine, desk)

    def _end(self, engine: Readable, desk: Desk) -> None:
        """Whatever ended it: what was sent is decided and who has asked is answered, then all is closed."""
        with self._gate:
            self._closed = True
        for last in (self._take, lambda: desk.pump(math.inf), lambda: self._tell(desk), self._shut, *[reader.close for reader in self._readers.values()], engine.close):
            try:
                last()
            except BaseException as error:
                self.report(error)

    def _serve(self, engine: Readable, desk: Desk) -> None:
        due: float | None = None
        while not self._done():
            self._bell.wait(self._timeout(due, desk))
            due = None
            try:
                self._take()
                self._look(engine, desk)
                due = desk.pump(self._clock())
                self._tell(desk)
            except BaseException as error:  # a bug, or a callback that ends its thread, must not leave every session without its engine
                self.report(error)

    def _done(self) -> bool:
        with self._gate:
            self._closed = self._closing and not self._inbox
            return self._closed

    def _timeout(self, due: float | None, desk: Desk) -> float | None:
        if self._closing:
            return 0.0
        wakes = [] if due is None else [due]
        if self._pace is not None and desk.watching():
            wakes.append(self._pace.due)
        return max(0.0, min(wakes) - self._clock()) if wakes else None

    def _take(self) -> None:
        """Everything that waits. A job that fails has its own way to say so; what it does not is reported."""
        for _ in range(len(self._inbox)):
            job = self._inbox.popleft()
            try:
                job(self._clock())
            except BaseException as error:
                self.report(error)

    def _look(self, engine: Readable, desk: Desk) -> None:
        """Other processes' commits: when hinted, and at the pace of polling."""
        hinted = self._hints is not None and self._hints.heard()
        now = self._clock()
        if self._pace is not None and (hinted or (now >= self._pace.due and desk.watching())):
            found = False
            try:
                found = engine.poll() and desk.catch_up(now) > 0
            finally:  # a store that cannot be read is not asked more often for it
                self._pace.looked(now, found)

    def _tell(self, desk: Desk) -> None:
        if desk.landed and self._hints is not None:
            self._hints.ring()
        desk.landed = 0

    def _shut(self) -> None:
        with self._gate:
            self._closed = True
        self._bell.close()
        if self._hints is not None:
            self._hints.close()
