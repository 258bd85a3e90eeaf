"""A reader that a host lends to one thread, and takes back when it closes, whatever that thread is doing.

A database connection must not be closed while a statement of another thread runs on it, so reading and closing take turns. Whoever reads afterwards
is told that the store is closed.
"""
from __future__ import annotations

import threading

from ..scheduler.errors import SessionError
from ..scheduler.model import Entity
from .authority import Reader
from .link import Delivered


class Lent:
    """A `Reader` that may be closed by another thread than the one that reads."""

    def __init__(self, reader: Reader, space: str) -> None:
        self._reader, self._space = reader, space
        self._turn = threading.Lock()
        self._closed = False

    def read(self, entity: Entity, branch: str = "", at: int | None = None) -> Delivered:
        with self._turn:
            if self._closed:
                raise SessionError(f"the store of space {self._space!r} is closed; connect again")
            return self._reader.read(entity, branch, at)

    def close(self) -> None:
        with self._turn:
            self._closed = True
            self._reader.close()
