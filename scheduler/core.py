"""The scheduler, whole and without transport: a fold of storage's log, and the answer to "what runs next?".

Whoever has a core does three things: he registers and removes, he applies every entry of the log in order, and he makes passes:

    core.begin(now)
    while (run := core.next(now)): make it; its result comes back as a log entry, applied before the next question
    core.end(now)

- No run can start between a commit and the invalidations it causes: both are the same call of `apply` (P1).
- Everything here is decided from the entries and from `now`. What is told to the `listener` changes nothing (P10).
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from .constants import MAX_ITERATIONS, RUN_BUDGET
from .errors import ErrorInfo
from .gates import GateConfig, Gates, eligible_at
from .graph import Graph
from .idle import Idle
from .invalidation import Invalidation
from .log import CommitEntry, Entry, IntegrateEntry, PullEntry, RegistrationEntry, RemovalEntry, ResultEntry, RevertEntry
from .model import Read
from .readset import ReadSet
from .records import EFFECT, MATERIALIZER, PROVISIONAL, Kind, Node, Status, Surface
from .registry import Registry
from .runs import Run, Runs
from .settle import PassEnd, Settle


class Registration(NamedTuple):
    """What a registration entry carries. `parent` made it in a run; `group` is its change group; `restored` reads come from an earlier life and make it clean, or invalid.
    `demanded`: the pass that runs its parent needs what it makes."""

    kind: Kind
    space: str
    surface: Surface = Surface()
    gates: GateConfig = GateConfig()
    spec: Any = None
    parent: str | None = None
    group: str | None = None
    restored: tuple[Read, ...] | None = None
    demanded: bool = False


class Listener(Protocol):
    """Who looks on."""

    def marked(self, node: Node) -> None: ...

    def lost(self, node: Node) -> None:
        """It is not live any more."""

    def started(self, run: Run, now: float) -> None: ...

    def ended(self, end: PassEnd, now: float) -> None: ...

    def report(self, error: ErrorInfo) -> None: ...


class Core:
    def __init__(self, listener: Listener, max_iterations: int = MAX_ITERATIONS, run_budget: int = RUN_BUDGET) -> None:
        self._listener = listener
        self.now = 0.0  # of the decision that is being made
        self.registry = Registry()
        self.graph = Graph()
        self.gates = Gates()
        self.settle = Settle(self.registry, self.graph, max_iterations, run_budget)
        self.idle = Idle(self.settle)
        self.invalidation = Invalidation(self.graph, self._marked)
        self.runs = Runs(self.registry, self.graph, self.invalidation, self._again, self.settle.found, listener.report)
        self._generations = 0
        self._observers = 0

    # The log

    def apply(self, entry: Entry, now: float) -> None:
        """One entry. When this returns, everything that follows from it is decided."""
        self.now = now
        n, liveness, heights = entry[0][1], self.graph.liveness, self.graph.heights
        if type(entry) is CommitEntry:
            _, _, changes, _, group, result = entry
            if result is not None:
                self.runs.result(result, n)
                if liveness.fallen or liveness.risen or heights.lowered:
                    self._regard()
            if changes:
                self.invalidation.apply(changes, n, result[0] if result is not None else None, group)
        elif type(entry) is ResultEntry:
            self.runs.result(entry.result, n)
        elif isinstance(entry, (PullEntry, IntegrateEntry)):
            self.invalidation.apply(entry.changes, n)
        elif isinstance(entry, RevertEntry):
            for run in (*((entry.run,) if entry.run else ()), *entry.leaning):
                self.runs.refused(run, entry.rejection)
            self.invalidation.apply(entry.changes, n)
        elif isinstance(entry, RegistrationEntry):
            self._register(entry.node, entry.generation, entry.spec)
        elif isinstance(entry, RemovalEntry):
            self._remove(entry.node, entry.generation)
        if liveness.fallen or liveness.risen or heights.lowered:
            self._regard()

    def awaits(self, node: Node, read: Read) -> bool:
        """A running node has found nothing at a read: is somebody about to write there who never ran? A node gives way once a pass, so that two that read each other both run."""
        settle = self.settle
        if node.gave_way_in == settle.number:
            return False
        for writer in self.graph.writers_of(read):
            if writer is not node and writer.status is Status.NEVER_RAN and not writer.materializer and eligible_at(writer) <= self.now:
                node.gave_way_in = settle.number
                return True
        return False

    def next_generation(self) -> int:
        self._generations += 1
        return self._generations

    # Demand from outside

    def observe(self, reads: Iterable[Read]) -> Node:
        """Demand what these reads see, until `unobserve`. The observer never runs."""
        self._observers += 1
        node, _ = self.registry.register(f"\0observer/{self._observers}", Kind.EFFECT, "", Surface(), None, self.next_generation())
        node.passive, node.status = True, Status.CLEAN
        self.graph.liveness.root(node, EFFECT)
        self.look(node, reads)
        return node

    def look(self, observer: Node, reads: Iterable[Read]) -> None:
        self.graph.read(observer, ReadSet(reads))
        self._regard()

    def unobserve(self, observer: Node) -> None:
        if observer.id in self.registry:
            self.graph.drop(observer)
            self.registry.remove(observer, forget=True)
            self._regard()

    # The pass

    def begin(self, now: float) -> None:
        self.now = now
        self.settle.begin()

    def next(self, now: float, *, materializers: bool = False) -> Run | None:
        """The run to make now, with its causes taken."""
        self.now = now
        node = self.settle.next(now, materializers=materializers)
        if node is None:
            return None
        run = self.runs.take(node)
        self._listener.started(run, now)
        return run

    def end(self, now: float) -> PassEnd:
        self.now = now
        end = self.settle.end(now)
        self._regard()
        self._listener.ended(end, now)
        return end

    # Inside

    def _register(self, id: str, generation: int, what: Registration) -> None:
        node, new = self.registry.register(id, what.kind, what.space, what.surface, what.spec, generation)
        node.group = what.group
        parent = self.registry.get(what.parent) if what.parent is not None else None
        if what.restored is None or node.parent is None:
            self.registry.adopt(node, what.parent)
        self.graph.add(node)
        if what.restored is not None:
            self.graph.read(node, ReadSet(what.restored))
            node.status = Status.INVALID if node.causes else Status.CLEAN
            node.run = max(node.run, 1)
        elif not new and node.status is Status.CLEAN:
            node.status = Status.INVALID
        self._root(node, parent)
        self.gates.adopt(node, what.gates, self.now)
        if node.status is not Status.CLEAN:
            self.settle.offer(node)

    def _root(self, node: Node, parent: Node | None) -> None:
        liveness = self.graph.liveness
        if node.kind is Kind.EFFECT:
            liveness.root(node, EFFECT)
        if node.materializer:
            liveness.root(node, MATERIALIZER)
        else:
            liveness.unroot(node, MATERIALIZER)
        demanded = parent is not None and (parent.live or (not self.settle.over and parent.demanded_in == self.settle.number))
        if demanded and node.kind is Kind.COMPUTATION and node.status is Status.NEVER_RAN:
            liveness.root(node, PROVISIONAL)
            self.settle.provisional[node] = None

    def _remove(self, id: str, generation: int) -> None:
        node = self.registry.get(id)
        if node is None or node.generation > generation:
            return
        self.graph.drop(node)
        self.registry.remove(node)
        self.gates.forget(node)
        self.settle.forget(node)

    def _marked(self, node: Node) -> None:
        if node.gate is not None:
            self.gates.invalidated(node, self.now)
        self.settle.offer(node)
        self._listener.marked(node)

    def _again(self, node: Node) -> None:
        self.settle.defer(node)
        self.settle.offer(node)

    def _regard(self) -> None:
        """Who became live or ceased to be since the last look."""
        liveness, heights = self.graph.liveness, self.graph.heights
        if heights.lowered:
            lowered, heights.lowered = heights.lowered, []
            for node in lowered:
                self.settle.lowered(node)
        if liveness.fallen:
            fallen, liveness.fallen = liveness.fallen, []
            for node in fallen:
                if not node.live:
                    self.settle.lost(node)
                    self._listener.lost(node)
        if liveness.risen:
            risen, liveness.risen = liveness.risen, []
            for node in risen:
                if node.live:
                    self.settle.found(node)

    def check(self) -> None:
        """Every structure against its definition."""
        self.registry.check()
        self.graph.check(self.registry.nodes)
        self.settle.check(self.registry.nodes)
