"""What an actor needs of the world between actors. `Post` gives it over ZeroMQ, `Loopback` in one thread with seeded order; the same actor classes run on both."""
from __future__ import annotations

from typing import Protocol

from .mailbox import Mailbox


class Outlet(Protocol):
    """The sending end of one pair. `send` never blocks; False: no room, which happens at the edge only."""

    def send(self, data: bytes) -> bool: ...

    def close(self) -> None: ...


class Transport(Protocol):
    """Opens mailboxes and outlets by actor name."""

    def open(self, mailbox: Mailbox) -> None:
        """Give the mailbox its inlet: from now on mail to its name reaches it."""

    def connect(self, sender: str, target: str, bound: int = 0) -> Outlet: ...

    def is_known(self, name: str) -> bool: ...
