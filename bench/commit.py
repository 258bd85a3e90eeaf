"""What a commit costs.

- `group100`: commits a second through the engine on SQLite, a hundred in a group, beside raw sqlite3 inserting the same bytes, that is rows like those of the engine's log into
  tables with the same keys, a hundred to a transaction. `group100-payload` is measured beside the documents' bytes alone, in one table without an index.
- `leaf-1MB`: one leaf of a document of 10,000 records, written by a transaction, taken by the replica (layer, change records, log) and decided by the engine (memory), beside
  the same in a document of 10 records. Verdicts and frames are delivered within the measured time.
Every value really changes, since SQLite skips the write of an identical row.
"""
from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from itertools import count
from time import perf_counter
from typing import NamedTuple

from weft.bench.runner import Result, interleaved
from weft.scheduler.model import CommitId, Entity, Path
from weft.scheduler.values import Value, freeze
from weft.storage.commit import Accepted, Commit, Provenance, Set
from weft.storage.desks import Desks
from weft.storage.engine import Engine, open_engine
from weft.storage.replica import Replica
from weft.storage.transaction import Transaction
from weft.wire.codec import VALUES

GROUP = 100
DOCUMENTS = 50


def run(quick: bool = False) -> Iterator[Result]:
    yield from _group100(rounds=3 if quick else 15, groups=3 if quick else 10)
    yield from _leaf(rounds=3 if quick else 15, writes=20 if quick else 200)


def _group100(rounds: int, groups: int) -> Iterator[Result]:
    numbers = count(1)
    for case, tables in (("group100", _LOG), ("group100-payload", _PAYLOAD)):
        with tempfile.TemporaryDirectory() as folder:
            engine = open_engine(f"sqlite:{folder}/weft", "main", runtime="bench", codec=VALUES)
            raw = _Raw(f"{folder}/raw.db", tables)
            value, against = interleaved(partial(_ours, engine, numbers, groups), partial(_theirs, raw, numbers, groups), rounds, rate=True)
            engine.close()
            raw.close()
        yield Result("commit", case, "commits/s", value, raw.name, against)


def _ours(engine: Engine, numbers: Iterator[int], groups: int) -> float:
    batches = [[_commit(next(numbers)) for _ in range(GROUP)] for _ in range(groups)]
    start = perf_counter()
    verdicts = [engine.apply(batch) for batch in batches]
    elapsed = perf_counter() - start
    if not all(isinstance(verdict, Accepted) for group in verdicts for verdict in group):
        raise AssertionError("a commit was refused")
    return groups * GROUP / elapsed


def _theirs(raw: _Raw, numbers: Iterator[int], groups: int) -> float:
    batches = [raw.rows([next(numbers) for _ in range(GROUP)]) for _ in range(groups)]
    start = perf_counter()
    for batch in batches:
        raw.insert(batch)
    return groups * GROUP / (perf_counter() - start)


class _Table(NamedTuple):
    create: str
    insert: str
    row: Callable[[int, bytes], tuple[object, ...]]


_LOG = (
    _Table(
        "CREATE TABLE commits (seq INTEGER PRIMARY KEY, session TEXT, local_seq INTEGER, digest BLOB, node TEXT, run INTEGER, at REAL, UNIQUE (session, local_seq))",
        "INSERT INTO commits VALUES (?, ?, ?, ?, ?, ?, ?)",
        lambda n, data: (n, "bench:1", n, sha256(data).digest(), "bench:node", n, n / 7),
    ),
    _Table(
        "CREATE TABLE revisions (place INTEGER PRIMARY KEY, number INTEGER, op TEXT, data BLOB, UNIQUE (number, place))",
        "INSERT INTO revisions VALUES (?, ?, ?, ?)",
        lambda n, data: (n, n % DOCUMENTS, "set", data),
    ),
    _Table(
        "CREATE TABLE heads (number INTEGER PRIMARY KEY, id TEXT UNIQUE, seq INTEGER, op TEXT)",
        "INSERT INTO heads VALUES (?, ?, ?, ?) ON CONFLICT (number) DO UPDATE SET seq = excluded.seq",
        lambda n, data: (n % DOCUMENTS, f"order-{n % DOCUMENTS}", n, "set"),
    ),
)
_PAYLOAD = (_Table("CREATE TABLE rows (seq INTEGER PRIMARY KEY, data BLOB)", "INSERT INTO rows VALUES (?, ?)", lambda n, data: (n, data)),)


class _Raw:
    """Plain SQLite, with the engine's durability."""

    def __init__(self, path: str, tables: tuple[_Table, ...]) -> None:
        self.name = "raw sqlite3, same rows" if len(tables) > 1 else "raw sqlite3, documents only"
        self._tables = tables
        self._connection = sqlite3.connect(path, isolation_level=None)
        for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL", *(table.create for table in tables)):
            self._connection.execute(statement)

    def rows(self, numbers: list[int]) -> list[list[tuple[object, ...]]]:
        encoded = [(n, VALUES.encode(_document(n))) for n in numbers]
        return [[table.row(n, data) for n, data in encoded] for table in self._tables]

    def insert(self, rows: list[list[tuple[object, ...]]]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        for table, batch in zip(self._tables, rows, strict=True):
            self._connection.executemany(table.insert, batch)
        self._connection.execute("COMMIT")

    def close(self) -> None:
        self._connection.close()


def _document(n: int) -> Value:
    """An order of five lines, about 400 bytes."""
    lines = [{"sku": f"SKU-{n + line:08d}", "name": f"article {line}", "quantity": line + 1, "price": (n + line) * 1.25} for line in range(5)]
    return freeze({"value": {"customer": f"customer {n}", "status": "open", "lines": lines, "total": n * 6.25}})


def _commit(n: int) -> Commit:
    entity = Entity("main", "space", f"order-{n % DOCUMENTS}")
    return Commit(CommitId("bench:1", n), (Set(entity, _document(n)),), provenance=Provenance(node="bench:node", run=n))


def _leaf(rounds: int, writes: int) -> Iterator[Result]:
    large, close_large = _writer(10_000, writes)
    small, close_small = _writer(10, writes)
    value, against = interleaved(large, small, rounds)
    close_large()
    close_small()
    yield Result("commit", "leaf-1MB", "µs", value, "10 records", against)


def _writer(records: int, writes: int) -> tuple[Callable[[], float], Callable[[], None]]:
    desks = Desks(lambda space: open_engine("memory:", space, runtime="bench", codec=VALUES), report=_raise)
    replica = Replica(desks.connect, epoch=1)
    entity = Entity("main", "space", "table")
    numbers = count(1)
    rows = {f"r{i}": {"name": f"record {i}", "price": i, "text": "x" * 60} for i in range(records)}
    _write(replica, entity, ("value",), rows)
    desks.pump()

    def measure() -> float:
        start = perf_counter()
        for _ in range(writes):
            n = next(numbers)
            _write(replica, entity, ("value", f"r{n % records}", "price"), -n)
            desks.pump()
        return (perf_counter() - start) / writes * 1e6

    def close() -> None:
        if replica.pending():
            raise AssertionError("a commit was not settled")
        desks.close()

    return measure, close


def _raise(error: Exception) -> None:
    raise error


def _write(replica: Replica, entity: Entity, path: Path, value: Value) -> None:
    transaction = Transaction(replica, "main")
    transaction.set(entity, path, value)
    for proposal in transaction.finish():
        replica.commit(proposal)
