"""What a core must know after each entry of the log, written down as naively as it can be said: each node's status and causes by asking all reads of all nodes about every change.

The model follows a `LedgerCore` as one of its ears and raises AssertionError at the first difference. With the core it shares the words (entries, changes, matching) and no
decision.
"""
from __future__ import annotations

from harness.ledger_core import LedgerCore
from weft.scheduler.core import Registration
from weft.scheduler.log import CommitEntry, Entry, IntegrateEntry, Outcome, RegistrationEntry, RemovalEntry, ResultEntry, RevertEntry, RunId, RunResult, changes_of
from weft.scheduler.matching import matches
from weft.scheduler.model import Address, Read
from weft.scheduler.overlap import write_touches
from weft.scheduler.records import Kind, Node
from weft.scheduler.rejection import Fate, Rejection
from weft.scheduler.runs import Run


class Known:
    """What the model knows of one registration."""

    def __init__(self, generation: int, group: str | None) -> None:
        self.generation, self.group = generation, group
        self.status = "never-ran"
        self.reads: tuple[Read, ...] = ()
        self.causes: dict[Address, int] = {}
        self.taken: dict[Address, int] = {}
        self.run = 0


class CoreModel:
    """`owed` are the children that live nodes made and that never ran: each must, sooner or later (seed 000 section 5.3)."""

    def __init__(self, ledger: LedgerCore) -> None:
        self._ledger = ledger
        self.known: dict[str, Known] = {}
        self.owed: set[str] = set()
        ledger.ears.append(self)

    # What happens

    def heard(self, entry: Entry) -> None:
        n = entry.version.n
        if isinstance(entry, RegistrationEntry):
            self._registered(entry.node, entry.generation, entry.spec)
        elif isinstance(entry, RemovalEntry):
            self.known.pop(entry.node, None)
            self.owed.discard(entry.node)
        elif isinstance(entry, ResultEntry):
            self._result(entry.result, n)
        elif isinstance(entry, RevertEntry):
            for run in (*([entry.run] if entry.run else []), *entry.leaning):
                self._refused(run, entry.rejection)
            self._changed(entry, None, None)
        elif isinstance(entry, CommitEntry):
            if entry.result is not None:
                self._result(entry.result, n)
            self._changed(entry, entry.result.run if entry.result else None, entry.group)
        elif isinstance(entry, IntegrateEntry):
            self._changed(entry, None, None)
        self.compare()

    def started(self, run: Run) -> None:
        node, known = run.node, self.known[run.node.id]
        assert node.live or node.demanded_in == self._ledger.core.settle.number, f"I2: {node.id} ran and nobody needs it"
        assert known.status != "clean", f"I3: {node.id} ran and nothing that it read had changed"
        assert set(run.causes) == set(known.causes), f"I8: {node.id} ran because of {run.causes}, and what happened is {sorted(known.causes)}"
        known.taken, known.causes = known.causes, {}
        known.status = "clean"
        known.run = run.id.run
        self.owed.discard(node.id)

    # What must hold

    def compare(self) -> None:
        nodes = {id: node for id, node in self._ledger.core.registry.nodes.items() if not node.passive}
        assert set(nodes) == set(self.known)
        for id, known in self.known.items():
            node = nodes[id]
            assert node.status.value == known.status, f"{id} is {node.status.value} and should be {known.status}"
            assert node.causes == known.causes, f"I8: the causes of {id} are {node.causes} and should be {known.causes}"

    def passed(self) -> None:
        """A pass is over: provisional demand of what has run, and need not be run again because it was refused, has ended with it."""
        for node in self._ledger.core.registry.nodes.values():
            retries = node.attempts and node.status.value == "invalid"
            assert not (node.provisional and node.run and not retries), f"{node.id} has run and its provisional demand has not ended"

    def quiet(self) -> None:
        """Nothing is runnable and nothing waits for a time: every live node has seen what is there (I1), but for what its change group spared it."""
        for id, node in self._ledger.core.registry.nodes.items():
            if node.live and not node.passive:
                assert node.status.value == "clean", f"I1: {id} is live and {node.status.value}, and nothing will ever run it"
                assert node.failed is not None or node.group is not None or not self._ledger.would_write(node), f"I1: {id} would write {self._ledger.would_write(node)}"
        assert not self.owed, f"a live node made {sorted(self.owed)}, and they never ran"

    # Inside

    def _registered(self, id: str, generation: int, what: Registration) -> None:
        known = self.known.get(id)
        if known is None:
            known = self.known[id] = Known(generation, what.group)
            parent = self._ledger.core.registry.get(what.parent or "")
            if parent is not None and parent.live and what.kind is Kind.COMPUTATION and what.restored is None:
                self.owed.add(id)
        elif known.status == "clean":
            known.status = "invalid"
        known.generation, known.group = generation, what.group
        if what.restored is not None:
            known.reads = what.restored
            known.status = "invalid" if known.causes else "clean"

    def _changed(self, entry: Entry, source: RunId | None, group: str | None) -> None:
        for change in changes_of(entry):
            for id, known in self.known.items():
                own = source is not None and (source.node, source.generation) == (id, known.generation)
                spared = group is not None and known.group == group
                if not own and not spared and any(read.entity == change.entity and matches(change, read.path, read.deep) for read in known.reads):
                    known.causes[change.entity.at(change.path)] = entry.version.n
                    known.status = "invalid" if known.status == "clean" else known.status

    def _result(self, result: RunResult, n: int) -> None:
        known = self.known.get(result.run.node)
        if known is None or known.generation != result.run.generation:
            return
        known.reads = result.reads
        when_read = {at.entity: at.n for at in result.at}
        known.causes = {
            cause: when
            for cause, when in known.causes.items()
            if when > when_read.get(cause.entity, n) and any(read.entity == cause.entity and write_touches(cause.path, read.path, read.deep) for read in result.reads)
        }
        known.causes.update({read.entity.at(read.path): n for read in result.moved})
        known.status = "invalid" if known.causes else "clean"
        if result.outcome is Outcome.REFUSED and result.rejection is not None:
            self._refused(result.run, result.rejection)

    def _refused(self, run: RunId, why: Rejection) -> None:
        known = self.known.get(run.node)
        if known is not None and (known.generation, known.run) == (run.generation, run.run) and why.fate is Fate.STALE_BASIS:
            known.causes = {**known.taken, **known.causes}
            known.status = "invalid"


def live(nodes: dict[str, Node]) -> set[str]:
    """The definition of demand (seed 000 section 5.1), from surfaces and reads alone."""
    found = [node for node in nodes.values() if node.roots]
    for reader in found:
        for writer in nodes.values():
            if writer not in found and any(
                output.entity == read.entity and write_touches(output.path, read.path, read.deep) for output in writer.surface.outputs for read in reader.reads
            ):
                found.append(writer)
    return {node.id for node in found}
