"""The run folder of a tree: its sockets, its lock and `tree.json`, which says what runs.

- One tree has it, by a lock that the kernel gives back when the root dies, however it dies. A folder whose tree is dead
  is taken over: what is left of that tree is killed and swept away.
- It belongs to its user and is closed to everybody else (0700).
- After a stop nothing of ours is in it, and if it was made for the tree it is gone.
Where: `$XDG_RUNTIME_DIR/weft/APP`, or `/tmp/weft-UID/APP` where there is no such folder; or the one that was named.
A tree's address, as `weft.connect` takes it, is `ipc:FOLDER`, or the folder's path alone.
"""
from __future__ import annotations

import json
import logging
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from ..scheduler.errors import AlreadyBound, Misuse, WeftError
from ..wire.lock import Lock, private_folder
from .codes import NotRunning
from .remains import is_alive, kill_remains

LOCK, STATE, LOG = "supervisor.lock", "tree.json", "tree.log"
_OURS = re.compile(r"[a-z][a-z0-9_.:-]*\.(lock|sock)\Z|[0-9a-f]{16}\Z|pymp-|tree\.(json|log|part)\Z", re.ASCII)  # pymp-…: where multiprocessing keeps its fork server's socket

_OWNED = re.compile(r"-\d+-[0-9a-f]{8}\Z", re.ASCII)


def base() -> Path:
    """Where run folders are when none is named."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    return Path(runtime, "weft") if runtime and os.path.isdir(runtime) else Path(f"/tmp/weft-{os.geteuid()}")


def named_after(app: str) -> Path:
    """The run folder of an app when none is named."""
    name = re.sub(r"[^A-Za-z0-9_.-]", "-", app).strip(".") or "weft"
    return base() / name


def owned_by(app: str) -> Path:
    """A run folder of this process's own."""
    return base() / f"{named_after(app or 'runtime').name}-{os.getpid()}-{token_hex(4)}"


def running() -> Iterator[Path]:
    """The folders of `base()` in which trees run."""
    try:
        found = sorted(base().iterdir())
    except OSError:
        return
    yield from (folder for folder in found if state_of(folder) is not None)


def folder_of(url: str) -> Path:
    """The run folder that an address names: `ipc:FOLDER`, or a path. Raises NotRunning if no tree is there."""
    scheme, colon, rest = url.partition(":")
    if colon and scheme in ("tcp", "http", "https"):
        raise Misuse(f"{url!r}: this version connects to trees on this machine; the address is ipc:FOLDER, or the path of the run folder")
    folder = Path(rest if colon and scheme == "ipc" else url).expanduser().absolute()
    if state_of(folder) is None:
        raise NotRunning(f"no tree is running in {folder}; start one with: weft up APP --run {folder}")
    return folder


def state_of(folder: Path) -> dict[str, Any] | None:
    """What runs there; None if nothing does."""
    state = _read(folder)
    return state if state and is_alive(state) else None


def sweep() -> None:
    """The folders of owned trees whose root and owner were both killed: nobody comes back to them."""
    for folder in base().glob("*-*-*"):
        if _OWNED.search(folder.name) and (state := _read(folder)) is not None and not is_alive(state):
            with suppress(WeftError, OSError):  # another one sweeps, or has it
                RunFolder(folder).leave()


class RunFolder:
    """Held from `RunFolder(…)` to `leave()`. Raises AlreadyBound, with the pid, if a tree has it."""

    def __init__(self, path: Path) -> None:
        path = path.expanduser().absolute()
        if path.parent == base():
            private_folder(path.parent)
        self._is_ours = path.parent == base() or not path.exists()
        self.path = private_folder(path)
        try:
            self._lock = Lock(self.path / LOCK)
        except AlreadyBound as error:
            advice = f"stop it with `weft down --run {self.path}`, or start this one in a folder of its own with --run"
            raise AlreadyBound(f"process {error.pid} runs a tree in {self.path}; {advice}", pid=error.pid) from None
        kill_remains(_read(self.path))
        self._sweep(keep=LOCK)

    def say(self, state: dict[str, Any]) -> None:
        """What runs here, for whoever looks; whole or not at all. A folder that somebody has removed, or a full disk, does not disturb who is looked at."""
        part = self.path / "tree.part"
        try:
            part.write_text(json.dumps(state, ensure_ascii=False))
            part.replace(self.path / STATE)
        except OSError as error:
            logging.getLogger("weft.deploy").warning("%s cannot be written: %s", self.path / STATE, error.strerror)

    def leave(self, keep: str = "") -> None:
        """Nothing of ours stays, but what is to be kept. The lock goes last, and a successor that waits at a lock file that is gone looks again (`Lock`)."""
        self._sweep(keep=LOCK, also=keep)
        (self.path / LOCK).unlink(missing_ok=True)
        self._lock.release()
        if self._is_ours and not keep:
            for folder in (self.path, *([self.path.parent] if self.path.parent == base() else [])):
                try:
                    folder.rmdir()
                except OSError:
                    return  # somebody else's files are in it, or a successor's

    def _sweep(self, keep: str, also: str = "") -> None:
        for entry in self.path.iterdir() if self.path.exists() else ():
            if entry.name in (keep, also) or not _OURS.match(entry.name):
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)


def _read(folder: Path) -> dict[str, Any] | None:
    try:
        found = json.loads((folder / STATE).read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
