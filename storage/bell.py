"""What the host's thread sleeps on: a bell that other threads ring, and one socket of the outside world beside it.

A ring is never lost: whoever leaves work puts it down first and rings then, and the thread looks at all the work after every wait. Rings before the next wait count as one.
"""
from __future__ import annotations

import contextlib
import selectors
import socket


class Bell:
    """One thread waits; any thread rings."""

    def __init__(self) -> None:
        self._inner, self._outer = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._rung = False
        self._inner.setblocking(False)
        self._selector.register(self._inner, selectors.EVENT_READ)

    def listen(self, beside: socket.socket) -> None:
        """A socket that wakes the waiting thread too; whoever reads it silences it."""
        self._selector.register(beside, selectors.EVENT_READ)

    def ring(self) -> None:
        if not self._rung:
            self._rung = True
            with contextlib.suppress(OSError):  # closed meanwhile: nobody waits any more
                self._outer.send(b"!")

    def wait(self, timeout: float | None) -> None:
        """Until rung, until the socket beside has something, or until `timeout` seconds are over."""
        self._selector.select(timeout)
        with contextlib.suppress(BlockingIOError):
            self._inner.recv(64)
        self._rung = False

    def close(self) -> None:
        self._selector.close()
        self._inner.close()
        self._outer.close()
