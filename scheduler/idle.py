"""What `idle` waits for (seed 000 section 8.4, semantics C.9, decisions 2 and 32).

- Strictly: nothing is runnable now, and no event is parked. Work behind time gates does not hold it, dormant work never does.
- `gated`: also effects, materializers, children that never ran, and demanded nodes in convergence backoff, each while it was backed off fewer than HOLD_PASSES times in this
  episode. Re-runs of a computation behind a debounce or a throttle do not hold it: a value that is a little old is what they are for.
- Work beside the graph that says so (`background`), for as long as it is under way.
- When idle resolves, the episode is over: the counts of backoffs that held it start again, for dormant nodes too.
"""
from __future__ import annotations

from .background import Background
from .constants import HOLD_PASSES
from .gates import eligible_at
from .records import Kind, Node, Status
from .settle import Settle


class Idle:
    def __init__(self, settle: Settle) -> None:
        self._settle = settle
        self.background = Background()

    def runnable(self, now: float) -> bool:
        settle = self._settle
        return bool(settle.work) and any(settle.runnable(node, now) for node in settle.work)

    def wake(self, now: float) -> float | None:
        """When the first of what is gated may run."""
        return min((eligible_at(node) for node in self._gated(now)), default=None)

    def holders(self, now: float) -> list[Node]:
        """What is gated and holds `idle(gated=True)`."""
        return [node for node in self._gated(now) if _holds(node, now)]

    def resolved(self) -> None:
        self._settle.backoffs.release()

    def _gated(self, now: float) -> list[Node]:
        return [node for node in self._settle.work if node.live and not node.passive and node.status is not Status.CLEAN and eligible_at(node) > now]


def _holds(node: Node, now: float) -> bool:
    backed_off = node.gate is not None and node.gate.backoff_until > now
    if backed_off:
        return node.holds < HOLD_PASSES
    return node.kind is Kind.EFFECT or node.materializer or (node.status is Status.NEVER_RAN and node.provisional)
