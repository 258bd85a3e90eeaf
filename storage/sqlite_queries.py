"""The SQLite backend's statements for listing, garbage collection and the overlap queries; `sqlite` has those of the commit algorithm, and is the class that is used.

A path is kept as the bytes of its pointer: those of everything below it begin with it and a slash, so they are one range of the index.
"""
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..scheduler.errors import CorruptRow
from ..scheduler.model import CommitId, Entity, Path, Read, parse_pointer, pointer
from .schema import MAX_SEQ, PLACE
from .tables import Head, RevisionRow

_HEADS = """SELECT number, heads.branch, scope, id, heads.seq, op_index, op, born, size, weight, patches, session, local_seq
    FROM heads LEFT JOIN commits ON commits.seq = heads.seq WHERE heads.branch = ? AND"""
_CROWDED = f"{_HEADS} number > ? AND (SELECT 1 FROM revisions WHERE revisions.number = heads.number AND place < ? LIMIT 1 OFFSET 1) IS NOT NULL ORDER BY number LIMIT ?"
_BEFORE = "revisions WHERE number = ? AND place < ?"
_ADD_READ = "INSERT INTO reads (space, scope, id, path, deep, read_set) VALUES (?, ?, ?, ?, ?, ?)"
_READS = """SELECT owner, path, deep FROM reads CROSS JOIN readers ON readers.read_set = reads.read_set AND readers.branch = ?
    WHERE space = ? AND scope = ? AND id = ? AND path"""
_PUT_READER = """INSERT INTO readers (branch, owner, read_set) SELECT ?, ?, number FROM read_sets WHERE key = ?
    ON CONFLICT (branch, owner) DO UPDATE SET read_set = excluded.read_set"""
_ORPHANS = "FROM read_sets WHERE NOT EXISTS (SELECT 1 FROM readers WHERE read_set = read_sets.number)"


class SqliteQueries(ABC):
    """A part of `SqliteTables`, which says how statements are run."""

    _space: str

    @abstractmethod
    def _run(self, statement: str, values: Sequence[Any] = ()) -> None: ...

    @abstractmethod
    def _run_many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None: ...

    @abstractmethod
    def _one(self, statement: str, values: Sequence[Any] = ()) -> Any: ...

    @abstractmethod
    def _rows(self, statement: str, values: Sequence[Any] = ()) -> Iterator[Any]: ...

    # listing
    def heads(self, branch: str, scope: str, after: str | None, limit: int) -> list[Head]:
        rest = "scope = ? AND id >= ? ORDER BY id LIMIT ?" if after is None else "scope = ? AND id > ? ORDER BY id LIMIT ?"
        return [self._head(row) for row in self._rows(f"{_HEADS} {rest}", (branch, scope, after or "", limit))]

    def _head(self, row: Sequence[Any]) -> Head:
        number, branch, scope, id, *fields, session, local_seq = row
        if session is None:
            raise CorruptRow(f"the head of {Entity(self._space, scope, id)} names commit {fields[0]}, which is not there")
        return Head._make((number, branch, Entity(self._space, scope, id), *fields, CommitId(session, local_seq)))

    # collection
    def horizon(self) -> int:
        seq: int | None = self._one("SELECT max(seq) FROM horizon")[0]
        if seq is None or not 0 <= seq <= MAX_SEQ:
            raise CorruptRow(f"the row of table horizon, which says where history begins, holds {seq}: it is a sequence number")
        return seq

    def set_horizon(self, seq: int) -> None:
        self._run("UPDATE horizon SET seq = ?", (seq,))

    def crowded(self, branch: str, upto: int, after: int, limit: int) -> list[Head]:
        return [self._head(row) for row in self._rows(_CROWDED, (branch, after, (upto + 1) * PLACE, limit))]

    def rebase(self, row: RevisionRow) -> int:
        place = row.seq * PLACE + row.op_index
        gone: int = self._one(f"SELECT count(*) FROM {_BEFORE}", (row.number, place))[0]
        self._run(f"DELETE FROM {_BEFORE}", (row.number, place))
        self._run("UPDATE revisions SET op = ?, data = ? WHERE place = ?", (row.op, row.data, place))
        self._run("DELETE FROM snapshots WHERE number = ? AND seq <= ?", (row.number, row.seq))
        return gone

    # read sets
    def read_set_of(self, branch: str, owner: str) -> bytes | None:
        row = self._one("SELECT key FROM readers JOIN read_sets ON read_sets.number = readers.read_set WHERE branch = ? AND owner = ?", (branch, owner))
        return None if row is None else row[0]

    def has_read_set(self, key: bytes) -> bool:
        return self._one("SELECT 1 FROM read_sets WHERE key = ?", (key,)) is not None

    def reads_near(self, branch: str, entity: Entity, path: Path) -> list[tuple[str, Path, bool]]:
        at = [_encoded(path[:length]) for length in range(len(path) + 1)]
        statement = f"{_READS} IN ({', '.join('?' * len(at))}) UNION ALL {_READS} >= ? AND path < ?"
        found = self._rows(statement, (branch, *entity, *at, branch, *entity, at[-1] + b"/", at[-1] + b"0"))
        return [(owner, _decoded(data), bool(deep)) for owner, data, deep in found]

    def add_read_set(self, key: bytes, reads: Sequence[Read]) -> None:
        self._run("INSERT INTO read_sets (key) VALUES (?)", (key,))
        (number,) = self._one("SELECT number FROM read_sets WHERE key = ?", (key,))
        self._run_many(_ADD_READ, [(*read.entity, _encoded(read.path), int(read.deep), number) for read in reads])

    def put_reader(self, branch: str, owner: str, key: bytes | None) -> None:
        if key is None:
            self._run("DELETE FROM readers WHERE branch = ? AND owner = ?", (branch, owner))
        else:
            self._run(_PUT_READER, (branch, owner, key))

    def drop_read_sets(self) -> int:
        gone: int = self._one(f"SELECT count(*) {_ORPHANS}")[0]
        if gone:
            self._run(f"DELETE FROM reads WHERE read_set IN (SELECT number {_ORPHANS})")
            self._run(f"DELETE {_ORPHANS}")
        return gone


def _encoded(path: Path) -> bytes:
    return pointer(path).encode("utf-8", "surrogatepass")


def _decoded(data: bytes) -> Path:
    try:
        return parse_pointer(data.decode("utf-8", "surrogatepass"))
    except ValueError as error:
        raise CorruptRow(f"a stored read names no path: {error}") from None
