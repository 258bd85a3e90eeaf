"""The looking half of a client: views, explanations, statistics, traces, invariants, breakpoints; and the gates, which are set the same way (API.md "Looking").

All but gates and breakpoints observe and never take part (P10): they may be called at any time between two runs, and change nothing.
A node is named by what registered it, by its spec, or by its id. A handle of another space first looks for the id in its own space.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..scheduler.cells import Cell
from ..scheduler.errors import ErrorInfo, Misuse
from ..scheduler.ids import shown
from ..scheduler.introspection import NodeView
from ..scheduler.model import Address
from .node import Node
from .results import Run
from .specs import NodeSpec
from .surface import checked_flag, checked_seconds
from .traces import Kind

if TYPE_CHECKING:
    from .site import GateKind, Site


class Inspector:
    """`_shared` is where the runtime's parts are, `_home` is the space of this handle."""

    _shared: Site
    _home: str

    # Nodes

    def node(self, id: str | NodeSpec[..., Any]) -> NodeView:
        """A node as it is at this moment."""
        names = self._names(id)
        found = self._shared.outlook.node(names, id.kind if isinstance(id, NodeSpec) else None)
        if found is None:
            raise _unknown(names[0])
        return found

    def why(self, node: Node | str) -> str:
        """Why it ran last, or why it has not, in one paragraph."""
        names = self._names(node)
        text = self._shared.outlook.why(names)
        if text is None:
            raise _unknown(names[0])
        return text

    def plan(self, *cells: Cell[Any]) -> list[str]:
        """What would run if these changed, and if all that ran changed what it writes; in order."""
        return self._shared.outlook.plan([self._address(cell) for cell in cells])

    def graph(self) -> dict[str, Any]:
        """Nodes and edges, as plain data."""
        return self._shared.outlook.graph()

    # Figures

    def stats(self) -> dict[str, Any]:
        """Nodes by what they are; runs (`executed`), and work that a gate held (`skipped`); passes; reports; violations; what the idempotency validator did."""
        return self._shared.outlook.stats()

    def reset_stats(self) -> None:
        """Count runs, skips, passes and reports from here on."""
        self._shared.outlook.reset()

    def ran(self) -> list[str]:
        """The ids of what ran since the last call: nodes and handlers, in order."""
        return self._shared.outlook.ran()

    def run_log(self) -> list[Run]:
        """The latest runs, oldest first, and why they were made."""
        return self._shared.outlook.run_log()

    def trace(self, kind: Kind) -> list[dict[str, Any]]:
        """What was recorded since the trace was turned on, oldest first, as far as it is kept."""
        return self._shared.outlook.trace(kind)

    def set_trace(self, kind: Kind, on: bool) -> None:
        self._shared.outlook.set_trace(kind, checked_flag(on, "on", "set_trace"))

    def on_error(self, fn: Callable[[ErrorInfo], object]) -> None:
        """From now on this is told what goes wrong. If it raises, that is counted and nothing else."""
        self._shared.outlook.on_error(_called(fn, "on_error"))

    def on_console(self, fn: Callable[[str, str], object]) -> None:
        """From now on this is told (node, line) of what user code prints in a worker. Inline there are no workers: what is printed is printed."""
        self._shared.outlook.on_console(_called(fn, "on_console"))

    # Health

    def diagnose(self) -> list[str]:
        """What deserves a look, one sentence each."""
        return self._shared.outlook.diagnose()

    def check(self) -> None:
        """All invariants; raises BrokenInvariant with the number of the first that does not hold."""
        self._shared.outlook.check()

    def check_idempotency(self, on: bool) -> None:
        """From now on every computation is run once more, without consequences, on what it left behind; those that have run are looked at now. See `violations`."""
        self._shared.guard()
        self._shared.outlook.validate(checked_flag(on, "on", "check_idempotency"))

    def violations(self) -> list[dict[str, Any]]:
        """Nodes that are not idempotent, and writes outside of a surface: kind, node, cell, count, message. Each place once."""
        return self._shared.outlook.violations()

    # Breakpoints

    def break_on(self, node: Node | str, on: bool = True) -> None:
        """Everything stops before the node's next run, until `step` or `unbreak`. What waits comes back meanwhile, and `pull` says that it is not settled."""
        self._shared.guard()
        self._shared.stop_before(self._names(node), checked_flag(on, "on", "break_on"))

    def step(self) -> None:
        """Make the run before which everything stopped, and stop before the next one."""
        self._shared.guard()
        self._shared.step()

    def unbreak(self) -> None:
        """No breakpoints any more; what was stopped goes on with the next call that waits."""
        self._shared.guard()
        self._shared.unbreak()

    # Gates

    def set_debounce(self, node: Node | str, seconds: float) -> None:
        """Run only when nothing has changed for this long. Of a node that is not registered yet, it waits for it."""
        self._gate(node, "debounce", _seconds(seconds, "set_debounce"))

    def clear_debounce(self, node: Node | str) -> None:
        self._gate(node, "debounce", 0.0)

    def set_throttle(self, node: Node | str, seconds: float) -> None:
        """Run at most once in this time, counted from the end of the last run."""
        self._gate(node, "throttle", _seconds(seconds, "set_throttle"))

    def clear_throttle(self, node: Node | str) -> None:
        self._gate(node, "throttle", 0.0)

    def set_auto_debounce(self, node: Node | str, on: bool) -> None:
        """Whether a slow effect may be debounced by itself. Turned off, such a debounce ends."""
        self._gate(node, "auto", float(checked_flag(on, "on", "set_auto_debounce")))

    # Inside

    def _gate(self, node: Node | str, kind: GateKind, value: float) -> None:
        self._shared.guard()
        self._shared.set_gate(self._names(node), kind, value)

    def _names(self, node: object) -> tuple[str, ...]:
        """The ids that may be meant, the likeliest first."""
        if isinstance(node, Node):
            return (node.id,)
        if isinstance(node, NodeSpec):
            return (self._shared.id_of(node.id, self._home),)
        if not isinstance(node, str):
            raise Misuse(f"{shown(node)} is no node; name it by its id, its spec, or what rt.register returned")
        here = self._shared.id_of(node, self._home)
        return (here,) if here == node else (here, node)

    def _address(self, cell: object) -> Address:
        if not isinstance(cell, Cell):
            raise Misuse(f"{shown(cell)} is no cell; make one with weft.cell(id)")
        return cell.address(self._home)


def _unknown(id: str) -> Misuse:
    return Misuse(f"no node {shown(id)} is registered; rt.graph() lists those that are, and members of families are there while somebody reads them")


def _seconds(seconds: object, what: str) -> float:
    if seconds is None:
        raise Misuse(f"{what}: None is no time; clear_{what.removeprefix('set_')} takes it away")
    return checked_seconds(seconds, "seconds", what) or 0.0


def _called(fn: Callable[..., object], what: str) -> Callable[..., object]:
    if not callable(fn):
        raise Misuse(f"{what} takes a function, not {shown(fn)}")
    return fn
