"""The inline runtime, composed: the core, a replica and the engine in the caller's thread. Nothing happens between calls; `idle`, `pull` and whatever waits turn the loop.

Every handle of one runtime shares one of these. It is imported when the first runtime is opened, so that naming `weft.Runtime` loads neither a codec nor a database.
"""
from __future__ import annotations

from collections.abc import Iterator
from secrets import token_hex

from ..scheduler.core import Core
from ..scheduler.errors import ErrorInfo
from ..scheduler.ids import checked_id
from ..scheduler.model import Entity
from ..storage.desks import Desks
from ..storage.engine import Engine, open_engine
from ..storage.listing import PAGE_LIMIT
from ..storage.replica import Replica
from ..storage.spaces import Store
from ..storage.transaction import Transaction
from ..wire.codec import VALUES
from .clock import RealClock, VirtualClock
from .context import Tx
from .lane import InlineLane
from .looking import Looking
from .loop import Loop
from .nodes import Nodes
from .observing import Observing
from .outlet import Departures, StrictDepartures
from .rechecking import Rechecking
from .surface import checked_group
from .watching import Deliveries


class Inline:
    def __init__(self, storage: str, space: str, clock: VirtualClock | None, max_iterations: int, run_budget: int, principal: str, full: bool, strict: bool) -> None:
        self.home = checked_id(space, "space")
        self.clock = clock or RealClock()
        self.looking = Looking()
        self.deliveries = Deliveries(self.looking.report)
        self._store = Store(storage, full_sync=full)
        self._name = f"inline-{token_hex(6)}"
        self._engines: dict[str, Engine] = {}
        self.desks = Desks(self._engine, report=self._broken, principal=principal)
        self.replica = Replica(self.desks.connect, epoch=1, warn=lambda text: self.looking.report(ErrorInfo("storage", text, "storage", "")))
        self.core = Core(self.looking, max_iterations, run_budget)
        self.looking.attach(self.core, self.replica)
        self.loop = Loop(self.core, self.replica, self.desks, self.clock, self.looking, self._departed)
        if strict:
            self.loop.departures = StrictDepartures
        self.breakpoints = self.loop.breakpoints
        self.nodes = self.loop.household = Nodes(self.core, self.replica, self.home, self.looking.fallen)
        self.lane = self.loop.lane = InlineLane(self.loop, self.nodes, self.looking)
        self.observing = Observing(self.loop, self.nodes)
        self._counter = 0
        if clock is not None:
            self.loop.woken = self._woken
            clock.attach(self.loop)

    def open(self, home: str, group: str | None = None) -> tuple[Transaction, Tx, Departures]:
        """A transaction of the caller's."""
        checked_group(group)
        transaction = Transaction(self.replica, home, group=group)
        outlet = self.loop.departures(home=home)
        tx = Tx(transaction, self.loop.homes[home], self.clock.now(), self.replica.journal.n, outlet)
        return transaction, tx, outlet

    def fresh(self, what: str) -> str:
        """An id for a node of the runtime's own."""
        self._counter += 1
        return f"{what}/{self._counter}"

    def deliver(self) -> bool:
        """Call back whoever waits for news. True: a callback wrote, registered or sent something, so there may be more to wait for."""
        before = (self.replica.journal.n, len(self.lane))
        self.deliveries.make()
        return before != (self.replica.journal.n, len(self.lane))

    def listed(self, space: str, begins: str, after: str | None) -> Iterator[str]:
        """The ids of documents that begin so and come after that one, in order. What was sent is decided first, so that a caller finds what it wrote."""
        self.desks.pump()
        self.desks.desk(space)  # opens it
        engine = self._engines[space]
        if begins and (after is None or after < begins):  # what begins so comes right after the beginning itself
            if engine.exists(Entity(space, "space", begins)):
                yield begins
            after = begins
        seq = None
        while True:
            page = engine.list(limit=PAGE_LIMIT, after=after, seq=seq)
            for id in page.ids:
                if not id.startswith(begins):
                    return
                yield id
            if page.after is None:
                return
            after, seq = page.after, page.seq

    def close(self) -> None:
        """Waits until settled."""
        if self.loop.closed:
            return
        self.loop.guard()
        try:
            self.loop.settled()
        finally:
            self.loop.close()
            if isinstance(self.clock, VirtualClock):
                self.clock.detach(self.loop)
            self.desks.close()

    # Diagnostics

    def validate(self, on: bool) -> None:
        """Run every computation twice, or no longer. What has run already is looked at once."""
        if not on:
            self.looking.recheck = None
        elif self.looking.recheck is None:
            recheck = self.looking.recheck = Rechecking(self.replica, self.loop.homes, self.loop.inside, self.looking.violations)
            for node in list(self.core.registry.nodes.values()):
                if node.run and not node.passive:
                    recheck.examine(node, self.clock.now(), self.replica.journal.n)

    def stop_before(self, id: str, on: bool) -> None:
        self.loop.guard()
        self.breakpoints.set(id, on)
        self._armed()

    def step(self) -> None:
        self.loop.guard()
        if self.breakpoints.allow():
            self.loop.drain()
            self.breakpoints.stepped()
            self.deliveries.make()

    def unbreak(self) -> None:
        self.loop.guard()
        self.breakpoints.clear()
        self._armed()

    def _armed(self) -> None:
        """The core asks only while there is something to ask for."""
        self.core.settle.halts = self.breakpoints.halts if self.breakpoints.any else None

    # What the parts ask and tell

    def _engine(self, space: str) -> Engine:
        engine = self._engines[space] = open_engine(self._store, space, runtime=self._name, codec=VALUES)
        return engine

    def _woken(self) -> None:
        """Time has passed, and sinks may have something to tell."""
        while self.deliver():
            self.loop.drain()

    def _departed(self, node: str, space: str, departures: Departures) -> None:
        for spec in departures.children:
            self.nodes.register(spec, space, parent=node if node in self.core.registry else None)
        for event in departures.events:
            self.lane.send(event, space)

    def _broken(self, error: Exception) -> None:
        self.looking.report(ErrorInfo(getattr(error, "code", type(error).__name__), str(error), "storage", ""))
