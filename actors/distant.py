"""A runtime whose parts are actors, as its clients see it: the port `site.Site` over messages.

- Every call is a question of the client's own actor, and waits for the answer in the caller's thread; any thread may call, but for one that runs user code.
- A transaction reads as of one version and is submitted as it is; storage decides (PROTOCOL rule 4). Its verdict comes by itself.
- What every answer says of the version is kept, and every later question covers it (PROTOCOL H5).
"""
from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from ..scheduler.cells import Cell
from ..scheduler.errors import ErrorInfo, InsideRun, Misuse
from ..scheduler.ids import checked_id
from ..scheduler.model import Read
from ..storage.transaction import Transaction
from ..wire.edge import Decided, Declare, Entered, News, Told, Withdraw
from ..wire.ring import Declared
from ..wire.table import Message
from .caller import PATIENCE, Line
from .clock import Clock, RealClock, VirtualClock
from .context import Tx
from .declared import declared_of
from .functions import Functions
from .insiders import Insiders
from .outlet import Departing, Departures
from .pulling import Pulling
from .results import Commit, Update
from .site import GateKind
from .specs import HandlerSpec, NodeSpec
from .subscriptions import Look, Subscription, Subscriptions
from .topics import question
from .transacting import Transacting
from .vista import Vista
from .waiting import Covered, Waiting
from .watching import Watch

R = TypeVar("R")
LISTED = 1000  # ids in one answer


