"""Groups of commits and a world that fails: one bad commit or one full disk takes nothing else with it."""
from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from harness.engines import BACKENDS, Author, Rig, accepted, confirmed, doc, patch, put, replace, rig_on, value
from weft.scheduler.errors import StorageFull, StorageUnavailable
from weft.scheduler.model import Entity
from weft.scheduler.rejection import Fate
from weft.scheduler.values import MISSING
from weft.storage.commit import Accepted, Rejected
from weft.storage.engine import Engine, open_engine
from weft.storage.faults import POINTS, Faults
from weft.storage.patch import Append, Increment
from weft.storage.sqlite import SqliteTables
from weft.wire.codec import VALUES

D = doc("d")


@pytest.fixture(params=BACKENDS)
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rig]:
    with rig_on(request.param, tmp_path) as made:
        yield made


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Rig]:
    with rig_on("sqlite", tmp_path) as made:
        yield made


class Broken(BaseException):
    """As when the process ends there: nothing in the engine may hold it up."""


class BreaksAt(Faults):
    """Raises at one point, once it is armed, and then no more."""

    def __init__(self) -> None:
        self.armed: str | None = None
        self.error: BaseException = Broken()

    def point(self, name: str) -> None:
        if name == self.armed:
            self.armed = None
            raise self.error


class Counting(Faults):
    """Counts how often a transaction was asked for."""

    def __init__(self) -> None:
        self.begun = 0

    def point(self, name: str) -> None:
        self.begun += name == "before-begin"


def test_verdicts_come_in_order_each_with_its_own_sequence_number(rig: Rig) -> None:
    engine = rig.open()
    author, other = Author(engine), Author(engine, "other")
    author.commit(put(D, 0))
    commits = [author.draft(replace(D, "/value", n)) for n in range(3)]
    commits.insert(1, other.draft(put(D, 9), confirmed=[confirmed(D, "/value", 0)]))
    commits.insert(3, other.draft())
    verdicts = engine.apply(commits)
    assert [verdict.id for verdict in verdicts] == [commit.id for commit in commits]
    assert [verdict.seq if isinstance(verdict, Accepted) else verdict.rejection.name for verdict in verdicts] == [2, "ConflictError", 3, "ProtocolError", 4]
    assert [verdict.head for verdict in verdicts if isinstance(verdict, Rejected)] == [2, 3]
    assert (value(engine, D), value(rig.open("x"), D), engine.head()) == (2, 2, 4)
    assert engine.apply([]) == []


@pytest.mark.parametrize("point", POINTS)
def test_after_a_failure_at_any_point_everything_or_nothing_is_there(rig: Rig, point: str) -> None:
    faults = BreaksAt()
    engine = rig.open(faults=faults, snapshot_interval=1)
    author = Author(engine)
    author.commit(put(D, []))
    faults.armed = point
    group = [author.draft(patch(D, Append(("value",), (n,)))) for n in range(3)]
    with pytest.raises(Broken):
        engine.apply(group)
    durable = point in ("after-commit", "after-publish")
    other = Author(engine, "other")
    assert other.commit(patch(D, Append(("value",), ("new",)))).seq == (5 if durable else 2)  # the number that was rolled back is given again, to something else
    verdicts = engine.apply(group)
    assert [isinstance(verdict, Accepted) and verdict.replayed for verdict in verdicts] == [durable] * 3
    expected = [0, 1, 2, "new"] if durable else ["new", 0, 1, 2]
    assert value(engine, D) == value(rig.open("cold"), D) == expected
    assert [value(engine, D, at=at) for at in range(1, 6)] == [expected[:n] for n in range(5)]


def test_a_failed_open_can_be_tried_again(rig: Rig) -> None:
    Author(rig.open()).commit(put(D, 1))
    faults = BreaksAt()
    faults.armed = "after-epoch"
    with pytest.raises(Broken):
        rig.open("second", faults=faults)
    engine = rig.open("second", faults=faults)
    assert (engine.epoch, value(engine, D)) == (1, 1)


