"""A core and, beside it, graph's and settle's halves with rows between them: every decision of the one is held against the other's, run by run.

The core is the oracle. `fold` hears the same entries, `mirror` what `fold` tells, and nobody else anything.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from weft.scheduler.core import Core, Listener
from weft.scheduler.errors import ErrorInfo
from weft.scheduler.fold import Fold
from weft.scheduler.gate import Gate
from weft.scheduler.log import CommitEntry, Entry, RegistrationEntry, ResultEntry, RunId
from weft.scheduler.mirror import Mirror
from weft.scheduler.model import Read
from weft.scheduler.records import Node
from weft.scheduler.rows import Done
from weft.scheduler.runs import Run
from weft.scheduler.settle import PassEnd


class BothGates:
    """One gate and its double."""

    def __init__(self, gate: Gate, double: Gate) -> None:
        self._both = (gate, double)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._both[0], name)
        return (lambda *given: [getattr(gate, name)(*given) for gate in self._both]) if callable(found) else found


class Twin(Core):
    def __init__(self, listener: Listener, max_iterations: int = 10, run_budget: int = 10) -> None:
        super().__init__(listener, max_iterations, run_budget)
        self.fold = Fold(lambda error: None)
        self.mirror = Mirror(max_iterations, run_budget)
        self._twice(self.runs, "later", "failed", "accepted")
        one = self.gates.gate_of
        self.gates.gate_of = lambda name, node: BothGates(one(name, node), self.mirror.gates.gate_of(name, self.mirror.registry.get(name)))  # type: ignore[method-assign,assignment,return-value]

    def apply(self, entry: Entry, now: float) -> None:
        super().apply(entry, now)
        if isinstance(entry, RegistrationEntry) and (parent := self.mirror.registry.get(entry.spec.parent or "")) is not None:
            demanded = not self.mirror.settle.over and parent.demanded_in == self.mirror.settle.number
            entry = entry._replace(spec=entry.spec._replace(demanded=demanded))
        self.fold.apply(entry)
        result = entry.result if isinstance(entry, (CommitEntry, ResultEntry)) else None
        self._tell(now, () if result is None else (Done(result.run.node, result.run.run, 0.0, False),))

    def observe(self, reads: Iterable[Read]) -> Node:
        reads = tuple(reads)
        node = super().observe(reads)
        self.fold.observe(node.id, node.generation, reads)
        self._tell(self.now)
        return node

    def unobserve(self, observer: Node) -> None:
        super().unobserve(observer)
        self.fold.remove(observer.id, observer.generation)
        self._tell(self.now)

    def begin(self, now: float) -> None:
        super().begin(now)
        self.mirror.begin(now)

    def next(self, now: float, *, materializers: bool = False) -> Run | None:
        run = super().next(now, materializers=materializers)
        leave = self.mirror.next(now, materializers=materializers)
        ours = None if run is None else (run.node.id, run.id.run, sorted(run.causes), run.node.generation)
        theirs = None if leave is None else (leave.node.id, leave.number, sorted(leave.causes), leave.node.generation)
        assert ours == theirs, f"the core runs {ours}, the mirror {theirs}"
        return run

    def end(self, now: float) -> PassEnd:
        end, other = super().end(now), self.mirror.end(now)
        assert end == other, f"the core ends with {end}, the mirror with {other}"
        self.fold.undemand(self.mirror.ended)
        self.mirror.ended.clear()
        self._tell(now)
        assert self.idle.runnable(now) == self.mirror.idle.runnable(now)
        assert self.idle.wake(now) == self.mirror.idle.wake(now)
        assert sorted(node.id for node in self.idle.holders(now)) == sorted(node.id for node in self.mirror.idle.holders(now))
        return end

    def check(self) -> None:
        super().check()
        self.fold.check()
        self.mirror.check()
        ours = {node.id: (node.status, node.live, node.height, node.ordinal) for node in self.registry.nodes.values()}
        assert ours == {node.id: (node.status, node.live, node.height, node.ordinal) for node in self.mirror.registry.nodes.values()}

    def _tell(self, now: float, done: tuple[Done, ...] = ()) -> None:
        told = self.fold.take()
        for id in told.gone:
            self.mirror.gone(id)
        for came in told.came:
            self.mirror.came(came.node.id, came.node.generation, came.node.ordinal, came.node.parent, came.what, passive=came.node.passive)
        for edge in told.edges:
            self.mirror.edge(edge)
        for node in told.reads:
            self.mirror.reads(node.id, node.reads)
        for each in done:
            self.mirror.done(each, now, each.number, 0.0)
        self.mirror.rows(told.rows, now, {came.node.id: came.what for came in told.came})

    def _twice(self, runs: Any, *names: str) -> None:
        for name in names:
            one, other = getattr(runs, name), getattr(self.fold.runs, name)

            def both(run: RunId, *rest: ErrorInfo, one: Any = one, other: Any = other) -> None:
                one(run, *rest)
                other(run, *rest)
                self._tell(self.now)

            setattr(runs, name, both)
