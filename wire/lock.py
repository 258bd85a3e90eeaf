"""The lock before the bind: a second bind on an ipc path steals it from the first without a word (DESIGN section 3), so each path has a lock file.

The kernel drops the lock when its holder dies, so a stale file never bars anyone. A holder may remove the file before it lets go: who gets a lock on a file that is no longer at
its path looks again. A forked child closes its copy at once: the lock is its parent's, and would else outlive it.
"""
from __future__ import annotations

import fcntl
import os
import stat
import weakref
from collections.abc import Callable
from pathlib import Path

from ..scheduler.errors import AlreadyBound, Misuse


class Lock:
    """An exclusive lock on a file, with the holder's pid in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = self._taken()
        while not self._is_at_path():
            os.close(self._file)
            self._file = self._taken()
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)
        os.register_at_fork(after_in_child=_release_of(weakref.ref(self)))  # O_CLOEXEC is for children that begin another program

    def release(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _taken(self) -> int:
        path = self.path
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise Misuse(f"the lock {path} cannot be opened: {error.strerror}; the run folder must be there and belong to this user") from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(file, 20).decode("ascii", "replace").strip()
            os.close(file)
            pid = int(holder) if holder.isdigit() else 0
            raise AlreadyBound(f"{path.stem} is already running in this folder, as process {holder or 'unknown'} ({path}); stop it first", pid=pid) from None
        return file

    def _is_at_path(self) -> bool:
        try:
            found = os.stat(self.path, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return os.path.samestat(found, os.fstat(self._file))


def _release_of(lock: weakref.ref[Lock]) -> Callable[[], None]:
    """Closing a child's copy leaves the parent's lock alone. Python keeps what is called at a fork for ever, so it does not keep the lock itself."""

    def release() -> None:
        held = lock()
        if held is not None:
            held.release()

    return release


def private_folder(folder: Path) -> Path:
    """Make the folder of the sockets, or check the one that is there: ours, and closed to everybody else."""
    folder = folder.absolute()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except FileExistsError:
        raise Misuse(f"{folder} cannot be a folder of weft's own: a file is in its place, or in that of {folder.parent}") from None
    except OSError as error:
        raise Misuse(f"the run folder {folder} cannot be made: {error.strerror}; name another") from None
    if stat.S_ISLNK(found.st_mode):
        raise Misuse(f"{folder} must be a folder of weft's own, and it is a file or a link")
    if found.st_uid != os.geteuid():
        raise Misuse(f"{folder} belongs to user {found.st_uid}; whoever owns it could read and forge messages")
    if found.st_mode & 0o077:
        raise Misuse(f"{folder} is open to others (mode {found.st_mode & 0o777:03o}); run: chmod 700 {folder}")
    return folder
