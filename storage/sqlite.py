"""The SQLite backend: the tables of a space in one database file.

- WAL: readers and the one writer do not wait for each other. `synchronous` is NORMAL (a power cut may take the last commits back, never part of one), or FULL on request.
- A write transaction is immediate: it waits for the other writer before it reads, so what it decides on is the newest.
- A file that nobody can write is read as it lies there; commits are refused until somebody can.
- Every error of SQLite leaves as StorageFull, StorageUnavailable or CorruptRow, with the file and the reason.
A connection is used by one thread at a time, which need not be the one that opened it.
"""
from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

from ..scheduler.errors import CorruptRow, StorageFull, StorageUnavailable
from ..scheduler.model import CommitId, Entity
from .schema import MAX_SEQ, PLACE, prepare
from .sqlite_file import Rest, at_rest, make
from .sqlite_queries import SqliteQueries
from .tables import Branch, CommitRow, Head, Landed, RevisionRow, SnapshotRow

ROWS = 25  # inserted by one statement, where there are so many
_ERRORS = (sqlite3.Error, OverflowError)
BUSY_MS = 5_000  # how long a transaction waits for another process's; those last milliseconds

_COMMIT = "SELECT seq, branch, session, local_seq, digest, resolution, node, run, triggers, event, at FROM commits"
_HEAD = """SELECT number, heads.seq, op_index, op, born, size, weight, patches, session, local_seq
    FROM heads LEFT JOIN commits ON commits.seq = heads.seq WHERE heads.branch = ? AND scope = ? AND id = ?"""
_REVISION = f"SELECT number, place / {PLACE}, place % {PLACE}, op, data FROM revisions WHERE number = ? AND place"
_LANDED = f"""SELECT c.seq, c.session, c.local_seq, c.branch, h.scope, h.id
    FROM (SELECT seq, session, local_seq, branch FROM commits WHERE seq > ? ORDER BY seq LIMIT ?) c
    LEFT JOIN revisions r ON r.place BETWEEN c.seq * {PLACE} AND c.seq * {PLACE} + {PLACE - 1} LEFT JOIN heads h ON h.number = r.number
    ORDER BY c.seq, r.place"""
_ADD_COMMITS = "INSERT INTO commits (seq, branch, session, local_seq, digest, resolution, node, run, triggers, event, at) VALUES"
_ADD_REVISIONS = "INSERT INTO revisions (place, number, op, data) VALUES"
_PUT_HEAD = """INSERT INTO heads (number, branch, scope, id, seq, op_index, op, born, size, weight, patches) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (number) DO UPDATE
    SET seq = excluded.seq, op_index = excluded.op_index, op = excluded.op, size = excluded.size, weight = excluded.weight, patches = excluded.patches"""
_PUT_BRANCH = """INSERT INTO branches (name, parent, fork_seq, head_seq, status) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (name) DO UPDATE SET head_seq = excluded.head_seq, status = excluded.status"""
_ADD_SNAPSHOT = "INSERT OR REPLACE INTO snapshots (number, seq, data) VALUES (?, ?, ?)"
_TRIM_SNAPSHOTS = "DELETE FROM snapshots WHERE number = ?1 AND seq <= (SELECT seq FROM snapshots WHERE number = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)"
_SET_EPOCH = "INSERT INTO runtimes (name, epoch) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch"


