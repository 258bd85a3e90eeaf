"""What a run takes and what becomes of it (seed 000 section 7.3; decisions 4, 7, 8; PROTOCOL H8, H9).

- A run takes the node's causes and makes it clean before it starts, so that what changes meanwhile makes it invalid again.
- Its result is installed if the node still is that registration; else it is dropped whole.
- The causes it took are kept until its commit has a verdict. If that is a refusal and the run is still the node's last, they come back: the retry exists because of them.
- A stale basis is tried again off budget, other failures of the world NODE_RETRIES times, and what cannot succeed is not tried again. Every retry waits for another pass.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .constants import NODE_RETRIES, WARN_EVERY
from .errors import ErrorInfo
from .graph import Graph
from .invalidation import Invalidation
from .log import Outcome, RunId, RunResult
from .model import Address
from .records import Node, Status
from .registry import Registry
from .rejection import Fate, Rejection

_CLEAN, _DONE = Status.CLEAN, (Outcome.COMMITTED, Outcome.UNCHANGED)  # asking the enumeration costs as much as the comparison
_new: Any = tuple.__new__  # what the class of a named tuple calls in the end, at half the cost


class Run(NamedTuple):
    """One run to be made: of which registration, which number, because of what."""

    node: Node
    id: RunId
    causes: tuple[Address, ...]


class Runs:
    """`again` is told which node has to run in another pass, `wait` which one in this; `report` what a person should know."""

    def __init__(
        self, registry: Registry, graph: Graph, invalidation: Invalidation, again: Callable[[Node], None], wait: Callable[[Node], None], report: Callable[[ErrorInfo], None]
    ) -> None:
        self._registry, self._graph, self._invalidation = registry, graph, invalidation
        self._again, self._wait, self._report = again, wait, report

    def take(self, node: Node) -> Run:
        node.taken, node.causes = node.causes, {}
        node.status = _CLEAN
        node.run += 1
        return _new(Run, (node, _new(RunId, (node.id, node.generation, node.run, 0)), tuple(node.taken)))  # type: ignore[no-any-return]

    def result(self, result: RunResult, n: int) -> None:
        """A run has ended and storage has seen it; `n` is the position of its entry."""
        run = result[0]
        node = self._registry.nodes.get(run[0])
        if node is None or node.generation != run[1]:
            return
        _, outcome, reads, _, moved, _, why = result
        if reads != node.reads.spelling:
            self._graph.read(node, node.reads.renewed(dict.fromkeys(reads)))
            node.reads.spelling = reads
        if moved or node.causes:
            self._invalidation.settle(node, result, n)
        else:
            node.status = _CLEAN
        if outcome in _DONE:
            node.failed = None
        elif outcome is Outcome.REFUSED and why is not None:
            self.refused(run, why)

    def failed(self, run: RunId, error: ErrorInfo) -> None:
        """The function raised. It runs again when something that it read changes."""
        node = self._find(run)
        if node is not None:
            node.failed = error
            self._report(error)

    def unready(self, run: RunId) -> None:
        """The function met nothing where a node that never ran will write: that one runs first, and this one again."""
        node = self._find(run)
        if node is not None:
            node.causes = {**node.taken, **node.causes}
            node.status = Status.NEVER_RAN if node.ended is None else Status.INVALID
            self._wait(node)

    def interrupted(self, run: RunId) -> None:
        """The run was broken off from outside and never came to its end: it is still to be made, by another pass."""
        node = self._find(run)
        if node is not None:
            node.causes = {**node.taken, **node.causes}
            node.status = Status.NEVER_RAN if node.ended is None else Status.INVALID
            self._again(node)

    def later(self, run: RunId, error: ErrorInfo) -> None:
        """The function asked to be run again."""
        node = self._find(run)
        if node is not None:
            self._retry(node, Fate.TRANSIENT, error)

    def refused(self, run: RunId, why: Rejection) -> None:
        """The commit of this run was refused, or it leaned on one that was."""
        node = self._find(run)
        if node is not None and node.run == run.run:
            self._retry(node, why.fate, ErrorInfo(why.name, why.message, node.id, ""))

    def accepted(self, run: RunId) -> None:
        node = self._find(run)
        if node is not None:
            node.attempts = 0

    def _retry(self, node: Node, fate: Fate, error: ErrorInfo) -> None:
        if fate in (Fate.PERMANENT, Fate.TERMINAL):
            node.attempts = 0
            node.failed = error
            self._report(error)
            return
        node.attempts += 1
        if fate is Fate.TRANSIENT and node.attempts >= NODE_RETRIES:
            node.failed = error
            self._report(error._replace(message=f"{error.message}; {node.attempts} attempts were made, and it runs again when something that it read changes"))
            return
        if fate is Fate.STALE_BASIS and node.attempts % WARN_EVERY == 0:
            self._report(error._replace(message=f"{node.attempts} commits in a row were refused: {error.message}"))
        node.causes = {**node.taken, **node.causes}
        node.status = Status.INVALID
        self._again(node)

    def _find(self, run: RunId) -> Node | None:
        node = self._registry.get(run.node)
        return node if node is not None and node.generation == run.generation else None