def test_when_the_backend_fails_a_group_its_commits_are_tried_one_by_one(rig: Rig) -> None:
    faults = BreaksAt()
    faults.error = StorageUnavailable("disk I/O error")
    engine = rig.open(faults=faults)
    author = Author(engine)
    author.commit(put(D, 0))
    faults.armed = "after-revisions"
    verdicts = engine.apply([author.draft(patch(D, Increment(("value",), 1))) for _ in range(3)])
    assert [verdict.seq for verdict in verdicts if isinstance(verdict, Accepted)] == [2, 3, 4]
    faults.armed = "before-commit"
    error = author.refused(put(D, 9))
    assert isinstance(error, StorageUnavailable)
    assert "disk I/O error" in str(error)
    assert (value(engine, D), value(rig.open("cold"), D)) == (3, 3)


def test_a_group_that_is_not_let_in_is_refused_at_once(disk: Rig) -> None:
    faults = Counting()
    engine = disk.open(faults=faults)
    author = Author(engine)
    author.commit(put(D, 0))
    assert isinstance(engine.tables, SqliteTables)
    engine.tables.connection.execute("PRAGMA busy_timeout = 1")
    group = [author.draft(put(D, n)) for n in range(3)]
    with closing(sqlite3.connect(disk.file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        faults.begun = 0
        verdicts = engine.apply(group)
        assert [(verdict.id, verdict.rejection.name) for verdict in verdicts if isinstance(verdict, Rejected)] == [(commit.id, "StorageUnavailable") for commit in group]
        assert faults.begun == 1  # nobody waits for the lock once for each commit
    assert [verdict.seq for verdict in engine.apply(group) if isinstance(verdict, Accepted)] == [2, 3, 4]


def test_when_the_store_closes_its_door_in_between_the_rest_of_the_group_is_refused_at_once(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    faults = BreaksAt()
    faults.error = StorageUnavailable("disk I/O error")
    engine = rig.open(faults=faults)
    author = Author(engine)
    author.commit(put(D, 0))
    begin, begun = engine.tables.begin, []

    def locked() -> None:
        begun.append(1)
        if len(begun) > 2:
            raise StorageUnavailable("locked")
        begin()

    monkeypatch.setattr(engine.tables, "begin", locked)
    faults.armed = "after-revisions"
    first, *rest = engine.apply([author.draft(put(D, n)) for n in range(4)])
    assert isinstance(first, Accepted)
    assert [verdict.rejection.message for verdict in rest if isinstance(verdict, Rejected)] == ["locked"] * 3
    assert len(begun) == 3


def limit_pages(engine: Engine, pages: int | None) -> None:
    assert isinstance(engine.tables, SqliteTables)
    connection = engine.tables.connection
    most = 2**30 if pages is None else connection.execute("PRAGMA page_count").fetchone()[0] + pages
    connection.execute(f"PRAGMA max_page_count = {most}")


def test_a_full_disk_refuses_what_does_not_fit_keeps_what_is_there_and_takes_more_when_there_is_room(disk: Rig) -> None:
    engine = disk.open()
    author = Author(engine)
    author.commit(put(D, 0))
    limit_pages(engine, 4)
    commits = [author.draft(put(doc("small"), 1)), author.draft(put(doc("large"), "x" * 200_000)), author.draft(replace(D, "/value", 1))]
    small, large, last = engine.apply(commits)
    assert isinstance(small, Accepted)
    assert isinstance(last, Accepted)
    assert isinstance(large, Rejected)
    assert (large.rejection.name, large.rejection.fate) == ("StorageFull", Fate.TRANSIENT)
    assert isinstance(large.rejection.error(), StorageFull)
    assert "database or disk is full" in large.rejection.message
    assert str(disk.file) in large.rejection.message
    for reader in (engine, engine.reader()):
        assert [reader.read(entity).document for entity in (doc("small"), doc("large"), D)] == [{"value": 1}, MISSING, {"value": 1}]
    limit_pages(engine, None)
    assert accepted(engine, commits[1]).seq == 4
    assert value(disk.open("cold"), doc("large")) == "x" * 200_000


def test_a_read_only_database_refuses_commits_and_is_read(disk: Rig) -> None:
    engine = disk.open()
    author = Author(engine)
    author.commit(put(D, 0))
    assert isinstance(engine.tables, SqliteTables)
    engine.tables.connection.execute("PRAGMA query_only = ON")
    for verdict in engine.apply([author.draft(put(D, n)) for n in range(2)]):
        assert isinstance(verdict, Rejected)
        assert verdict.rejection.name == "StorageUnavailable"
        assert "readonly database" in verdict.rejection.message
    with pytest.raises(StorageUnavailable, match="readonly database"):
        engine.fork("feature")
    assert value(engine, D) == 0
    engine.tables.connection.execute("PRAGMA query_only = OFF")
    assert author.commit(put(D, 3)).seq == 2


READ_ONLY = """
import os, sys
from weft.storage.commit import Commit, Set
from weft.storage.engine import open_engine
from weft.storage.sqlite import SqliteTables
from weft.scheduler.model import CommitId, Entity
from weft.wire.codec import VALUES
os.geteuid() or os.setresuid(65534, 65534, 65534)  # root may write everything: become somebody else
engine, document = open_engine(sys.argv[1], "main", runtime="other", codec=VALUES), Entity("main", "space", "d")
(verdict,) = engine.apply([Commit(CommitId("t", 1), (Set(document, {"value": 1}),))])
print(engine.read(document).document, engine.epoch, verdict.rejection.name)
"""


def test_a_store_that_may_not_be_written_is_opened_and_read() -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        with closing(open_engine(f"sqlite:{folder}", "main", runtime="own", codec=VALUES)) as engine:
            Author(engine).commit(put(Entity("main", "space", "d"), 0))
            for path in folder.iterdir():
                path.chmod(0o444)
            told = subprocess.run([sys.executable, "-c", READ_ONLY, f"sqlite:{folder}"], capture_output=True, text=True, check=False)
    assert told.stdout == "{'value': 0} 0 StorageUnavailable\n", told.stderr


def test_a_store_that_cannot_be_written_at_first_is_read_and_gets_its_epoch_with_the_first_commit(disk: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    Author(disk.open()).commit(put(D, 0))
    begin = SqliteTables.begin

    def refuse(self: SqliteTables) -> None:
        raise StorageUnavailable("attempt to write a readonly database")

    monkeypatch.setattr(SqliteTables, "begin", refuse)
    engine = disk.open("other")
    assert (engine.epoch, value(engine, D), engine.head()) == (0, 0, 1)
    author = Author(engine, "t")
    assert isinstance(author.refused(put(D, 1)), StorageUnavailable)
    monkeypatch.setattr(SqliteTables, "begin", begin)
    assert author.commit(put(D, 2)).seq == 2
    assert engine.epoch == 1


def test_a_writer_that_holds_the_lock_too_long_is_named_as_the_reason(disk: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = disk.open()
    author = Author(engine)
    author.commit(put(D, 0))
    assert isinstance(engine.tables, SqliteTables)
    engine.tables.connection.execute("PRAGMA busy_timeout = 1")
    with closing(sqlite3.connect(disk.file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        error = author.refused(put(D, 1))
        assert isinstance(error, StorageUnavailable)
        assert "database is locked" in str(error)
        assert value(engine, D) == 0
        other.execute("ROLLBACK")
    assert author.commit(put(D, 2)).seq == 2


def test_a_closed_engine_says_so(rig: Rig) -> None:
    engine = rig.open()
    engine.close()
    error = Author(engine).draft(put(D, 1))
    (verdict,) = engine.apply([error])
    assert isinstance(verdict, Rejected)
    assert verdict.rejection.name == "StorageUnavailable"
    assert "closed" in verdict.rejection.message


@pytest.mark.parametrize("point", POINTS)
def test_after_a_failure_at_any_point_others_see_everything_or_nothing(rig: Rig, point: str) -> None:
    faults = BreaksAt()
    engine = rig.open(faults=faults)
    author = Author(engine)
    author.commit(put(D, []))
    faults.armed = point
    with pytest.raises(Broken):
        engine.apply([author.draft(patch(D, Append(("value",), (n,)))) for n in range(3)])
    assert value(rig.open("beside"), D) == ([0, 1, 2] if point in ("after-commit", "after-publish") else [])
