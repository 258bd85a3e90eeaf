"""Clocks: where `now` comes from. Everything that decides by time is handed `now`; this is the only place that knows it.

- A clock never runs backwards.
- The real clock shows wall seconds, so that `tx.now` is a date, and moves as the monotonic clock does: setting the machine's time does not disturb what waits.
- A virtual clock stands still until it is moved. On the way it stops at each time somebody waits for, so that what is due at 1 s sees 1 s, however far the clock is moved.
- Moving it inside a run is time that the run takes: whoever is busy is not woken, and finds the later time when it is done.
Runtimes attach themselves to a virtual clock while they are open.
"""
from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Protocol

from ..scheduler.errors import Misuse, Stuck
from ..scheduler.ids import shown

INSTANT = 0.001  # seconds; work that is due again within this is due at once, for people and for any device
MOST_WAKES = 10_000  # within an instant; the heaviest healthy program needs some hundreds, one that rearms itself for ever would never end


class Clock(Protocol):
    """Where `now` comes from, in seconds."""

    def now(self) -> float: ...


class Sleeper(Protocol):
    """Somebody who waits for a time on a virtual clock."""

    def due(self) -> float | None:
        """When it wants to be woken next, or None."""

    def wake(self) -> None:
        """It is that late now. Runs what is due; when it is busy, nothing."""


class RealClock:
    """Wall seconds at the start, and from then on the seconds that have passed."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> float:
        """The time, in seconds since 1970."""
        return self._offset + time.monotonic()


class VirtualClock:
    """A clock that stands still until it is moved, for tests and simulations. With `autojump`, `idle()` may move it to what it waits for."""

    autojump: bool

    def __init__(self, start: float = 0.0, autojump: bool = True) -> None:
        self._now = _checked(start, "start", -math.inf)
        if not isinstance(autojump, bool):
            raise Misuse(f"VirtualClock(autojump={shown(autojump)}) is neither True nor False")
        self.autojump = autojump
        self._sleepers: list[Sleeper] = []  # in the order in which they came, which is the order in which those that wait for one time are woken

    def now(self) -> float:
        """The time, in seconds."""
        return self._now

    def advance(self, s: float) -> None:
        """Let this many seconds pass, and everything happen that is due on the way."""
        self.advance_to(round(self._now + _checked(s, "advance", 0.0), 9))  # to the nanosecond, as gates are

    def advance_to(self, at: float) -> None:
        """Let time pass until exactly this time, and everything happen that is due on the way. A time that has passed moves nothing."""
        target = _checked(at, "advance_to", -math.inf)
        busy: list[Sleeper] = []  # woken, and still due: it was busy, and will see for itself
        since, wakes = self._now, 0
        while due := self._due(target, busy):
            self._now = max(self._now, min(at for at, _ in due))
            if self._now - since > INSTANT:
                since, wakes = self._now, 0
            for at, sleeper in due:
                if at > self._now or sleeper not in self._sleepers:
                    continue
                wakes += 1
                if wakes > MOST_WAKES:
                    raise Stuck(f"the clock does not get past {self._now}: {shown(sleeper)} is due again and again, {MOST_WAKES} times by now; look for work that schedules itself")
                sleeper.wake()
                if (still := sleeper.due()) is not None and still <= self._now:
                    busy.append(sleeper)
        self._now = max(self._now, target)

    def next_due(self) -> float | None:
        """The first time that somebody waits for."""
        return min((at for sleeper in self._sleepers if (at := sleeper.due()) is not None), default=None)

    def attach(self, sleeper: Sleeper) -> None:
        """From now on this one is woken."""
        if sleeper not in self._sleepers:
            self._sleepers.append(sleeper)

    def detach(self, sleeper: Sleeper) -> None:
        """It is no longer woken."""
        if sleeper in self._sleepers:
            self._sleepers.remove(sleeper)

    def _due(self, target: float, busy: Iterable[Sleeper]) -> list[tuple[float, Sleeper]]:
        """Who wants to be woken until then, and when."""
        return [(at, sleeper) for sleeper in self._sleepers if sleeper not in busy and (at := sleeper.due()) is not None and at <= target]

    def __repr__(self) -> str:
        return f"<virtual clock at {self._now}>"


def _checked(seconds: object, what: str, least: float) -> float:
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not math.isfinite(seconds) or seconds < least:
        raise Misuse(f"VirtualClock: {what} takes a finite number of seconds{' from 0: time does not run backwards' if least == 0 else ''}, not {shown(seconds)}")
    return float(seconds)
