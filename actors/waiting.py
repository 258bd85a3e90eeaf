"""Waiting from afar: drained, idle, settled, as `loop` has it inline, over questions to settle and storage (decisions 2, 3 and 32).

- `Drain` is answered when settle has seen everything that this client has done and nothing is runnable. With a virtual clock settle makes passes only while one is open, so that
  nothing runs between two calls; the time goes along.
- What has to be told to sinks and watches is told before a wait ends; what their callbacks did is waited for too.
"""
from __future__ import annotations

import math
import time
from collections.abc import Callable
from threading import Condition

from ..scheduler.errors import Misuse, Stuck, WaitTimeout
from ..scheduler.ids import shown
from ..scheduler.model import Version
from ..wire.edge import Drain, Rested, Told
from .caller import Line
from .clock import Clock, VirtualClock
from .topics import question


class Covered:
    """The newest version that this client has caused or seen. Any thread of it moves it on."""

    def __init__(self) -> None:
        self.version = Version(0, 0)

    def see(self, version: Version) -> None:
        if version > self.version:
            self.version = version


class Waiting:
    """`deliver` tells whoever waits for news, and says whether that was anybody."""

    def __init__(self, line: Line, clock: Clock, covered: Covered, deliver: Callable[[], bool]) -> None:
        self._line, self._clock, self._covered, self._deliver = line, clock, covered, deliver
        self._driven = isinstance(clock, VirtualClock)
        self._bell = Condition()

    # The clock

    def deadline(self, timeout: float | None) -> float | None:
        """When to give up."""
        if timeout is None:
            return None
        if type(timeout) not in (int, float) or timeout != timeout:
            raise Misuse(f"timeout={shown(timeout)} is no time; it is a number of seconds, or None to wait as long as it takes")
        return self._clock.now() + timeout

    def sleep(self, until: float, deadline: float | None, what: str) -> bool:
        """Let time pass. False: the deadline came first."""
        late = deadline is not None and deadline < until
        until = deadline if late and deadline is not None else until
        if isinstance(self._clock, VirtualClock):
            if not self._clock.autojump:
                raise Stuck(f"the clock stands at {self._clock.now()} and may not jump; advance it to {until}, for {what}")
            self._clock.advance_to(until)
        else:
            time.sleep(max(0.0, until - self._clock.now()))
        return not late

    # Settle

    def rest(self, deadline: float | None = None) -> Rested:
        """Nothing is runnable any more."""
        within = math.inf if deadline is None or self._driven else max(0.0, deadline - self._clock.now())
        while True:
            rested = self._line.ask("settle", Drain(self._covered.version, self._clock.now() if self._driven else None), within)
            assert isinstance(rested, Rested)
            self._covered.see(rested.version)
            if not self._driven or not self._news(rested.version):
                return rested

    def _news(self, version: Version) -> bool:
        """Nobody looks for what others have committed while a clock stands still; so it is looked for now. True: there is something."""
        told = self._line.ask("storage", question("news", version))
        assert isinstance(told, Told)
        self._covered.see(Version(version.epoch, int(told.value)))
        return bool(told.value > version.n)

    def drain(self, deadline: float | None = None) -> Rested:
        """Until nothing is runnable, everybody was told, and nothing came of that."""
        rested = self.rest(deadline)
        while self._deliver():
            rested = self.rest(deadline)
        return rested

    def due(self) -> float | None:
        """When the first of what is gated may run; nothing is run for this."""
        told = self._line.ask("settle", question("due", self._covered.version, now=self._clock.now()))
        assert isinstance(told, Told)
        return None if told.value is None else float(told.value)

    def idle(self, timeout: float | None = None, gated: bool = False) -> None:
        self._idle(self.deadline(timeout), timeout, gated)

    def _idle(self, deadline: float | None, timeout: float | None, gated: bool) -> Rested:
        while True:
            try:
                rested = self.drain(deadline)
            except WaitTimeout:
                raise WaitTimeout(f"not idle after {timeout} s: something still runs") from None
            if not gated or rested.holds is None:
                if rested.wake is not None:
                    self._line.ask("settle", question("resolved", self._covered.version))
                return rested
            names = ", ".join(rested.holders[:5])
            if not self.sleep(rested.holds, deadline, names):
                raise WaitTimeout(f"not idle after {timeout} s: waiting for {names}")

    def settled(self, timeout: float | None = None) -> None:
        deadline = self.deadline(timeout)
        while True:
            rested = self._idle(deadline, timeout, False)
            within = math.inf if deadline is None or self._driven else max(0.0, deadline - self._clock.now())
            try:
                told = self._line.ask("storage", question("settled", self._covered.version), within)
            except WaitTimeout:
                raise WaitTimeout(f"not settled after {timeout} s: commits wait for their verdict") from None
            assert isinstance(told, Told)
            if int(told.value) <= rested.version.n:
                return
            self._covered.see(Version(rested.version.epoch, int(told.value)))

    # What comes by itself

    def ring(self) -> None:
        """Something has come that somebody may wait for."""
        with self._bell:
            self._bell.notify_all()

    def until(self, done: Callable[[], bool], timeout: float | None = None) -> bool:
        """Wait for what comes by itself: a verdict. False: not in time."""
        with self._bell:
            return self._bell.wait_for(done, timeout)

    def wait(self, done: Callable[[], bool], timeout: float | None = None) -> bool:
        """Wait for what has to be run for. False: nothing more can happen by itself in time."""
        if not self._driven:
            return self.until(done, timeout)
        deadline = self.deadline(timeout)
        while not done():
            rested = self.drain()
            if not done() and (rested.holds is None or not self.sleep(rested.holds, deadline, "this")):
                return done()
        return True
