"""The pass: what runs next (seed 000 section 7; decisions 1, 10, 29; I6, I9).

Goals: writers before readers, each node as few times as the changes ask for, in an order that depends on nothing but heights and ordinals; and an end, whatever the nodes do.
How: the runnable nodes of an iteration stand in a queue by (height, ordinal); the cursor is the place of the last one that ran.
- "Invalid at its turn" decides: what became clean, dormant, gated or removed since it was queued is passed over.
- A node that becomes invalid ahead of the cursor joins at its place; one behind it waits for the next iteration.
- A node that has just become live, invalid or never ran, was found by a run: it runs before anything downstream of it runs again, so the cursor goes back to it. This opens no
  iteration: the budget of runs a node has in a pass bounds it.
- Ahead of a node run: the writers that it declares to read, if it never ran; the invalid materializers whose envelope it reads; its parent, unless a data path leads there.
  Where these wait for each other in a circle, the one with the lowest place runs first (semantics C.8).
- Materializers run when nothing else is runnable, unless promoted so.
- When a node has used up its budget and it, or its cycle, would run again, that is put behind a backoff gate; when the iterations are used up, whatever is still runnable is.
`now` comes with each question. Nothing here runs anything.
"""
from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from .backoffs import Backoffs
from .blockers import blockers_of
from .constants import MAX_ITERATIONS, RUN_BUDGET
from .errors import BrokenInvariant
from .records import Node, Status
from .registry import Registry
from .ways import Ways

_CLEAN, _NEVER_RAN = Status.CLEAN, Status.NEVER_RAN  # asking the enumeration costs as much as the comparison
_START = (-(1 << 60), 0)


class PassEnd(NamedTuple):
    """What came of a pass: `deferred` are the nodes that it put behind a backoff gate."""

    number: int
    iterations: int
    runs: int
    deferred: tuple[str, ...]


