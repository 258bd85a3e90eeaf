"""What an inline runtime says about itself (`outlook.Outlook`): the core's records, and what `looking` has kept of its runs."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from ..scheduler import explanation, introspection, invariants
from ..scheduler.cells import Cell
from ..scheduler.core import Core
from ..scheduler.errors import ErrorInfo
from ..scheduler.introspection import Counts, NodeView
from ..scheduler.model import VALUE, Address
from ..scheduler.records import Node
from ..storage.place import spoken
from ..storage.replica import Replica
from .breakpoints import Breakpoints
from .clock import Clock
from .looking import Looking
from .rechecking import Rechecking
from .results import Run
from .traces import Kind


class Sight:
    """`recheck` makes a validator when one is asked for."""

    def __init__(self, core: Core, replica: Replica, looking: Looking, clock: Clock, breakpoints: Breakpoints, recheck: Callable[[], Rechecking]) -> None:
        self._core, self._replica, self._looking, self._clock, self._breakpoints, self._recheck = core, replica, looking, clock, breakpoints, recheck

    def node(self, ids: Sequence[str], kind: Literal["computation", "effect"] | None) -> NodeView | None:
        record = self._find(ids)
        name = record.id if record is not None else ids[0]
        counts = self._looking.statistics.counts(name) or Counts()
        if record is not None:
            return introspection.view(record, counts, speak)
        gate = self._core.gates.look(name, None)
        return None if gate is None and kind is None else introspection.staged_view(name, kind or "computation", gate, counts)

    def why(self, ids: Sequence[str]) -> str | None:
        record, stopped = self._find(ids), self._breakpoints.stopped
        if record is None:
            return None
        text = explanation.why(record, self._clock.now(), speak)
        return text if stopped is None else f"{text} Everything stands still: a breakpoint stopped it before {stopped}."

    def plan(self, addresses: Sequence[Address]) -> list[str]:
        return [record.id for record in introspection.plan(self._core.graph, addresses) if not record.spec.hidden]

    def graph(self) -> dict[str, Any]:
        return {"version": self._replica.version.n, **introspection.picture(self._core.registry.nodes.values(), self._core.graph, speak)}

    def stats(self) -> dict[str, Any]:
        looking, recheck = self._looking, self._looking.recheck
        return {
            **introspection.census(self._core.registry.nodes.values())._asdict(),
            "executed": looking.statistics.executed,
            "skipped": looking.statistics.skipped,
            "passes": looking.passes,
            "reports": looking.failures,
            "listeners_failed": looking.deaf,
            "non_settling": looking.unsettling,
            "violations": len(looking.violations) + looking.violations.unnamed,
            "idempotency": {"checked": recheck.checked, "skipped": dict(recheck.skipped)} if recheck is not None else None,
            "pending_commits": len(self._replica.pending()),
            "version": self._replica.version.n,
        }

    def reset(self) -> None:
        self._looking.reset()

    def ran(self) -> list[str]:
        return self._looking.taken()

    def run_log(self) -> list[Run]:
        return self._looking.run_log()

    def trace(self, kind: Kind) -> list[dict[str, Any]]:
        return self._looking.traces.read(kind)

    def set_trace(self, kind: Kind, on: bool) -> None:
        self._looking.traces.turn(kind, on)

    def on_error(self, told: Callable[[ErrorInfo], object]) -> None:
        self._looking.errors.append(told)

    def on_console(self, told: Callable[[str, str], object]) -> None:
        self._looking.console.append(told)

    def diagnose(self) -> list[str]:
        looking = self._looking
        found = explanation.findings(self._core.registry.nodes.values(), self._clock.now(), speak)
        found += [violation["message"] for violation in looking.violations.listed()]
        if looking.recheck is not None and looking.recheck.skipped:
            found.append(f"Not checked for idempotency: {', '.join(f'{count} runs ({why})' for why, count in looking.recheck.skipped.items())}.")
        if looking.deaf:
            found.append(f"Listeners of on_error raised {looking.deaf} times; what they raised was dropped.")
        if self._breakpoints.stopped is not None:
            found.append(f"A breakpoint stopped everything before {self._breakpoints.stopped}; step() or unbreak().")
        return found

    def check(self) -> None:
        self._core.check()
        invariants.check(self._looking.snapshot())

    def validate(self, on: bool) -> None:
        """Run every computation twice, or no longer. What has run already is looked at once."""
        if not on:
            self._looking.recheck = None
        elif self._looking.recheck is None:
            recheck = self._looking.recheck = self._recheck()
            for node in list(self._core.registry.nodes.values()):
                if node.run and not node.passive:
                    recheck.examine(node, self._clock.now(), self._replica.journal.n)

    def violations(self) -> list[dict[str, Any]]:
        return self._looking.violations.listed()

    def _find(self, ids: Sequence[str]) -> Node | None:
        registry = self._core.registry
        return next((record for id in ids if (record := registry.get(id)) is not None), None)


def speak(address: Address, here: str) -> Cell[Any]:
    """The cell of a position, as a program whose home is `here` writes it."""
    return spoken(address.entity, address.path or VALUE, here)