class SqliteTables(SqliteQueries):
    """One connection to a space's database."""

    def __init__(self, file: Path, space: str, *, full_sync: bool = False, read_only: bool = False) -> None:
        self.file = file
        self._space = space
        self._full_sync = full_sync
        self._read_only = read_only
        self._version = -1
        self._rest: Rest | None = None  # as what it was opened, if nobody could write it then
        self._open()
        try:
            self.changed()
        except BaseException:
            self.connection.close()
            raise

    def _open(self) -> None:
        rest = at_rest(self.file)
        try:
            self.connection = _connect(self.file, self._full_sync, self._read_only, rest is not None)
            if not self._read_only:
                prepare(self.connection, self.file, self._space)
        except BaseException as error:
            if hasattr(self, "connection"):
                self.connection.close()
            if isinstance(error, sqlite3.Error):
                self._fail(error)
            raise
        self._rest = rest

    def _look(self) -> None:
        """One that was opened lying still is opened anew when it does so no more."""
        if self._rest is not None and at_rest(self.file) != self._rest:
            self.connection.close()
            self._version = -1
            self._open()

    # transactions
    def begin(self) -> None:
        self._look()
        self._run("BEGIN IMMEDIATE")

    def commit(self) -> None:
        self._run("COMMIT")

    def rollback(self) -> None:
        try:
            if self.connection.in_transaction:  # some errors have rolled back by themselves
                self.connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            self._fail(error)

    @contextmanager
    def reading(self) -> Iterator[None]:
        if self.connection.in_transaction:  # the view is that of the transaction that is open
            yield
            return
        self._look()
        self._run("BEGIN")
        try:
            yield
        finally:
            self.rollback()

    def changed(self) -> bool:
        if not self.connection.in_transaction:
            self._look()
        version = self._one("PRAGMA data_version")[0]
        seen, self._version = self._version, version
        return bool(seen != version)

    # lookups
    def newest(self) -> tuple[int, int]:
        seq, number = self._one("SELECT (SELECT max(seq) FROM commits), (SELECT max(number) FROM heads)")
        if not 0 <= (seq or 0) <= MAX_SEQ or not 0 <= (number or 0) <= MAX_SEQ:
            raise CorruptRow(f"{self.file} has a commit {seq} or a document {number} in its last rows, and no log is that long")
        return seq or 0, number or 0

    def commit_row(self, seq: int) -> CommitRow | None:
        row = self._one(f"{_COMMIT} WHERE seq = ?", (seq,))
        return None if row is None else CommitRow._make(row)

    def commit_of(self, id: CommitId) -> CommitRow | None:
        row = self._one(f"{_COMMIT} WHERE session = ? AND local_seq = ?", id)
        return None if row is None else CommitRow._make(row)

    def newest_local(self, session: str) -> int | None:
        found: int | None = self._one("SELECT max(local_seq) FROM commits WHERE session = ?", (session,))[0]
        return found

    def landed(self, after: int, limit: int) -> list[Landed]:
        commits: dict[int, tuple[CommitId, str, dict[Entity, None]]] = {}
        for seq, session, local_seq, branch, scope, id in self._rows(_LANDED, (after, limit)):
            _, _, entities = commits.setdefault(seq, (CommitId(session, local_seq), branch, {}))
            if id is not None:
                entities[Entity(self._space, scope, id)] = None
        return [Landed(seq, id, branch, tuple(entities)) for seq, (id, branch, entities) in commits.items()]

    def head(self, branch: str, entity: Entity) -> Head | None:
        row = self._one(_HEAD, (branch, entity.scope, entity.id))
        if row is None:
            return None
        number, seq, op_index, op, born, size, weight, patches, session, local_seq = row
        if session is None:
            raise CorruptRow(f"the head of {entity} in {self.file} names commit {seq}, which is not there")
        return Head(number, branch, entity, seq, op_index, op, born, size, weight, patches, CommitId(session, local_seq))

    def revisions(self, number: int, after: int, upto: int) -> Generator[RevisionRow, None, None]:
        yield from map(RevisionRow._make, self._rows(f"{_REVISION} BETWEEN ? AND ? ORDER BY place", (number, (after + 1) * PLACE, upto * PLACE + PLACE - 1)))

    def backwards(self, number: int, upto: int) -> Generator[RevisionRow, None, None]:
        yield from map(RevisionRow._make, self._rows(f"{_REVISION} <= ? ORDER BY place DESC", (number, upto * PLACE + PLACE - 1)))

    def snapshot(self, number: int, upto: int) -> SnapshotRow | None:
        row = self._one("SELECT number, seq, data FROM snapshots WHERE number = ? AND seq <= ? ORDER BY seq DESC LIMIT 1", (number, upto))
        return None if row is None else SnapshotRow._make(row)

    def branches(self) -> list[Branch]:
        return [Branch._make(row) for row in self._rows("SELECT name, parent, fork_seq, head_seq, status FROM branches")]

    def epoch(self, runtime: str) -> int:
        row = self._one("SELECT epoch FROM runtimes WHERE name = ?", (runtime,))
        return 0 if row is None else row[0]

    # writes
    def add_commits(self, rows: Sequence[CommitRow]) -> None:
        self._add(_ADD_COMMITS, rows)

    def add_revisions(self, rows: Sequence[RevisionRow]) -> None:
        self._add(_ADD_REVISIONS, [(seq * PLACE + op_index, number, op, data) for number, seq, op_index, op, data in rows])

    def put_heads(self, rows: Sequence[Head]) -> None:
        self._run_many(_PUT_HEAD, [(row[0], row[1], row[2][1], row[2][2], *row[3:10]) for row in rows])

    def add_snapshots(self, rows: Sequence[SnapshotRow], keep: int) -> None:
        self._run_many(_ADD_SNAPSHOT, rows)
        self._run_many(_TRIM_SNAPSHOTS, [(number, keep) for number in {row.number for row in rows}])

    def put_branch(self, row: Branch) -> None:
        self._run(_PUT_BRANCH, row)

    def set_epoch(self, runtime: str, epoch: int) -> None:
        self._run(_SET_EPOCH, (runtime, epoch))

    # connections
    def reader(self) -> SqliteTables:
        return SqliteTables(self.file, self._space, read_only=True)

    def close(self) -> None:
        self.connection.close()  # an open transaction is rolled back by that

    # statements
    def _run(self, statement: str, values: Sequence[Any] = ()) -> None:
        try:
            self.connection.execute(statement, values)
        except _ERRORS as error:
            self._fail(error)

    def _run_many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        try:
            self.connection.executemany(statement, rows)
        except _ERRORS as error:
            self._fail(error)

    def _add(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Many rows to a statement: a third of what they cost one by one goes into starting the statement."""
        if not rows:
            return
        row = f"({', '.join('?' * len(rows[0]))})"
        whole = len(rows) - len(rows) % ROWS
        if whole:
            together = f"{statement} {', '.join([row] * ROWS)}"
            for start in range(0, whole, ROWS):
                self._run(together, list(chain.from_iterable(rows[start : start + ROWS])))
        self._run_many(f"{statement} {row}", rows[whole:])

    def _one(self, statement: str, values: Sequence[Any] = ()) -> Any:
        try:
            return self.connection.execute(statement, values).fetchone()
        except _ERRORS as error:
            self._fail(error)

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        try:
            with closing(self.connection.execute(statement, values)) as cursor:
                yield from cursor
        except _ERRORS as error:
            self._fail(error)

    def _fail(self, error: sqlite3.Error | OverflowError) -> NoReturn:
        if isinstance(error, OverflowError):  # nothing that was checked is that large, so a row has said it
            raise CorruptRow(f"a row in {self.file} holds a number that no row can hold: {error}") from error
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        if name == "SQLITE_FULL":
            raise StorageFull(f"no room for {self.file}: {error}. Earlier commits stay readable; make room and send it again") from error
        if name.startswith("SQLITE_CORRUPT"):
            raise CorruptRow(f"{self.file} is damaged: {error}; restore it from a copy") from error
        if name == "SQLITE_NOTADB":
            raise StorageUnavailable(f"{self.file} is no database; name another folder, or move the file away") from error
        raise StorageUnavailable(f"{self.file} cannot be used: {error} ({name}). Earlier commits stay readable as long as the file is") from error


def _connect(file: Path, full_sync: bool, read_only: bool, still: bool) -> sqlite3.Connection:
    if not (read_only or still):
        make(file)
    uri = f"{file.absolute().as_uri()}?mode={'ro&immutable=1' if still else 'ro' if read_only else 'rwc'}"
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_MS / 1000, isolation_level=None, check_same_thread=False, cached_statements=64)
    try:
        if not (read_only or still):
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {'FULL' if full_sync else 'NORMAL'}")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA cache_size = -16000")
    except BaseException:
        connection.close()
        raise
    return connection
