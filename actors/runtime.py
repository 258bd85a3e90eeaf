"""The runtime as programs open it: what its parameters mean, and which placement it takes.

Inline: everything runs in the caller's thread, and what belongs to actors, workers and the durable inbox has no meaning. Such parameters are checked and accepted, so that a
program can change its placement without changing its call; the class says which.
"""
from __future__ import annotations

from typing import Any, Literal

from ..scheduler.constants import MAX_ITERATIONS, RUN_BUDGET
from ..scheduler.errors import Misuse
from ..scheduler.ids import checked_id, shown
from .client import Client
from .clock import VirtualClock
from .site import Site
from .surface import checked_flag, checked_seconds

PLACEMENTS = ("inline", "embedded", "tree", "isolated")


class Runtime(Client):
    """Opens a runtime, and is a client of it.

    storage     "memory:", or "sqlite:FOLDER"
    placement   where its parts run: "inline", in the caller's thread; "embedded", as actors in this process; "tree", in processes of their own, which end with this one;
                "isolated", one process an actor
    space       its home
    clock       a `VirtualClock`, or None for the time of day
    workers     how many stand ready to run nodes; processes of their own in a tree
    app         a module to load at once; the workers of a tree import it at their start
    strict      take only functions that a worker could import, as a tree does in any case
    durability  "full" waits for the disk at every commit
    max_iterations, run_budget   iterations of one pass; runs of one node in one pass
    principal   in whose name it commits
    Without meaning so far: persistence, lanes, strict_handlers, dead_letter_after, receipt_ttl, run_deadline, job_workers.
    """

    def __init__(
        self, storage: str = "memory:", placement: Literal["inline", "embedded", "tree", "isolated"] = "embedded", space: str = "main", clock: VirtualClock | None = None,
        workers: int = 1, app: str | None = None, *, strict: bool = False, persistence: bool = True, durability: Literal["normal", "full"] = "normal",
        lanes: Literal["global", "space"] = "global", strict_handlers: bool = False, dead_letter_after: float | None = None, receipt_ttl: float | None = None,
        max_iterations: int = MAX_ITERATIONS, run_budget: int = RUN_BUDGET, run_deadline: float | None = None, job_workers: int | None = None, principal: str = "",
    ) -> None:  # fmt: skip
        _one_of(placement, "placement", PLACEMENTS)
        _one_of(durability, "durability", ("normal", "full"))
        _one_of(lanes, "lanes", ("global", "space"))
        for name, flag in (("strict", strict), ("persistence", persistence), ("strict_handlers", strict_handlers)):
            checked_flag(flag, name, "Runtime")
        for name, seconds in (("dead_letter_after", dead_letter_after), ("receipt_ttl", receipt_ttl), ("run_deadline", run_deadline)):
            checked_seconds(seconds, name, "Runtime")
        for name, count in (("workers", workers), ("max_iterations", max_iterations), ("run_budget", run_budget), ("job_workers", 1 if job_workers is None else job_workers)):
            _count(count, name)
        if clock is not None and not isinstance(clock, VirtualClock):
            raise Misuse(f"Runtime(clock={shown(clock)}) is no clock; give a weft.VirtualClock(), or none for the time of day")
        if type(principal) is not str:
            raise Misuse(f"Runtime(principal={shown(principal)}) is no name")
        checked_id(space, "space")
        site = self._site(placement, storage, space, clock, workers, app, max_iterations, run_budget, principal, durability == "full", strict)
        super().__init__(site, space, strict)
        if app is not None:
            self.load(app)

    def _site(
        self, placement: str, storage: str, space: str, clock: VirtualClock | None, workers: int, app: str | None, max_iterations: int, run_budget: int, principal: str,
        full: bool, strict: bool,
    ) -> Site:  # fmt: skip
        """The parts, where the placement puts them."""
        if placement == "inline":
            from .inline import Inline  # here, so that naming the class loads no store

            return Inline(storage, space, clock, max_iterations, run_budget, principal, full, strict)
        if placement == "embedded":
            from .embedded import embedded  # nor sockets and actors

            return embedded(storage, space, clock, workers, max_iterations, run_budget, principal, full, strict)
        raise Misuse(f"placement={shown(placement)} needs processes of its own, which weft.Runtime starts")

    def drain(self) -> None:
        """Everything that is runnable now, without waiting for anything."""
        if not self._shared.closed:
            self._shared.guard()
            self._shared.drain()


def _one_of(value: object, name: str, words: tuple[str, ...]) -> None:
    if value not in words:
        raise Misuse(f"Runtime({name}={shown(value)}): it is one of {', '.join(map(repr, words))}")


def _count(value: Any, name: str) -> None:
    if type(value) is not int or value < 1:
        raise Misuse(f"Runtime({name}={shown(value)}) is no number from 1")
