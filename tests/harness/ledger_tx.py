"""The words of `ledger_core`: documents by name, the transaction that a node's function gets, and what is kept of a commit until its verdict."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias

from weft.scheduler.log import Entry, RunId
from weft.scheduler.model import Address, CommitId, Entity, Read
from weft.scheduler.rejection import Rejection
from weft.scheduler.runs import Run
from weft.scheduler.values import MISSING, Value

STALE = Rejection("ConflictError", "somebody else was first", {})
INCONSISTENT = Rejection("StorageTransactionInconsistent", "what it read has moved", {})


def doc(id: str, scope: str = "space") -> Entity:
    return Entity("main", scope, id)


def place(id: str, *path: str) -> Address:
    return doc(id).at(("value", *path))


def deep(id: str, *path: str) -> Read:
    return Read(doc(id), ("value", *path))


def shallow(id: str, *path: str) -> Read:
    return Read(doc(id), ("value", *path), False)


class Ear(Protocol):
    """Somebody who follows the log and the passes."""

    def heard(self, entry: Entry) -> None: ...

    def started(self, run: Run) -> None: ...


class Before(NamedTuple):
    """What a document showed before a commit wrote it."""

    whole: Value
    stamp: CommitId | None


class Pending(NamedTuple):
    """A commit without a verdict. `leaning` are the later runs that wrote nothing because it had."""

    id: CommitId
    before: dict[Entity, Before]
    run: RunId | None
    leaning: list[RunId]


class Shown(Protocol):
    """What a transaction reads from."""

    documents: dict[Entity, Value]
    n: int


class Tx:
    """What a node's function gets."""

    def __init__(self, ledger: Shown, run: Run, dry: bool = False) -> None:
        self.ledger, self.run = ledger, run
        self.dry = dry  # only to see what it would read and write
        self.reads: dict[Read, None] = {}
        self.seen: dict[Entity, tuple[int, Value]] = {}  # the position at which a document was first read, and the document then
        self.writes: dict[str, Value] = {}

    @property
    def causes(self) -> tuple[Address, ...]:
        return self.run.causes

    def get(self, id: str, *path: str, default: Value = 0) -> Value:
        return self._read(deep(id, *path), default)

    def shape(self, id: str, *path: str) -> Value:
        return self._read(shallow(id, *path), None)

    def set(self, id: str, value: Value) -> Value:
        self.writes[id] = value
        return value

    def _read(self, read: Read, default: Value) -> Value:
        self.reads[read] = None
        whole = self.ledger.documents.get(read.entity, MISSING)
        self.seen.setdefault(read.entity, (self.ledger.n, whole))
        value = self.writes[read.entity.id] if read.entity.id in self.writes else whole["value"] if whole is not MISSING else MISSING
        for step in read.path[1:]:
            value = value.get(step, MISSING) if isinstance(value, dict) else MISSING
        return default if value is MISSING else value


Body: TypeAlias = Callable[[Tx], Any]


def reading(*ids: str, into: str | None = None) -> Body:
    """A node that reads these, and writes their sum where it is told."""

    def body(tx: Tx) -> None:
        total = sum(tx.get(id) for id in ids)
        if into is not None:
            tx.set(into, total)

    return body
