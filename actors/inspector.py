"""The looking half of a client: views, explanations, statistics, traces, invariants, breakpoints; and the gates, which are set the same way (API.md "Looking").

All but gates and breakpoints observe and never take part (P10): they may be called at any time between two runs, and change nothing.
A node is named by what registered it, by its spec, or by its id. A handle of another space first looks for the id in its own space.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..scheduler import explanation, introspection, invariants
from ..scheduler.cells import Cell
from ..scheduler.errors import ErrorInfo, Misuse
from ..scheduler.gate import Gate
from ..scheduler.ids import shown
from ..scheduler.introspection import Counts, NodeView
from ..scheduler.model import VALUE, Address
from ..scheduler.records import Node as Record
from ..storage.place import spoken
from .node import Node
from .results import Run
from .specs import NodeSpec
from .surface import checked_flag, checked_seconds
from .traces import Kind

if TYPE_CHECKING:
    from .inline import Inline


class Inspector:
    """`_shared` are the parts of the runtime, `_home` is the space of this handle."""

    _shared: Inline
    _home: str

    # Nodes

    def node(self, id: str | NodeSpec[..., Any]) -> NodeView:
        """A node as it is at this moment."""
        name, record = self._find(id)
        counts = self._shared.looking.statistics.counts(name)
        if record is not None:
            return introspection.view(record, counts or Counts(), _speak)
        gate = self._shared.core.gates.look(name, None)
        if gate is None and not isinstance(id, NodeSpec):
            raise self._unknown(name)
        return introspection.staged_view(name, id.kind if isinstance(id, NodeSpec) else "computation", gate, counts or Counts())

    def why(self, node: Node | str) -> str:
        """Why it ran last, or why it has not, in one paragraph."""
        name, record = self._find(node)
        if record is None:
            raise self._unknown(name)
        stopped = self._shared.breakpoints.stopped
        text = explanation.why(record, self._shared.clock.now(), _speak)
        return text if stopped is None else f"{text} Everything stands still: a breakpoint stopped it before {stopped}."

    def plan(self, *cells: Cell[Any]) -> list[str]:
        """What would run if these changed, and if all that ran changed what it writes; in order."""
        found = introspection.plan(self._shared.core.graph, [self._address(cell) for cell in cells])
        return [record.id for record in found if not record.spec.hidden]

    def graph(self) -> dict[str, Any]:
        """Nodes and edges, as plain data."""
        core = self._shared.core
        return {"version": self._shared.replica.version.n, **introspection.picture(core.registry.nodes.values(), core.graph, _speak)}

    # Figures

    def stats(self) -> dict[str, Any]:
        """Nodes by what they are; runs (`executed`), and work that a gate held (`skipped`); passes; reports; violations; what the idempotency validator did."""
        shared, looking, recheck = self._shared, self._shared.looking, self._shared.looking.recheck
        return {
            **introspection.census(shared.core.registry.nodes.values())._asdict(),
            "executed": looking.statistics.executed,
            "skipped": looking.statistics.skipped,
            "passes": looking.passes,
            "reports": looking.failures,
            "listeners_failed": looking.deaf,
            "non_settling": looking.unsettling,
            "violations": len(looking.violations) + looking.violations.unnamed,
            "idempotency": {"checked": recheck.checked, "skipped": dict(recheck.skipped)} if recheck is not None else None,
            "pending_commits": len(shared.replica.pending()),
            "version": shared.replica.version.n,
        }

    def reset_stats(self) -> None:
        """Count runs, skips, passes and reports from here on."""
        self._shared.looking.reset()

    def ran(self) -> list[str]:
        """The ids of what ran since the last call: nodes and handlers, in order."""
        return self._shared.looking.taken()

    def run_log(self) -> list[Run]:
        """The latest runs, oldest first, and why they were made."""
        return self._shared.looking.run_log()

    def trace(self, kind: Kind) -> list[dict[str, Any]]:
        """What was recorded since the trace was turned on, oldest first, as far as it is kept."""
        return self._shared.looking.traces.read(kind)

    def set_trace(self, kind: Kind, on: bool) -> None:
        self._shared.looking.traces.turn(kind, checked_flag(on, "on", "set_trace"))

    def on_error(self, fn: Callable[[ErrorInfo], object]) -> None:
        """From now on this is told what goes wrong. If it raises, that is counted and nothing else."""
        self._shared.looking.errors.append(_called(fn, "on_error"))

    def on_console(self, fn: Callable[[str, str], object]) -> None:
        """From now on this is told (node, line) of what user code prints in a worker. Inline there are no workers: what is printed is printed."""
        self._shared.looking.console.append(_called(fn, "on_console"))

    # Health

    def diagnose(self) -> list[str]:
        """What deserves a look, one sentence each."""
        looking = self._shared.looking
        found = explanation.findings(self._shared.core.registry.nodes.values(), self._shared.clock.now(), _speak)
        found += [violation["message"] for violation in looking.violations.listed()]
        if looking.recheck is not None and looking.recheck.skipped:
            found.append(f"Not checked for idempotency: {', '.join(f'{count} runs ({why})' for why, count in looking.recheck.skipped.items())}.")
        if looking.deaf:
            found.append(f"Listeners of on_error raised {looking.deaf} times; what they raised was dropped.")
        if self._shared.breakpoints.stopped is not None:
            found.append(f"A breakpoint stopped everything before {self._shared.breakpoints.stopped}; step() or unbreak().")
        return found

    def check(self) -> None:
        """All invariants; raises BrokenInvariant with the number of the first that does not hold."""
        self._shared.core.check()
        invariants.check(self._shared.looking.snapshot())

    def check_idempotency(self, on: bool) -> None:
        """From now on every computation is run once more, without consequences, on what it left behind; those that have run are looked at now. See `violations`."""
        self._shared.loop.guard()
        self._shared.validate(checked_flag(on, "on", "check_idempotency"))

    def violations(self) -> list[dict[str, Any]]:
        """Nodes that are not idempotent, and writes outside of a surface: kind, node, cell, count, message. Each place once."""
        return self._shared.looking.violations.listed()

    # Breakpoints

    def break_on(self, node: Node | str, on: bool = True) -> None:
        """Everything stops before the node's next run, until `step` or `unbreak`. What waits comes back meanwhile, and `pull` says that it is not settled."""
        self._shared.stop_before(self._find(node)[0], checked_flag(on, "on", "break_on"))

    def step(self) -> None:
        """Make the run before which everything stopped, and stop before the next one."""
        self._shared.step()

    def unbreak(self) -> None:
        """No breakpoints any more; what was stopped goes on with the next call that waits."""
        self._shared.unbreak()

    # Gates

    def set_debounce(self, node: Node | str, seconds: float) -> None:
        """Run only when nothing has changed for this long. Of a node that is not registered yet, it waits for it."""
        self._gate(node).set_debounce(_seconds(seconds, "set_debounce"), self._shared.clock.now())

    def clear_debounce(self, node: Node | str) -> None:
        self._gate(node).set_debounce(0.0, self._shared.clock.now())

    def set_throttle(self, node: Node | str, seconds: float) -> None:
        """Run at most once in this time, counted from the end of the last run."""
        record = self._find(node)[1]
        self._gate(node).set_throttle(_seconds(seconds, "set_throttle"), record.ended if record is not None else None)

    def clear_throttle(self, node: Node | str) -> None:
        self._gate(node).set_throttle(0.0, None)

    def set_auto_debounce(self, node: Node | str, on: bool) -> None:
        """Whether a slow effect may be debounced by itself. Turned off, such a debounce ends."""
        gate = self._gate(node)
        gate.auto = checked_flag(on, "on", "set_auto_debounce")
        if not on and gate.auto_debounced:
            gate.set_debounce(0.0, self._shared.clock.now())

    # Inside

    def _gate(self, node: Node | str) -> Gate:
        self._shared.loop.guard()
        return self._shared.core.gates.gate_of(*self._find(node))

    def _find(self, node: object) -> tuple[str, Record | None]:
        """Its id, and its record if it is registered."""
        registry, nodes = self._shared.core.registry, self._shared.nodes
        if isinstance(node, Node):
            return node.id, registry.get(node.id)
        if isinstance(node, NodeSpec):
            id = nodes.id_of(node.id, self._home)
            return id, registry.get(id)
        if not isinstance(node, str):
            raise Misuse(f"{shown(node)} is no node; name it by its id, its spec, or what rt.register returned")
        here = nodes.id_of(node, self._home)
        record = registry.get(here) or registry.get(node)
        return (record.id if record is not None else here), record

    def _unknown(self, id: str) -> Misuse:
        return Misuse(f"no node {shown(id)} is registered; rt.graph() lists those that are, and members of families are there while somebody reads them")

    def _address(self, cell: object) -> Address:
        if not isinstance(cell, Cell):
            raise Misuse(f"{shown(cell)} is no cell; make one with weft.cell(id)")
        return cell.address(self._home)


def _speak(address: Address, here: str) -> Cell[Any]:
    return spoken(address.entity, address.path or VALUE, here)


def _seconds(seconds: object, what: str) -> float:
    if seconds is None:
        raise Misuse(f"{what}: None is no time; clear_{what.removeprefix('set_')} takes it away")
    return checked_seconds(seconds, "seconds", what) or 0.0


def _called(fn: Callable[..., object], what: str) -> Callable[..., object]:
    if not callable(fn):
        raise Misuse(f"{what} takes a function, not {shown(fn)}")
    return fn
