"""A client's transactions from afar: read as of one version, submitted as they are, decided by storage (PROTOCOL rule 4). The verdict comes by itself."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ..scheduler.cells import Cell
from ..scheduler.errors import Misuse, WeftError
from ..scheduler.model import CommitId, Version
from ..storage.commit import Accepted, Rejected
from ..storage.place import place
from ..storage.proposal import Use
from ..storage.ticket import Answer, Committed, Refused, Ticket, Unchanged, tell
from ..storage.transaction import Transaction
from ..wire.edge import Decided, Submit, Submitted
from ..wire.entries import rejection_of
from ..wire.ring import Beside, Declared
from .caller import Line
from .clock import Clock
from .context import Tx
from .fetching import AsOf, Opened
from .homes import Homes
from .outlet import Departures, StrictDepartures
from .proposing import beside_of, used_reads, writes_of
from .site import Overtaken
from .subscriptions import Look

if TYPE_CHECKING:
    from .waiting import Covered

R = TypeVar("R")
ATTEMPTS = 100  # of a read that was overtaken; each lost race means that somebody else has written


class Transacting:
    """`client` names its commits."""

    def __init__(self, line: Line, client: str, clock: Clock, covered: Covered, strict: bool) -> None:
        self._line, self._client, self._clock, self._covered = line, client, clock, covered
        self._departures = StrictDepartures if strict else Departures
        self._homes = Homes()
        self._keys = itertools.count(1)
        self._tickets: dict[int, Ticket] = {}

    def open(self, home: str, group: str | None = None, view: AsOf | None = None) -> tuple[Transaction, Tx, Departures]:
        transaction = Opened(view or AsOf(self._line), home, group)
        outlet = self._departures(home=home)
        tx = Tx(transaction, self._homes[home], self._clock.now(), self._covered.version.n, outlet)
        return transaction, tx, outlet

    def read(self, home: str, read: Callable[[Tx], R], cells: Sequence[Cell[Any]] = ()) -> tuple[R, Transaction, Version]:
        """All of one version; from the beginning if somebody has overtaken it. `cells` are fetched in one question."""
        for attempt in range(ATTEMPTS):
            view = AsOf(self._line)
            transaction, tx, _ = self.open(home, None, view)
            try:
                if len(cells) > 1:
                    view.load([place(cell, home)[0] for cell in cells])
                return read(tx), transaction, view.version
            except Overtaken:
                if attempt == ATTEMPTS - 1:
                    raise
        raise AssertionError("a read ends, or raises")

    def look(self, cells: Sequence[Cell[Any]], home: str) -> Look:
        values, transaction, version = self.read(home, lambda tx: [tx.get(cell) for cell in cells], cells)
        return Look(values, tuple([read for read, use in transaction.reads.items() if use & Use.SCHEDULING]), version.n)

    def commit(self, transaction: Transaction, children: tuple[Declared, ...]) -> Answer:
        """Submitted; its ticket is decided when the verdict comes."""
        assert isinstance(transaction, Opened)
        proposals = transaction.finish()
        if len(proposals) > 1:
            raise Misuse("a client's transaction writes one space")
        (proposal,) = proposals
        key = next(self._keys)
        ticket = self._tickets[key] = Ticket(CommitId(self._client, key))
        try:
            beside = beside_of(proposal)
            if children:
                beside = (beside or Beside())._replace(children=children)
            submit = Submit(key, transaction.as_of.version, used_reads(proposal.reads), writes_of(proposal.operations), proposal.group, beside)
            submitted = self._line.ask("storage", submit)
        except WeftError:
            self._tickets.pop(key, None)
            raise
        assert isinstance(submitted, Submitted)
        self._covered.see(submitted.version)
        if submitted.pending:
            return Committed(submitted.version, ticket)
        self._tickets.pop(key, None)
        return Unchanged(submitted.version) if submitted.refusal is None else Refused(submitted.version, rejection_of(submitted.refusal))

    def decided(self, message: Decided) -> None:
        """The verdict, in the actor's thread."""
        self._covered.see(message.version)
        ticket = self._tickets.pop(message.key, None)
        if ticket is not None:
            ticket.decide(Accepted(ticket.id, 0, "", ()) if message.refusal is None else Rejected(ticket.id, rejection_of(message.refusal), 0))
            ticket.settle()
            tell((ticket,))
