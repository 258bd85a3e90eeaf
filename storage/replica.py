"""The replica: what one runtime knows of its spaces, confirmed or optimistic, and the one log that says how it changed (DESIGN sections 4 and 6).

Goals: a commit can be seen, and everybody who follows the log has heard of it, before `commit` returns; nothing here ever waits for the engine but the first read of a document;
what is seen converges to what the engine decided.
Invariants
- All state that a follower can see changes by numbered entries of the log, in one order (PROTOCOL rule 1).
- Everything held was fetched, so it is watched: what others commit arrives in frames.
- Each commit sent has one ticket, which is settled once: when a frame has named the commit, or when the commit it rests on fell.
- A frame is applied only when the verdicts of all it names are known; later frames wait behind it.
One thread uses a replica. Transactions read through it (`View`), links report to it (`Receiver`).
"""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..scheduler.errors import SessionError, StorageTransactionInconsistent, WeftError
from ..scheduler.log import FenceEntry, PullEntry, RegistrationEntry, RemovalEntry, RunId, StampOf
from ..scheduler.model import ROOT, Change, CommitId, Entity, Version
from ..scheduler.rejection import Rejection, rejection
from ..scheduler.values import MISSING
from .admission import raced
from .commit import Accepted, Rejected, Verdict
from .intake import Intake
from .journal import Journal
from .layers import Layers
from .link import Connect, Delivered, Frame, Link
from .overlay import Overlay
from .proposal import Proposal, Seen
from .settlement import Settlement
from .ticket import Answer, Refused, Ticket, Unchanged


