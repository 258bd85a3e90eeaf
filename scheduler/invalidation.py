"""From log entries to invalid nodes: the one channel (seed 000 section 6.1; P1, P2, P5; PROTOCOL H1, H4).

- A node becomes invalid only by a change that its registered reads see. Nothing is marked transitively, and nothing else happens at that moment.
- Every change that hit is a cause, with the position of its entry in the log. Causes are on addresses, so equal ones are one.
- A commit does not invalidate the run's own node, nor nodes of the commit's change group. A revert spares nobody: what was shown has gone.
- After a run the causes kept are those on what it read, made after it was read; storage names reads that moved before the run's result arrived, and those are causes too.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .graph import Graph
from .log import RunId, RunResult
from .model import Address, Change
from .overlap import write_touches
from .records import Node, Status

_CLEAN, _INVALID = Status.CLEAN, Status.INVALID  # asking the enumeration costs as much as the comparison
_new: Any = tuple.__new__  # what the class of a named tuple calls in the end, at half the cost


class Invalidation:
    """`marked` is told of every node that has a new cause, before the entry's other changes are looked at."""

    def __init__(self, graph: Graph, marked: Callable[[Node], None]) -> None:
        self._graph = graph
        self._marked = marked

    def apply(self, changes: Iterable[Change], n: int, source: RunId | None = None, group: str | None = None) -> None:
        gather = self._graph.readers.gather
        for change in changes:
            found: dict[Node, None] = {}
            gather(change, found)
            if not found:
                continue
            cause = _new(Address, (*change[0], change[1]))
            for node in found:
                if source is not None and node.id == source[0] and node.generation == source[1]:
                    continue
                if group is not None and node.group == group:
                    continue
                node.causes[cause] = n
                if node.status is _CLEAN:
                    node.status = _INVALID
                self._marked(node)

    def mark(self, node: Node, cause: Address, n: int) -> None:
        node.causes[cause] = n
        if node.status is _CLEAN:
            node.status = _INVALID
        self._marked(node)

    def settle(self, node: Node, result: RunResult, n: int) -> None:
        """The causes that remain after this run; `n` is the position of its entry. The node's reads are those of the run already."""
        if node.causes:
            at = {read.entity: read.n for read in result.at}
            node.causes = {cause: when for cause, when in node.causes.items() if when > at.get(cause.entity, n) and _sees(node, cause)}
        for read in result.moved:
            node.causes[read.entity.at(read.path)] = n
        if node.causes:
            node.status = _INVALID
            self._marked(node)
        else:
            node.status = _CLEAN


def _sees(node: Node, cause: Address) -> bool:
    return any(read.entity == cause[:3] and write_touches(cause.path, read.path, read.deep) for read in node.reads)
