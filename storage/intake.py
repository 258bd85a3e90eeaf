"""The way in: a proposal becomes a layer, an entry of the log and a commit on its way to the engine; or it has nothing to do; or it is refused.

- Everything is decided before anything changes, so a refusal leaves no trace but, for a run, its result.
- The commit leaves before its entry is delivered: one that a follower of the log makes from inside its delivery is then sent after it, and the engine decides in local order.
- A commit rests only on layers of its own space, whose engine decides about both. A run that left a write out in another space leans on the layers there.
- Each run gets one entry, whatever came of it (PROTOCOL rule 1, C4).
The replica calls this.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable

from ..scheduler.errors import PatchApplyError, ProtocolError, StorageTransactionInconsistent, WeftError
from ..scheduler.log import CommitEntry, Outcome, ResultEntry, RunId, RunResult
from ..scheduler.model import CommitId, Version
from ..scheduler.rejection import Rejection, rejection
from .admission import NOBODY, Effects, Find, declare, effects, leaning, moved, raced, read_at, scheduling
from .commit import Commit, OriginCommitted, Rejected
from .fences import Fences
from .journal import Journal
from .layers import Layer, Layers
from .link import Link
from .proposal import Proposal
from .settlement import Settlement
from .ticket import Answer, Committed, Refused, Unchanged


class Intake:
    """Works on the replica's own layers and log; `find` gives a document, loaded if need be, `link` a space's link, opened if need be."""

    def __init__(self, layers: Layers, journal: Journal, settlement: Settlement, find: Find, link: Callable[[str], Link]) -> None:
        self.fences = Fences()
        self._layers, self._journal, self._settlement, self._find, self._link = layers, journal, settlement, find, link
        self._local_seq = 0  # one count for all spaces, so that an id is unique even where two spaces know this replica by one session

    def commit(self, proposal: Proposal, run: RunId | None) -> Answer:
        """A run that the caller names is held against the fences."""
        if run is not None:
            fenced = self.fences.refusal(run)
            if fenced is not None:
                return self._refuse(proposal, run, fenced)
        elif proposal.provenance.node is not None:
            run = RunId(proposal.provenance.node, 0, proposal.provenance.run, self.fences.token)
        space = proposal.space
        if space is None or not (proposal.operations or proposal.preconditions):
            return self._unchanged(proposal, run, NOBODY if run is None else leaning(proposal, self._find))
        link = self._link(space)
        id = CommitId(link.session, self._local_seq + 1)
        try:
            done = effects(proposal, id, self._find)
        except (PatchApplyError, ProtocolError) as error:
            return self._refuse(proposal, run, self._misfit(proposal, error))
        if not (done.operations or proposal.preconditions):
            return self._unchanged(proposal, run, done.leans)
        changed = raced(proposal, self._find)
        if changed is not None:
            return self._refuse(proposal, run, StorageTransactionInconsistent(f"{changed} has changed since this transaction read it; read it again and retry"))
        return self._stack(proposal, run, id, space, link, done)

    def failed(self, proposal: Proposal, run: RunId, why: Rejection) -> Version:
        return self._result(self._run_result(proposal, run, Outcome.FAILED, why=why))

    def _stack(self, proposal: Proposal, run: RunId | None, id: CommitId, space: str, link: Link, done: Effects) -> Answer:
        declared = declare(proposal, self._find)
        leans = self._layers.inside(space, done.leans)
        rests = declared.layers | leans if leans else declared.layers
        doomed = rests & self._layers.doomed if self._layers.doomed else NOBODY
        if doomed:
            why = StorageTransactionInconsistent(f"what this transaction read is being taken back with {min(doomed)}; retry when that has settled")
            return self._refuse(proposal, run, why, tuple(sorted(doomed)))
        preconditions = proposal.preconditions
        if leans:
            preconditions += tuple(OriginCommitted(lean) for lean in sorted(leans - declared.layers) if not self._layers.certain(lean))
        if run is not None and len(leans) < len(done.leans):
            self._layers.lean(run, done.leans - leans)
        commit = Commit(id, done.operations, declared.confirmed, declared.pending, preconditions, proposal.provenance)
        return self._apply(Layer(id, space, link, tuple(done.parts), rests, run), commit, proposal, done)

    def _apply(self, layer: Layer, commit: Commit, proposal: Proposal, done: Effects) -> Committed:
        result = None if layer.run is None else self._run_result(proposal, layer.run, Outcome.COMMITTED, done.leans)
        self._local_seq = layer.id.local_seq
        version = self._journal.next()
        for entity, part in done.parts.items():
            self._find(entity).push(part, version.n)
        self._layers.add(layer)
        entry = CommitEntry(version, layer.id, tuple(done.changes), proposal.provenance.node, proposal.group, result)
        try:
            layer.link.send(commit)
        except Exception as error:  # a link that does not take it, whatever the reason, is like a refusal that no frame will follow
            self._journal.append(entry)
            self._settlement.doom(layer, Rejected(layer.id, rejection(error), 0))
            self._settlement.step((), (layer.id,))
        else:
            self._journal.append(entry)
        return Committed(version, layer.ticket)

    def _unchanged(self, proposal: Proposal, run: RunId | None, leans: frozenset[CommitId]) -> Unchanged:
        if run is None:
            return Unchanged(self._journal.version)
        self._layers.lean(run, leans)
        return Unchanged(self._result(self._run_result(proposal, run, Outcome.UNCHANGED, leans)))

    def _refuse(self, proposal: Proposal, run: RunId | None, error: WeftError, after: tuple[CommitId, ...] = ()) -> Refused:
        why = rejection(error)
        version = self._journal.version if run is None else self._result(self._run_result(proposal, run, Outcome.REFUSED, why=why))
        return Refused(version, why, after)

    def _misfit(self, proposal: Proposal, error: WeftError) -> WeftError:
        """A patch that fits what was seen, but not what is there now, lost a race; one that never fitted is wrong."""
        for operation in proposal.operations:
            seen = proposal.seen.get(operation.entity)
            if seen is None or seen.n != self._find(operation.entity).seen.n:
                return StorageTransactionInconsistent(f"{operation.entity} has changed, and what this transaction writes no longer fits it ({error}); read it again and retry")
        return error

    def _result(self, result: RunResult) -> Version:
        version = self._journal.next()
        self._journal.append(ResultEntry(version, result))
        return version

    def _run_result(self, proposal: Proposal, run: RunId, outcome: Outcome, leans: Iterable[CommitId] = (), why: Rejection | None = None) -> RunResult:
        gone = moved(proposal, self._find)
        return RunResult(run, outcome, scheduling(proposal), read_at(proposal, gone, self._find), gone, tuple(sorted(leans)), why)
