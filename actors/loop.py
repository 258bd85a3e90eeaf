"""The inline loop: core, replica and engine in the caller's thread, turned by whoever waits for something.

- A pass is settle, then one event, then idle materializers (decision 29); then the engine decides what was sent. Nothing runs between two calls.
- Every entry of the replica's log reaches the core before the call that made it returns (P1).
- One thread uses it. A call from inside a run is refused: it would see, or make, half a pass.
"""
from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from ..scheduler.core import Core
from ..scheduler.errors import InsideRun, Misuse, Stuck, WaitTimeout
from ..scheduler.ids import shown
from ..scheduler.log import Entry, RunId
from ..scheduler.model import Read
from ..scheduler.records import Node
from ..scheduler.runs import Run
from ..storage.commit import Accepted, Verdict
from ..storage.desks import Desks
from ..storage.replica import Replica
from ..storage.ticket import Answer, Committed, Refused, Unchanged
from .breakpoints import Breakpoints
from .clock import Clock, VirtualClock
from .execution import Execution
from .homes import Homes
from .neighbours import Ears, Household, Lane
from .offstage import Offstage
from .outlet import Departures


class Inside:
    """As long as it is entered, the loop's user code runs."""

    __slots__ = ("_loop", "_was")

    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    def __enter__(self) -> None:
        self._was, self._loop._running = self._loop._running, True

    def __exit__(self, *exc: object) -> None:
        self._loop._running = self._was


