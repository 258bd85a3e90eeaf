"""The settle actor: it serialises all runs. What graph says comes in, waves go out, and whoever waits hears when nothing is left to run (DESIGN section 3).
Thin over `scheduler.turns`.

- It starts no step before everything that the step before invalidated has been seen: the wave is back with its last result, and graph has answered what the pass told it.
- It starts nothing before its token has gone round through storage and graph (PROTOCOL rule 5).
- A pass begins when somebody waits, or when nothing has been written from outside for a moment: `load`, `set`, `set` are one pass, as they are inline.
- `driven`: it makes passes only while somebody waits, so that with a clock that stands still nothing happens between two calls.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from ..scheduler.constants import MAX_ITERATIONS, RUN_BUDGET
from ..scheduler.mirror import Leave, Mirror
from ..scheduler.model import Version
from ..scheduler.turns import Phase, Turns
from ..scheduler.values import freeze
from ..wire.edge import Drain, News, Question, Rested
from ..wire.messages import Fence, Presence
from ..wire.ring import Awaited, Invalidated, Run, RunWave, Undemand, Wake, Woken
from ..wire.table import Message
from .asked import Asked
from .graphing import UNDEMANDED, registration
from .ledger import Ledger
from .questions import Owed

_OPENING = ("gate", "step", "unbreak")  # questions after which something may be runnable


QUIET = 0.02  # seconds without a write from outside before a pass begins for which nobody waits, so that a caller's next write belongs to it
LONGEST_QUIET = 0.1  # seconds; who writes all the time does not put it off for longer


class Waiting(NamedTuple):
    """Somebody who waits for rest at or after a version."""

    owed: Owed
    version: Version


class Settling(Asked):
    """`now` is the time; `worker` makes the runs."""

    def __init__(
        self, *given: Any, now: Callable[[], float], driven: bool = False, worker: str = "worker-1", max_iterations: int = MAX_ITERATIONS, run_budget: int = RUN_BUDGET,
        **more: Any,
    ) -> None:  # fmt: skip
        super().__init__(*given, **more)
        self.mirror = Mirror(max_iterations, run_budget)
        self.turns = Turns(self.mirror)
        self.ledger = Ledger(self.mirror, self.spread)
        self.answers = self.ledger.answers()
        self.token = self.epoch
        self.version = Version(0, 0)
        self._now, self._driven, self._worker = now, driven, worker
        self._round = False  # the token has gone round
        self._wave = 0  # the number of the last that was sent
        self._flying = False
        self._telling = False  # graph has been told what ended with the pass, and has not answered
        self._owed = 0
        self._fed: dict[str, int] = {}
        self._told: set[tuple[str, int]] = set()  # generations whose specification the worker has
        self._waiting: list[Waiting] = []
        self._wake = math.inf
        self._hired = 0  # the worker's epoch
        self._stirred = math.inf  # when the first of what was written since the last pass came
        self._begin_at = math.inf  # when the next pass begins, though nobody waits

    def presence(self) -> Presence:
        return Presence(version=self.version, fence=self.token)

    def begin(self) -> None:
        self.tell("storage", Fence(self.token, self.version))

    def met(self, peer: str, epoch: int, presence: Presence) -> None:
        """A worker that was replaced has taken with it what it had under way: nothing goes on before a new token has gone round (PROTOCOL C3)."""
        if peer == self._worker:
            if self._hired not in (0, epoch):
                self.token += 1
                self._round = False
                self.tell("storage", Fence(self.token, self.version))
            self._hired = epoch

    def _begin(self, now: float) -> None:
        """The token has gone round: whatever was made under an older one has been seen, and nothing more of it will be taken."""
        self._round, self._flying = True, False
        self._told.clear()
        self._fed.clear()
        if self.mirror.flying or self._wave:
            self.mirror.lose(now)

    # What comes in

    def on_invalidated(self, message: Invalidated, sender: str) -> None:
        token, version, wave, rows, done, structure, served, owed, last = message
        now, mirror = self._now(), self.mirror
        if token == self.token and not self._round:
            self._begin(now)
        self.version, self._owed = version, owed
        for worker, fed in served:
            self._fed[worker] = fed
        registered = {}
        if structure is not None:
            for id in structure.gone:
                mirror.gone(id)
            for generation, ordinal, parent, declared in structure.born:
                what = registered[declared.node] = registration(declared, parent)
                mirror.came(declared.node, generation, ordinal, parent, what, passive=declared.kind == "observer")
            for edge in structure.edges:
                mirror.edge(edge)
            for node, reads in structure.reads:
                mirror.reads(node, reads)
        for each in done:
            tally = self.ledger.statistics.ran(each.node, now - each.took, now)
            mirror.done(each, now, tally.runs, tally.seconds / tally.runs)
        mirror.rows(rows, now, registered)
        if not wave and not self._driven:
            self._stir()
        if wave == UNDEMANDED:
            self._telling = False
        elif last and wave == self._wave:
            self._flying = False
        self.seen()
        self._go()

    def on_drain(self, message: Drain, sender: str) -> None:
        self._waiting.append(Waiting(self.owed, message.version))
        self._go()

    def on_question(self, message: Question, sender: str) -> Message | None:
        answer = super().on_question(message, sender)
        if message.about in _OPENING:
            self._go()
        return answer

    def on_woken(self, message: Woken, sender: str) -> None:
        self._wake = math.inf
        self._go()

    # When

    def _stir(self) -> None:
        """Somebody outside the ring has written: what he writes next belongs to the same pass, unless he waits."""
        now = self.clock()
        self._stirred = min(self._stirred, now)
        self._begin_at = min(now + QUIET, self._stirred + LONGEST_QUIET)
        self._arm(now)

    def _is_quiet(self) -> bool:
        """May a pass begin?"""
        if self.turns.phase is not Phase.REST or self._begin_at == math.inf:
            return True
        if not self._waiting and self.clock() < self._begin_at:
            return False
        self._stirred = self._begin_at = math.inf
        return True

    def tick(self, now: float) -> None:
        super().tick(now)
        if self._begin_at <= now:
            self._go()

    def _arm(self, now: float) -> None:
        super()._arm(now)
        if now < self._begin_at < self.mailbox.alarm:  # what is past is asked about when the wave that is under way has come back
            self.mailbox.set_alarm(self._begin_at, now)

    # What goes out

    def _go(self) -> None:
        """The next step, if its time has come."""
        if self._flying or self._telling or not self._round or self._owed or not self._is_quiet():
            return
        while not self._driven or self._waiting:
            now = self._now()
            if self.ledger.breakpoints.stopped is not None or not self.turns.due(now):
                self._rest(now)
                return
            leaves = self.turns.step(now)
            if self.turns.phase is Phase.REST and self.turns.last is not None:
                self.ledger.ended(self.turns.last, now)
            if leaves:
                self._send(leaves, now)
                return
            if self.mirror.ended:
                ended, self.mirror.ended = tuple(self.mirror.ended), []
                self._telling = True
                self.tell("graph", Undemand(self.token, ended))
                return

    def _send(self, leaves: list[Leave], now: float) -> None:
        self._wave += 1
        self._flying = True
        runs = tuple([self._run(leave) for leave in leaves])
        self.tell(self._worker, RunWave(self.token, self.version, self._fed.get(self._worker, 0), self._wave, now, runs, self._awaited()))

    def _run(self, leave: Leave) -> Run:
        node, number, causes, gives_way, demanded = leave
        key = (node.id, node.generation)
        known = key in self._told
        if not known:
            self._told.add(key)
        return Run(node.id, node.generation, number, node.attempts, gives_way, demanded, None if known else node.spec, causes)

    def _awaited(self) -> tuple[Awaited, ...]:
        mirror = self.mirror
        if not mirror.virgins:
            return ()
        changed, mirror.virgins = mirror.virgins, []
        return tuple([Awaited(output, pending) for outputs, pending in changed for output in outputs])

    def _rest(self, now: float) -> None:
        """Nothing is runnable."""
        mirror = self.mirror
        self._tell_news()
        self.ledger.rested(now)
        wake = mirror.idle.wake(now)
        if not self._driven and (at := math.inf if wake is None else wake) != self._wake:
            self._wake = at
            self.tell("gates", Wake(at))
        ready = [waiting for waiting in self._waiting if self._covers(waiting.version)]
        if ready:
            holders = mirror.idle.holders(now)
            holds = min((node.gate.eligible_at for node in holders if node.gate is not None), default=None)
            rested = Rested(self.version, wake, holds, tuple([node.id for node in holders[:5]]))
            self._waiting = [waiting for waiting in self._waiting if waiting not in ready]
            for waiting in ready:
                self.answer(waiting.owed, rested)
            if wake is None:
                mirror.idle.resolved()  # else whoever has waited for idle says so: it may wait on

    def _covers(self, version: Version) -> bool:
        return version.epoch != self.version.epoch or version.n <= self.version.n

    def _tell_news(self) -> None:
        """To each client which of its observers may see something else now."""
        mirror = self.mirror
        if not mirror.news:
            return
        news, mirror.news = mirror.news, {}
        owners: dict[str, list[str]] = {}
        for id in news:
            node = mirror.registry.get(id)
            if node is not None:
                owners.setdefault(str(node.spec), []).append(id)
        for owner, ids in owners.items():
            self.tell(owner, News("observer", self.version, freeze(ids)))
