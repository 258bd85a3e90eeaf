"""Settle's half of the scheduler: a read-model of graph's nodes, fed by rows, and the pass over it. It plans without asking anybody (DESIGN section 3).

- A node that runs is clean here from the moment it is sent; what graph says of it before its result is old news and passed over. Its row after the result decides.
- Of each message the runs that are done come first, then structure, then heights, then who fell and rose, then what was hit: the order in which `Core` has them.
- Gates are evaluated here, by the pure functions: a node with a gate is not runnable before its debounce is armed, because both happen in the same call (PROTOCOL H11).
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .constants import MAX_ITERATIONS, RUN_BUDGET
from .core import Registration
from .gates import Gates, eligible_at
from .idle import Idle
from .model import Address, Read
from .readset import ReadSet
from .records import PROVISIONAL, Node, Status
from .registry import Registry
from .rows import CLEAN, DEMANDED, HIT, INVALID, LATER, LIVE, NEVER_RAN, WAITS, Done, Edge, Row
from .settle import PassEnd, Settle
from .ways import Ways

_STATUS = {NEVER_RAN: Status.NEVER_RAN, CLEAN: Status.CLEAN, INVALID: Status.INVALID}
_STATE = CLEAN | INVALID


class Leave(NamedTuple):
    """A run to be made: of which registration, which number, because of what. `gives_way`: it may end for a node that never ran; `demanded`: the pass needs what it makes."""

    node: Node
    number: int
    causes: tuple[Address, ...]
    gives_way: bool
    demanded: bool


class Mirror(Ways):
    """`ended` collects whose provisional demand is over, `news` which observers were hit, `virgins` whose outputs are, or no longer are, about to be written for the first time,
    until somebody takes them."""

    def __init__(self, max_iterations: int = MAX_ITERATIONS, run_budget: int = RUN_BUDGET) -> None:
        super().__init__()
        self.registry = Registry()
        self.gates = Gates()
        self.settle = Settle(self.registry, self, max_iterations, run_budget)
        self.idle = Idle(self.settle)
        self.flying: dict[str, tuple[int, int]] = {}  # generation and number of each run that was sent and is not done
        self._before: dict[str, tuple[Status, tuple[Address, ...]]] = {}  # what each of those was
        self.ended: list[str] = []
        self.news: dict[str, None] = {}
        self.virgins: list[tuple[tuple[Address, ...], bool]] = []
        self.now = 0.0

    # What graph says

    def came(self, id: str, generation: int, ordinal: int, parent: str | None, what: Registration, *, passive: bool = False) -> None:
        node, new = self.registry.register(id, what.kind, what.space, what.surface, what.spec, generation, ordinal)
        if new:
            node.status, node.passive = Status.CLEAN, passive
        self.registry.adopt(node, parent)
        if not passive:
            self.writers.put(node, what.surface.outputs)
            self.envelopes.put(node, what.surface.envelope)

    def gone(self, id: str) -> None:
        node = self.registry.get(id)
        if node is not None:
            for writer in list(node.upstream):
                self._part(writer, node)
            for reader in list(node.downstream):
                self._part(node, reader)
            if node.status is Status.NEVER_RAN:
                self._lose(node)
            self.writers.take(node)
            self.envelopes.take(node)
            self.registry.remove(node, forget=node.passive)
            self.gates.forget(node)
            self.settle.forget(node)
            self.news.pop(id, None)

    def edge(self, edge: Edge) -> None:
        writer, reader = self.registry.get(edge.writer), self.registry.get(edge.reader)
        if writer is None or reader is None:
            return
        if edge.present:
            reader.upstream[writer] = 1
            writer.downstream[reader] = None
        else:
            self._part(writer, reader)

    def reads(self, id: str, reads: Iterable[Read]) -> None:
        node = self.registry.get(id)
        if node is not None:
            node.reads = ReadSet(reads)

    def done(self, done: Done, now: float, runs: int, mean: float) -> None:
        """`runs` and `mean` are the node's statistics, this run included."""
        self.now = now
        flying = self.flying.get(done.node)
        if flying is None or flying[1] != done.number:
            return
        del self.flying[done.node], self._before[done.node]
        node = self.registry.get(done.node)
        if node is not None:
            if done.unready:
                node.gave_way_in = self.settle.number
            else:
                self.gates.ran(node, now, runs, mean)

    def rows(self, rows: Iterable[Row], now: float, registered: dict[str, Registration]) -> None:
        """`registered` are those that came with this message: their gates are set up with their status."""
        self.now = now
        nodes, settle = self.registry.nodes, self.settle
        lowered: list[Node] = []
        fallen: list[Node] = []
        risen: list[Node] = []
        hit: list[tuple[Node, int]] = []
        for id, flags, height, attempts, causes in rows:
            node = nodes.get(id)
            if node is None:
                continue
            if height < node.height:
                lowered.append(node)
            node.height, node.attempts = height, attempts
            was, live = node.live_refs > 0 or node.roots > 0, bool(flags & LIVE)
            if was and not live:
                fallen.append(node)
            elif live and not was and not (flags & HIT and node.status is Status.CLEAN):  # one that is hit as it rises was clean when it was found
                risen.append(node)
            node.live_refs = 1 if live else 0
            if flags & DEMANDED and not node.roots:
                settle.provisional[node] = None
            node.roots = PROVISIONAL if flags & DEMANDED else 0
            flying = self.flying.get(id) if self.flying else None
            if flying is None or flying[0] != node.generation:
                status = _STATUS[flags & _STATE]
                if status is Status.NEVER_RAN and node.status is not status and pending(node, now):
                    self.virgins.append((node.surface.outputs, True))
                node.status = status
                node.causes = dict.fromkeys(causes, 0)
                if flags & (HIT | LATER | WAITS) or id in registered:
                    hit.append((node, flags))
        for node in lowered:
            settle.lowered(node)
        for node in fallen:
            settle.lost(node)
        for node in risen:
            settle.found(node)
        for node, flags in hit:
            self._hit(node, flags, registered.get(node.id), now)

    # The pass

    def begin(self, now: float) -> None:
        self.now = now
        self.settle.begin()

    def next(self, now: float, *, materializers: bool = False) -> Leave | None:
        self.now = now
        node = self.settle.next(now, materializers=materializers)
        return None if node is None else self.send(node)

    def send(self, node: Node) -> Leave:
        """Its causes are taken."""
        causes = tuple(node.causes)
        if node.status is Status.NEVER_RAN:
            self._lose(node)
        self._before[node.id] = (node.status, causes)
        node.causes = {}
        node.status = Status.CLEAN
        node.run += 1
        self.flying[node.id] = (node.generation, node.run)
        number = self.settle.number
        return Leave(node, node.run, causes, node.gave_way_in != number, node.live or node.demanded_in == number)

    def lose(self, now: float) -> None:
        """Whoever made the runs is gone, and what is not done will never be: those nodes are again what they were, and its successor knows nothing of who is about to write."""
        self.now = now
        lost, self.flying, before, self._before = self.flying, {}, self._before, {}
        for id, (generation, _) in lost.items():
            node = self.registry.get(id)
            if node is not None and node.generation == generation:
                node.status, causes = before[id]
                node.causes = dict.fromkeys(causes, 0)
                self.settle.offer(node)
        self.virgins = [(node.surface.outputs, True) for node in self.registry.nodes.values() if node.status is Status.NEVER_RAN and pending(node, now)]

    def end(self, now: float) -> PassEnd:
        self.now = now
        return self.settle.end(now)

    def undemand(self, node: Node) -> None:
        self.ended.append(node.id)

    # Inside

    def _hit(self, node: Node, flags: int, what: Registration | None, now: float) -> None:
        if node.passive:
            self.news[node.id] = None
            return
        if what is not None:
            self.gates.adopt(node, what.gates, now)
        elif flags & HIT:
            self.gates.invalidated(node, now)
        if flags & LATER:
            self.settle.defer(node)
        if node.status is Status.CLEAN:
            return
        if flags & WAITS:
            self.settle.found(node)
        else:
            self.settle.offer(node)

    def _lose(self, node: Node) -> None:
        if node.surface.outputs:
            self.virgins.append((node.surface.outputs, False))

    @staticmethod
    def _part(writer: Node, reader: Node) -> None:
        reader.upstream.pop(writer, None)
        writer.downstream.pop(reader, None)

    def check(self) -> None:
        self.registry.check()
        self.settle.check(self.registry.nodes)


def pending(writer: Node, now: float) -> bool:
    """If it never ran: is it about to, and what will it write?"""
    return bool(writer.surface.outputs) and not writer.materializer and eligible_at(writer) <= now