class Loop:
    def __init__(self, core: Core, replica: Replica, desks: Desks, clock: Clock, ears: Ears, departed: Callable[[str, str, Departures], None]) -> None:
        self.core, self.replica, self.clock = core, replica, clock
        self._desks, self._ears, self.departed = desks, ears, departed
        self.homes = Homes()
        self._execution = Execution(replica, self.homes)
        self.departures = Departures  # or a stricter kind
        self._spare: Departures | None = None  # of a run that asked for nothing, as most do: the next one takes it over
        self.breakpoints = Breakpoints()
        self._offstage = Offstage(core.idle.background, clock)
        self._running = False
        self._at: float | None = None  # while a run is being committed, when it ended: one decision, one time
        self.closed = False
        self.lane: Lane | None = None
        self.household: Household | None = None
        self.woken: Callable[[], None] | None = None  # told when the virtual clock has let something run
        self._stop = replica.journal.subscribe(self._heard)

    # Guards

    def guard(self) -> None:
        """Every public call begins with this."""
        if self._running:
            raise InsideRun("a run reads and writes through its tx; the runtime cannot be called from inside one, nor by another thread meanwhile")
        if self.closed:
            raise Misuse("this runtime is closed; open another one")

    def inside(self) -> Inside:
        """User code runs."""
        return Inside(self)

    @property
    def running(self) -> bool:
        return self._running

    # Turning

    def drain(self) -> None:
        """Passes until nothing is runnable now."""
        while self.turn():
            pass

    def turn(self) -> bool:
        """One pass, if there is anything to do. True: there was."""
        now = self.clock.now()
        if not self._due(now):
            self._desks.pump()
            self._desks.poll()
            if not self._due(now):
                self._ears.rested(now)
                return False
        core = self.core
        core.begin(now)
        try:
            self._runs()
            if self.lane is not None and self.breakpoints.stopped is None:
                self.lane.step(self.clock.now())
            if core.settle.work and self.breakpoints.stopped is None:
                self._runs(materializers=True)
        finally:  # also of a pass that the user interrupts
            core.end(self.clock.now())
        if self.household is not None:
            self.household.tidy()
        self._desks.pump()
        return True

    def wait(self, done: Callable[[], bool], timeout: float | None = None) -> bool:
        """Turn until it is done. False: nothing more can happen by itself in time."""
        deadline = self.deadline(timeout)
        while not done():
            if not self.turn() and not done():
                wake = self.next_wake(gated=True)
                if wake is None or not self.sleep(wake, deadline, "this"):
                    return done()
        return True

    def idle(self, timeout: float | None = None, gated: bool = False) -> None:
        deadline = self.deadline(timeout)
        while True:
            self.drain()
            if under_way := self.core.idle.background.holding():
                if not self._offstage.wait(deadline):
                    raise WaitTimeout(f"not idle after {timeout} s: waiting for {', '.join(under_way)}")
                continue
            wake = self.next_wake(gated)
            if wake is None:
                self.core.idle.resolved()
                if self.household is not None:
                    self.household.tidy()  # what lost its last reader outside of a pass
                return
            if not self.sleep(wake, deadline, self._holders(gated)):
                raise WaitTimeout(f"not idle after {timeout} s: waiting for {self._holders(gated)}")

    def settled(self, timeout: float | None = None) -> None:
        deadline = self.deadline(timeout)
        while True:
            self.idle(None if deadline is None else max(0.0, deadline - self.clock.now()))
            self._desks.pump()
            if not self.replica.pending() and not self._due(self.clock.now()):
                if not (under_way := self.core.idle.background.holding(settled=True)):
                    return
                if not self._offstage.wait(deadline):
                    raise WaitTimeout(f"not settled after {timeout} s: waiting for {', '.join(under_way)}")

    def deadline(self, timeout: float | None) -> float | None:
        """When to give up."""
        if timeout is None:
            return None
        if type(timeout) not in (int, float) or timeout != timeout:
            raise Misuse(f"timeout={shown(timeout)} is no time; it is a number of seconds, or None to wait as long as it takes")
        return self.clock.now() + timeout

    def next_wake(self, gated: bool) -> float | None:
        """The next time that holds idle; None: nothing does."""
        now = self.clock.now()
        times = [node.gate.eligible_at for node in self.core.idle.holders(now) if node.gate is not None] if gated else []
        parked = self.lane.parked_until(now) if self.lane is not None else None
        return min([*times, *([parked] if parked is not None else [])], default=None)

    def sleep(self, until: float, deadline: float | None, what: str) -> bool:
        """Let time pass. False: the deadline came first."""
        if deadline is not None and deadline < until:
            until, late = deadline, True
        else:
            late = False
        if isinstance(self.clock, VirtualClock):
            if not self.clock.autojump:
                raise Stuck(f"the clock stands at {self.clock.now()} and may not jump; advance it to {until}, for {what}")
            self.clock.advance_to(until)
        else:
            time.sleep(max(0.0, until - self.clock.now()))
        return not late

    # The virtual clock's sleeper

    def due(self) -> float | None:
        return None if self._running or self.closed else self._first()

    def wake(self) -> None:
        if not self._running and not self.closed:
            self.drain()
            if self.woken is not None:
                self.woken()

    def complete(self, value: Awaitable[Any]) -> Any:
        """Await a coroutine of user code."""
        return self._execution.complete(value)

    def close(self) -> None:
        self.closed = True
        self._stop()
        self._execution.close()

    # Inside

    def _first(self) -> float | None:
        now = self.clock.now()
        gated = self.core.idle.wake(now)
        parked = self.lane.parked_until(now) if self.lane is not None else None
        times = [at for at in (gated, parked) if at is not None]
        return min(times, default=None)

    def _due(self, now: float) -> bool:
        return self.breakpoints.stopped is None and (self.core.idle.runnable(now) or (self.lane is not None and self.lane.ready(now)))

    def _runs(self, materializers: bool = False) -> None:
        clock, next_run = self.clock, self.core.next
        while (run := next_run(now := clock.now(), materializers=materializers)) is not None:
            self._make(run, now)

    def _make(self, run: Run, began: float) -> None:
        node, id, causes = run
        n, departures = self.replica.journal.n, self.departures(id, node.space) if self._spare is None else self._spare.of(id, node.space)
        was, self._running = self._running, True
        try:
            ran = self._execution.run(node.spec, node.space, id[0], id[2], causes, node.group, node.attempts + 1, began, n, departures, partial(self._missed, node))
        except BaseException:  # the user's interrupt, or the end of the program: the run is made when there is another call
            self.core.runs.interrupted(id)
            raise
        finally:
            self._running = was
            self._spare = None if departures.children or departures.events else departures
        proposal, error, again, unready, _ = ran
        ended, ears = self.clock.now(), self._ears
        runs, mean = ears.ran(run, ran, began, ended)
        if not unready:
            self.core.gates.ran(node, ended, runs, mean)
        self._at = ended
        try:
            answer = self.replica.commit(proposal, id)
        finally:
            self._at = None
        if self.household is not None:
            self.household.demand(proposal[2])
        if unready:
            self.core.runs.unready(id)
        elif error is not None:
            if again:
                self.core.runs.later(id, error)
            else:
                self.core.runs.failed(id, error)
        elif self._spare is None and type(answer) is not Refused:
            self.departed(id.node, node.space, departures)
        if node.attempts and error is None:
            self._attempted(id, answer)
        ears.made(run, ran, answer, began)

    def _attempted(self, run: RunId, answer: Answer) -> None:
        """A run that was refused before has been made again."""
        if type(answer) is Committed:
            answer.ticket.on_verdict(lambda verdict: self._decided(run, verdict))
        elif type(answer) is Unchanged:
            self.core.runs.accepted(run)

    def _missed(self, node: Node, read: Read) -> bool:
        """A run has found nothing there: does it wait for a writer? A member of a family gets its node, which is then about to write."""
        if self.household is not None:
            self.household.demand((read,))
        return self.core.awaits(node, read)

    def _decided(self, run: RunId, verdict: Verdict) -> None:
        if isinstance(verdict, Accepted):
            self.core.runs.accepted(run)

    def _heard(self, entry: Entry) -> None:
        self.core.apply(entry, self._at or self.clock.now())

    def _holders(self, gated: bool) -> str:
        names = [node.id for node in self.core.idle.holders(self.clock.now())] if gated else []
        return ", ".join(names[:5]) or "an event that is parked"
