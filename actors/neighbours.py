"""Whom the inline loop talks to: the lane of events, the household that makes nodes by demand, and the ears of whoever looks on."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ..scheduler.core import Listener
from ..scheduler.model import Read
from ..scheduler.runs import Run
from ..storage.ticket import Answer
from .execution import Ran


class Lane(Protocol):
    """Where events wait."""

    def step(self, now: float) -> bool:
        """Handle the head, if its time has come. True: something was done."""

    def parked_until(self, now: float) -> float | None:
        """When the head may be handled at the earliest; None: nothing waits for a time."""

    def ready(self, now: float) -> bool: ...


class Household(Protocol):
    """Who makes nodes by demand, and forgets them."""

    def demand(self, reads: Iterable[Read]) -> None: ...

    def tidy(self) -> None: ...


class Ears(Listener, Protocol):
    """Who looks on at the loop."""

    def ran(self, run: Run, ran: Ran, began: float, ended: float) -> tuple[int, float]:
        """Returns the number of runs of this node and their mean, for the gates."""

    def made(self, run: Run, ran: Ran, answer: Answer, began: float) -> None:
        """The run is over, and its commit is in the log or refused."""

    def rested(self, now: float) -> None:
        """Nothing is runnable."""
