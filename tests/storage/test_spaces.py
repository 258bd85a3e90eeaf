"""Stores by url, and the files of their spaces."""
from __future__ import annotations

import stat
from pathlib import Path

import pytest
from harness.engines import Author, put
from weft.scheduler.errors import BadAddress, Misuse, StorageUnavailable
from weft.scheduler.model import Entity
from weft.storage.engine import open_engine
from weft.storage.spaces import Store, file_name
from weft.wire.codec import VALUES

NAMES = [
    *("main", "a/b", "..", ".", "a%2fb", "%", "A", "a", "\u00e4", "\uff41", "a b", "a\nb", "con", "-", "x" * 1000, "x" * 999 + "y", "\U0001f600" * 200, ".hidden", "a.db", "a+b"),
    *("~", "\u00e9", "e\u0301"),
]


def test_every_space_has_a_file_of_its_own_inside_the_folder(tmp_path: Path) -> None:
    store = Store(f"sqlite:{tmp_path / 'new' / 'store'}")
    for number, name in enumerate(NAMES):
        engine = open_engine(store, name, runtime="r", codec=VALUES)
        Author(engine).commit(put(Entity(name, "space", "d"), number))
        engine.close()
    for number, name in enumerate(NAMES):
        engine = open_engine(store, name, runtime="r", codec=VALUES)
        assert engine.read(Entity(name, "space", "d")).document == {"value": number}
        engine.close()
    names = {file.name for file in (tmp_path / "new" / "store").iterdir()}
    assert names == {file_name(name) for name in NAMES}
    assert len({name.casefold() for name in names}) == len(NAMES)
    assert all(name.isascii() and len(name) <= 130 and not name.startswith(".") and "/" not in name for name in names)
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_the_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    open_engine(f"sqlite:{folder}", "main", runtime="r", codec=VALUES).close()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("url", ["", "memory", "sqlite", "sqlite:", "memory:x", "postgres:host", "/tmp/x", "sqlite3:x", "sqlite:a\0b", None, 5])
def test_a_bad_url_is_refused_with_what_to_write(url: object) -> None:
    with pytest.raises(Misuse, match="is no store: write 'memory:', or 'sqlite:FOLDER'"):
        Store(url)  # type: ignore[arg-type]


@pytest.mark.parametrize("url", ["sqlite:\ud800", "sqlite:~no-such-user/x"])
def test_a_folder_that_no_path_spells_is_refused(url: str) -> None:
    with pytest.raises(Misuse, match="names no folder"):
        Store(url)


@pytest.mark.parametrize("space", ["", "a\0b", "\ud800", "x" * 1025, None])
def test_a_bad_space_is_refused(space: str) -> None:
    with pytest.raises(BadAddress, match="is no space"):
        open_engine("memory:", space, runtime="r", codec=VALUES)


def test_a_file_where_the_folder_should_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StorageUnavailable, match="is a file, and a store is a folder"):
        open_engine(f"sqlite:{tmp_path / 'file'}", "main", runtime="r", codec=VALUES)
    with pytest.raises(StorageUnavailable, match="cannot be made"):
        open_engine(f"sqlite:{tmp_path / 'file' / 'below'}", "main", runtime="r", codec=VALUES)


def test_bad_options_are_refused() -> None:
    with pytest.raises(Misuse, match="snapshot_interval"):
        open_engine("memory:", "main", runtime="r", codec=VALUES, snapshot_interval=0)
    with pytest.raises(BadAddress, match="is no runtime"):
        open_engine("memory:", "main", runtime="", codec=VALUES)


def test_a_memory_store_is_shared_by_those_who_hold_it_and_by_nobody_else() -> None:
    store = Store("memory:")
    one, two, other = (open_engine(place, "main", runtime=name, codec=VALUES) for place, name in ((store, "one"), (store, "two"), ("memory:", "one")))
    Author(one).commit(put(Entity("main", "space", "d"), 1))
    two.poll()
    assert (two.head(), other.head()) == (1, 0)
    assert open_engine(store, "another", runtime="one", codec=VALUES).head() == 0
