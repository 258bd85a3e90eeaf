"""The inline runtime, composed: the core, a replica and the engine in the caller's thread. Nothing happens between calls; `idle`, `pull` and whatever waits turn the loop.

Every handle of one runtime shares one of these. It is imported when the first runtime is opened, so that naming `weft.Runtime` loads neither a codec nor a database.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from secrets import token_hex
from typing import Any, TypeVar

from ..scheduler.cells import Cell
from ..scheduler.core import Core
from ..scheduler.errors import ErrorInfo
from ..scheduler.ids import checked_id
from ..storage.desks import Desks
from ..storage.engine import Engine, open_engine
from ..storage.replica import Replica
from ..storage.spaces import Store
from ..storage.ticket import Refused
from ..storage.transaction import Transaction
from ..wire.codec import VALUES
from .clock import RealClock, VirtualClock
from .context import Tx
from .lane import InlineLane
from .looking import Looking
from .loop import Loop
from .nodes import Nodes
from .observing import Observing
from .outlet import Departing, Departures, StrictDepartures
from .pages import listed
from .rechecking import Rechecking
from .results import Commit
from .sight import Sight
from .site import GateKind
from .specs import HandlerSpec, NodeSpec
from .watching import Deliveries, Watch, sink_spec, watch_spec

R = TypeVar("R")


class Inline:
    """A `site.Site` in the caller's thread."""

    placement = "inline"

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
        self._breakpoints = self.loop.breakpoints
        self.nodes = self.loop.household = Nodes(self.core, self.replica, self.home, self.looking.fallen)
        self.lane = self.loop.lane = InlineLane(self.loop, self.nodes, self.looking)
        self._observing = Observing(self.loop, self.nodes)
        self.outlook = Sight(
            self.core, self.replica, self.looking, self.clock, self.loop.breakpoints, lambda: Rechecking(self.replica, self.loop.homes, self.loop.inside, self.looking.violations)
        )
        self.guard, self.inside, self.id_of = self.loop.guard, self.loop.inside, self.nodes.id_of  # asked at every call, so they are not called twice
        self._counter = 0
        if clock is not None:
            self.loop.woken = self._woken
            clock.attach(self.loop)

    # Life

    @property
    def closed(self) -> bool:
        return self.loop.closed

    async def awaited(self, call: Callable[[], R]) -> R:
        """Nothing runs in the background: the work is done here. The event loop breathes once before it."""
        from asyncio import sleep  # whoever comes here has loaded it

        await sleep(0)
        return call()

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

    # Nodes

    def known(self, ids: Sequence[str]) -> str | None:
        return next((id for id in ids if id in self.core.registry), None)

    def register(self, specs: Sequence[NodeSpec[..., Any]], space: str, *, resume: bool = False) -> list[str]:
        return [self.nodes.register(spec, space, resume=resume) for spec in specs]

    def remove(self, ids: Sequence[str]) -> None:
        self.nodes.remove(self.known(ids) or ids[0])

    def set_gate(self, ids: Sequence[str], kind: GateKind, value: float) -> None:
        id = self.known(ids) or ids[0]
        record = self.core.registry.get(id)
        gate = self.core.gates.gate_of(id, record)
        if kind == "debounce":
            gate.set_debounce(value, self.clock.now())
        elif kind == "throttle":
            gate.set_throttle(value, record.ended if record is not None and value else None)
        else:
            gate.auto = bool(value)
            if not value and gate.auto_debounced:
                gate.set_debounce(0.0, self.clock.now())

    # Data

    def open(self, home: str, group: str | None = None) -> tuple[Transaction, Tx, Departures]:
        """A transaction of the caller's."""
        transaction = Transaction(self.replica, home, group=group)
        outlet = self.loop.departures(home=home)
        tx = Tx(transaction, self.loop.homes[home], self.clock.now(), self.replica.journal.n, outlet)
        return transaction, tx, outlet

    def get(self, cell: Cell[Any], default: Any, home: str) -> Any:
        return self.open(home)[1].get(cell, default)

    def commit(self, transaction: Transaction, departures: Departures, home: str, value: R) -> Commit[R]:
        transaction.check_open()  # an abort that was swallowed is one all the same
        answer = self.replica.transact(transaction.finish()[-1])
        if departures.any and not isinstance(answer, Refused):
            self._departed("", home, departures)
        return Commit(answer, value, self.loop.wait)

    def listed(self, space: str, begins: str, after: str | None) -> Iterator[str]:
        """The ids of documents that begin so and come after that one, in order. What was sent is decided first, so that a caller finds what it wrote."""
        self.desks.pump()
        self.desks.desk(space)  # opens it
        return listed(self._engines[space], space, begins, after)

    # Demand

    def pull(self, cells: Sequence[Cell[Any]], home: str, timeout: float | None) -> list[Any]:
        values = self._observing.pull(cells, home, timeout)
        self.deliveries.make()
        return values

    def sink(self, cell: Cell[Any], callback: Callable[[Any], object], home: str, group: str | None) -> str:
        id = self.nodes.register(sink_spec(self._fresh("sink"), cell, callback, self.deliveries), home, group=group, hidden=True)
        return self._observing.expect(id, [cell], home)

    def watch(self, cells: Sequence[Cell[Any]], home: str, group: str | None) -> Watch[Any]:
        def open(take: Callable[[Any], object]) -> Callable[[], None]:
            self.guard()
            id = self.nodes.register(watch_spec(self._fresh("watch"), cells, take), home, group=group, hidden=True)
            self._observing.expect(id, cells, home)
            return lambda: None if self.loop.closed else self.remove((id,))

        return Watch(open, lambda done: self.loop.wait(done))

    # Events

    def send(self, departing: Departing, home: str) -> None:
        self.lane.send(departing, home)

    def handle(self, spec: HandlerSpec[Any, Any], space: str, *, strict: bool = False) -> None:
        self.lane.handle(spec, space, strict=strict)

    # Waiting

    def idle(self, timeout: float | None, gated: bool) -> None:
        self._turned(lambda: self.loop.idle(timeout, gated))

    def settled(self, timeout: float | None) -> None:
        self._turned(lambda: self.loop.settled(timeout))

    def drain(self) -> None:
        self._turned(self.loop.drain)

    # Breakpoints

    def stop_before(self, ids: Sequence[str], on: bool) -> None:
        self._breakpoints.set(self.known(ids) or ids[0], on)
        self._armed()

    def step(self) -> None:
        if self._breakpoints.allow():
            self.loop.drain()
            self._breakpoints.stepped()
            self.deliveries.make()

    def unbreak(self) -> None:
        self._breakpoints.clear()
        self._armed()

    # Inside

    def _turned(self, turn: Callable[[], None]) -> None:
        """Callbacks may have written, registered or sent something: what follows from that is waited for too."""
        turn()
        while self._deliver():
            turn()

    def _deliver(self) -> bool:
        before = (self.replica.journal.n, len(self.lane))
        self.deliveries.make()
        return before != (self.replica.journal.n, len(self.lane))

    def _fresh(self, what: str) -> str:
        """An id for a node of the runtime's own."""
        self._counter += 1
        return f"{what}/{self._counter}"

    def _armed(self) -> None:
        """The core asks only while there is something to ask for."""
        self.core.settle.halts = self._breakpoints.halts if self._breakpoints.any else None

    # What the parts ask and tell

    def _engine(self, space: str) -> Engine:
        engine = self._engines[space] = open_engine(self._store, space, runtime=self._name, codec=VALUES)
        return engine

    def _woken(self) -> None:
        """Time has passed, and sinks may have something to tell."""
        while self._deliver():
            self.loop.drain()

    def _departed(self, node: str, space: str, departures: Departures) -> None:
        for spec in departures.children:
            self.nodes.register(spec, space, parent=node if node in self.core.registry else None)
        for event in departures.events:
            self.lane.send(event, space)

    def _broken(self, error: Exception) -> None:
        self.looking.report(ErrorInfo(getattr(error, "code", type(error).__name__), str(error), "storage", ""))
