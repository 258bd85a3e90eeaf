"""What settle can tell of its passes: gates, how often nodes ran and how long it took, breakpoints. Settle asks the statistics for its gates; all else is for looking on."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from ..scheduler.constants import HOLD_PASSES, SETTLE_TRACE
from ..scheduler.errors import ErrorInfo
from ..scheduler.introspection import Counts
from ..scheduler.mirror import Mirror
from ..scheduler.records import Node, Status
from ..scheduler.settle import PassEnd
from .asked import Answer
from .breakpoints import Breakpoints
from .looking import unsettling
from .statistics import Statistics


class Ledger:
    """Over settle's half of the scheduler."""

    def __init__(self, mirror: Mirror, report: Callable[[ErrorInfo], None]) -> None:
        """`report` hears what a person should know."""
        self._mirror, self._report = mirror, report
        self.statistics = Statistics()
        self.breakpoints = Breakpoints()
        self.passes = 0
        self._warned = False  # that something does not settle, since everything last did
        self._trace: deque[dict[str, Any]] | None = None

    def ended(self, end: PassEnd, now: float) -> None:
        self.passes += 1
        if self._trace is not None:
            self._trace.append({"pass": end.number, "runs": end.runs, "at": now, "deferred": list(end.deferred)})
        backed = self._mirror.settle.backoffs.backed
        if end.deferred and not self._warned and any(node.streak >= HOLD_PASSES for node in backed if node.id in end.deferred):
            self._warned = True
            self._report(unsettling(end))
        elif not backed:
            self._warned = False

    def rested(self, now: float) -> None:
        """Nothing is runnable. What is demanded and held by a gate was passed over."""
        for node in self._mirror.settle.work:
            if node.gate is not None and node.status is not Status.CLEAN and node.live and node.gate.eligible_at > now:
                self.statistics.skip(node.id)
        self.breakpoints.stepped()

    def answers(self) -> dict[str, Answer]:
        return {
            "held": self._held,
            "gate": self._set_gate,
            "resolved": lambda asked: self._mirror.idle.resolved(),
            "due": lambda asked: self._mirror.idle.wake(asked["now"]),
            "figures": lambda asked: {
                "executed": self.statistics.executed,
                "skipped": self.statistics.skipped,
                "passes": self.passes,
                "non_settling": any(node.status is not Status.CLEAN for node in self._mirror.settle.backoffs.backed),
            },
            "reset": self._reset,
            "break": self._break,
            "step": lambda asked: self.breakpoints.allow(),
            "unbreak": self._unbreak,
            "trace": lambda asked: list(self._trace or ()),
            "turn": self._turn,
            "check": lambda asked: self._mirror.check(),
        }

    def _held(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        nodes = self._mirror.registry.nodes
        ids = asked["ids"] or [id for id, node in nodes.items() if node.gate is not None or node.streak]
        return {"nodes": {id: self._gated(id, nodes.get(id)) for id in ids}, "stopped": self.breakpoints.stopped}

    def _gated(self, id: str, node: Node | None) -> dict[str, Any]:
        gate = self._mirror.gates.look(id, node)
        counts = self.statistics.counts(id) or Counts()
        return {
            "eligible_at": 0.0 if gate is None else gate.eligible_at,
            "debounce": None if gate is None else gate.debounce,
            "throttle": None if gate is None else gate.throttle,
            "times": [0.0] * 4 if gate is None else [gate.debounce_ready, gate.throttle_ready, gate.backoff_until, gate.hold_until],
            "streak": 0 if node is None else node.streak,
            **counts._asdict(),
        }

    def _set_gate(self, asked: Mapping[str, Any]) -> None:
        registry, value, now = self._mirror.registry, asked["value"], asked["now"]
        id = next((id for id in asked["ids"] if id in registry.nodes), asked["ids"][0])
        node = registry.get(id)
        gate = self._mirror.gates.gate_of(id, node)
        if asked["kind"] == "debounce":
            gate.set_debounce(value, now)
        elif asked["kind"] == "throttle":
            gate.set_throttle(value, node.ended if node is not None and value else None)
        else:
            gate.auto = bool(value)
            if not value and gate.auto_debounced:
                gate.set_debounce(0.0, now)

    def _reset(self, asked: Mapping[str, Any]) -> None:
        self.statistics.reset()
        self.passes = 0

    def _break(self, asked: Mapping[str, Any]) -> None:
        nodes = self._mirror.registry.nodes
        self.breakpoints.set(next((id for id in asked["ids"] if id in nodes), asked["ids"][0]), asked["on"])
        self._armed()

    def _unbreak(self, asked: Mapping[str, Any]) -> None:
        self.breakpoints.clear()
        self._armed()

    def _armed(self) -> None:
        self._mirror.settle.halts = self.breakpoints.halts if self.breakpoints.any else None

    def _turn(self, asked: Mapping[str, Any]) -> None:
        if asked["on"] is not (self._trace is not None):
            self._trace = deque(maxlen=SETTLE_TRACE) if asked["on"] else None
