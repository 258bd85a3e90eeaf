"""A runtime on a virtual clock, for scenarios: declares nodes tersely, counts their runs, keeps their order and every error, and checks all invariants after each step.

`scene.C("adder", c, lambda tx: tx[a] + tx[b], reads=[a, b])` is what the scenarios write as `C adder: c := a+b R{a,b} O{c}`.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, Literal

import weft
from harness.parts import parts
from weft.scheduler.log import CommitEntry, Entry
from weft.scheduler.records import Node as Record
from weft.scheduler.settle import PassEnd

Body = Callable[[weft.Tx], Any]
Cell = weft.Cell[Any]


PLACEMENT: ContextVar[Literal["inline", "embedded"]] = ContextVar("placement", default="inline")  # of every scene; the scenarios run on each
SCENES: ContextVar[list[weft.Runtime]] = ContextVar("scenes")  # the runtimes that a test has opened, for whoever closes them


def cells(names: str) -> list[Cell]:
    return [weft.cell(name) for name in names.split()]


class Scene:
    def __init__(self, storage: str = "memory:", clock: weft.VirtualClock | None = None, /, **given: Any) -> None:
        self.clock = clock or weft.VirtualClock()
        self.rt = weft.Runtime(storage, placement=PLACEMENT.get(), clock=self.clock)
        SCENES.get([]).append(self.rt)
        self.errors: list[weft.ErrorInfo] = []
        self.rt.on_error(self.errors.append)
        self.runs: Counter[str] = Counter()  # calls of each function
        self._order: list[str] = []
        if given:
            self.commit(**given)

    # Declaring

    def C(self, id: str, output: Cell | None, body: Body, *, reads: Sequence[Cell] = (), writes: Sequence[Cell] = (), envelope: Sequence[Cell] = (), **gates: Any) -> weft.Node:
        """A computation. With `envelope`, a materializer."""
        return self.rt.register(self.spec(id, output, body, reads=reads, writes=writes, envelope=envelope, **gates))

    def E(self, id: str, body: Body, *, reads: Sequence[Cell] = (), **gates: Any) -> weft.Node:
        return self.rt.register(self.effect(id, body, reads=reads, **gates))

    def spec(
        self, id: str, output: Cell | None, body: Body, *, reads: Sequence[Cell] = (), writes: Sequence[Cell] = (), envelope: Sequence[Cell] = (), **gates: Any
    ) -> weft.NodeSpec[..., Any]:
        return weft.computation(self._counted(id, body), output=output, also_writes=writes, envelope=envelope, declared_reads=reads, id=id, **gates)

    def effect(self, id: str, body: Body, *, reads: Sequence[Cell] = (), **gates: Any) -> weft.NodeSpec[..., Any]:
        return weft.effect(id=id, declared_reads=reads, **gates)(self._counted(id, body))

    def sink(self, cell: Cell, show: Callable[[Any], Any] = lambda value: value, group: str | None = None) -> list[Any]:
        """What a sink was called with."""
        told: list[Any] = []
        self.rt.sink(cell, lambda value: told.append(show(value)), group=group)
        return told

    # Steps

    def commit(self, group: str | None = None, /, **values: Any) -> None:
        """One transaction from outside."""

        def write(tx: weft.Tx) -> None:
            for name, value in values.items():
                tx.set(weft.cell(name), value)

        self.rt.transact(write, retries=0, group=group)
        self.rt.check()

    def pull(self, cell: Cell) -> Any:
        value = self.rt.pull(cell)
        self.rt.check()
        return value

    def idle(self, gated: bool = False) -> None:
        self.rt.idle(gated=gated)
        self.rt.check()

    def drain(self) -> None:
        self.rt.drain()
        self.rt.check()

    def advance(self, ms: float) -> None:
        self.clock.advance(ms / 1000)
        self.rt.check()

    def hear(self) -> None:
        """White box: what others have committed to the same store arrives."""
        desks = parts(self.rt).desks
        for desk in desks._desks.values():
            if desk.engine.poll():
                desk.catch_up(0.0)
        desks.pump()
        self.rt.check()

    def spend(self, seconds: float) -> bool:
        """Inside a run: it takes this long."""
        self.clock.advance(seconds)
        return True

    # Looking

    def get(self, name: str) -> Any:
        """What is stored, MISSING if nothing is."""
        return self.rt.get(weft.cell(name), weft.MISSING)

    def order(self) -> list[str]:
        """Who ran since the last time, in order."""
        ran, self._order = self._order, []
        assert self.rt.ran() == ran
        return ran

    def status(self, id: str) -> str:
        return self.rt.node(id).status

    def record(self, id: str) -> Record:
        """White box: the core's own record."""
        return parts(self.rt).core.registry.nodes[id]

    def changes(self) -> list[str]:
        """White box: from now on, what local commits change: the document's id and the path in its value."""
        found: list[str] = []

        def heard(entry: Entry) -> None:
            if isinstance(entry, CommitEntry):
                found.extend("/".join((change.entity.id, *change.path[1:])) for change in entry.changes)

        parts(self.rt).replica.journal.subscribe(heard)
        return found

    def passes(self) -> list[PassEnd]:
        """White box: from now on, what came of each pass."""
        ends: list[PassEnd] = []
        settle = parts(self.rt).core.settle
        finish = settle.end

        def end(now: float) -> PassEnd:
            ends.append(finish(now))
            return ends[-1]

        settle.end = end  # type: ignore[method-assign]
        return ends

    # Inside

    def _counted(self, id: str, body: Body) -> Body:
        def run(tx: weft.Tx) -> Any:
            self.runs[id] += 1
            self._order.append(id)
            return body(tx)

        return run
