"""A database file as the file system shows it: made for its owner alone, and whether it lies still.

- SQLite gives the files beside a database the mode of the database itself, so they are their owner's too.
- A file lies still if whoever looks may not write its folder and no writer has left anything beside it: it is whole, and can be read as it is. SQLite by itself would want to make
  its own files in that folder, even to read. Somebody else may write it later, so whoever reads it like that asks again.
Called by the SQLite backend.
"""
from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

Rest: TypeAlias = tuple[int, int, int]  # another one when the file has changed


def make(file: Path) -> None:
    """Makes an empty file, which is an empty database, if none is there. What goes wrong SQLite will say."""
    if file.exists():
        return
    with suppress(OSError):
        try:
            os.mknod(file, 0o600 | stat.S_IFREG)  # opening and closing it here would give up the locks that this process has on it, if another thread was faster
        except PermissionError:  # some systems keep that for their administrator
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def at_rest(file: Path) -> Rest | None:
    """How the file lies there; None if it does not lie still."""
    if os.access(file.parent, os.W_OK) or file.with_name(f"{file.name}-wal").exists():
        return None
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
