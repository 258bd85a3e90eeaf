"""The link of a session in the host's own process, and its outlet.

- A document is answered as of the last frame that this link has handled, or, where all are handled and nothing is staged, as of the head since found quiet. So what a
  receiver holds is one cut of the log, and its own commits are in it exactly if a frame has named them.
- A document that was forgotten does not come back with a frame that was on its way.
- The outlet's methods run in the host's thread, `_hand` where the owner delivers, the others where the replica lives. Each field has one writing thread.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ..scheduler.errors import SessionError
from ..scheduler.ids import shown
from ..scheduler.model import Entity
from .authority import read_at
from .commit import Commit, Verdict
from .link import Delivered, Frame, Receiver
from .sessions import CREDIT, Session

if TYPE_CHECKING:
    from .host import Host

Deliver: TypeAlias = Callable[[Callable[[], None]], None]


class HostLink:
    """What `Host.connect` gives."""

    opened: Session

    def __init__(self, host: Host, receiver: Receiver, deliver: Deliver, cut: int) -> None:
        self._host, self._receiver, self._owner = host, receiver, deliver
        self._posted = 0  # frames given to `deliver`; written by the host's thread
        self._handled = (0, cut)  # frames handled, and the head of the last; written where the owner delivers
        self._forgetting: list[frozenset[Entity]] = []  # frames on their way may still hold these
        self._quiet = (0, cut)  # frames posted when nothing was staged, and the head then; written by the host's thread

    def start(self, cut: int) -> None:
        self._handled = (0, cut)

    @property
    def session(self) -> str:
        return self.opened.key

    @property
    def token(self) -> str:
        """What another link of the same principal shows to take this session over."""
        return self.opened.token

    def send(self, commit: Commit) -> None:
        self._alive()
        self._host.post(lambda now: self._host.desk().submit(self.opened, commit))

    def fetch(self, entities: Sequence[Entity], branch: str = "") -> list[Delivered]:
        self._alive()
        reader = self._host.reader()
        if branch:  # frames speak of the default branch only, so there is no cut to keep to and nothing to watch
            return [reader.read(entity, branch) for entity in entities]
        cut = self._cut()
        found = [read_at(reader, entity, cut) for entity in entities]
        self._host.post(lambda now: self._host.desk().watch(self.opened, entities, cut, now))
        return found

    def forget(self, entities: Sequence[Entity]) -> None:
        gone = frozenset(entities)
        self._forgetting.append(gone)

        def job(now: float) -> None:
            self._host.desk().forget(self.opened, gone)
            self._deliver(lambda: self._forgetting.remove(gone))  # behind every frame that was sent before

        self._host.post(job, wake=False)

    def close(self) -> None:
        """Ends the session; nothing is delivered any more. Commits that were sent are decided all the same."""
        if self.opened.outlet is self:
            self.opened.outlet = None
            self._host.post(lambda now: self._host.desk().sessions.drop(self.opened))

    def _alive(self) -> None:
        if self.opened.outlet is not self:
            raise SessionError(f"Session is not open on this connection: {self.opened.id!r} was closed, lost or taken over; connect again")

    def _cut(self) -> int:
        """A quiet head counts once every frame before it was handled; frames posted after it stand higher."""
        (handled, head), (posted, quiet) = self._handled, self._quiet
        return max(head, quiet) if posted == handled else head

    def verdict(self, verdict: Verdict) -> None:
        self._deliver(lambda: self._guard(lambda: self._receiver.on_verdict(verdict)))

    def frame(self, number: int, frame: Frame) -> None:
        self._posted += 1
        self._deliver(lambda: self._hand(number, frame))

    def quiet(self, head: int) -> None:
        self._quiet = (self._posted, head)

    def taken_over(self) -> None:
        """Its next call is refused."""

    def _hand(self, number: int, frame: Frame) -> None:
        self._handled = (self._handled[0] + 1, frame.head)
        if self._forgetting:
            gone = frozenset[Entity]().union(*self._forgetting)
            frame = frame._replace(documents=tuple(document for document in frame.documents if document.entity not in gone))
        self._guard(lambda: self._receiver.on_frame(frame))
        self._guard(lambda: self._host.post(lambda now: self.opened.acknowledge(number), wake=number % (CREDIT // 2) == 0))

    def _deliver(self, call: Callable[[], None]) -> None:
        """In the host's thread. An owner that can no longer be reached is a lost connection; it does not end the thread that serves the others."""
        try:
            self._owner(call)
        except Exception:
            raise
        except BaseException as error:
            raise SessionError(f"nothing can be delivered any more: {type(error).__name__}: {shown(error)}") from error

    def _guard(self, call: Callable[[], None]) -> None:
        """A receiver that fails is its owner's matter; it must not look like a lost connection. If it ends its thread, that is for the owner's own to heed, not for the host's."""
        try:
            call()
        except Exception as error:
            self._host.report(error)
        except BaseException as error:
            if not self._host.here:
                raise
            self._host.report(error)
