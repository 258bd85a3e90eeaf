"""What a runtime of actors says about itself (`outlook.Outlook`): questions to graph, settle and storage, put together (`inquiry` has the words)."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from ..scheduler.errors import ErrorInfo
from ..scheduler.introspection import NodeView
from ..scheduler.model import Address
from ..wire.edge import Told
from ..wire.table import Message
from .clock import Clock
from .results import Run
from .topics import node_view, placed, question, run_of, staged_view
from .traces import Kind, checked
from .waiting import Covered

_EMPTY: dict[str, Any] = {}


class Vista:
    """`heard` and `printed` are called with what comes by itself."""

    def __init__(self, ask: Callable[[str, Message], Message], covered: Covered, clock: Clock, home: str, workers: Sequence[str]) -> None:
        self._ask, self._covered, self._clock, self._home, self._workers = ask, covered, clock, home, workers
        self._errors: list[Callable[[ErrorInfo], object]] = []
        self._console: list[Callable[[str, str], object]] = []
        self.failures = self.deaf = 0  # deaf: listeners that raised

    def heard(self, error: ErrorInfo) -> None:
        self.failures += 1
        for told in list(self._errors):
            try:
                told(error)
            except Exception:
                self.deaf += 1

    def printed(self, node: str, line: str) -> None:
        for told in list(self._console):
            try:
                told(node, line)
            except Exception:
                self.deaf += 1

    # Nodes

    def node(self, ids: Sequence[str], kind: Literal["computation", "effect"] | None) -> NodeView | None:
        sketch = self._told("graph", "node", ids=list(ids))
        name = sketch["id"] if sketch is not None else ids[0]
        held = self._told("settle", "held", ids=[name])["nodes"].get(name)
        if sketch is not None:
            return node_view(sketch, held or _EMPTY)
        gated = held is not None and (held["debounce"] is not None or held["throttle"] is not None)
        return staged_view(name, kind or "computation", held or _EMPTY) if kind is not None or gated else None

    def why(self, ids: Sequence[str]) -> str | None:
        held = self._told("settle", "held", ids=list(ids))
        text: str | None = self._told("graph", "why", ids=list(ids), now=self._clock.now(), held=held["nodes"])
        stopped = held["stopped"]
        return text if text is None or stopped is None else f"{text} Everything stands still: a breakpoint stopped it before {stopped}."

    def plan(self, addresses: Sequence[Address]) -> list[str]:
        return list(self._told("graph", "plan", places=[placed(address) for address in addresses]))

    def graph(self) -> dict[str, Any]:
        return {"version": self._covered.version.n, **_thawed(self._told("graph", "picture"))}

    # Figures

    def stats(self) -> dict[str, Any]:
        figures = self._told("settle", "figures")
        return {
            **self._told("graph", "census"),
            **figures,
            "reports": self.failures,
            "listeners_failed": self.deaf,
            "violations": len(self.violations()),
            "idempotency": None,
            "pending_commits": self._told("storage", "pending"),
            "version": self._covered.version.n,
        }

    def reset(self) -> None:
        self._told("settle", "reset")
        self.failures = self.deaf = 0

    def ran(self) -> list[str]:
        return list(self._told("graph", "ran"))

    def run_log(self) -> list[Run]:
        return [run_of(row[:4], {row[0]: row[4]}, self._home) for row in self._told("graph", "runs")]

    def trace(self, kind: Kind) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = _thawed(self._told("settle" if checked(kind) == "settle" else "graph", "trace", kind=kind))
        return found

    def set_trace(self, kind: Kind, on: bool) -> None:
        self._told("settle" if checked(kind) == "settle" else "graph", "turn", kind=kind, on=on)

    def on_error(self, told: Callable[[ErrorInfo], object]) -> None:
        self._errors.append(told)

    def on_console(self, told: Callable[[str, str], object]) -> None:
        self._console.append(told)
        if len(self._console) == 1:
            for worker in self._workers:
                self._told(worker, "listen")

    # Health

    def diagnose(self) -> list[str]:
        held = self._told("settle", "held", ids=[])
        found = list(self._told("graph", "findings", now=self._clock.now(), held=held["nodes"]))
        found += [violation["message"] for violation in self.violations()]
        if self.deaf:
            found.append(f"Listeners of on_error raised {self.deaf} times; what they raised was dropped.")
        if held["stopped"] is not None:
            found.append(f"A breakpoint stopped everything before {held['stopped']}; step() or unbreak().")
        return found

    def check(self) -> None:
        self._told("graph", "check")
        self._told("settle", "check")

    def validate(self, on: bool) -> None:
        self._told("settle", "validate", on=on)

    def violations(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = _thawed(self._told("graph", "violations"))
        return found

    def _told(self, target: str, about: str, **arguments: Any) -> Any:
        told = self._ask(target, question(about, self._covered.version, **arguments))
        assert isinstance(told, Told)
        return told.value


def _thawed(value: Any) -> Any:
    """As the caller may change it."""
    if isinstance(value, dict):
        return {key: _thawed(item) for key, item in value.items()}
    return [_thawed(item) for item in value] if isinstance(value, list) else value
