"""A replica on an engine in memory and transactions over it as runs have them, with an outlet that remembers."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.actors.context import Tx
from weft.actors.event import Event
from weft.scheduler.cells import Cell, Stream
from weft.scheduler.values import Value
from weft.storage.desks import Desks
from weft.storage.engine import open_engine
from weft.storage.replica import Replica
from weft.storage.ticket import Committed
from weft.storage.transaction import Transaction
from weft.wire.codec import VALUES

HOME = "main"


class Kept:
    """An outlet that keeps what it is given, in order."""

    def __init__(self) -> None:
        self.left: list[tuple[Any, ...]] = []

    def register(self, spec: Any) -> None:
        self.left.append(("register", spec))

    def send(self, stream: Stream[Any], payload: Value, id: str | None, session: str, after: float) -> Any:
        self.left.append(("send", stream, payload, id, session, after))
        return "sent"

    def launch(self, pattern: Any, id: str | None, after_commit: bool, args: Mapping[str, Any]) -> Any:
        self.left.append(("launch", pattern, id, after_commit, args))
        return "piece"

    def job(self, fn: Any, args: Mapping[str, Any], into: Cell[Any]) -> Any:
        self.left.append(("job", fn, args, into))
        return {"status": "pending"}

    def outbox(self, fn: Any, args: Mapping[str, Any]) -> None:
        self.left.append(("outbox", fn, args))


class Stage:
    def __init__(self) -> None:
        self.problems: list[Exception] = []
        self.desks = Desks(lambda space: open_engine("memory:", space, runtime="test", codec=VALUES), report=self.problems.append)
        self.replica = Replica(self.desks.connect, epoch=1)
        self.outlet = Kept()

    def begin(self, *, seed: str = "event-1", home: str = HOME, event: Event | None = None) -> tuple[Tx, Transaction]:
        transaction = Transaction(self.replica, home, seed=seed)
        return Tx(transaction, home, now=5.0, version=self.replica.version.n, outlet=self.outlet, node="n", event=event), transaction

    def tx(self) -> Tx:
        return self.begin()[0]

    def put(self, cell: Cell[Any], value: Any) -> None:
        """Committed and confirmed."""
        tx, transaction = self.begin()
        tx.set(cell, value)
        self.commit(transaction)

    def commit(self, transaction: Transaction) -> None:
        (proposal,) = transaction.finish()
        assert isinstance(self.replica.commit(proposal), Committed)
        self.desks.pump()
        assert self.problems == []

    def stored(self, cell: Cell[Any]) -> Any:
        """As it is stored, whatever the type."""
        return self.tx().get(Cell(cell.space, cell.scope, cell.id, cell.path))
