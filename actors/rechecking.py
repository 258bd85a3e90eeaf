"""The idempotency validator: runs a computation once more on what its run has left behind, and looks whether it would write something else (decision 24; pitfall B-119).

- The second run is a rehearsal: its transaction is not committed, what it sends or registers is dropped, its time is not counted. Nothing is decided by it (P10).
- It sees the documents that the first one touched, as they are now. If it asks for another one it is given up: loading a document is an event in the log.
- Left out, and counted: async functions; runs that failed or were refused; runs whose input somebody else has moved meanwhile. Its own writes moving its input is no excuse.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container
from contextlib import AbstractContextManager

from ..scheduler.changes import diff
from ..scheduler.errors import WeftError
from ..scheduler.idempotency import broken
from ..scheduler.log import RunId
from ..scheduler.model import Address, Entity
from ..scheduler.records import Kind, Node, Status
from ..scheduler.runs import Run
from ..scheduler.values import Value
from ..storage.place import spoken
from ..storage.proposal import Seen, View
from .execution import Execution, Ran
from .homes import Homes
from .outlet import Departures
from .surfaces import outcome
from .violations import Violations


class _Unseen(WeftError):
    """The rehearsal wants a document that the run had not touched."""


class _Held:
    """What the first run touched, as it is now."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.touched: Container[Entity] = ()

    def read(self, entity: Entity) -> Seen:
        if entity not in self.touched:
            raise _Unseen(f"{entity} was not read before")
        return self._view.read(entity)


class Rechecking:
    """`skipped` counts why runs were not checked; `checked` those that were."""

    def __init__(self, view: View, homes: Homes, inside: Callable[[], AbstractContextManager[None]], violations: Violations) -> None:
        self._held = _Held(view)
        self._execution = Execution(self._held, homes)
        self._inside = inside
        self._violations = violations
        self.checked = 0
        self.skipped: Counter[str] = Counter()

    def check(self, run: Run, ran: Ran, now: float, version: int) -> None:
        node = run.node
        if node.kind is Kind.EFFECT:
            return
        self._judge(run, "failed" if ran.error is not None else _excuse(node), ran.proposal.seen, now, version)

    def examine(self, node: Node, now: float, version: int) -> None:
        """A node that has run at some time, as it stands."""
        if node.kind is not Kind.EFFECT:
            touched = {read.entity for read in node.reads} | {place.entity for place in node.surface.outputs}
            self._judge(Run(node, RunId(node.id, node.generation, node.run), tuple(node.taken)), "failed" if node.failed is not None else _excuse(node), touched, now, version)

    def _judge(self, run: Run, excuse: str | None, touched: Container[Entity], now: float, version: int) -> None:
        keys = self._rehearse(run, touched, now, version) if excuse is None else None
        if keys is None:
            self.skipped[excuse or "it could not be run again"] += 1
            return
        self.checked += 1
        for key in keys:
            self._violations.add("idempotency", run.node.id, str(spoken(key.entity, key.path, run.node.space)))

    def _rehearse(self, run: Run, touched: Container[Entity], now: float, version: int) -> tuple[Address, ...] | None:
        """Where it would write something else; None: it cannot be told."""
        self._held.touched = touched
        with self._inside():
            node, id, causes = run
            outlet = Departures(id, node.space)
            again = self._execution.run(node.spec, node.space, id.node, id.run, causes, node.group, node.attempts + 1, now, version, outlet, None)
        if again.error is not None:
            return None
        left: dict[Address, Value] = {}
        writes: dict[Address, Value] = {}
        for operation in again.proposal.operations:
            before = again.proposal.seen[operation.entity].document
            for change in diff(operation.entity, before, outcome(operation, before)):
                at = operation.entity.at(change.path)
                left[at], writes[at] = change.before, change.after
        return broken(left, writes)


def _excuse(node: Node) -> str | None:
    """Why two runs of this node cannot be compared."""
    if node.spec.spec.is_async:
        return "async"
    return "disturbed" if node.status is not Status.CLEAN else None
