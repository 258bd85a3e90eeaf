"""The desk's end of one connection: requests in, answers out.

A request that cannot be served is answered with the error's name and the connection lives on. Sessions are used only on the connection that opened them last.
The owner of the connection authenticates it and says who its principal is.
"""
from __future__ import annotations

from collections.abc import Callable

from ..scheduler.errors import ProtocolError, SessionError, WeftError
from ..scheduler.rejection import rejection
from .commit import Rejected, Verdict
from .desk import Desk
from .dialogue import Ack, Answer, Close, Decided, Documents, Failed, Flags, Forget, Forgotten, Open, Opened, Pushed, TakenOver, Transact, Watch
from .link import Frame
from .seal import is_commit_id
from .sessions import Session


class _Line:
    """One session's outlet on this connection."""

    def __init__(self, session: str, say: Callable[[Answer], None]) -> None:
        self.session, self._say = session, say

    def verdict(self, verdict: Verdict) -> None:
        self._say(Decided(verdict))

    def frame(self, number: int, frame: Frame) -> None:
        self._say(Pushed(number, frame))

    def quiet(self, head: int) -> None:
        """The client asks in line with its frames, so it need not know."""

    def taken_over(self) -> None:
        self._say(TakenOver(self.session))


class Service:
    """Serves one connection to one space."""

    def __init__(self, desk: Desk, principal: str, say: Callable[[Answer], None], flags: Flags | None = None) -> None:
        self._desk, self._principal, self._say = desk, principal, say
        self._flags = Flags() if flags is None else flags
        self._open: dict[str, tuple[Session, _Line]] = {}

    def handle(self, request: object, now: float) -> None:
        """One request. An error is answered, never raised."""
        try:
            try:
                self._serve(request, now)
            except (AttributeError, KeyError, TypeError, ValueError) as mistyped:
                raise ProtocolError(f"malformed {type(request).__name__}: {mistyped}") from mistyped
        except WeftError as error:
            if isinstance(request, Transact) and is_commit_id(getattr(request.commit, "id", None)):
                self._say(Decided(Rejected(request.commit.id, rejection(error), self._desk.head)))
            else:
                self._say(Failed(request.request if isinstance(request, (Open, Watch, Forget)) else 0, rejection(error)))

    def close(self, now: float) -> None:
        """The connection is gone. Its sessions stay resumable."""
        for session, line in self._open.values():
            if session.outlet is line:
                self._desk.sessions.detach(session, now)
        self._open = {}

    def _serve(self, request: object, now: float) -> None:
        if isinstance(request, Open):
            self._say(self._opened(request, now))
        elif isinstance(request, Transact):
            self._desk.submit(self._session(request.session), request.commit)
        elif isinstance(request, Watch):
            session = self._session(request.session)
            head = session.cut
            self._say(Documents(request.request, head, tuple(self._desk.fetch(session, request.entities, now, request.branch))))
        elif isinstance(request, Forget):
            self._desk.forget(self._session(request.session), request.entities)
            self._say(Forgotten(request.request))
        elif isinstance(request, Ack):
            self._session(request.session).acknowledge(request.number)
        elif isinstance(request, Close):
            self._desk.sessions.drop(self._session(request.session))
            del self._open[request.session]
        else:
            raise ProtocolError(f"{type(request).__name__} is no request; a client sends Open, Transact, Watch, Forget, Ack or Close")

    def _opened(self, request: Open, now: float) -> Opened:
        flags = self._flags.shared(request.flags)
        line = _Line("" if request.session is None else request.session, self._say)
        session, resumed = self._desk.open(line, now, principal=self._principal, session=request.session, token=request.token, outstanding=request.outstanding)
        line.session = session.id
        self._open[session.id] = session, line
        return Opened(request.request, session.id, session.token, resumed, session.cut, flags)

    def _session(self, id: str) -> Session:
        session, line = self._open.get(id, (None, None))
        if session is None or session.outlet is not line:
            raise SessionError(f"Session is not open on this connection: {id!r}; open it, or resume it with its token")
        session.heard = True  # it speaks, so it has heard its token
        return session
