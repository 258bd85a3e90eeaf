"""The way in: a proposal becomes a layer, an entry of the log and a commit on its way to the engine; or it has nothing to do; or it is refused.

- Everything is decided before anything changes, so a refusal leaves no trace but, for a run, its result.
- The commit leaves before its entry is delivered: one that a follower of the log makes from inside its delivery is then sent after it, and the engine decides in local order.
- A commit rests only on layers of its own space, whose engine decides about both. A run that left a write out in another space leans on the layers there.
- Each run gets one entry, whatever came of it (PROTOCOL rule 1, C4).
The replica calls this.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..scheduler.errors import PatchApplyError, ProtocolError, StorageTransactionInconsistent, WeftError
from ..scheduler.log import CommitEntry, Outcome, ResultEntry, RunId, RunResult
from ..scheduler.model import Change, CommitId, Entity, Version
from ..scheduler.rejection import Rejection, rejection
from .admission import NOBODY, Effects, Find, declare, effects, leaning, moved, raced, read_at, scheduling
from .commit import Commit, OriginCommitted, Put, Rejected, Set
from .fences import Fences
from .glance import glance, replaced
from .journal import Journal
from .layers import Layer, Layers
from .link import Link
from .overlay import Overlay, Part
from .proposal import Proposal
from .settlement import Settlement
from .ticket import Answer, Committed, Refused, Unchanged

_new: Any = tuple.__new__  # what the class of a named tuple calls in the end, at half the cost
_COMMITTED, _UNCHANGED = Outcome.COMMITTED, Outcome.UNCHANGED
_WHOLE = frozenset({Put, Set})


class Intake:
    """Works on the replica's own layers and log; `find` gives a document, loaded if need be, `link` a space's link, opened if need be."""

    def __init__(
        self, documents: dict[Entity, Overlay], layers: Layers, journal: Journal, settlement: Settlement, find: Find, links: dict[str, Link], link: Callable[[str], Link],
    ) -> None:  # fmt: skip
        self.fences = Fences()
        self._documents, self._layers, self._journal, self._settlement, self._find, self._links, self._link = documents, layers, journal, settlement, find, links, link
        self._local_seq = 0  # one count for all spaces, so that an id is unique even where two spaces know this replica by one session

    def commit(self, proposal: Proposal, run: RunId | None = None) -> Answer:
        """A run that the caller names is held against the fences."""
        if run is not None:
            if (run[3] != self.fences.token or run[0] in self.fences.removed) and (fenced := self.fences.refusal(run)) is not None:
                return self.refuse(proposal, run, fenced)
        elif proposal.provenance.node is not None:
            run = RunId(proposal.provenance.node, 0, proposal.provenance.run, self.fences.token)
        space, operations, elided, preconditions = proposal[0], proposal[3], proposal[4], proposal[5]
        if space is None or not (operations or preconditions):
            return self._unchanged(proposal, run, leaning(proposal, self._find) if elided and run is not None else NOBODY)
        if len(operations) == 1 and type(operations[0]) in _WHOLE and not (elided or preconditions or self._layers.doomed):
            answer = self._replace(proposal, run, space, operations[0])  # type: ignore[arg-type]
            if answer is not None:
                return answer
        link = self._link(space)
        id = CommitId(link.session, self._local_seq + 1)
        try:
            done = effects(proposal, id, self._find)
        except (PatchApplyError, ProtocolError) as error:
            return self.refuse(proposal, run, self._misfit(proposal, error))
        if not (done.operations or proposal.preconditions):
            return self._unchanged(proposal, run, done.leans)
        changed = raced(proposal, self._find)
        if changed is not None:
            return self.refuse(proposal, run, StorageTransactionInconsistent(f"{changed} has changed since this transaction read it; read it again and retry"))
        return self._stack(proposal, run, id, space, link, done)

    def failed(self, proposal: Proposal, run: RunId, why: Rejection) -> Version:
        return self._result(self._run_result(proposal, run, Outcome.FAILED, why=why))

    def _replace(self, proposal: Proposal, run: RunId | None, space: str, operation: Set) -> Committed | None:
        """The common proposal: a small document replaced as a whole, and everything as it was read. None: it is another one."""
        entity, document = operation
        overlay = self._documents.get(entity) or self._find(entity)
        change = replaced(entity, overlay.seen[0], document)
        if change is None or (look := glance(proposal, self._documents)) is None:
            return None
        reads, at, confirmed, pending, rests = look
        link = self._links.get(space) or self._link(space)
        id = _new(CommitId, (link.session, self._local_seq + 1))
        result = None if run is None else _new(RunResult, (run, _COMMITTED, reads, at, (), (), None))
        commit = _new(Commit, (id, proposal[3], confirmed, pending, (), proposal[6], ""))
        return self._send(Layer(id, space, link, {entity: Part(id, proposal[3], document)}, rests, run), commit, (change,), proposal, result)

    def _stack(self, proposal: Proposal, run: RunId | None, id: CommitId, space: str, link: Link, done: Effects) -> Answer:
        declared = declare(proposal, self._find)
        leans = self._layers.inside(space, done.leans)
        rests = declared.layers | leans if leans else declared.layers
        doomed = rests & self._layers.doomed if self._layers.doomed else NOBODY
        if doomed:
            why = StorageTransactionInconsistent(f"what this transaction read is being taken back with {min(doomed)}; retry when that has settled")
            return self.refuse(proposal, run, why, tuple(sorted(doomed)))
        preconditions = proposal.preconditions
        if leans:
            preconditions += tuple(OriginCommitted(lean) for lean in sorted(leans - declared.layers) if not self._layers.certain(lean))
        if run is not None and len(leans) < len(done.leans):
            self._layers.lean(run, done.leans - leans)
        commit = Commit(id, done.operations, declared.confirmed, declared.pending, preconditions, proposal.provenance)
        result = None if run is None else self._run_result(proposal, run, Outcome.COMMITTED, done.leans)
        return self._send(Layer(id, space, link, done.parts, rests, run), commit, tuple(done.changes), proposal, result)

    def _send(self, layer: Layer, commit: Commit, changes: tuple[Change, ...], proposal: Proposal, result: RunResult | None) -> Committed:
        id = layer.id
        self._local_seq = id[1]
        version = self._journal.next()
        for entity, part in layer.parts.items():
            self._documents[entity].push(part, version[1])
        self._layers.in_flight[id] = layer
        entry = _new(CommitEntry, (version, id, changes, proposal[6][0], proposal[7], result))
        try:
            layer.link.send(commit)
        except Exception as error:  # a link that does not take it, whatever the reason, is like a refusal that no frame will follow
            self._journal.enter(entry)
            self._settlement.doom(layer, Rejected(id, rejection(error), 0))
            self._settlement.step((), (id,))
        else:
            self._journal.enter(entry)
        return _new(Committed, (version, layer))  # type: ignore[no-any-return]

    def _unchanged(self, proposal: Proposal, run: RunId | None, leans: frozenset[CommitId]) -> Unchanged:
        if run is None:
            return Unchanged(self._journal.version)
        if leans:
            self._layers.lean(run, leans)
        return Unchanged(self._result(self._run_result(proposal, run, _UNCHANGED, leans)))

    def refuse(self, proposal: Proposal, run: RunId | None, error: WeftError, after: tuple[CommitId, ...] = ()) -> Refused:
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
        self._journal.enter(_new(ResultEntry, (version, result)))
        return version

    def _run_result(self, proposal: Proposal, run: RunId, outcome: Outcome, leans: Iterable[CommitId] = (), why: Rejection | None = None) -> RunResult:
        look = glance(proposal, self._documents)
        if look is not None:
            return _new(RunResult, (run, outcome, look[0], look[1], (), tuple(sorted(leans)) if leans else (), why))  # type: ignore[no-any-return]
        gone = moved(proposal, self._find)
        return RunResult(run, outcome, scheduling(proposal), read_at(proposal, gone, self._find), gone, tuple(sorted(leans)), why)
