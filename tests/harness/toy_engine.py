"""An engine and its links in the smallest form that keeps the contract of storage/link.py, moved by hand: every delay and every order that one link allows can be played.

The engine is coarse: any commit on a document after a read's basis conflicts, whatever its path. `ToyLink` works over any engine with `apply`, `read`, `head` and `after`.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from weft.scheduler.errors import ConflictError, PatchApplyError, PreconditionFailedError, WeftError
from weft.scheduler.model import CommitId, Entity
from weft.scheduler.rejection import rejection
from weft.scheduler.values import MISSING, Value
from weft.storage.authority import Authority
from weft.storage.commit import Accepted, Commit, ConfirmedRead, EntityAbsent, OriginCommitted, PendingRead, Rejected, Verdict
from weft.storage.document import operate
from weft.storage.link import Delivered, Frame, Receiver

SPACE = "main"


class Landed(NamedTuple):
    seq: int
    id: CommitId
    branch: str
    entities: tuple[Entity, ...]


class ToyEngine:
    """One space."""

    def __init__(self, space: str = SPACE) -> None:
        self.space = space
        self._log: list[Landed] = []
        self._history: dict[Entity, list[Delivered]] = {}

    def head(self) -> int:
        return len(self._log)

    def poll(self) -> bool:
        return False

    def close(self) -> None:
        """It holds nothing."""

    def after(self, seq: int) -> list[Landed]:
        return self._log[seq:]

    def read(self, entity: Entity, branch: str = "", at: int | None = None) -> Delivered:
        states = [state for state in self._history.get(entity, ()) if at is None or state.seq <= at]
        return states[-1] if states else Delivered(entity, 0, None, MISSING)

    def apply(self, commits: Sequence[Commit]) -> list[Verdict]:
        return [self._decide(commit) for commit in commits]

    def _decide(self, commit: Commit) -> Verdict:
        try:
            written = self._check(commit)
        except WeftError as error:
            return Rejected(commit.id, rejection(error), self.head())
        seq = self.head() + 1
        self._log.append(Landed(seq, commit.id, "", tuple(written)))
        for entity, document in written.items():
            self._history.setdefault(entity, []).append(Delivered(entity, seq, commit.id, document))
        return Accepted(commit.id, seq, "", ())

    def _check(self, commit: Commit) -> dict[Entity, Value]:
        taken = {landed.id: landed for landed in self._log}
        for condition in commit.preconditions:
            if isinstance(condition, OriginCommitted) and condition.origin not in taken:
                raise PreconditionFailedError("origin commit not committed", precondition="origin-committed")
            if isinstance(condition, EntityAbsent) and condition.entity in self._history:
                raise PreconditionFailedError("it exists", precondition="receipt-exists")
        reads: list[ConfirmedRead | PendingRead] = [*commit.confirmed, *commit.pending]
        for read in reads:
            layers = read.layers if isinstance(read, PendingRead) else ()
            unresolved = [layer for layer in layers if layer not in taken]
            if unresolved:
                raise ConflictError(f"pending dependency not resolved: {unresolved[0].local_seq}")
            if any(landed.id not in layers and read.entity in landed.entities for landed in self._log[read.basis:]):
                raise ConflictError(f"stale {'pending' if layers else 'confirmed'} read of {read.entity}")
        written: dict[Entity, Value] = {}
        try:
            for operation in commit.operations:
                entity = operation.entity
                written[entity] = operate(written[entity] if entity in written else self.read(entity).document, operation)
        except PatchApplyError as error:
            raise ConflictError(str(error)) from None
        return written


class ToyLink:
    """One session. Commits wait in `up` until `decide`; verdicts and frames wait in `down` until `deliver`. `fetch` answers from the engine as it is now.

    `doomed` commits are refused whatever they say.
    """

    def __init__(self, engine: Authority, receiver: Receiver, session: str) -> None:
        self.session = session
        self.sent: list[Commit] = []
        self.up: deque[Commit] = deque()
        self.down: deque[Verdict | Frame] = deque()
        self.doomed: set[CommitId] = set()
        self.closed: Exception | None = None
        self.fetches: list[tuple[Entity, ...]] = []
        self._engine, self._receiver = engine, receiver
        self._watched: set[Entity] = set()
        self._scanned = engine.head()
        self._staged: dict[Entity, None] = {}
        self._decided: list[CommitId] = []

    def send(self, commit: Commit) -> None:
        if self.closed is not None:
            raise self.closed
        self.sent.append(commit)
        self.up.append(commit)

    def fetch(self, entities: Sequence[Entity], branch: str = "") -> list[Delivered]:
        self.fetches.append(tuple(entities))
        self._watched.update(entities)
        return [self._engine.read(entity) for entity in entities]

    def forget(self, entities: Sequence[Entity]) -> None:
        self._watched.difference_update(entities)

    def close(self) -> None:
        self.closed = WeftError("closed")

    def decide(self) -> Verdict | None:
        """The engine decides the oldest commit; its verdict is on the way."""
        if not self.up:
            return None
        commit = self.up.popleft()
        refused = Rejected(commit.id, rejection(ConflictError("stale confirmed read (by order of the test)")), self._engine.head())
        verdict = refused if commit.id in self.doomed else self._engine.apply([commit])[0]
        self.down.append(verdict)
        self._decided.append(commit.id)
        if isinstance(verdict, Rejected):
            self._staged.update(dict.fromkeys(item.entity for part in (commit.operations, commit.confirmed, commit.pending) for item in part))
        return verdict

    def frame(self) -> Frame | None:
        """Everything that landed since the last frame, and what was decided, as one frame on the way."""
        for landed in self._engine.after(self._scanned):
            if landed.id.session != self.session:
                self._staged.update(dict.fromkeys(entity for entity in landed.entities if entity in self._watched))
        self._scanned = self._engine.head()
        if not (self._staged or self._decided):
            return None
        frame = Frame(self._engine.space, self._scanned, tuple(self._engine.read(entity) for entity in self._staged), tuple(self._decided))
        self._staged, self._decided = {}, []
        self.down.append(frame)
        return frame

    def overtake(self) -> None:
        """The newest frame on its way overtakes a verdict before it."""
        if len(self.down) > 1 and isinstance(self.down[-1], Frame) and not isinstance(self.down[-2], Frame):
            self.down[-1], self.down[-2] = self.down[-2], self.down[-1]

    def deliver(self) -> Verdict | Frame | None:
        """The oldest message arrives."""
        if not self.down:
            return None
        message = self.down.popleft()
        if isinstance(message, Frame):
            self._receiver.on_frame(message)
        else:
            self._receiver.on_verdict(message)
        return message

    def settle(self) -> None:
        """Everything on its way, in both directions."""
        while self.up:
            self.decide()
        self.frame()
        while self.down:
            self.deliver()
