"""One run of a node, in the caller's thread: open a transaction, call the function, propose what it wrote (seed 000 section 7.3; decisions 7, 30; I8).

- Every run is one transaction, whatever happens in it. It carries the node, the run's number and the causes.
- What the function returns is written to its output; MISSING leaves none. Nothing there to read (`Missing`) means no output and no report.
- A function that raises has its writes dropped, so that its output stays as it was; its reads are kept, so that it runs again when one changes.
- One that reads nothing where a node that never ran is about to write comes to nothing: that one runs first. An effect ends at that read, so that it does not show what is
  not there yet; a computation goes on, so that everything it reads is found at once and it runs twice at most (decision 1). Whatever it then writes or raises is dropped.
- What it registered comes into being with its commit, or not at all; the outlet keeps it until then.
"""
from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, TypeAlias

from ..scheduler.cells import Cell
from ..scheduler.errors import Aborted, ErrorInfo, Missing, RetryLater
from ..scheduler.model import Address, Entity, Path, Read
from ..scheduler.values import MISSING
from ..storage.commit import Provenance
from ..storage.place import place
from ..storage.proposal import Proposal, View
from ..storage.transaction import Transaction
from .context import Moved, Outlet, Tx, Unready
from .homes import Homes
from .specs import NodeSpec
from .telling import told

_tuple = tuple.__new__  # what the class of a named tuple calls in the end, at half the cost; two are made for every run

_SCALARS = frozenset({int, float, bool, str, type(None)})  # nothing of theirs has to be converted on the way in


Ready: TypeAlias = Callable[[Read], bool]


class Body(NamedTuple):
    """What a node's record carries for whoever runs it. `hidden`: the runtime's own (sink, watch), not among what a program declared.
    `output` is the cell that takes what the function returns, and `plain` its place if any value may be put there as it is."""

    spec: NodeSpec[..., Any]
    hidden: bool = False
    output: Cell[Any] | None = None
    plain: tuple[Entity, Path] | None = None

    @classmethod
    def of(cls, spec: NodeSpec[..., Any], space: str, hidden: bool = False) -> Body:
        output = spec.output if isinstance(spec.output, Cell) and spec.kind == "computation" else None
        return cls(spec, hidden, output, None if output is None or output.of is not None else place(output, space))


class Ran(NamedTuple):
    """What came of calling the function: what it proposes, and what it raised. `again`: it asked to be run again. `unready`: it has let another node run first.
    `moved`: what it could not read as of its version any more, so that it did not come to its end."""

    proposal: Proposal
    error: ErrorInfo | None = None
    again: bool = False
    unready: bool = False
    moved: tuple[Entity, ...] = ()


class Execution:
    """`failures` is what counts as a failure of the run; anything else that is raised is for whoever called."""

    def __init__(self, view: View, homes: Homes, failures: tuple[type[BaseException], ...] = (Exception, asyncio.CancelledError)) -> None:
        self._view = view
        self._homes = homes
        self._failures = failures
        self._loop: asyncio.AbstractEventLoop | None = None
        self._vain = False  # the computation that runs has read what is not there yet

    def run(
        self, body: Body, space: str, id: str, number: int, causes: tuple[Address, ...], group: str | None, attempt: int, now: float, version: int, outlet: Outlet,
        ready: Ready | None,
    ) -> Ran:  # fmt: skip
        """`ready` is asked when a read finds nothing: should its writer run first?"""
        spec, _, output, plain = body
        home = self._homes[space]
        self._vain = False
        transaction = Transaction(self._view, home.name, False, _tuple(Provenance, (id, number, causes, None)), group, (home.name, id))
        tx = Tx(transaction, home, now, version, outlet, id, causes, attempt, None, None if ready is None else self._met_nothing, (ready, spec))
        try:
            value = spec.fn(tx, **spec.args) if spec.args else spec.fn(tx)
            if spec.is_async:
                value = self.complete(value)
            if self._vain:
                raise Unready
            if output is not None:
                if value is MISSING:
                    tx.delete(output)
                elif plain is not None and type(value) in _SCALARS:
                    transaction.set(plain[0], plain[1], value)
                else:
                    tx.set(output, value)
            return _tuple(Ran, (transaction.finish()[0], None, False, False, ()))
        except Unready:
            return Ran(transaction.finish(failed=True)[0], unready=True)
        except Moved as error:
            return Ran(transaction.finish(failed=True)[0], moved=error.entities)
        except self._failures as error:
            if self._vain:  # it follows from what was not there
                return Ran(transaction.finish(failed=True)[0], unready=True)
            return _raised(error, id, transaction, output, home.name)

    def _met_nothing(self, asking: tuple[Ready, NodeSpec[..., Any]], read: Read) -> None:
        ready, spec = asking
        if ready(read):
            if spec.kind == "effect":
                raise Unready
            self._vain = True

    def complete(self, value: Awaitable[Any]) -> Any:
        """Await it to its end, in a loop of its own; whoever called the runtime from inside a loop (`rt.aio`) waits meanwhile, as for any other run."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        outer = asyncio._get_running_loop()
        asyncio._set_running_loop(None)
        try:
            return self._loop.run_until_complete(value)
        finally:
            asyncio._set_running_loop(outer)

    def close(self) -> None:
        if self._loop is not None:
            self._loop.close()
            self._loop = None


def _raised(error: BaseException, id: str, transaction: Transaction, output: Cell[Any] | None, home: str) -> Ran:
    if isinstance(error, Missing):
        return _without(transaction, output, home)
    failed = transaction.finish(failed=True)[0]
    return Ran(failed) if isinstance(error, Aborted) else Ran(failed, told(error, id), isinstance(error, RetryLater))


def _without(transaction: Transaction, output: Cell[Any] | None, home: str) -> Ran:
    """No output: what was written is dropped, and what was there before goes."""
    if output is None or not transaction.open:
        return Ran(transaction.finish(failed=True)[0])
    transaction.drop()
    transaction.delete(*place(output, home))
    return Ran(transaction.finish()[0])
