"""Pulls from afar: an observer on what is read, until nothing above it is runnable and what was read demands nothing new (API.md "Reading"; pitfall B-47).

It never waits for time gates: a value behind one is returned as it is. What failed, or does not converge, is said.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..scheduler.cells import Cell
from ..scheduler.errors import NodeFailed, NotSettled, WaitTimeout
from .clock import Clock
from .subscriptions import ROUNDS, Surroundings
from .waiting import Waiting


class Telling(Protocol):
    """A question about the runtime, and its answer."""

    def __call__(self, target: str, about: str, **arguments: Any) -> Any: ...


class Pulling:
    def __init__(self, around: Surroundings, waiting: Waiting, clock: Clock, told: Telling, fresh: Callable[[str], str]) -> None:
        """`fresh` names an observer."""
        self._around, self._waiting, self._clock, self._told, self._fresh = around, waiting, clock, told, fresh

    def pull(self, cells: Sequence[Cell[Any]], home: str, timeout: float | None) -> list[Any]:
        deadline = self._waiting.deadline(timeout)
        id, seen = self._fresh("pull"), None
        try:
            for round in range(ROUNDS):
                look = self._around.look(cells, home)
                if look.reads == seen:
                    break
                if round and deadline is not None and self._clock.now() >= deadline:
                    raise WaitTimeout(f"{', '.join(map(str, cells))} not up to date after {timeout} s")
                seen = look.reads
                self._around.observe(id, home, look.reads, None)
                self._waiting.rest(deadline)
            self._judge(id)
        finally:
            if seen is not None:
                self._around.withdraw(id)
        return look.values

    def _judge(self, observer: str) -> None:
        """Whether what was pulled is what it should be."""
        found = self._told("graph", "judge", observer=observer)
        if found["failed"] is not None:
            node, message = found["failed"]
            raise NodeFailed(f"{node} failed: {message}", node)
        if not found["unclean"]:
            return
        held = self._told("settle", "held", ids=list(found["unclean"]))
        for node in found["unclean"]:
            if held["stopped"] is not None:
                raise NotSettled(f"{node} has to run, and a breakpoint stopped everything before {held['stopped']}; go on with rt.step() or rt.unbreak()")
            until = held["nodes"][node]["times"][2]
            if until > self._clock.now():
                raise NotSettled(f"{node} does not converge; it is tried again at {until}")
