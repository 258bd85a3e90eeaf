"""The memory backend: the tables of a space in dictionaries, with real transactions.

`Space` is the data, shared by every connection to it; `MemoryTables` is one connection. A write transaction holds the space's lock from beginning to end and notes how to undo
each write; rolling back undoes them, last first. Nothing outlives the process.
"""
from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from heapq import nsmallest
from threading import RLock
from typing import TypeAlias, TypeVar

from ..scheduler.errors import StorageUnavailable
from ..scheduler.model import CommitId, Entity, Path, Read
from .tables import ACTIVE, Branch, CommitRow, Head, Landed, RevisionRow, SnapshotRow

K = TypeVar("K")
V = TypeVar("V")


_Place: TypeAlias = tuple[Entity, Path, bool]  # True: at this very path; False: below it
_Interned: TypeAlias = tuple[bytes, Path, bool]  # a read of a read set: its path and depth


class Space:
    """The tables. `commits` is in order of seq; revisions and snapshots are by document number, in order of seq."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.version = 0  # committed transactions
        self.commits: dict[int, CommitRow] = {}
        self.seqs: dict[CommitId, int] = {}
        self.locals: dict[str, int] = {}
        self.writes: dict[int, list[int]] = {}  # seq -> numbers of the documents it wrote, in operation order
        self.revisions: dict[int, list[RevisionRow]] = {}
        self.snapshots: dict[int, list[SnapshotRow]] = {}
        self.heads: dict[tuple[str, Entity], Head] = {}
        self.documents: dict[int, tuple[str, Entity]] = {}
        self.branches: dict[str, Branch] = {"": Branch("", None, 0, 0, ACTIVE)}
        self.epochs: dict[str, int] = {}
        self.horizon: dict[None, int] = {}  # one value, under None, once there is one
        self.read_sets: dict[bytes, tuple[Read, ...]] = {}
        self.reads: dict[_Place, dict[_Interned, None]] = {}  # the reads at a path, and those below it
        self.readers: dict[tuple[str, str], bytes] = {}  # (branch, owner) -> read set
        self.owners: dict[bytes, dict[tuple[str, str], None]] = {}  # the same, the other way round


class MemoryTables:
    """One connection to a space."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self._undo: list[Callable[[], object]] | None = None  # of the write transaction that is open
        self._seen = space.version
        self._closed = False

    # transactions
    def begin(self) -> None:
        if self._closed:
            raise StorageUnavailable("this connection to the memory store is closed")
        self.space.lock.acquire()
        self._undo = []

    def commit(self) -> None:
        if self._undo:
            self.space.version += 1
            if self._seen == self.space.version - 1:
                self._seen += 1  # nobody else has committed in between, so there is nothing to look at
        self._undo = None
        self.space.lock.release()

    def rollback(self) -> None:
        if self._undo is not None:
            for step in reversed(self._undo):
                step()
            self._undo = None
            self.space.lock.release()

    @contextmanager
    def reading(self) -> Iterator[None]:
        if self._closed:
            raise StorageUnavailable("this connection to the memory store is closed")
        with self.space.lock:
            yield

    def changed(self) -> bool:
        seen, self._seen = self._seen, self.space.version
        return seen != self._seen

    # for whoever writes rows directly, holding the space's lock
    @property
    def busy(self) -> bool:
        """A write transaction is open."""
        return self._undo is not None

    @property
    def behind(self) -> bool:
        """Another connection has committed, and `changed` was not asked since."""
        return self._seen != self.space.version or self._closed

    def landed_directly(self) -> None:
        self.space.version += 1
        self._seen += 1

    # lookups
    def newest(self) -> tuple[int, int]:
        return len(self.space.commits), len(self.space.documents)

    def commit_row(self, seq: int) -> CommitRow | None:
        return self.space.commits.get(seq)

    def commit_of(self, id: CommitId) -> CommitRow | None:
        seq = self.space.seqs.get(id)
        return None if seq is None else self.space.commits[seq]

    def newest_local(self, session: str) -> int | None:
        return self.space.locals.get(session)

    def landed(self, after: int, limit: int) -> list[Landed]:
        space = self.space
        with space.lock:
            rows = [space.commits[seq] for seq in range(after + 1, min(after + limit, len(space.commits)) + 1)]
            return [Landed(row.seq, row.id, row.branch, tuple(dict.fromkeys(space.documents[number][1] for number in space.writes[row.seq]))) for row in rows]

    def head(self, branch: str, entity: Entity) -> Head | None:
        return self.space.heads.get((branch, entity))

    def revisions(self, number: int, after: int, upto: int) -> Generator[RevisionRow, None, None]:
        rows = self.space.revisions.get(number, [])
        yield from rows[bisect_right(rows, after, key=_seq) : bisect_right(rows, upto, key=_seq)]

    def backwards(self, number: int, upto: int) -> Generator[RevisionRow, None, None]:
        rows = self.space.revisions.get(number, [])
        for index in range(bisect_right(rows, upto, key=_seq) - 1, -1, -1):
            yield rows[index]

    def snapshot(self, number: int, upto: int) -> SnapshotRow | None:
        rows = self.space.snapshots.get(number, [])
        index = bisect_right(rows, upto, key=_seq)
        return rows[index - 1] if index else None

    def branches(self) -> list[Branch]:
        return list(self.space.branches.values())

    def epoch(self, runtime: str) -> int:
        return self.space.epochs.get(runtime, 0)

    def heads(self, branch: str, scope: str, after: str | None, limit: int) -> list[Head]:
        rows = [row for (name, entity), row in self.space.heads.items() if name == branch and entity.scope == scope and (after is None or entity.id > after)]
        return nsmallest(limit, rows, key=lambda row: row.entity.id)

    def horizon(self) -> int:
        return self.space.horizon.get(None, 0)

    def crowded(self, branch: str, upto: int, after: int, limit: int) -> list[Head]:
        several = (number for number, rows in self.space.revisions.items() if number > after and len(rows) > 1 and rows[1].seq <= upto)
        return [self.space.heads[self.space.documents[number]] for number in nsmallest(limit, (number for number in several if self.space.documents[number][0] == branch))]

    def read_set_of(self, branch: str, owner: str) -> bytes | None:
        return self.space.readers.get((branch, owner))

    def has_read_set(self, key: bytes) -> bool:
        return key in self.space.read_sets

    def reads_near(self, branch: str, entity: Entity, path: Path) -> list[tuple[str, Path, bool]]:
        space = self.space
        places = [(entity, path, False), *((entity, path[:length], True) for length in range(len(path) + 1))]
        near = (read for place in places for read in space.reads.get(place, ()))
        return [(owner, at, deep) for key, at, deep in near for name, owner in space.owners.get(key, ()) if name == branch]

    # writes
    def add_commits(self, rows: Sequence[CommitRow]) -> None:
        space = self.space
        for row in rows:
            self._put(space.commits, row.seq, row)
            self._put(space.seqs, row.id, row.seq)
            self._put(space.writes, row.seq, [])
            if row.local_seq > space.locals.get(row.session, -1):
                self._put(space.locals, row.session, row.local_seq)

    def add_revisions(self, rows: Sequence[RevisionRow]) -> None:
        for row in rows:
            self._add(self.space.revisions, row.number, row)
            self._add(self.space.writes, row.seq, row.number)

    def put_heads(self, rows: Sequence[Head]) -> None:
        for row in rows:
            self._put(self.space.heads, (row.branch, row.entity), row)
            self._put(self.space.documents, row.number, (row.branch, row.entity))

    def add_snapshots(self, rows: Sequence[SnapshotRow], keep: int) -> None:
        for row in rows:
            kept = [*self.space.snapshots.get(row.number, []), row]
            kept.sort(key=_seq)
            self._put(self.space.snapshots, row.number, kept[-keep:])

    def put_branch(self, row: Branch) -> None:
        self._put(self.space.branches, row.name, row)

    def set_epoch(self, runtime: str, epoch: int) -> None:
        self._put(self.space.epochs, runtime, epoch)

    def set_horizon(self, seq: int) -> None:
        self._put(self.space.horizon, None, seq)

    def rebase(self, row: RevisionRow) -> int:
        space = self.space
        rows = space.revisions[row.number]
        index = next(index for index, other in enumerate(rows) if other[:3] == row[:3])
        self._put(space.revisions, row.number, [row, *rows[index + 1 :]])
        for gone in {other.seq for other in rows[:index]} - {row.seq}:
            self._put(space.writes, gone, [number for number in space.writes[gone] if number != row.number])
        self._put(space.snapshots, row.number, [snapshot for snapshot in space.snapshots.get(row.number, ()) if snapshot.seq > row.seq])
        return index

    def add_read_set(self, key: bytes, reads: Sequence[Read]) -> None:
        self._put(self.space.read_sets, key, tuple(reads))
        for place, read in _places(key, reads):
            self._put(self.space.reads.setdefault(place, {}), read, None)

    def put_reader(self, branch: str, owner: str, key: bytes | None) -> None:
        space, reader = self.space, (branch, owner)
        if reader in space.readers:
            self._drop(space.owners[space.readers[reader]], reader)
            self._drop(space.readers, reader)
        if key is not None:
            self._put(space.readers, reader, key)
            self._put(space.owners.setdefault(key, {}), reader, None)

    def drop_read_sets(self) -> int:
        space = self.space
        gone = [key for key in space.read_sets if not space.owners.get(key)]
        for key in gone:
            for place, read in _places(key, space.read_sets[key]):
                self._drop(space.reads[place], read)
                if not space.reads[place]:
                    self._drop(space.reads, place)
            self._drop(space.read_sets, key)
        return len(gone)

    def _drop(self, table: dict[K, V], key: K) -> None:
        self._writing().append(partial(table.__setitem__, key, table[key]))
        del table[key]

    def _put(self, table: dict[K, V], key: K, value: V) -> None:
        undo = self._writing()
        if key in table:
            undo.append(partial(table.__setitem__, key, table[key]))
        else:
            undo.append(partial(table.__delitem__, key))
        table[key] = value

    def _add(self, table: dict[K, list[V]], key: K, value: V) -> None:
        undo = self._writing()
        if key not in table:
            table[key] = []
            undo.append(partial(table.__delitem__, key))
        table[key].append(value)
        undo.append(table[key].pop)

    def _writing(self) -> list[Callable[[], object]]:
        if self._undo is None:
            raise StorageUnavailable("nothing is written outside a transaction")
        return self._undo

    # connections
    def reader(self) -> MemoryTables:
        return MemoryTables(self.space)

    def close(self) -> None:
        self.rollback()
        self._closed = True


def _seq(row: RevisionRow | SnapshotRow) -> int:
    return row.seq


def _places(key: bytes, reads: Sequence[Read]) -> Iterator[tuple[_Place, _Interned]]:
    for entity, path, deep in reads:
        yield (entity, path, True), (key, path, deep)
        for length in range(len(path)):
            yield (entity, path[:length], False), (key, path, deep)
