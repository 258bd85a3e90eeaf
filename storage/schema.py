"""The schema of a space's SQLite database, and how an older one becomes the present one.

- `user_version` holds the schema's version, `application_id` says that the file is weft's, and the table `space` says which space it holds.
- A new database goes through the same steps as an old one. All steps that are missing run in one transaction; if one fails, the database is as it was.
- A database of a newer version is refused: what it means is not known here.
Called by the SQLite backend when it opens a file.
"""
from __future__ import annotations

import sqlite3
from pathlib import Path

from ..scheduler.errors import CorruptRow, NewerSchema, StorageUnavailable

APPLICATION = 0x77656674  # "weft"
PLACE = 65_536  # a revision's place in the log is seq * PLACE + op_index, so that the rows of a commit are neighbours and the log is read without a second index
MAX_SEQ = 2**62 // PLACE  # so that every place near it is an integer of SQLite

_FIRST = (
    "CREATE TABLE space (name TEXT NOT NULL) STRICT",
    """CREATE TABLE commits (
        seq INTEGER PRIMARY KEY, branch TEXT NOT NULL, session TEXT NOT NULL, local_seq INTEGER NOT NULL, digest BLOB NOT NULL, resolution BLOB,
        node TEXT, run INTEGER NOT NULL, triggers BLOB, event TEXT, at REAL NOT NULL) STRICT""",
    "CREATE UNIQUE INDEX commit_key ON commits (session, local_seq)",
    """CREATE TABLE heads (
        number INTEGER PRIMARY KEY, branch TEXT NOT NULL, scope TEXT NOT NULL, id TEXT NOT NULL, seq INTEGER NOT NULL, op_index INTEGER NOT NULL, op TEXT NOT NULL) STRICT""",
    "CREATE UNIQUE INDEX head_key ON heads (branch, scope, id)",
    "CREATE TABLE revisions (place INTEGER PRIMARY KEY, number INTEGER NOT NULL, op TEXT NOT NULL, data BLOB) STRICT",
    "CREATE INDEX revision_document ON revisions (number, place)",
    "CREATE TABLE snapshots (number INTEGER NOT NULL, seq INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (number, seq)) STRICT",
    "CREATE TABLE branches (name TEXT PRIMARY KEY, parent TEXT, fork_seq INTEGER NOT NULL, head_seq INTEGER NOT NULL, status TEXT NOT NULL) STRICT, WITHOUT ROWID",
    "INSERT INTO branches VALUES ('', NULL, 0, 0, 'active')",
    "CREATE TABLE runtimes (name TEXT PRIMARY KEY, epoch INTEGER NOT NULL) STRICT, WITHOUT ROWID",
)

# Heads learn when their document was born, so that a fork knows whether it was there without a scan, and what its whole form and the patches since weigh, so that a commit knows
# whether a snapshot is due. What an old database does not say of weights is taken as nothing: its snapshots come as if the patches so far had been free.
_SECOND = (
    "ALTER TABLE heads ADD COLUMN born INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE heads ADD COLUMN size INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE heads ADD COLUMN weight INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE heads ADD COLUMN patches INTEGER NOT NULL DEFAULT 0",
    f"UPDATE heads SET born = (SELECT min(place) / {PLACE} FROM revisions WHERE revisions.number = heads.number)",
)

# Where history begins after a garbage collection; and who reads what: read sets under the hash of their content, and the owners that have them.
_THIRD = (
    "CREATE TABLE horizon (seq INTEGER NOT NULL) STRICT",
    "INSERT INTO horizon VALUES (0)",
    "CREATE TABLE read_sets (number INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE) STRICT",
    """CREATE TABLE reads (
        space TEXT NOT NULL, scope TEXT NOT NULL, id TEXT NOT NULL, path BLOB NOT NULL, deep INTEGER NOT NULL, read_set INTEGER NOT NULL,
        PRIMARY KEY (space, scope, id, path, deep, read_set)) STRICT, WITHOUT ROWID""",
    "CREATE INDEX read_of_set ON reads (read_set)",
    "CREATE TABLE readers (branch TEXT NOT NULL, owner TEXT NOT NULL, read_set INTEGER NOT NULL, PRIMARY KEY (branch, owner)) STRICT, WITHOUT ROWID",
    "CREATE INDEX reader_of_set ON readers (read_set, branch)",
)

STEPS = (_FIRST, _SECOND, _THIRD)  # step n makes version n + 1
VERSION = len(STEPS)


def prepare(connection: sqlite3.Connection, file: Path, space: str) -> None:
    """Makes the schema the present one, and checks that the file is this space's."""
    if not _is_present(connection, file):
        connection.execute("BEGIN IMMEDIATE")
        try:
            _migrate(connection, file, space)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    names = [name for (name,) in connection.execute("SELECT name FROM space")]
    if names != [space]:
        raise CorruptRow(f"{file} holds space {names}, and {space!r} was asked for; was a file renamed?")


def _is_present(connection: sqlite3.Connection, file: Path) -> bool:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if version > VERSION and application == APPLICATION:
        raise NewerSchema(f"{file} was written by a newer weft (schema {version}, this one knows up to {VERSION}): install that version, or open another store")
    if (version or application) and application != APPLICATION:
        raise StorageUnavailable(f"{file} is a database, but not one of weft's; name another folder, or move the file away")
    return bool(version == VERSION)


def _migrate(connection: sqlite3.Connection, file: Path, space: str) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()  # once more, inside the transaction: another process may have been first
    if version == 0 and connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() != (0,):
        raise StorageUnavailable(f"{file} is a database, but not one of weft's; name another folder, or move the file away")
    for step in STEPS[version:]:
        for statement in step:
            connection.execute(statement)
    if version == 0:
        connection.execute("INSERT INTO space VALUES (?)", (space,))
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
