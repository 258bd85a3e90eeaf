"""What makes a root stop from outside: a signal, or the end of the process that owns it. Waited for beside everything else, so that nothing is polled.

Called in the main thread of the root; the handlers only wake it up.
"""
from __future__ import annotations

import os
import signal
import socket
from types import FrameType
from typing import Self

STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Orders:
    """While it is open, signals are orders. `owner` is the reading end of a lifeline, or -1 if nobody owns this root."""

    def __init__(self, owner: int = -1) -> None:
        self.given = 0  # how often it was told to stop
        self.reason = ""
        self._owner = owner
        self._told, self._bell = socket.socketpair()

    def __enter__(self) -> Self:
        self._bell.setblocking(False)
        self._told.setblocking(False)
        self._before = {number: signal.signal(number, _heard) for number in STOPPING}
        self._bell_before = signal.set_wakeup_fd(self._bell.fileno(), warn_on_full_buffer=False)
        return self

    def __exit__(self, *problem: object) -> None:
        signal.set_wakeup_fd(self._bell_before)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._told.close()
        self._bell.close()

    @property
    def sources(self) -> list[int]:
        """What to wait for."""
        return [self._told.fileno(), *([self._owner] if self._owner >= 0 else [])]

    def read(self) -> None:
        """Takes the orders that have come."""
        try:
            heard = self._told.recv(1000)
        except BlockingIOError:
            heard = b""
        numbers = [number for number in heard if number in STOPPING]
        self.given += len(numbers)
        if numbers and not self.reason:
            self.reason = f"{signal.Signals(numbers[0]).name} was received"

    def owner_ended(self) -> None:
        self.given += 1
        self.reason = self.reason or "the program that started it has ended"
        os.close(self._owner)
        self._owner = -1

    def take(self, ready: set[int]) -> None:
        """Of what has become readable, what is ours."""
        if self._owner in ready:
            self.owner_ended()
        if self._told.fileno() in ready:
            self.read()


def _heard(number: int, frame: FrameType | None) -> None:
    """The bell has rung already; Python only wants a handler."""
