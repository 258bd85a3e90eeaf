"""Engines for the contract suite: the same tests on every backend.

A `Rig` is a store with one space; a test opens as many engines on it as it needs. An `Author` is one session that commits and looks at the verdicts.
What a test does to rows behind the engine's back goes through the rig too.
"""
from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from weft.scheduler.errors import WeftError
from weft.scheduler.model import CommitId, Entity, parse_pointer
from weft.scheduler.values import MISSING, Value, freeze
from weft.storage.commit import Accepted, Commit, ConfirmedRead, Delete, Operation, Patch, PendingRead, Precondition, Provenance, Rejected, Set
from weft.storage.engine import Engine, open_engine
from weft.storage.memory import MemoryTables
from weft.storage.patch import PatchOp, Replace
from weft.storage.schema import PLACE
from weft.storage.spaces import Store, file_name
from weft.storage.tables import RevisionRow
from weft.wire.codec import VALUES

BACKENDS = ("memory", "sqlite")
SPACE = "main"


class Rig:
    """A store with one space, on one backend."""

    def __init__(self, backend: str, folder: Path) -> None:
        self.backend = backend
        self.file = folder / "store" / file_name(SPACE)
        self.store = Store("memory:" if backend == "memory" else f"sqlite:{folder / 'store'}")
        self._engines: list[Engine] = []

    def open(self, runtime: str = "test", **options: Any) -> Engine:
        engine = open_engine(self.store, SPACE, runtime=runtime, codec=VALUES, **options)
        self._engines.append(engine)
        return engine

    def close(self) -> None:
        for engine in self._engines:
            engine.close()

    def remove_revision(self, seq: int) -> None:
        """Behind everybody's back."""
        if self.backend == "memory":
            for rows in self._memory().space.revisions.values():
                rows[:] = [row for row in rows if row.seq != seq]
        else:
            self.sql("DELETE FROM revisions WHERE place / ? = ?", PLACE, seq)

    def alter_revision(self, seq: int, *, op: str | None = None, data: Value = MISSING) -> None:
        """Behind everybody's back."""
        if self.backend == "memory":
            for rows in self._memory().space.revisions.values():
                rows[:] = [self._altered(row, op, data) if row.seq == seq else row for row in rows]
        else:
            if op is not None:
                self.sql("UPDATE revisions SET op = ? WHERE place / ? = ?", op, PLACE, seq)
            if data is not MISSING:
                self.sql("UPDATE revisions SET data = ? WHERE place / ? = ?", data if isinstance(data, bytes) else VALUES.encode(freeze(data)), PLACE, seq)

    @staticmethod
    def _altered(row: RevisionRow, op: str | None, data: Value) -> RevisionRow:
        row = row if op is None else row._replace(op=op)
        return row if data is MISSING else row._replace(data=data if isinstance(data, bytes) else VALUES.encode(freeze(data)))

    def _memory(self) -> MemoryTables:
        tables = self.store.tables(SPACE)
        assert isinstance(tables, MemoryTables)
        return tables

    def sql(self, statement: str, *values: Any) -> list[Any]:
        with closing(sqlite3.connect(self.file)) as connection, connection:
            return connection.execute(statement, values).fetchall()


@contextmanager
def rig_on(backend: str, folder: Path) -> Iterator[Rig]:
    rig = Rig(backend, folder)
    try:
        yield rig
    finally:
        rig.close()


class Author:
    """One session. `local` counts its commits, taken or refused."""

    def __init__(self, engine: Engine, session: str = "s") -> None:
        self.engine = engine
        self.session = session
        self.local = 0

    def id(self, local: int) -> CommitId:
        return CommitId(self.session, local)

    def draft(
        self,
        *operations: Operation,
        confirmed: Sequence[ConfirmedRead] = (),
        pending: Sequence[PendingRead] = (),
        preconditions: Sequence[Precondition] = (),
        provenance: Provenance = Provenance(),  # noqa: B008 (a value)
        branch: str = "",
        local: int | None = None,
    ) -> Commit:
        self.local = self.local + 1 if local is None else local
        return Commit(self.id(self.local), operations, tuple(confirmed), tuple(pending), tuple(preconditions), provenance, branch)

    def commit(self, *operations: Operation, **parts: Any) -> Accepted:
        """A commit that must be taken."""
        return accepted(self.engine, self.draft(*operations, **parts))

    def refused(self, *operations: Operation, **parts: Any) -> WeftError:
        """Why a commit is refused, which it must be, leaving nothing behind."""
        return refused(self.engine, self.draft(*operations, **parts))

    def pending(self, entity: Entity, path: str, *layers: int, basis: int, deep: bool = True) -> PendingRead:
        """A read through layers of this session."""
        return PendingRead(entity, parse_pointer(path), basis, tuple(self.id(layer) for layer in layers), deep)


def accepted(engine: Engine, commit: Commit) -> Accepted:
    (verdict,) = engine.apply([commit])
    assert isinstance(verdict, Accepted), verdict
    return verdict


def refused(engine: Engine, commit: Commit) -> WeftError:
    head = engine.head()
    (verdict,) = engine.apply([commit])
    assert isinstance(verdict, Rejected), verdict
    assert (verdict.id, verdict.head, engine.head(), engine.tables.newest()[0]) == (commit.id, head, head, head)
    return verdict.rejection.error()


def doc(id: str = "doc", scope: str = "space") -> Entity:
    return Entity(SPACE, scope, id)


def put(entity: Entity, value: Value, **metadata: Value) -> Set:
    """The document whose cell has this value."""
    return Set(entity, freeze({"value": value, **metadata}))


def patch(entity: Entity, *ops: PatchOp) -> Patch:
    return Patch(entity, ops)


def replace(entity: Entity, path: str, value: Value) -> Patch:
    return Patch(entity, (Replace(parse_pointer(path), freeze(value)),))


def delete(entity: Entity) -> Delete:
    return Delete(entity)


def confirmed(entity: Entity, path: str, basis: int, *, deep: bool = True, branch: str | None = None) -> ConfirmedRead:
    return ConfirmedRead(entity, parse_pointer(path), basis, deep, branch)


def value(engine: Engine, entity: Entity, branch: str = "", at: int | None = None) -> Value:
    """The value of a document's cell, MISSING if there is no document."""
    document = engine.read(entity, branch, at).document
    return document if document is MISSING else document["value"]
