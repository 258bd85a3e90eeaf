"""What a committer holds: whether its commit went anywhere, and a ticket that tells its fate, without threads.

- A ticket hears the verdict once, then is settled once: an accepted commit when it is confirmed state here, a refused one when its writes are taken back and its reads repaired.
- A callback that comes late is called at once. Callbacks are let go once called, so that a settled ticket keeps nothing alive.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from ..scheduler.errors import BrokenInvariant
from ..scheduler.model import CommitId, Version
from ..scheduler.rejection import Rejection
from .commit import Accepted, Verdict

Told: TypeAlias = Callable[[Verdict], None]


class Ticket:
    """The fate of one commit."""

    __slots__ = ("_on_settled", "_on_verdict", "id", "settled", "verdict")

    def __init__(self, id: CommitId) -> None:
        self.id = id
        self.verdict: Verdict | None = None  # known, though its consequences may still be on their way
        self.settled = False
        self._on_verdict: list[Told] | None = None  # most commits are a run's, and nobody asks for their fate
        self._on_settled: list[Told] | None = None

    @property
    def awaited(self) -> bool:
        """Somebody waits to be told."""
        return self._on_verdict is not None or self._on_settled is not None

    @property
    def accepted(self) -> bool:
        return isinstance(self.verdict, Accepted)

    def on_verdict(self, told: Told) -> None:
        """As soon as the fate is known; the replica may still show the commit's writes. A callback starts no commit: use `on_settled` to try again."""
        if self.verdict is None:
            self._on_verdict = [*(self._on_verdict or ()), told]
        else:
            told(self.verdict)

    def on_settled(self, told: Told) -> None:
        """When nothing of the commit is pending any more; trying again from here reads repaired state."""
        if self.verdict is None or not self.settled:
            self._on_settled = [*(self._on_settled or ()), told]
        else:
            told(self.verdict)

    def decide(self, verdict: Verdict) -> None:
        """Notes the verdict; `tell` says it."""
        if self.verdict is not None:
            raise BrokenInvariant(f"commit {self.id} got a second verdict: {verdict}, after {self.verdict}")
        self.verdict = verdict

    def settle(self) -> None:
        """Notes that nothing is pending any more; `tell` says it."""
        if self.verdict is None or self.settled:
            raise BrokenInvariant(f"commit {self.id} cannot settle: {'no verdict yet' if self.verdict is None else 'it did already'}")
        self.settled = True

    def due(self) -> list[Told]:
        """The callbacks whose moment has come; they are let go."""
        told: list[Told] = []
        if self.verdict is not None and self._on_verdict is not None:
            told, self._on_verdict = self._on_verdict, None
        if self.settled and self._on_settled is not None:
            told, self._on_settled = told + self._on_settled, None
        return told


def tell(tickets: Iterable[Ticket]) -> None:
    """Calls what is due, ticket by ticket. Everybody hears, whatever one of them raises; then that is raised."""
    errors: list[Exception] = []
    for ticket in tickets:
        verdict = ticket.verdict
        if verdict is not None:
            for call in ticket.due():
                try:
                    call(verdict)
                except Exception as error:
                    errors.append(error)
    if errors:
        raise errors[0] if len(errors) == 1 else ExceptionGroup("several committers failed on the fate of their commits", errors)


class Committed(NamedTuple):
    """Applied here as a layer at `version`, and on its way to the engine."""

    version: Version
    ticket: Ticket

    @property
    def id(self) -> CommitId:
        return self.ticket.id


class Unchanged(NamedTuple):
    """Nothing to write and nothing required: nothing was sent. `version` covers everything the committer has done before."""

    version: Version


class Refused(NamedTuple):
    """Not applied and not sent. `after`: commits whose taking back is under way; a retry before they have settled meets them again."""

    version: Version
    rejection: Rejection
    after: tuple[CommitId, ...] = ()


Answer: TypeAlias = Committed | Unchanged | Refused
