"""An event that was sent, and what became of it."""
from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Any, Literal, NamedTuple

from ..scheduler.cells import Cell, Stream
from ..scheduler.errors import ErrorInfo, EventDropped, EventFailed, InsideRun, WaitTimeout
from ..scheduler.ids import checked_id


class Outcome(NamedTuple):
    """How an event ended. `value` is what the handler returned."""

    status: Literal["handled", "duplicate", "dropped", "failed"]
    value: Any
    error: ErrorInfo | None

    @property
    def ok(self) -> bool:
        return self.status in ("handled", "duplicate")


class Sent:
    """`receipt` is the cell that the handling makes, once for each event in all the world."""

    __slots__ = ("_outcome", "_wait", "id", "receipt")

    def __init__(self, id: str, receipt: Cell[Any]) -> None:
        self.id = checked_id(id, "event id")
        self.receipt = receipt
        self._outcome: Outcome | None = None
        self._wait: Callable[[Callable[[], bool], float | None], bool] | None = None

    @classmethod
    def of(cls, id: str, stream: Stream[Any], session: str, home: str) -> Sent:
        if session != "":
            checked_id(session, "session")
        digest = blake2b(digest_size=16)
        for part in (stream.cell.space or home, str(stream), session, checked_id(id, "event id")):
            data = part.encode()
            digest.update(b"%d:%s" % (len(data), data))
        return cls(id, Cell(stream.cell.space, "space", f"receipt/{digest.hexdigest()}"))

    def attach(self, wait: Callable[[Callable[[], bool], float | None], bool]) -> None:
        """It is on its way; this is how to wait for it."""
        self._wait = wait

    def conclude(self, outcome: Outcome) -> None:
        self._outcome = outcome

    @property
    def outcome(self) -> Outcome | None:
        """None while it is open."""
        return self._outcome

    def wait(self, timeout: float | None = None) -> Outcome:
        """Until it was handled, or it is certain that it will not be."""
        if self._outcome is None:
            if self._wait is None:
                raise InsideRun(f"event {self.id} is sent when the run that sent it has committed; nobody can wait for it inside that run")
            if not self._wait(lambda: self._outcome is not None, timeout):
                raise WaitTimeout(f"event {self.id} is not handled{'' if timeout is None else f' after {timeout} s'}; it stays in its lane")
        assert self._outcome is not None
        return self._outcome

    def result(self, timeout: float | None = None) -> Any:
        """What the handler returned; raises if it failed or nobody handled it."""
        outcome = self.wait(timeout)
        if outcome.status == "failed" and outcome.error is not None:
            raise EventFailed(outcome.error)
        if outcome.status == "dropped" and outcome.error is not None:
            raise EventDropped(outcome.error)
        return outcome.value

    def __repr__(self) -> str:
        return f"<event {self.id} {'open' if self._outcome is None else self._outcome.status}>"
