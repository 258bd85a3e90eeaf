"""Backoffs: what becomes of nodes that would run again and again (seed 000 section 7.7; I6; pitfalls B-31, B-33).

- A node that has used up its budget of runs in a pass is `spent`. If it would run again, it is put behind a backoff gate, which doubles each time in a row; if it is clean just
  then, the others of its cycle are.
- Bystanders are not put off: they run in the next pass, at once.
- A node that ends a pass clean has converged: the next time it does not, it starts with the shortest backoff.
Called by settle, which says when a pass has had enough, and by idle, which reads how often each one has held it.
"""
from __future__ import annotations

from .gate import Gate
from .records import Node, Status
from .ways import Ways


class Backoffs:
    """`backed` are the nodes with a streak of backoffs; `spent` and `deferred` are of the pass: who used up its budget, and who was put off."""

    def __init__(self, graph: Ways) -> None:
        self._graph = graph
        self.backed: dict[Node, None] = {}
        self.spent: dict[Node, None] = {}
        self.deferred: dict[Node, None] = {}

    def begin(self) -> None:
        """A pass begins."""
        self.spent.clear()
        self.deferred.clear()

    def cycling(self, runnable: list[Node], now: float) -> list[Node]:
        """The spent nodes that would run again; if those are clean just now, the others of their cycles."""
        spent = [node for node in self.spent if not _is_gated(node, now)]
        leads = self._graph.leads
        return spent or [node for node in runnable if any(leads(other, node) and leads(node, other) for other in self.spent)]

    def put_off(self, nodes: list[Node], now: float) -> None:
        for node in nodes:
            if _is_gated(node, now):
                continue
            if node.gate is None:
                node.gate = Gate()
            node.gate.back_off(now, node.streak)
            node.streak += 1
            node.holds += 1
            self.backed[node] = None
            self.deferred[node] = None

    def relent(self) -> None:
        """A pass is over: what is clean has converged."""
        for node in [node for node in self.backed if node.status is Status.CLEAN]:
            del self.backed[node]
            node.streak = node.holds = 0
            if node.gate is not None:
                node.gate.backoff_until = 0.0

    def release(self) -> None:
        """Idle has resolved: the episode is over, for dormant nodes too."""
        for node in self.backed:
            node.holds = 0

    def forget(self, node: Node) -> None:
        self.backed.pop(node, None)
        self.spent.pop(node, None)


def _is_gated(node: Node, now: float) -> bool:
    """It would not run now, whatever its budget."""
    return node.status is Status.CLEAN or not node.live or (node.gate is not None and node.gate.eligible_at > now)
