"""Waiting for work beside the graph, in the caller's thread: time passes until some of it has ended.

On the real clock the thread sleeps until a task ends, from whichever thread. On a virtual one that may jump, time moves to the next thing that is due on it, which may be what ends
a task; only when nothing is due there is it left to another thread.
"""
from __future__ import annotations

from threading import Event

from ..scheduler.background import Background
from .clock import Clock, VirtualClock

LOOK = 0.01  # seconds between two questions to a source, which cannot ring


class Offstage:
    def __init__(self, background: Background, clock: Clock) -> None:
        self._background, self._clock = background, clock
        self._bell = Event()
        background.ended = self._bell.set

    def wait(self, deadline: float | None) -> bool:
        """Until something may have ended. False: the deadline came first."""
        clock = self._clock
        now = clock.now()
        if deadline is not None and now >= deadline:
            return False
        if isinstance(clock, VirtualClock) and clock.autojump:
            due = clock.next_due()
            until = due if deadline is None else deadline if due is None else min(due, deadline)
            if until is not None:
                clock.advance_to(until)
                return True
        self._bell.wait(LOOK if deadline is None else min(LOOK, max(0.0, deadline - now)))
        self._bell.clear()
        return True