class Settle:
    """`work` holds every node that is live and not clean, and may hold some that are no longer."""

    def __init__(self, registry: Registry, graph: Ways, max_iterations: int = MAX_ITERATIONS, run_budget: int = RUN_BUDGET) -> None:
        self._registry, self._graph = registry, graph
        self.max_iterations, self.run_budget = max_iterations, run_budget
        self.work: dict[Node, None] = {}
        self.backoffs = Backoffs(graph)
        self.provisional: dict[Node, None] = {}
        self.halts: Callable[[Node], bool] | None = None  # a breakpoint, which may stop everything before a node's run
        self.number = 0  # of the pass
        self.iteration = self.runs = 0
        self.over = True  # nothing more runs in this pass
        self._queue: list[tuple[int, int, int, Node]] = []  # by height and ordinal; a child that waits for its parent stands right behind it
        self._queued: dict[Node, int] = {}  # who stands in the queue at its own place, and at which height
        self._ahead: dict[Node, None] = {}  # a stack: these run before the queue goes on
        self.cursor = _START
        self._ensured: set[Node] = set()  # nodes whose blockers were put ahead of them in this iteration
        self._waited: set[Node] = set()  # nodes that left an iteration to their parents in this pass: once, for parents may stand in a circle
        self._idle_priority = False  # this iteration is the materializers'

    # What others tell

    def offer(self, node: Node) -> None:
        """`node` has become invalid."""
        if (node.live_refs > 0 or node.roots > 0) and not node.passive:
            self.work[node] = None  # also if it stands in the queue already: it may have run ahead of its turn since
            if not self.over and self._queued.get(node) != node.height and (self._idle_priority or not node.surface[1]) and (node.height, node.ordinal) > self.cursor:
                self._enqueue(node)

    def found(self, node: Node) -> None:
        """`node` has become live, or has given way to one that was found: it runs at its place in this iteration, wherever the cursor is."""
        if node.status is Status.CLEAN or node.passive:
            return
        self.work[node] = None
        if not self.over and (self._idle_priority or not node.materializer):
            self._enqueue(node)
            self.cursor = min(self.cursor, (node.height, node.ordinal - 1))

    def lowered(self, node: Node) -> None:
        """`node` has to run before what it stood behind: if it is queued, it stands at its new place too."""
        if self._queued.get(node, node.height) > node.height:
            self._enqueue(node)

    def lost(self, node: Node) -> None:
        """`node` is not live any more."""
        self.work.pop(node, None)

    def forget(self, node: Node) -> None:
        """`node` was removed: whoever still has it queued finds it clean."""
        node.status = Status.CLEAN
        self.work.pop(node, None)
        self.provisional.pop(node, None)
        self.backoffs.forget(node)

    # The pass

    def begin(self) -> None:
        self.number += 1
        self.iteration = self.runs = 0
        self.over = False
        self.backoffs.begin()
        self._waited.clear()
        self._empty()

    def next(self, now: float, *, materializers: bool = False) -> Node | None:
        """The node whose turn it is; None when nothing is left to run in this pass. With `materializers`, they run when nothing else is runnable."""
        while not self.over:
            node = self._pop() if self._queue or self._ahead else None
            if node is None:
                if not self._open(now, materializers):
                    return None
            elif node.status is not _CLEAN and self.runnable(node, now) and not self._waits(node, now):
                if self.halts is not None and self.halts(node):
                    return None
                self._count(node)
                return node
        return None

    def follow(self, members: set[Node], now: float) -> Node | None:
        """Whose turn comes next, if that is so whatever the runs of these members bring; None: their results have to be seen first."""
        queue = self._queue
        while queue and not self._ahead and self.halts is None:
            height, ordinal, behind, node = queue[0]
            if height != self.cursor[0] or height != node.height or behind:
                return None
            if node.status is not _CLEAN and not self._joins(node, members, now):
                return None
            heappop(queue)
            self._queued.pop(node, None)
            self.cursor = (height, ordinal)
            if node.status is not _CLEAN:
                self._ensured.add(node)
                self._count(node)
                return node
        return None

    def end(self, now: float) -> PassEnd:
        self.over = True
        self._empty()
        for node in [node for node in self.provisional if (node.run and node.status is not Status.NEVER_RAN and not _retries(node)) or not node.provisional]:
            del self.provisional[node]
            self._graph.undemand(node)
        self.backoffs.relent()
        return PassEnd(self.number, self.iteration, self.runs, tuple([node.id for node in self.backoffs.deferred]))

    def runnable(self, node: Node, now: float) -> bool:
        """The one oracle of "is there work" (pitfall B-37). What a pass has used up or put off holds inside it alone: between two, it is asked for the next."""
        return (
            node.status is not _CLEAN
            and not node.passive
            and (node.live_refs > 0 or node.roots > 0 or node.demanded_in == self.number)
            and (self.over or node.seen_in != self.number or (node.pass_runs < self.run_budget and node.deferred_in != self.number))
            and (node.gate is None or now >= node.gate.eligible_at)
        )

    def defer(self, node: Node) -> None:
        """Not again in this pass."""
        self._see(node)
        node.deferred_in = self.number

    # Inside

    def _enqueue(self, node: Node) -> None:
        """At its place. A node is offered once for each of its causes: `offer` leaves one that stands there already."""
        height = self._queued[node] = node.height
        heappush(self._queue, (height, node.ordinal, 0, node))

    def _pop(self) -> Node | None:
        if self._ahead:
            return self._ahead.popitem()[0]
        while self._queue:
            height, ordinal, _, node = heappop(self._queue)
            self._queued.pop(node, None)
            if height < node.height:  # raised since
                self._enqueue(node)
                continue
            self.cursor = (height, ordinal)
            return node
        return None

    def _open(self, now: float, materializers: bool) -> bool:
        """Begin the next iteration, unless there is nothing to run or this pass has had enough."""
        runnable = [node for node in self.work if self.runnable(node, now)] if self.work else []
        cycling = self.backoffs.cycling(runnable, now) if self.backoffs.spent else []
        if cycling:
            self.backoffs.put_off(cycling, now)
            self.over = True
            return False
        chosen = [node for node in runnable if not node.materializer]
        self._idle_priority = not chosen and materializers
        if self._idle_priority:
            chosen = runnable
        if not chosen:
            self._empty()
            return False
        if self.iteration >= self.max_iterations:
            self.backoffs.put_off(runnable, now)
            self.over = True
            return False
        self.iteration += 1
        self._empty()
        self._queue = [(node.height, node.ordinal, 0, node) for node in chosen]
        self._queued = {node: node.height for node in chosen}
        heapify(self._queue)
        return True

    def _empty(self) -> None:
        self._queue, self.cursor = [], _START
        self._queued.clear()
        self._ahead.clear()
        self._ensured.clear()

    def _see(self, node: Node) -> None:
        if node.seen_in != self.number:
            node.seen_in, node.pass_runs, node.deferred_in = self.number, 0, 0

    def _count(self, node: Node) -> None:
        self._see(node)
        node.pass_runs += 1
        self.runs += 1
        self.work.pop(node, None)
        if node.pass_runs >= self.run_budget:
            self.backoffs.spent[node] = None

    def _waits(self, node: Node, now: float) -> bool:
        """Is there something that must run before it? Then that is put ahead of it."""
        if node.parent is None and node.status is not _NEVER_RAN and not self._graph.envelopes and (node.live_refs > 0 or node.roots > 0):
            self._ensured.add(node)  # nothing can be in its way, now or later in this iteration
            return False
        parent = None if node.parent is None else self._parent_first(node, now)
        if parent is not None and (self._idle_priority or not parent.materializer):
            if (parent.height, parent.ordinal) > self.cursor:
                heappush(self._queue, (parent.height, parent.ordinal, node.ordinal, node))
                return True
            if node not in self._waited:  # both wait for the next iteration
                self._waited.add(node)
                return True
        if node in self._ensured:
            return False
        self._ensured.add(node)
        blockers = blockers_of(self, self._graph, node, now)
        if parent is not None and parent.materializer and parent not in blockers:
            blockers.append(parent)  # a materializer whose time has not come: its child promotes it
        return bool(blockers) and self._put_ahead(node, blockers)

    def _put_ahead(self, node: Node, blockers: list[Node]) -> bool:
        """Let these run, then it; False: it runs first. Who stands ahead and is ensured waits for this node in turn, which closes a circle."""
        ahead, ensured = self._ahead, self._ensured
        circle = [other for other in blockers if other in ahead and other in ensured]
        first = self._lowest(node, circle) if circle else node
        if first is not node:
            ensured.discard(node)  # with that one out of the way it may find itself in another circle
        before = [*((first,) if first is not node else ()), *sorted((other for other in blockers if other not in circle), key=_place, reverse=True)]
        if before:
            ahead[node] = None
        for other in before:
            ahead.pop(other, None)
            ahead[other] = None
        return bool(before)

    def _lowest(self, node: Node, circle: list[Node]) -> Node:
        """Of everybody who waits between `node` and the farthest of these."""
        stack = list(self._ahead)
        return min((node, *(other for other in stack[min(map(stack.index, circle)) :] if other in self._ensured)), key=_place)

    def _joins(self, node: Node, members: set[Node], now: float) -> bool:
        return (
            node.status is Status.INVALID
            and (node.live_refs > 0 or node.roots > 0)
            and not self._graph.envelopes
            and self.runnable(node, now)
            and (node.parent is None or (self._registry.get(node.parent) not in members and self._parent_first(node, now) is None))
            and members.isdisjoint(node.upstream)
            and members.isdisjoint(node.downstream)
        )

    def _parent_first(self, node: Node, now: float) -> Node | None:
        """Its parent, if that is about to run and may take it away."""
        parent = self._registry.get(node.parent) if node.parent is not None else None
        if parent is None or not self.runnable(parent, now) or parent in self._ahead or self._graph.leads(node, parent):
            return None
        return parent

    def check(self, nodes: dict[str, Node]) -> None:
        for node in nodes.values():
            if node.live and node.status is not Status.CLEAN and not node.passive and node not in self.work:
                raise BrokenInvariant(f"S1: {node.id} is live and {node.status.value}, and nobody would run it")
            if node.provisional and node not in self.provisional:
                raise BrokenInvariant(f"S2: nothing ends the provisional demand of {node.id}")


def _place(node: Node) -> tuple[int, int]:
    return node.height, node.ordinal


def _retries(node: Node) -> bool:
    """Its run was refused and is to be made again: it is not complete."""
    return bool(node.attempts) and node.status is Status.INVALID
