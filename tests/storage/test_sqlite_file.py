"""Database files: whose they are, and how one is read that nobody may write."""
from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from harness.engines import SPACE, Author, doc, put, value
from weft.scheduler.errors import StorageUnavailable
from weft.storage.engine import Engine, open_engine
from weft.storage.sqlite import SqliteTables
from weft.storage.sqlite_file import at_rest, make
from weft.wire.codec import VALUES

D = doc("d")


@pytest.fixture
def folder() -> Iterator[Path]:
    with TemporaryDirectory() as name:  # one that another user can enter
        path = Path(name)
        path.chmod(0o755)
        yield path


def opened(folder: Path, runtime: str = "own") -> Engine:
    return open_engine(f"sqlite:{folder}", SPACE, runtime=runtime, codec=VALUES)


def file_of(folder: Path) -> Path:
    return folder / f"{SPACE}.db"


def test_the_files_of_a_space_are_their_owners_alone_even_in_a_folder_that_others_may_enter(folder: Path) -> None:
    with closing(opened(folder)) as engine:
        Author(engine).commit(put(D, 1))
        assert {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in folder.iterdir()} == {f"{SPACE}.db{end}": "0o600" for end in ("", "-wal", "-shm")}


def test_a_file_that_is_there_keeps_the_mode_that_it_was_given(folder: Path) -> None:
    opened(folder).close()
    file_of(folder).chmod(0o640)
    opened(folder).close()
    assert stat.S_IMODE(file_of(folder).stat().st_mode) == 0o640


def test_a_file_is_made_for_its_owner_where_only_an_administrator_makes_nodes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: object, mode: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "mknod", refuse)
    make(file_of(folder))
    make(file_of(folder))
    assert (stat.S_IMODE(file_of(folder).stat().st_mode), file_of(folder).stat().st_size) == (0o600, 0)


def test_a_file_lies_still_where_its_folder_cannot_be_written_and_nothing_lies_beside_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = file_of(folder)
    file.write_bytes(b"12")
    assert at_rest(file) is None
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    still = at_rest(file)
    assert still is not None
    file.write_bytes(b"123")
    assert at_rest(file) not in (None, still)
    (folder / f"{file.name}-wal").write_bytes(b"")
    assert at_rest(file) is None
    assert at_rest(folder / "absent.db") is None


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
print(engine.read(document).document, engine.reader().read(document).document, engine.epoch, verdict.rejection.name)
"""


def test_a_store_that_was_closed_in_a_folder_that_cannot_be_written_is_opened_and_read(folder: Path) -> None:
    with closing(opened(folder)) as engine:
        Author(engine).commit(put(D, 0))
    file_of(folder).chmod(0o444)
    folder.chmod(0o555)
    told = subprocess.run([sys.executable, "-c", READ_ONLY, f"sqlite:{folder}"], capture_output=True, text=True, check=False)
    folder.chmod(0o755)
    assert told.stdout == "{'value': 0} {'value': 0} 0 StorageUnavailable\n", told.stderr
    assert [path.name for path in folder.iterdir()] == [f"{SPACE}.db"]


def test_a_store_that_was_read_lying_still_is_seen_to_move_and_is_written_when_that_is_possible(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(opened(folder)) as engine:
        Author(engine).commit(put(D, 0))
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with closing(opened(folder, "other")) as reader, closing(reader.reader()) as beside:
        assert (reader.epoch, value(reader, D), beside.read(D).document) == (0, 0, {"value": 0})
        author = Author(reader, "t")
        assert isinstance(author.refused(put(D, 9)), StorageUnavailable)
        with closing(SqliteTables(file_of(folder), SPACE, read_only=True)) as tables:
            assert tables.newest()[0] == 1
        monkeypatch.setattr(os, "access", access)
        with closing(opened(folder)) as writer:
            Author(writer, "u").commit(put(D, 1))
        assert reader.poll()
        assert (value(reader, D), beside.read(D).document) == (1, {"value": 1})
        assert author.commit(put(D, 2)).seq == 3
        assert (reader.epoch, value(reader, D)) == (1, 2)
