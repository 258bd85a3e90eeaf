"""Demand from the caller: pull, sinks, watches (API.md "Reading"; seed 000 section 13; pitfall B-47).

- A pull puts an observer on what it reads, turns the loop until nothing above it is runnable, and reads in one transaction: several cells of one version.
- It never waits for time gates: a value behind one is returned as it is. What failed, or does not converge, is said.
- A sink or watch is an effect of the runtime's own. What it saw is delivered after its run, outside of it, so that a callback may call the runtime.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..scheduler.cells import Cell, Link
from ..scheduler.errors import NodeFailed, NotSettled, WaitTimeout, WeftError
from ..scheduler.records import Node, Status
from ..storage.place import place
from ..storage.proposal import Use
from ..storage.transaction import Transaction
from .context import Tx
from .loop import Loop
from .nodes import Nodes
from .outlet import Departures

ROUNDS = 100  # reading may follow links to documents whose writers have to run, whose values are links again


class Observing:
    def __init__(self, loop: Loop, nodes: Nodes) -> None:
        self._loop, self._nodes = loop, nodes

    def read(self, cells: Sequence[Cell[Any] | Link[Any]], home: str) -> tuple[list[Any], Transaction]:
        """What is stored, all of one version."""
        transaction = Transaction(self._loop.replica, home)
        tx = Tx(transaction, self._loop.homes[home], now=self._loop.clock.now(), version=self._loop.replica.version.n, outlet=Departures())
        return [tx.get(cell) for cell in cells], transaction

    def pull(self, cells: Sequence[Cell[Any]], home: str, timeout: float | None) -> list[Any]:
        core = self._loop.core
        observer = core.observe(())
        deadline = self._loop.deadline(timeout)
        try:
            for round in range(ROUNDS):
                values, transaction = self.read(cells, home)
                seen = observer.reads
                reads = [read for read, use in transaction.reads.items() if use & Use.SCHEDULING]
                core.look(observer, reads)
                self._nodes.demand(reads)
                if observer.reads == seen and not self._loop.turn():
                    break
                if round and deadline is not None and self._loop.clock.now() >= deadline:  # what is up to date already is given, however little time there is
                    raise WaitTimeout(f"{', '.join(map(str, cells))} not up to date after {timeout} s")
                self._loop.drain()
            self._judge(observer)
            return values
        finally:
            core.unobserve(observer)

    def expect(self, id: str, cells: Sequence[Cell[Any] | Link[Any]], home: str) -> str:
        """A sink or watch will read these: it is demand for them before its first run, so that what it shows first is up to date."""
        core = self._loop.core
        transaction = Transaction(self._loop.replica, home)
        try:
            for cell in cells:
                transaction.get(*place(cell, home))
        except WeftError:  # its run will meet the same, and report it
            return id
        reads = [read for read, use in transaction.reads.items() if use & Use.SCHEDULING]
        core.look(core.registry.nodes[id], reads)
        self._nodes.demand(reads)
        return id

    def _judge(self, observer: Node) -> None:
        now = self._loop.clock.now()
        stopped = self._loop.breakpoints.stopped
        for node in self._loop.core.graph.upstream_of([observer]):
            if node.failed is not None:
                raise NodeFailed(f"{node.id} failed: {node.failed.message}", node.id)
            if stopped is not None and node.status is not Status.CLEAN:
                raise NotSettled(f"{node.id} has to run, and a breakpoint stopped everything before {stopped}; go on with rt.step() or rt.unbreak()")
            if node.status is not Status.CLEAN and not node.passive and node.gate is not None and node.gate.backoff_until > now:
                raise NotSettled(f"{node.id} does not converge; it is tried again at {node.gate.backoff_until}")
