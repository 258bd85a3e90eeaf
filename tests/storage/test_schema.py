"""Schema versions: older databases are migrated, newer and foreign ones refused."""
from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from harness.engines import Author, Rig, confirmed, doc, patch, put, replace, rig_on, value
from weft.scheduler.errors import ConflictError, CorruptRow, NewerSchema, PreconditionFailedError, StorageUnavailable
from weft.scheduler.values import freeze
from weft.storage import schema
from weft.storage.commit import EntityAbsent
from weft.storage.engine import open_engine
from weft.storage.patch import Append
from weft.storage.schema import APPLICATION, PLACE, STEPS, VERSION
from weft.storage.sqlite import SqliteTables
from weft.wire.codec import VALUES


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    (tmp_path / "store").mkdir()
    with rig_on("sqlite", tmp_path) as made:
        yield made


def version_1(file: Path) -> None:
    """A database as version 1 left it: two documents, one of them patched, on two branches."""
    with closing(sqlite3.connect(file)) as connection, connection:
        for statement in STEPS[0]:
            connection.execute(statement)
        connection.execute("INSERT INTO space VALUES ('main')")
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute("PRAGMA user_version = 1")
        for seq, branch in ((1, ""), (2, ""), (3, "feature")):
            connection.execute("INSERT INTO commits VALUES (?, ?, 'old', ?, x'00', NULL, NULL, 0, NULL, NULL, 1.5)", (seq, branch, seq))
        rows = [(1, 1, "set", {"value": {"n": 1}}), (2, 1, "patch", [["replace", ["value", "n"], 2]]), (3, 2, "set", {"value": "f"})]
        for seq, number, op, data in rows:
            connection.execute("INSERT INTO revisions VALUES (?, ?, ?, ?)", (seq * PLACE, number, op, VALUES.encode(freeze(data))))
        connection.execute("INSERT INTO heads VALUES (1, '', 'space', 'd', 2, 0, 'patch'), (2, 'feature', 'space', 'e', 3, 0, 'set')")
        connection.execute("INSERT INTO branches VALUES ('feature', '', 1, 3, 'active')")
        connection.execute("UPDATE branches SET head_seq = 2 WHERE name = ''")
        connection.execute("INSERT INTO runtimes VALUES ('test', 7)")


def test_a_database_of_version_1_is_migrated_with_what_it_holds(rig: Rig) -> None:
    version_1(rig.file)
    engine = rig.open()
    assert rig.sql("PRAGMA user_version") == [(VERSION,)]
    assert (engine.head(), engine.epoch) == (3, 8)
    assert (value(engine, doc("d")), value(engine, doc("d"), at=1), value(engine, doc("e"), "feature")) == ({"n": 2}, {"n": 1}, "f")
    assert [(branch.name, branch.fork_seq) for branch in engine.branches()] == [("", 0), ("feature", 1)]
    head = engine.tables.head("", doc("d"))
    assert head is not None
    assert head.born == 1  # what version 2 adds, and what a fork asks
    author = Author(engine)
    assert isinstance(author.refused(put(doc("d"), 1), preconditions=[EntityAbsent(doc("d"))], branch="feature"), PreconditionFailedError)
    assert isinstance(author.refused(put(doc("x"), 1), confirmed=[confirmed(doc("d"), "/value/n", 1)]), ConflictError)
    assert author.commit(replace(doc("d"), "/value/n", 3)).seq == 4
    assert value(rig.open("cold"), doc("d")) == {"n": 3}


def test_a_migrated_database_has_the_schema_of_a_new_one(rig: Rig, tmp_path: Path) -> None:
    version_1(rig.file)
    rig.open()
    with rig_on("sqlite", tmp_path / "new") as new:
        new.open()
        query = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name"
        assert rig.sql(query) == new.sql(query)


def test_a_migration_that_fails_leaves_the_database_as_it_was(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    version_1(rig.file)
    before = rig.sql("SELECT name, sql FROM sqlite_schema ORDER BY name")
    monkeypatch.setattr(schema, "STEPS", (*STEPS[:-1], (*STEPS[-1], "INSERT INTO nowhere VALUES (1)")))
    with pytest.raises(StorageUnavailable, match="no such table: nowhere"):
        rig.open()
    assert rig.sql("SELECT name, sql FROM sqlite_schema ORDER BY name") == before
    assert rig.sql("PRAGMA user_version") == [(1,)]
    monkeypatch.undo()
    assert value(rig.open(), doc("d")) == {"n": 2}


def test_a_database_of_a_newer_version_is_refused_and_not_touched(rig: Rig) -> None:
    author = Author(rig.open())
    author.commit(put(doc("d"), 1))
    rig.close()
    rig.sql(f"PRAGMA user_version = {VERSION + 1}")
    before = rig.file.read_bytes()
    with pytest.raises(NewerSchema, match=rf"written by a newer weft \(schema {VERSION + 1}, this one knows up to {VERSION}\)"):
        rig.open("other")
    assert rig.file.read_bytes() == before


def test_a_foreign_database_or_file_is_refused_and_not_touched(rig: Rig) -> None:
    rig.sql("CREATE TABLE mine (a)")
    with pytest.raises(StorageUnavailable, match="is a database, but not one of weft's"):
        rig.open()
    rig.sql("PRAGMA user_version = 2")
    with pytest.raises(StorageUnavailable, match="is a database, but not one of weft's"):
        rig.open()
    rig.file.write_bytes(b"these are my notes, and no database at all, however long they may be" * 20)
    with pytest.raises(StorageUnavailable, match="is no database"):
        rig.open()
    assert rig.file.read_bytes().startswith(b"these are my notes")


def test_a_file_that_was_renamed_is_not_taken_for_another_space(rig: Rig) -> None:
    Author(rig.open()).commit(put(doc("d"), 1))
    rig.close()
    rig.sql("UPDATE space SET name = 'elsewhere'")
    with pytest.raises(CorruptRow, match=r"holds space \['elsewhere'\], and 'main' was asked for"):
        rig.open("other")


def test_a_damaged_file_is_refused_by_name(rig: Rig) -> None:
    author = Author(rig.open())
    for n in range(50):
        author.commit(put(doc(f"d{n}"), "x" * 500))
    rig.close()
    rig.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    size = rig.file.stat().st_size
    with rig.file.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    with pytest.raises((CorruptRow, StorageUnavailable), match=r"main\.db"):
        rig.open("other").read(doc("d1"))


def test_the_database_is_in_wal_mode_and_syncs_as_asked(rig: Rig) -> None:
    for full, expected in ((False, 1), (True, 2)):
        engine = open_engine(f"sqlite:{rig.file.parent}", "main", runtime="r", codec=VALUES, full_sync=full)
        assert isinstance(engine.tables, SqliteTables)
        pragma = {name: engine.tables.connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous", "busy_timeout")}
        assert pragma == {"journal_mode": "wal", "synchronous": expected, "busy_timeout": 5000}
        engine.close()


def test_a_log_of_many_commits_passes_the_databases_own_check(rig: Rig) -> None:
    engine = rig.open(snapshot_interval=3)
    author = Author(engine)
    author.commit(put(doc("d"), []))
    for n in range(20):
        engine.apply([author.draft(patch(doc("d"), Append(("value",), (n, k)))) for k in range(5)])
    assert rig.sql("PRAGMA integrity_check") == [("ok",)]
    assert rig.sql("SELECT count(*) FROM snapshots") == [(2,)]