class Distant:
    """`client` is the name of its actor; `end` takes the runtime down, when this is the one that opened it. Without `functions`, workers are in other processes and import them."""

    def __init__(
        self, line: Line, client: str, placement: str, space: str, clock: VirtualClock | None, functions: Functions | None, insiders: Insiders, end: Callable[[], None], *,
        strict: bool = False, workers: Sequence[str] = ("worker-1",),
    ) -> None:  # fmt: skip
        self.placement = placement
        self.home = checked_id(space, "space")
        self.clock: Clock = clock or RealClock()
        self.covered = Covered()
        self._line, self._client, self._functions, self._insiders, self._end = line, client, functions, insiders, end
        self._transacting = Transacting(line, client, self.clock, self.covered, strict)
        self._names = itertools.count(1)
        self._subscriptions = Subscriptions(self, eager=clock is None)
        self.waiting = Waiting(line, self.clock, self.covered, self._subscriptions.flush)
        self._pulling = Pulling(self, self.waiting, self.clock, self._told, self._fresh)
        self.outlook = Vista(self.ask, self.covered, self.clock, self.home, workers)
        self._closed = False
        self._closing = threading.Lock()
        if clock is not None:
            clock.attach(self)

    # Hearing, in the actor's thread

    def decided(self, message: Decided) -> None:
        self._transacting.decided(message)
        self.waiting.ring()

    def told(self, message: News) -> None:
        if message.topic == "observer":
            self.covered.see(message.version)
            self._subscriptions.hit(message.value, message.version.n)
        elif message.topic == "error":
            self.outlook.heard(ErrorInfo(*message.value))
        else:
            self.outlook.printed(message.value["node"], message.value["line"])

    # Life

    @property
    def closed(self) -> bool:
        return self._closed

    def guard(self) -> None:
        if self._insiders.here():
            raise InsideRun("a run reads and writes through its tx; the runtime cannot be called from inside one")
        if self._closed:
            raise Misuse("this runtime is closed; open another one")

    @contextmanager
    def inside(self) -> Iterator[None]:
        with self._insiders.inside():
            yield

    async def awaited(self, call: Callable[[], R]) -> R:
        from asyncio import to_thread  # whoever comes here has loaded it

        return await to_thread(call)

    def close(self) -> None:
        with self._closing:
            if self._closed:
                return
            self.guard()
            try:
                self.waiting.settled()
            finally:
                self._closed = True
                if isinstance(self.clock, VirtualClock):
                    self.clock.detach(self)
                self._subscriptions.close()
                self._end()

    # The virtual clock's sleeper

    def due(self) -> float | None:
        return None if self._closed or self._insiders.here() else self.waiting.due()

    def wake(self) -> None:
        if not self._closed and not self._insiders.here():
            self.waiting.drain()

    # Asking

    def ask(self, target: str, message: Message, within: float = PATIENCE) -> Message:
        return self._line.ask(target, message, within)

    def report(self, error: ErrorInfo) -> None:
        self.outlook.heard(error)

    # Nodes

    def id_of(self, id: str, space: str) -> str:
        return id if space == self.home else f"{space}:{id}"

    def known(self, ids: Sequence[str]) -> str | None:
        found: str | None = self._told("graph", "known", ids=list(ids))
        return found

    def register(self, specs: Sequence[NodeSpec[..., Any]], space: str, *, resume: bool = False) -> list[str]:
        made = self._declared(specs, space)
        if made:
            self._declare(made, resume)
        return [one.node for one in made]

    def remove(self, ids: Sequence[str]) -> None:
        if not self._subscriptions.remove(ids[0]):
            self.withdraw(ids[0] if len(ids) == 1 else self.known(ids) or ids[0])

    def withdraw(self, id: str) -> None:
        self._entered(self.ask("registry", Withdraw((id,))))

    def handle(self, spec: HandlerSpec[Any, Any], space: str, *, strict: bool = False) -> None:
        raise Misuse(f"{spec.id}: placement={self.placement!r} has no lanes for events yet; handlers run with placement='inline'")

    def set_gate(self, ids: Sequence[str], kind: GateKind, value: float) -> None:
        self.ask("gates", question("gate", self.covered.version, ids=list(ids), kind=kind, value=float(value), now=self.clock.now()))

    # Data

    def open(self, home: str, group: str | None = None) -> tuple[Transaction, Tx, Departures]:
        return self._transacting.open(home, group)

    def get(self, cell: Cell[Any], default: Any, home: str) -> Any:
        return self._transacting.read(home, lambda tx: tx.get(cell, default))[0]

    def commit(self, transaction: Transaction, departures: Departures, home: str, value: R) -> Commit[R]:
        transaction.check_open()  # an abort that was swallowed is one all the same
        if departures.events:
            raise Misuse(f"placement={self.placement!r} has no lanes for events yet; events are sent with placement='inline'")
        return Commit(self._transacting.commit(transaction, self._declared(departures.children, home)), value, self.waiting.until)

    def listed(self, space: str, begins: str, after: str | None) -> Iterator[str]:
        while True:
            ids = self._told("storage", "listed", space=space, begins=begins, after=after, limit=LISTED)
            yield from ids
            if len(ids) < LISTED:
                return
            after = ids[-1]

    # Demand

    def pull(self, cells: Sequence[Cell[Any]], home: str, timeout: float | None) -> list[Any]:
        values = self._pulling.pull(cells, home, timeout)
        self._subscriptions.flush()
        return values

    def sink(self, cell: Cell[Any], callback: Callable[[Any], object], home: str, group: str | None) -> str:
        id = self._fresh("sink")
        self._subscriptions.add(Subscription(id, (cell,), home, group, lambda look: callback(look.values[0])))
        return id

    def watch(self, cells: Sequence[Cell[Any]], home: str, group: str | None) -> Watch[Any]:
        def open(take: Callable[[Update[Any]], object]) -> Callable[[], None]:
            self.guard()
            id = self._fresh("watch")

            def show(look: Look) -> None:
                take(Update(look.values[0] if len(cells) == 1 else tuple(look.values), look.version))
                self.waiting.ring()

            self._subscriptions.add(Subscription(id, cells, home, group, show))
            return lambda: self._unwatch(id)

        return Watch(open, lambda done: self.waiting.wait(lambda: done() or self._closed) and not self._closed)

    # What subscriptions need

    def look(self, cells: Sequence[Cell[Any]], home: str) -> Look:
        return self._transacting.look(cells, home)

    def observe(self, id: str, home: str, reads: tuple[Read, ...], group: str | None) -> None:
        self._declare((Declared(id, "observer", home, (), (), reads, None, None, None, True, group, False, self._client),), False)

    def rest(self) -> object:
        return self.waiting.rest()

    # Events

    def send(self, departing: Departing, home: str) -> None:
        raise Misuse(f"{departing.stream}: placement={self.placement!r} has no lanes for events yet; send them with placement='inline'")

    # Waiting

    def idle(self, timeout: float | None, gated: bool) -> None:
        self.waiting.idle(timeout, gated)

    def settled(self, timeout: float | None) -> None:
        self.waiting.settled(timeout)

    def drain(self) -> None:
        self.waiting.drain()

    # Breakpoints

    def stop_before(self, ids: Sequence[str], on: bool) -> None:
        self._told("settle", "break", ids=list(ids), on=on)

    def step(self) -> None:
        self._told("settle", "step")
        self.waiting.drain()

    def unbreak(self) -> None:
        self._told("settle", "unbreak")

    # Inside

    def _declared(self, specs: Sequence[NodeSpec[..., Any]], space: str) -> tuple[Declared, ...]:
        for spec in specs:
            if spec.unbound:
                raise Misuse(f"{spec.id} still needs its argument {spec.unbound[0]!r}; bind it first: spec.bind(args={{…}})")
        return tuple([declared_of(spec, self.id_of(spec.id, space), space, self._functions) for spec in specs])

    def _declare(self, made: tuple[Declared, ...], resume: bool) -> None:
        self._entered(self.ask("registry", Declare(made, resume)))

    def _entered(self, entered: Message) -> None:
        assert isinstance(entered, Entered)
        self.covered.see(entered.version)

    def _told(self, target: str, about: str, **arguments: Any) -> Any:
        told = self.ask(target, question(about, self.covered.version, **arguments))
        assert isinstance(told, Told)
        return told.value

    def _unwatch(self, id: str) -> None:
        if not self._closed:
            self._subscriptions.remove(id)

    def _fresh(self, what: str) -> str:
        """An id for an observer of this client's own."""
        return f"{self._client}/{what}/{next(self._names)}"
