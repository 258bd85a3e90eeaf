"""The desks of one store, served by hand in the caller's thread: one for each space, opened when it is first asked for.

For the inline runtime, simulation and tests: nothing happens between two calls of `pump`, so what a verdict overtakes is the caller's choice. The host does the same in a thread.
"""
from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

from ..scheduler.model import Entity
from .authority import Authority
from .commit import Commit, Verdict
from .desk import Desk
from .link import Delivered, Frame, Receiver


class DeskLink:
    """A link and its outlet in one: what the desk says reaches the receiver inside the desk's own call, and is acknowledged at once."""

    def __init__(self, desk: Desk, receiver: Receiver, principal: str, report: Callable[[Exception], None]) -> None:
        self._desk, self._receiver, self._report = desk, receiver, report
        self._settle: Callable[[Sequence[Verdict]], None] | None = getattr(receiver, "on_settled", None)
        self._opened, _ = desk.open(self, 0.0, principal=principal, settling=self)
        self.session = self._opened.key

    def send(self, commit: Commit) -> None:
        self._desk.submit(self._opened, commit)

    def fetch(self, entities: Sequence[Entity], branch: str = "") -> list[Delivered]:
        return self._desk.fetch(self._opened, entities, 0.0, branch)

    def forget(self, entities: Sequence[Entity]) -> None:
        self._desk.forget(self._opened, entities)

    def close(self) -> None:
        self._desk.sessions.drop(self._opened)

    def verdict(self, verdict: Verdict) -> None:
        try:
            self._receiver.on_verdict(verdict)
        except Exception as error:  # the receiver's own matter; it must not look like a lost connection
            self._report(error)

    def settled(self, verdicts: Sequence[Verdict]) -> None:
        try:
            if self._settle is not None:
                self._settle(verdicts)
                return
        except Exception as error:
            self._report(error)
            return
        for verdict in verdicts:
            self.verdict(verdict)
        try:
            self._receiver.on_frame(Frame(self._desk.engine.space, self._desk.head, (), tuple([verdict.id for verdict in verdicts])))
        except Exception as error:
            self._report(error)

    def frame(self, number: int, frame: Frame) -> None:
        try:
            self._receiver.on_frame(frame)
        except Exception as error:
            self._report(error)
        self._opened.acknowledge(number)

    def quiet(self, head: int) -> None:
        """What is held is current either way."""

    def taken_over(self) -> None:
        """Cannot happen: nobody else has the token of a link that keeps it to itself."""


class Desks:
    """`opener` opens a space's engine; `report` is told what went wrong inside a receiver or an engine."""

    def __init__(self, opener: Callable[[str], Authority], *, report: Callable[[Exception], None], principal: str = "") -> None:
        self._opener, self._report, self._principal = opener, report, principal
        self._desks: dict[str, Desk] = {}

    def desk(self, space: str) -> Desk:
        found = self._desks.get(space)
        if found is None:
            found = self._desks[space] = Desk(self._opener(space), mint=lambda: secrets.token_hex(8), report=self._report, delay=0.0)
        return found

    def connect(self, space: str, receiver: Receiver) -> DeskLink:
        """A `Connect`."""
        return DeskLink(self.desk(space), receiver, self._principal, self._report)

    def pump(self) -> None:
        """Decides all that was sent, and delivers every verdict and frame."""
        for desk in list(self._desks.values()):
            desk.pump(0.0)

    def poll(self) -> None:
        """Looks whether other processes have committed, and delivers what they did (decision 35)."""
        for desk in list(self._desks.values()):
            if desk.engine.poll():
                desk.catch_up(0.0)
                desk.pump(0.0)

    def close(self) -> None:
        self.pump()
        for desk in self._desks.values():
            desk.engine.close()
        self._desks.clear()
