"""What graph remembers of runs, for those who look on: which ran, at which version, because of what, and what they raised. Bounded; it decides nothing (P10)."""
from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from ..scheduler import explanation, introspection
from ..scheduler.constants import RUN_TRACE
from ..scheduler.errors import ErrorInfo
from ..scheduler.fold import Fold
from ..scheduler.gate import Gate
from ..scheduler.model import Address, Change
from ..scheduler.records import Node, Status
from .asked import Answer
from .looking import RECENT
from .sight import speak
from .surfaces import stray_changes
from .topics import address_of, placed, sketched
from .traces import Traces
from .violations import Violations


class Chronicle:
    """Over graph's half of the scheduler."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold
        self._recent: deque[str] = deque(maxlen=RECENT)
        self._runs: deque[tuple[str, int, tuple[Address, ...], ErrorInfo | None, str]] = deque(maxlen=RUN_TRACE)
        self._traces = Traces()
        self._violations = Violations()

    def ran(self, id: str, n: int, changes: tuple[Change, ...] = (), error: ErrorInfo | None = None) -> None:
        """A run has ended, and its result is applied. Its causes are those that it answered."""
        node = self._fold.registry.nodes.get(id)
        self._recent.append(id)
        causes: tuple[Address, ...] = ()
        if node is not None and node.taken:
            kept = node.causes
            causes = tuple([cause for cause in node.taken if cause not in kept])
        space = node.space if node is not None else ""
        if changes and node is not None:
            for place in stray_changes(node, changes):
                self._violations.add("surface", id, str(speak(place, space)))
        self._runs.append((id, n, causes, error, space))
        if self._traces.runs is not None:
            self._traces.runs.append({"node": id, "version": n, "causes": [str(speak(cause, space)) for cause in causes], "error": error.message if error is not None else None})

    def answers(self) -> dict[str, Answer]:
        return {
            "known": lambda asked: None if (node := self._find(asked)) is None else node.id,
            "node": lambda asked: None if (node := self._find(asked)) is None else sketched(node),
            "why": self._why,
            "plan": lambda asked: [node.id for node in introspection.plan(self._fold.graph, [address_of(place) for place in asked["places"]])],
            "picture": lambda asked: introspection.picture(self._fold.registry.nodes.values(), self._fold.graph, speak),
            "census": self._census,
            "findings": self._findings,
            "judge": self._judge,
            "ran": self._taken,
            "runs": lambda asked: [[id, n, [placed(cause) for cause in causes], None if error is None else list(error), space] for id, n, causes, error, space in self._runs],
            "trace": lambda asked: self._traces.read(asked["kind"]),
            "turn": lambda asked: self._traces.turn(asked["kind"], asked["on"]),
            "violations": lambda asked: self._violations.listed(),
            "check": lambda asked: self._fold.check(),
        }

    def _census(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Sinks and watches count as the effects that they are; a pull is gone before anybody could count it."""
        nodes = list(self._fold.registry.nodes.values())
        counts = introspection.census(nodes)
        looking = sum(node.passive for node in nodes)
        return counts._replace(effects=counts.effects + looking, live=counts.live + looking)._asdict()

    def _taken(self, asked: Mapping[str, Any]) -> list[str]:
        found = list(self._recent)
        self._recent.clear()
        return found

    def _find(self, asked: Mapping[str, Any]) -> Node | None:
        nodes = self._fold.registry.nodes
        return next((nodes[id] for id in asked["ids"] if id in nodes), None)

    def _why(self, asked: Mapping[str, Any]) -> str | None:
        node = self._find(asked)
        if node is None:
            return None
        with _Gated([node], asked["held"]):
            return explanation.why(node, asked["now"], speak)

    def _findings(self, asked: Mapping[str, Any]) -> list[str]:
        nodes = list(self._fold.registry.nodes.values())
        with _Gated(nodes, asked["held"]):
            return explanation.findings(nodes, asked["now"], speak)

    def _judge(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """What above an observer is not as it should be: the first that failed before any that has to run."""
        observer = self._fold.registry.nodes.get(asked["observer"])
        above = [] if observer is None else list(self._fold.graph.upstream_of([observer]))
        failed = next(([node.id, node.failed.message] for node in above if node.failed is not None), None)
        return {"failed": failed, "unclean": [node.id for node in above if node.status is not Status.CLEAN and not node.passive]}


class _Gated:
    """Inside, the nodes have the gates that settle says they have: graph itself keeps none."""

    def __init__(self, nodes: list[Node], held: Mapping[str, Any]) -> None:
        self._nodes = [(node, held[node.id]) for node in nodes if node.id in held]

    def __enter__(self) -> None:
        for node, held in self._nodes:
            node.gate, node.streak = Gate(held["debounce"], None, held["throttle"]), held["streak"]
            node.gate.debounce_ready, node.gate.throttle_ready, node.gate.backoff_until, node.gate.hold_until = held["times"]

    def __exit__(self, *exc: object) -> None:
        for node, _ in self._nodes:
            node.gate, node.streak = None, 0