class Replica:
    """`connect` opens a space when it is first read or written; `epoch` is storage's, raised when the engine was opened; `warn` takes what a person should know."""

    def __init__(self, connect: Connect, epoch: int, *, warn: Callable[[str], None] = lambda message: None) -> None:
        self.journal = Journal(epoch)
        self._connect, self._warn = connect, warn
        self._links: dict[str, Link] = {}
        self._documents: dict[Entity, Overlay] = {}
        self._layers = Layers()
        self._frames: dict[str, deque[Frame]] = {}  # by space, not yet applied
        self._settlement = Settlement(self._documents, self._layers, self.journal, self._fetch_one)
        self._intake = Intake(self._documents, self._layers, self.journal, self._settlement, self._find, self._links, self._link)
        self.commit = self._intake.commit  # applied, recorded and sent; or nothing to do; or refused

    @property
    def version(self) -> Version:
        return self.journal.version

    def read(self, entity: Entity) -> Seen:
        """A document as it is seen here; the first time it is loaded."""
        overlay = self._documents.get(entity)
        return overlay.seen if overlay is not None else self._find(entity).seen

    def load(self, entities: Iterable[Entity]) -> None:
        """Documents that will be read: those not yet held, in one question and one entry for each space."""
        wanted: dict[str, list[Entity]] = {}
        for entity in dict.fromkeys(entities):
            if entity not in self._documents:
                wanted.setdefault(entity.space, []).append(entity)
        for space, missing in wanted.items():
            self._pull(self._link(space).fetch(missing))

    def forget(self, entities: Iterable[Entity]) -> None:
        """Documents that nobody reads any more. Those with layers stay: what is in flight needs them."""
        gone: dict[str, list[Entity]] = {}
        for entity in entities:
            overlay = self._documents.get(entity)
            if overlay is not None and not overlay.parts:
                del self._documents[entity]
                gone.setdefault(entity.space, []).append(entity)
        for space, forgotten in gone.items():
            self._links[space].forget(forgotten)

    def transact(self, proposal: Proposal) -> Answer:
        """A client's commit. It is made once: if it finds what it wants written there already, because somebody else has counted up from the same value, it has lost a race
        all the same. (A run in that place is made again, because what it read has moved.)"""
        answer = self.commit(proposal)
        if isinstance(answer, Unchanged) and proposal.operations and (changed := raced(proposal, self._find)) is not None:
            why = StorageTransactionInconsistent(f"{changed} has changed since this transaction read it; read it again and retry")
            return Refused(answer.version, rejection(why))
        return answer

    def failed(self, proposal: Proposal, run: RunId, why: Rejection) -> Version:
        """A run whose function raised: its writes are dropped, its reads are kept (decision 7)."""
        return self._intake.failed(proposal, run, why)

    def refuse(self, proposal: Proposal, run: RunId | None, error: WeftError) -> Refused:
        """What its committer could not have seen, or is not to do: nothing is applied. The result of a run is recorded all the same."""
        return self._intake.refuse(proposal, run, error)

    def fenced(self, run: RunId) -> WeftError | None:
        """Why nothing of this run is taken any more; None: it is."""
        return self._intake.fences.refusal(run)

    @property
    def token(self) -> int:
        """Settle's newest."""
        return self._intake.fences.token

    def register(self, node: str, generation: int, spec: Any = None) -> Version:
        version = self.journal.next()
        self.journal.append(RegistrationEntry(version, node, generation, spec))
        return version

    def remove(self, node: str, generation: int) -> Version:
        """From here on commits of this generation are refused (PROTOCOL H10)."""
        self._intake.fences.remove(node, generation)
        version = self.journal.next()
        self.journal.append(RemovalEntry(version, node, generation))
        return version

    def fence(self, token: int) -> Version:
        """From here on runs under another token are refused."""
        self._intake.fences.raise_to(token)
        version = self.journal.next()
        self.journal.append(FenceEntry(version, token))
        return version

    def pending(self) -> tuple[Ticket, ...]:
        """The commits that are not yet settled, oldest first."""
        return tuple(layer for layer in self._layers)

    def on_verdict(self, verdict: Verdict) -> None:
        """A verdict for what is not in flight any more is dropped; one for what a fall has pulled down is worth a word if it says accepted."""
        if self._layers.fallen and verdict.id in self._layers.fallen:
            self._layers.fallen.discard(verdict.id)
            if isinstance(verdict, Accepted):
                self._warn(f"commit {verdict.id} was accepted after what it rests on had fallen; its writes stay hidden here until their documents are delivered")
            return
        layer = self._layers.get(verdict.id)
        if layer is None or layer.verdict is not None:
            return
        if isinstance(verdict, Accepted):
            self._settlement.accept(layer, verdict)
        else:
            self._settlement.doom(layer, verdict)
            if verdict.rejection.name == SessionError.__name__:  # no session, so no frame will name it
                self._settlement.step((), (verdict.id,))
        if self._frames.get(layer.space):
            self._drain(layer.space)

    def on_settled(self, verdicts: Sequence[Verdict]) -> None:
        if any(self._frames.values()) or self._layers.doomed or self._layers.fallen:
            for verdict in verdicts:
                self.on_verdict(verdict)
            self._settlement.step((), [verdict.id for verdict in verdicts])
        else:
            self._settlement.settle(verdicts)

    def on_frame(self, frame: Frame) -> None:
        self._frames.setdefault(frame.space, deque()).append(frame)
        self._drain(frame.space)

    def reset(self, space: str) -> None:
        """Reads everything held of a space again. Commits that rest on other layers fall; the rest are settled by their own verdicts."""
        held = [entity for entity in self._documents if entity.space == space]
        head = max((self._documents[entity].seq for entity in held), default=0)
        why = rejection(StorageTransactionInconsistent("memory replica reset: what this commit read was not confirmed; read again and retry"))
        resting = [layer for layer in self._layers if layer.space == space and layer.rests and layer.verdict is None]
        for layer in resting:
            if layer.verdict is None:
                self._layers.fallen.add(layer.id)
                self._settlement.doom(layer, Rejected(layer.id, why, head))
        self._settlement.step(self._link(space).fetch(held) if held else (), [layer.id for layer in resting])

    def close(self) -> None:
        for link in self._links.values():
            link.close()

    def _drain(self, space: str) -> None:
        frames = self._frames.get(space)
        while frames and all(self._known(id) for id in frames[0].decided):
            frame = frames.popleft()
            self._settlement.step(frame.documents, frame.decided)

    def _known(self, id: CommitId) -> bool:
        layer = self._layers.get(id)
        return layer is None or layer.verdict is not None

    def _find(self, entity: Entity) -> Overlay:
        overlay = self._documents.get(entity)
        if overlay is None:
            self._pull((self._fetch_one(entity),))
            overlay = self._documents[entity]
        return overlay

    def _fetch_one(self, entity: Entity) -> Delivered:
        return self._link(entity.space).fetch((entity,))[0]

    def _pull(self, loaded: Sequence[Delivered]) -> None:
        version = self.journal.next()
        for document in loaded:
            self._documents[document.entity] = Overlay(document, version.n)
        changes = tuple(Change(document.entity, ROOT, MISSING, document.document) for document in loaded if document.document is not MISSING)
        self.journal.append(PullEntry(version, changes, tuple(StampOf(document.entity, document.stamp) for document in loaded)))

    def _link(self, space: str) -> Link:
        link = self._links.get(space)
        if link is None:
            link = self._links[space] = self._connect(space, self)
        return link
