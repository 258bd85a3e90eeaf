"""Traces: what was decided, in order, for whoever wants to read along. Each kind is off until it is asked for, and bounded; entries are plain data.

- runs: node, version, causes, error, began, ended, pass, iteration.
- triggers: node, causes (those of the change that has just hit it), version, live, eligible_at.
- settle: one for each pass: pass, iterations (the ids that ran, in order, one list for each), runs, at, deferred (put off because they would run again and again), busy (if the
  scheduler has not come to rest for long).
- events: id, stream, handler, status, error, version, at.
"""
from __future__ import annotations

from collections import deque
from typing import Any, Literal, TypeAlias, get_args

from ..scheduler.constants import EVENT_TRACE, RUN_TRACE, SETTLE_TRACE, TRIGGER_TRACE
from ..scheduler.errors import Misuse
from ..scheduler.ids import shown

Kind: TypeAlias = Literal["runs", "triggers", "settle", "events"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_MOST: dict[Kind, int] = {"runs": RUN_TRACE, "triggers": TRIGGER_TRACE, "settle": SETTLE_TRACE, "events": EVENT_TRACE}


class Traces:
    """`runs`, `triggers`, `settle` and `events` are None while they are off: asking costs one look."""

    __slots__ = ("events", "runs", "settle", "triggers")

    def __init__(self) -> None:
        self.runs: deque[dict[str, Any]] | None = None
        self.triggers: deque[dict[str, Any]] | None = None
        self.settle: deque[dict[str, Any]] | None = None
        self.events: deque[dict[str, Any]] | None = None

    def turn(self, kind: Kind, on: bool) -> None:
        """Turned on again, a trace goes on; turned off, it is forgotten."""
        ring = getattr(self, checked(kind))
        if on is not (ring is not None):
            setattr(self, kind, deque(maxlen=_MOST[kind]) if on else None)

    def read(self, kind: Kind) -> list[dict[str, Any]]:
        """Oldest first; empty while it is off."""
        ring: deque[dict[str, Any]] | None = getattr(self, checked(kind))
        return [dict(entry) for entry in ring or ()]


def checked(kind: object) -> Kind:
    for known in KINDS:
        if kind == known:
            return known
    raise Misuse(f"{shown(kind)} is no trace; there are {', '.join(KINDS)}")
