"""Where spaces are kept, by url: `memory:`, or `sqlite:FOLDER` with one database file for each space.

The folder is made for its owner alone. A file's name is the space's name, with everything but small letters, digits, "-" and "_" percent-escaped (so it is a name on every file
system, and two spaces never share one); a long name is cut and ends in its digest. The database itself says which space it holds.
"""
from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from ..scheduler.errors import Misuse, StorageUnavailable
from ..scheduler.ids import checked_id
from .memory import MemoryTables, Space
from .tables import Tables

MAX_FILE_NAME = 120  # file systems allow 255 bytes, and SQLite adds "-journal"
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-_")


class Store:
    """Gives connections to the tables of spaces. The spaces of a memory store live as long as it does; those of SQLite are files in `folder`."""

    def __init__(self, url: str, *, full_sync: bool = False) -> None:
        kind, mark, rest = url.partition(":") if isinstance(url, str) else ("", "", "")
        if kind not in ("memory", "sqlite") or not mark or (kind == "memory" and rest) or (kind == "sqlite" and not rest) or "\0" in rest:
            raise Misuse(f"{url!r} is no store: write 'memory:', or 'sqlite:FOLDER' with the folder that holds one database for each space")
        self.folder = _folder(url, rest) if kind == "sqlite" else None
        self._full_sync = full_sync
        self._spaces: dict[str, Space] = {}

    def tables(self, space: str) -> Tables:
        """A connection to the tables of a space, which is made if it is not there."""
        checked_id(space, "space")
        if self.folder is None:
            return MemoryTables(self._spaces.setdefault(space, Space()))
        from .sqlite import SqliteTables  # here, so that a store in memory loads no database

        _make_folder(self.folder)
        return SqliteTables(self.folder / file_name(space), space, full_sync=self._full_sync)


def file_name(space: str) -> str:
    """The name of a space's database file."""
    quoted = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02x}" for byte in space.encode())
    if len(quoted) > MAX_FILE_NAME:
        quoted = f"{quoted[:40]}+{sha256(space.encode()).hexdigest()}"  # "+" is escaped in every other name
    return f"{quoted}.db"


def _folder(url: str, text: str) -> Path:
    try:
        text.encode()
        return Path(text).expanduser()
    except (UnicodeEncodeError, RuntimeError) as error:  # a lone surrogate; the home folder of nobody
        raise Misuse(f"{url!r} names no folder: {error}") from None


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        raise StorageUnavailable(f"{folder} is a file, and a store is a folder; name another, or move the file away") from None
    except OSError as error:
        raise StorageUnavailable(f"the store's folder {folder} cannot be made: {error.strerror}") from error
