"""What the storage actor does, without messages going anywhere: results of runs and transactions of clients in, entries of the log and what is owed to holders out.

- Whoever committed names the version it read at. What each document was then is known here (`past`), or the commit is refused and its maker reads again (PROTOCOL rule 4, H7).
- A run that read what an earlier member of its wave wrote is refused if that member was, or if something else came of that write (H12).
- A run of another epoch, of an older token, or of a registration that is not the node's present one changes nothing (rule 5, H10).
- What a run registers and removes stands in the log right behind its commit, and only if that was taken (rule 8).
- A worker is not fed its own writes where it believes what was made of them.
One thread uses it.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..scheduler.errors import StaleEpoch, StorageTransactionInconsistent, WeftError
from ..scheduler.log import CommitEntry, Entry, RunId, changes_of
from ..scheduler.model import Entity, Read, Version
from ..scheduler.rejection import Rejection
from ..storage.commit import Accepted, Operation, Provenance, Verdict
from ..storage.feeds import Batch, Feeds
from ..storage.link import Connect
from ..storage.past import Past
from ..storage.proposal import Proposal, Seen, Use
from ..storage.replica import Replica
from ..storage.ticket import Answer, Committed, Refused
from ..wire.edge import Decided, Submit, Submitted
from ..wire.entries import Enrolled, logged, refusal_of
from ..wire.feeding import Fed, Fetch, Fetched
from ..wire.ring import Beside, CommitRuns, Declared, Fault, Finished, Logged, UsedRead
from .proposing import operations_of, proposal_of, reads_of, touched
from .waves import Wave

GRAPH = "graph"  # who acknowledges entries
_STALE = "cannot be had as of the version that this transaction read at; read it again and retry"


class Step(NamedTuple):
    """What one message led to: entries for graph, batches for holders, verdicts for clients."""

    entries: tuple[Logged, ...]
    batches: list[Batch]
    decided: list[tuple[str, Decided]]


class Keeping:
    """`connect` opens a space; `epoch` is storage's; `warn` takes what a person should know."""

    def __init__(self, connect: Connect, epoch: int, warn: Callable[[str], None] = lambda text: None) -> None:
        self.replica = Replica(connect, epoch, warn=warn)
        self.journal = self.replica.journal
        self.past = Past(self.replica.read)
        self.feeds = Feeds(self.replica.read)
        self.generations: dict[str, int] = {}  # of every registered node
        self._waves: dict[str, Wave] = {}
        self._made: list[Entry] = []
        self._told: dict[int, tuple[float, Fault | None]] = {}  # by position: how long the run took, and what went wrong
        self._decided: list[tuple[str, Decided]] = []
        self._writer: str | None = None  # whose run is being committed
        self.journal.hold(GRAPH)
        self.journal.subscribe(self._heard)

    # Runs

    def commit_runs(self, worker: str, message: CommitRuns) -> None:
        token, version, number, finished, last = message
        wave = self._waves.get(worker)
        if wave is None or not wave.is_this(token, number):
            wave = self._waves[worker] = Wave(token, number)
        self.feeds.applied(worker, version.n if version.epoch == self.journal.epoch else 0)
        for one in finished:
            self._finish(worker, wave, version, one)
        if last:
            del self._waves[worker]

    def _finish(self, worker: str, wave: Wave, version: Version, one: Finished) -> None:
        run = RunId(one.node, one.generation, one.number, wave.token)
        self._writer = worker
        try:
            writes = operations_of(one.writes)
            proposal, error = self._proposal(version, one.reads, writes, one.beside, Provenance(one.node, one.number, one.triggers), one.group, wave)
        except WeftError as broken:
            writes, proposal, error = (), Proposal(None, {}, {}), broken
        error = self._fenced(run, version) or error
        otherwise = [operation[0] for operation in writes if not self._is_present(proposal, operation[0])] if writes else ()
        try:
            n = self._enter_result(run, one, proposal, error)
        finally:
            self._writer = None
        if n is None:
            wave.refused()
            self.feeds.correct(worker, [write.entity for write in one.writes])
            return
        if otherwise:
            self.feeds.correct(worker, otherwise)
        wave.ended(n, otherwise)
        if one.beside is not None:
            self._departed(one.beside, one.node)

    def _enter_result(self, run: RunId, one: Finished, proposal: Proposal, error: WeftError | None) -> int | None:
        """The position of the run's entry; None if its commit was refused."""
        answer: Answer
        if error is not None:
            answer = self.replica.refuse(proposal, run, error)
        elif one.fault is not None:
            fault = one.fault
            n = self.replica.failed(proposal, run, Rejection(fault.code, fault.message, {})).n
            self._told[n] = (one.took, fault)
            return n
        else:
            answer = self.replica.commit(proposal, run)
        self._told[answer[0][1]] = (one.took, None)
        return None if type(answer) is Refused else answer[0][1]

    def _fenced(self, run: RunId, version: Version) -> WeftError | None:
        if version.epoch != self.journal.epoch:
            return StaleEpoch(f"{run} read at {version}, and this is epoch {self.journal.epoch} of storage; it is planned again")
        if self.generations.get(run.node) != run.generation:
            return StaleEpoch(f"{run}: generation {run.generation} of {run.node!r} is not registered; what it still sends is dropped")
        return self.replica.fenced(run)

    # Transactions of clients

    def submit(self, client: str, message: Submit) -> Submitted:
        key, version, reads, writes, group, beside = message
        operations = operations_of(writes)
        proposal, error = self._proposal(version, reads, operations, beside, Provenance(event=None if beside is None else beside.event), group, None)
        if error is None and version.epoch != self.journal.epoch:
            error = StorageTransactionInconsistent(f"this transaction read at {version}, and storage is in epoch {self.journal.epoch} by now; read again and retry")
        answer = self.replica.transact(proposal) if error is None else self.replica.refuse(proposal, None, error)
        if isinstance(answer, Refused):
            return Submitted(self.journal.version, False, refusal_of(answer.rejection))
        if beside is not None:
            self._departed(beside, None)
        if isinstance(answer, Committed):
            answer.ticket.on_settled(lambda verdict: self._settled(client, key, verdict))
            return Submitted(self.journal.version, True, None)
        return Submitted(self.journal.version, False, None)

    def _settled(self, client: str, key: int, verdict: Verdict) -> None:
        self._decided.append((client, Decided(key, self.journal.version, None if isinstance(verdict, Accepted) else refusal_of(verdict.rejection))))

    # Documents

    def fetch(self, name: str, message: Fetch, holds: bool) -> Fetched:
        """Documents as of a version, or as they are now. Who holds copies gets what they became since, too, and is fed from here on; the answer then names the present version."""
        version, entities = message
        if version.n and version.epoch != self.journal.epoch:
            return Fetched(version, (), entities)
        self.replica.load(entities)
        n = version.n or self.journal.n
        found: list[Fed] = []
        moved: list[Entity] = []
        for entity in dict.fromkeys(entities):
            states = self.past.since(entity, n)
            if states is None:
                moved.append(entity)
            else:
                found += [Fed(entity, seen.n, seen.document) for seen in (states if holds else states[:1])]
        if holds:
            self.feeds.applied(name, version.n)
            self.feeds.hold(name, [fed.entity for fed in found])
        return Fetched(version if version.n and not holds else self.journal.version, tuple(found), tuple(moved))

    # Registrations, fences, acknowledgements

    def enter(self, declared: tuple[Declared, ...], removed: tuple[str, ...], parent: str | None = None) -> Version:
        for one in declared:
            generation = self.generations[one.node] = self.journal.n + 1 + (self.journal.epoch << 32)
            self.replica.register(one.node, generation, Enrolled(one, parent))
        for node in removed:
            gone = self.generations.pop(node, None)
            if gone is not None:
                self.replica.remove(node, gone)
        return self.journal.version

    def lead(self) -> int:
        """How far the log is ahead of what graph has applied."""
        return self.journal.n - self.journal.acknowledged(GRAPH)

    def drop(self, worker: str) -> None:
        """The worker is gone, and with it what it held and had under way."""
        self.feeds.drop(worker)
        self._waves.pop(worker, None)

    def take(self) -> Step:
        """Everything since the last time."""
        made, told = self._made, self._told
        step = Step(tuple([logged(entry, *told.get(entry[0][1], ())) for entry in made]), self.feeds.take(self.journal.n), self._decided)
        self._made, self._told, self._decided = [], {}, []
        return step

    # Inside

    def _heard(self, entry: Entry) -> None:
        self.past.heard(entry)
        self._made.append(entry)
        changes = changes_of(entry)
        if changes:
            self.feeds.changed(changes, self._writer if type(entry) is CommitEntry else None)

    def _proposal(
        self, version: Version, used: tuple[UsedRead, ...], writes: tuple[Operation, ...], beside: Beside | None, provenance: Provenance, group: str | None, wave: Wave | None
    ) -> tuple[Proposal, WeftError | None]:
        """What was proposed, over what its maker saw; and why that cannot stand, if it cannot."""
        reads: dict[Read, Use] = reads_of(used)
        error: WeftError | None = None
        if beside is not None and beside.touched:
            error = StorageTransactionInconsistent(f"{beside.touched[0]} {_STALE}")
        own = {} if beside is None or wave is None else dict(beside.own)
        seen: dict[Entity, Seen] = {}
        for entity in touched(reads, writes, beside):
            at = version.n
            if own and entity in own:
                left = wave.left(own[entity], entity) if wave is not None else None
                if left is None:
                    error = error or StorageTransactionInconsistent(f"{entity} was read as an earlier run of the wave left it, and that did not come to be; it is planned again")
                    continue
                at = left
            state = self.past.as_of(entity, at)
            if state is not None:
                seen[entity] = state
            else:
                error = error or StorageTransactionInconsistent(f"{entity} {_STALE}")
        return proposal_of(seen, reads, writes, beside, provenance, group), error

    def _is_present(self, proposal: Proposal, entity: Entity) -> bool:
        """What its maker saw of the document is what is there."""
        seen = proposal.seen.get(entity)
        return seen is not None and seen.n == self.replica.read(entity).n

    def _departed(self, beside: Beside, parent: str | None) -> None:
        if beside.children or beside.removals:
            self.enter(beside.children, beside.removals, parent)

