"""Hints between the processes that share a store: "something was committed in this space, look now instead of at your next poll".

One datagram socket for each host in the store folder, mode 0700. A hint says nothing but that it came, so a lost, doubled or forged one costs a look at the log and
nothing else; where no socket can be made the others' polling finds the commit a little later. The log is the truth.
"""
from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import socket
from pathlib import Path

FOLDER = "hints"
_DESCRIPTORS = "/proc/self/fd"  # names a folder in few bytes: a socket's path holds about a hundred


class Hints:
    """This process's socket for one space, and the way to the others'. The store's folder is there already."""

    def __init__(self, store: Path, space: str, unique: str) -> None:
        self.socket: socket.socket | None = None
        self._prefix = hashlib.blake2s(space.encode(), digest_size=6).hexdigest() + "."
        self._name = self._prefix + unique
        self._folder = store / FOLDER
        self._directory: int | None = None
        self._listed = -1  # the folder's change time when the others were last looked up
        self._others: list[str] = []
        with contextlib.suppress(OSError):
            self._bind()

    def _bind(self) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._directory = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            made.setblocking(False)
            made.bind(self._path(self._name))
        except OSError:
            made.close()
            raise
        self.socket = made

    def _path(self, name: str) -> str:
        return f"{_DESCRIPTORS}/{self._directory}/{name}" if os.path.isdir(_DESCRIPTORS) else str(self._folder / name)

    def ring(self) -> None:
        """Tells every other host of this space. Never blocks, never fails."""
        if self.socket is None:
            return
        with contextlib.suppress(OSError):
            changed = self._folder.stat().st_mtime_ns
            if changed != self._listed:
                self._others = [name for name in os.listdir(self._folder) if name.startswith(self._prefix) and name != self._name]
                self._listed = changed
        for name in self._others:
            self._tell(name)

    def _tell(self, name: str) -> None:
        try:
            if self.socket is not None:
                self.socket.sendto(b"!", self._path(name))
        except OSError as error:
            if error.errno == errno.ECONNREFUSED:  # its process died; a full one (EAGAIN) has hints enough already
                with contextlib.suppress(OSError):
                    os.unlink(self._folder / name)

    def heard(self) -> bool:
        """Did a hint come since the last call?"""
        came = False
        if self.socket is not None:
            with contextlib.suppress(OSError):
                while self.socket.recv(16):
                    came = True
        return came

    def close(self) -> None:
        if self.socket is not None:
            self.socket.close()
            self.socket = None
            with contextlib.suppress(OSError):
                os.unlink(self._folder / self._name)
        if self._directory is not None:
            os.close(self._directory)
            self._directory = None
