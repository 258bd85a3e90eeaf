"""A storage of a dict and a list, and a runtime of one loop, under a `Core`: no replica, no engine, so that a scenario costs microseconds and thousands of seeds a few seconds.

Documents are `{"value": …}` by name. A commit is a diff (`scheduler.changes`), its entry is applied before the call returns, and what a run read is compared with what is there
when it ends, as storage does: a writing run on a moved document is refused, a reading one has `moved` reads. Commits stay pending until `accept`; `reject` takes one and all later
ones back. Every entry also goes to `ears`, the oracles that follow along.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from harness.ledger_tx import INCONSISTENT, STALE, Before, Body, Ear, Pending, Tx, deep, doc, place, reading, shallow
from weft.scheduler.changes import diff
from weft.scheduler.core import Core, Registration
from weft.scheduler.errors import Aborted, ErrorInfo, RetryLater
from weft.scheduler.gates import GateConfig
from weft.scheduler.log import CommitEntry, Entry, IntegrateEntry, Outcome, ReadAt, RegistrationEntry, RemovalEntry, ResultEntry, RevertEntry, RunId, RunResult
from weft.scheduler.matching import matches
from weft.scheduler.model import Address, Change, CommitId, Entity, Read, Version
from weft.scheduler.records import Kind, Node, Surface
from weft.scheduler.rejection import Rejection
from weft.scheduler.runs import Run
from weft.scheduler.settle import PassEnd
from weft.scheduler.values import MISSING, Value, freeze

__all__ = ["STALE", "Body", "LedgerCore", "Tx", "deep", "doc", "place", "reading", "shallow"]
NO_GATES = GateConfig()


class LedgerCore:
    """`log` has the id of every run in order; `reports` what a person was told; `ends` how passes ended."""

    def __init__(self, max_iterations: int = 10, run_budget: int = 10, **values: Value) -> None:
        self.documents: dict[Entity, Value] = {}
        self.stamps: dict[Entity, CommitId | None] = {}
        self.pending: list[Pending] = []
        self._leaning: dict[CommitId, list[RunId]] = {}  # of those that are pending
        self.n = self._commits = 0
        self.now = 0.0
        self.log: list[str] = []
        self.reports: list[ErrorInfo] = []
        self.ends: list[PassEnd] = []
        self.ears: list[Ear] = []
        self.running: Tx | None = None
        self.core = Core(self, max_iterations, run_budget)
        self.refuse: Callable[[Tx], Rejection | None] = lambda tx: None
        self.after_run: Callable[[Tx], None] = lambda tx: None
        if values:
            self.commit(**values)

    # Data

    def value(self, id: str, default: Value = None) -> Value:
        whole = self.documents.get(doc(id), MISSING)
        return default if whole is MISSING else whole["value"]

    def commit(self, **values: Value) -> CommitId:
        """A local commit that no node makes."""
        return self._commit(values, None, None)

    def commit_in(self, group: str | None, **values: Value) -> CommitId:
        """The same, by a member of a change group."""
        return self._commit(values, None, None, group)

    def integrate(self, **values: Value) -> int:
        """Somebody else's commit arrives; its position in the log."""
        changes = self._write(values, {}, None)
        self._apply(IntegrateEntry(self._version(), tuple(changes), ()))
        return self.n

    def accept(self) -> None:
        """Everything that is pending has been taken by the engine."""
        for commit in self.pending:
            if commit.run is not None:
                self.core.runs.accepted(commit.run)
        self.pending.clear()
        self._leaning.clear()

    def reject(self, id: CommitId, why: Rejection = STALE) -> None:
        """This commit and all later ones fall."""
        at = next(i for i, commit in enumerate(self.pending) if commit.id == id)
        fallen, self.pending = self.pending[at:], self.pending[:at]
        repaired: dict[Entity, Before] = {}
        for commit in reversed(fallen):
            repaired.update(commit.before)
        for commit in fallen:
            del self._leaning[commit.id]
            changes: list[Change] = []
            for entity in commit.before:
                if entity in repaired:
                    before = repaired.pop(entity)
                    changes += self._put(entity, before.whole, before.stamp)
            self._apply(RevertEntry(self._version(), commit.id, id, why, tuple(changes), (), commit.run, tuple(commit.leaning)))

    # Nodes

    def computation(self, id: str, body: Body, *outputs: str, **more: Any) -> Node:
        return self.register(id, body, Kind.COMPUTATION, tuple(place(output) for output in outputs), **more)

    def effect(self, id: str, body: Body, **more: Any) -> Node:
        return self.register(id, body, Kind.EFFECT, **more)

    def materializer(self, id: str, body: Body, *envelope: str, **more: Any) -> Node:
        return self.register(id, body, Kind.COMPUTATION, envelope=tuple(place(output) for output in envelope), **more)

    def register(
        self,
        id: str,
        body: Body,
        kind: Kind,
        outputs: tuple[Address, ...] = (),
        envelope: tuple[Address, ...] = (),
        declared: Iterable[str] = (),
        gates: GateConfig = NO_GATES,
        group: str | None = None,
        restored: Iterable[Read] | None = None,
    ) -> Node:
        parent = self.running.run.node.id if self.running is not None else None
        surface = Surface(outputs, envelope, tuple(deep(name) for name in declared))
        what = Registration(kind, "main", surface, gates, body, parent, group, None if restored is None else tuple(restored))
        self._apply(RegistrationEntry(self._version(), id, self.core.next_generation(), what))
        return self.core.registry.nodes[id]

    def remove(self, id: str) -> None:
        node = self.core.registry.get(id)
        if node is not None:
            self._apply(RemovalEntry(self._version(), id, node.generation))

    def node(self, id: str) -> Node:
        return self.core.registry.nodes[id]

    def runs(self, id: str) -> int:
        return self.log.count(id)

    # Turning

    def turn(self) -> PassEnd:
        """One pass, whatever there is to do."""
        self.core.begin(self.now)
        for materializers in (False, True):
            while (run := self.core.next(self.now, materializers=materializers)) is not None:
                self._make(run)
        return self.core.end(self.now)

    def drain(self) -> None:
        """Passes until nothing is runnable now."""
        for _ in range(1000):
            if not self.core.idle.runnable(self.now):
                return
            self.turn()
        raise AssertionError("1,000 passes, and still there is something to run")

    def idle(self, gated: bool = True) -> None:
        while True:
            self.drain()
            holders = self.core.idle.holders(self.now) if gated else []
            if not holders:
                self.core.idle.resolved()
                return
            self.now = min(node.gate.eligible_at for node in holders if node.gate is not None)

    def advance(self, seconds: float) -> None:
        """The clock moves on, and whatever wakes on the way runs."""
        until = self.now + seconds
        self.drain()
        while (wake := self.core.idle.wake(self.now)) is not None and wake <= until:
            self.now = wake
            self.drain()
        self.now = until
        self.drain()

    def pull(self, id: str) -> Value:
        observer = self.core.observe([deep(id)])
        self.idle(gated=False)
        self.core.unobserve(observer)
        return self.value(id)

    # Who looks on

    def marked(self, node: Node) -> None:
        pass

    def started(self, run: Run, now: float) -> None:
        self.log.append(run.node.id)
        for ear in self.ears:
            ear.started(run)

    def ended(self, end: PassEnd, now: float) -> None:
        self.ends.append(end)

    def lost(self, node: Node) -> None:
        pass

    def report(self, error: ErrorInfo) -> None:
        self.reports.append(error)

    # Inside

    def _make(self, run: Run) -> None:
        tx = self.running = Tx(self, run)
        error = None
        try:
            run.node.spec(tx)
        except (RetryLater, Aborted, ArithmeticError) as caught:
            error = caught
        self.running = None
        self.core.gates.ran(run.node, self.now, run.node.run, 0.0)
        self._finish(tx, error)
        self.after_run(tx)

    def _finish(self, tx: Tx, error: Exception | None) -> None:
        run, why = tx.run.id, self.refuse(tx)
        moved = tuple(read for read in tx.reads if self._moved(tx, read))
        at = tuple(ReadAt(entity, self.n + 1 if self.documents.get(entity, MISSING) is whole else n, None) for entity, (n, whole) in tx.seen.items())
        writes = {name: value for name, value in tx.writes.items() if not self._equal(name, value)}
        leans = [stamp for name in tx.writes if name not in writes and (stamp := self.stamps.get(doc(name))) is not None]
        if error is not None:
            self._result(RunResult(run, Outcome.FAILED, tuple(tx.reads), at, moved))
            info = ErrorInfo(type(error).__name__, str(error), run.node, "")
            (self.core.runs.later if isinstance(error, RetryLater) else self.core.runs.failed)(run, info)
            return
        if why is None and writes and any(self.documents.get(entity, MISSING) is not whole for entity, (_, whole) in tx.seen.items()):
            why = INCONSISTENT
        if why is not None:
            self._result(RunResult(run, Outcome.REFUSED, tuple(tx.reads), at, moved, (), why))
            return
        for lean in leans:
            if lean in self._leaning:
                self._leaning[lean].append(run)
        if writes:
            self._commit(writes, run.node, RunResult(run, Outcome.COMMITTED, tuple(tx.reads), at, moved, tuple(leans)))
        else:
            self._result(RunResult(run, Outcome.UNCHANGED, tuple(tx.reads), at, moved, tuple(leans)))

    def would_write(self, node: Node) -> dict[str, Value]:
        """What a run of this node would change now."""
        tx = Tx(self, Run(node, RunId(node.id, node.generation, node.run + 1), ()), dry=True)
        node.spec(tx)
        return {name: value for name, value in tx.writes.items() if not self._equal(name, value)}

    def _moved(self, tx: Tx, read: Read) -> bool:
        whole, now = tx.seen[read.entity][1], self.documents.get(read.entity, MISSING)
        return any(matches(change, read.path, read.deep) for change in diff(read.entity, whole, now))

    def _equal(self, name: str, value: Value) -> bool:
        entity = doc(name)
        return not diff(entity, self.documents.get(entity, MISSING), freeze({"value": value}))

    def _result(self, result: RunResult) -> None:
        self._apply(ResultEntry(self._version(), result))

    def _commit(self, values: Mapping[str, Value], node: str | None, result: RunResult | None, group: str | None = None) -> CommitId:
        self._commits += 1
        id = CommitId("s", self._commits)
        before: dict[Entity, Before] = {}
        changes = self._write(values, before, id)
        leaning = self._leaning[id] = []
        self.pending.append(Pending(id, before, result.run if result is not None else None, leaning))
        self._apply(CommitEntry(self._version(), id, tuple(changes), node, group, result))
        return id

    def _write(self, values: Mapping[str, Value], before: dict[Entity, Before], stamp: CommitId | None) -> list[Change]:
        changes: list[Change] = []
        for name, value in values.items():
            entity = doc(name)
            before[entity] = Before(self.documents.get(entity, MISSING), self.stamps.get(entity))
            changes += self._put(entity, freeze({"value": value}), stamp)
        return changes

    def _put(self, entity: Entity, whole: Value, stamp: CommitId | None) -> list[Change]:
        self.stamps[entity] = stamp
        changes = diff(entity, self.documents.get(entity, MISSING), whole)
        if changes:
            self.documents[entity] = whole
        if whole is MISSING:
            self.documents.pop(entity, None)
        return changes

    def _version(self) -> Version:
        self.n += 1
        return Version(1, self.n)

    def _apply(self, entry: Entry) -> None:
        self.core.apply(entry, self.now)
        for ear in self.ears:
            ear.heard(entry)
