"""What calls give back: commits, updates, runs. They tell the fate of what was asked; waiting for it is the runtime's, which they were made by."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from ..scheduler.cells import Cell
from ..scheduler.errors import ErrorInfo, WaitTimeout
from ..scheduler.rejection import Rejection
from ..storage.commit import Accepted, Verdict
from ..storage.ticket import Answer, Committed, Refused

T = TypeVar("T")


class Commit(Generic[T]):
    """What became of a transaction. `version` is its place in the log of this runtime; `value` what the function returned."""

    __slots__ = ("_rejection", "_wait", "status", "value", "version")

    def __init__(self, answer: Answer, value: T, wait: Callable[[Callable[[], bool], float | None], bool]) -> None:
        self.version: int = answer.version.n
        self.value = value
        self.status: Literal["pending", "confirmed", "rejected"] = "confirmed"  # nothing was sent, so nothing is open
        self._rejection: Rejection | None = None
        self._wait = wait
        if isinstance(answer, Refused):
            self.status, self._rejection = "rejected", answer.rejection
        elif isinstance(answer, Committed):
            self.status = "pending"
            answer.ticket.on_settled(self._settled)

    def wait(self, timeout: float | None = None) -> Commit[T]:
        """Until the engine has decided."""
        if self.status == "pending" and not self._wait(lambda: self.status != "pending", timeout):
            raise WaitTimeout(f"commit {self.version} is not decided after {timeout} s; it may still be")
        return self

    def result(self, timeout: float | None = None) -> T:
        """The value; raises what the engine said."""
        self.wait(timeout)
        if self._rejection is not None:
            raise self._rejection.error()
        return self.value

    @property
    def rejection(self) -> Rejection | None:
        return self._rejection

    def _settled(self, verdict: Verdict) -> None:
        if isinstance(verdict, Accepted):
            self.status = "confirmed"
        else:
            self.status, self._rejection = "rejected", verdict.rejection

    def __repr__(self) -> str:
        return f"<commit {self.version} {self.status}>"


class Update(NamedTuple, Generic[T]):
    """A value, and the version of the log at which it was true."""

    value: T
    version: int


class Run(NamedTuple):
    """One run: of which node, at which version, because of which cells, and what it raised."""

    node: str
    version: int
    causes: tuple[Cell[Any], ...]
    error: ErrorInfo | None
