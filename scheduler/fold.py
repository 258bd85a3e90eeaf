"""Graph's half of the scheduler: a fold of storage's log. Entries go in, in order; what settle needs to know of the nodes comes out (PROTOCOL rules 1 and 6).

- Status, causes, liveness, edges and heights are decided here and nowhere else. What `Core` does in one call, `fold` and `mirror` do on two sides of a mailbox; tests hold them
  against it run by run.
- A run takes no causes here when it starts: its result says what it saw. Those it answered are kept in `taken` until its commit is refused or the next result comes
  (PROTOCOL H1, H8).
- A result of a run that is not newer than the record changes nothing (PROTOCOL C6).
- `take` gives a row of every node whose state settle may not know, once.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from .core import Registration
from .errors import ErrorInfo
from .graph import Graph
from .invalidation import Invalidation
from .log import CommitEntry, Entry, IntegrateEntry, PullEntry, RegistrationEntry, RemovalEntry, ResultEntry, RevertEntry, RunId, RunResult
from .model import Change, Read
from .readset import ReadSet
from .records import EFFECT, MATERIALIZER, PROVISIONAL, Kind, Node, Status
from .registry import Registry
from .rejection import Rejection
from .rows import CLEAN, DEMANDED, HIT, INVALID, LATER, LIVE, NEVER_RAN, WAITS, Edge, Row
from .runs import Runs

_STATES = {Status.NEVER_RAN: NEVER_RAN, Status.CLEAN: CLEAN, Status.INVALID: INVALID}


class Came(NamedTuple):
    """A registration, with what it was given here."""

    node: Node
    what: Registration


class Told(NamedTuple):
    """What settle hears. `reads` are of nodes that read while there are envelopes, which order them."""

    rows: tuple[Row, ...]
    came: tuple[Came, ...]
    gone: tuple[str, ...]
    edges: tuple[Edge, ...]
    reads: tuple[Node, ...]


class Fold:
    """`report` takes what a person should know."""

    def __init__(self, report: Callable[[ErrorInfo], None]) -> None:
        self.registry = Registry()
        self.graph = Graph()
        self.graph.told = []
        self.graph.heights.moved = []
        self.invalidation = Invalidation(self.graph, self._hit)
        self.runs = Runs(self.registry, self.graph, self.invalidation, self._later, self._waits, report)
        self._dirty: dict[Node, int] = {}
        self._came: dict[str, Came] = {}
        self._gone: list[str] = []
        self._reads: dict[Node, None] = {}

    # The log

    def apply(self, entry: Entry) -> None:
        """One entry. When this returns, everything that follows from it is decided."""
        n = entry.version.n
        if isinstance(entry, CommitEntry):
            run = entry.result.run if entry.result is not None else None
            if entry.result is not None:
                self.ran(entry.result, n)
            self.changed(entry.changes, n, run, entry.group)
        elif isinstance(entry, ResultEntry):
            self.ran(entry.result, n)
        elif isinstance(entry, (PullEntry, IntegrateEntry)):
            self.changed(entry.changes, n)
        elif isinstance(entry, RevertEntry):
            self.reverted((*((entry.run,) if entry.run else ()), *entry.leaning), entry.rejection, entry.changes, n)
        elif isinstance(entry, RegistrationEntry):
            self.register(entry.node, entry.generation, entry.spec)
        elif isinstance(entry, RemovalEntry):
            self.remove(entry.node, entry.generation)

    def changed(self, changes: Iterable[Change], n: int, source: RunId | None = None, group: str | None = None) -> None:
        if changes:
            self.invalidation.apply(changes, n, source, group)

    def ran(self, result: RunResult, n: int) -> None:
        """A run has ended."""
        run = result.run
        node = self.registry.nodes.get(run.node)
        if node is None or node.generation != run.generation or run.run <= node.run:
            return
        node.run = run.run
        node.taken, node.causes = node.causes, dict(node.causes)
        reads = node.reads
        self.runs.result(result, n)
        if self.graph.envelopes and node.reads is not reads:
            self._reads[node] = None

    def failed(self, run: RunId, error: ErrorInfo) -> None:
        self.runs.failed(run, error)

    def later(self, run: RunId, error: ErrorInfo) -> None:
        self.runs.later(run, error)

    def unready(self, run: RunId) -> None:
        self.runs.unready(run)

    def reverted(self, runs: Iterable[RunId], why: Rejection, changes: Iterable[Change], n: int) -> None:
        for run in runs:
            self.runs.refused(run, why)
        self.changed(changes, n)

    def register(self, id: str, generation: int, what: Registration) -> None:
        node, new = self.registry.register(id, what.kind, what.space, what.surface, what.spec, generation)
        node.group = what.group
        parent = self.registry.get(what.parent) if what.parent is not None else None
        if what.restored is None or node.parent is None:
            self.registry.adopt(node, what.parent)
        had = bool(self.graph.envelopes)
        self.graph.add(node)
        if self.graph.envelopes and not had:
            self._reads.update(dict.fromkeys(other for other in self.registry.nodes.values() if other.reads))
        if what.restored is not None:
            self.graph.read(node, ReadSet(what.restored))
            node.status = Status.INVALID if node.causes else Status.CLEAN
            node.run = max(node.run, 1)
        elif not new and node.status is Status.CLEAN:
            node.status = Status.INVALID
        self._root(node, parent, what.demanded)
        self._came[id] = Came(node, what)
        self._dirty.setdefault(node, 0)

    def observe(self, id: str, generation: int, reads: Iterable[Read], group: str | None = None) -> None:
        """Demand what these reads see, until it is removed. The observer never runs; it is not hit by what its group commits."""
        node, new = self.registry.register(id, Kind.EFFECT, "", Registration(Kind.EFFECT, "").surface, None, generation)
        node.group = group
        if new:
            node.passive, node.status = True, Status.CLEAN
            self.graph.liveness.root(node, EFFECT)
            self._came[id] = Came(node, Registration(Kind.EFFECT, ""))
            self._dirty.setdefault(node, 0)
        self.graph.read(node, ReadSet(reads))
        if self.graph.envelopes:
            self._reads[node] = None

    def remove(self, id: str, generation: int) -> None:
        node = self.registry.get(id)
        if node is None or node.generation > generation:
            return
        self.graph.drop(node)
        self.registry.remove(node, forget=node.passive)
        self._dirty.pop(node, None)
        self._came.pop(id, None)
        self._reads.pop(node, None)
        self._gone.append(id)

    def undemand(self, ids: Iterable[str]) -> None:
        """The pass that bounded their provisional demand is over."""
        for id in ids:
            node = self.registry.get(id)
            if node is not None:
                self.graph.undemand(node)
                self._dirty.setdefault(node, 0)

    # What settle hears

    def take(self) -> Told:
        graph, dirty, nodes = self.graph, self._dirty, self.registry.nodes
        liveness, heights = graph.liveness, graph.heights
        heights.lowered.clear()
        for moved in (liveness.fallen, liveness.risen, heights.moved or ()):
            for node in moved:
                dirty.setdefault(node, 0)
        liveness.fallen, liveness.risen, heights.moved = [], [], []
        edges, graph.told = graph.told or (), []
        rows = tuple([_row(node, flags) for node, flags in dirty.items() if nodes.get(node.id) is node])
        told = Told(rows, tuple(self._came.values()), tuple(self._gone), tuple([Edge(writer.id, reader.id, there) for writer, reader, there in edges]), tuple(self._reads))
        self._dirty, self._came, self._gone, self._reads = {}, {}, [], {}
        return told

    # Inside

    def _root(self, node: Node, parent: Node | None, demanded: bool) -> None:
        liveness = self.graph.liveness
        if node.kind is Kind.EFFECT:
            liveness.root(node, EFFECT)
        if node.materializer:
            liveness.root(node, MATERIALIZER)
        else:
            liveness.unroot(node, MATERIALIZER)
        if parent is not None and (parent.live or demanded) and node.kind is Kind.COMPUTATION and node.status is Status.NEVER_RAN:
            liveness.root(node, PROVISIONAL)

    def _hit(self, node: Node) -> None:
        self._dirty[node] = self._dirty.get(node, 0) | HIT

    def _later(self, node: Node) -> None:
        self._dirty[node] = self._dirty.get(node, 0) | LATER

    def _waits(self, node: Node) -> None:
        self._dirty[node] = self._dirty.get(node, 0) | WAITS

    def check(self) -> None:
        self.registry.check()
        self.graph.check(self.registry.nodes)


def _row(node: Node, flags: int) -> Row:
    flags |= _STATES[node.status]
    if node.live_refs > 0 or node.roots > 0:
        flags |= LIVE
    if node.roots & PROVISIONAL:
        flags |= DEMANDED
    return Row(node.id, flags, node.height, node.attempts, tuple(node.causes))
