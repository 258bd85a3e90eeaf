"""What lies in a mailbox besides messages, where it comes from, and what is counted of it. The mailbox's own words; actors know `Tick`."""
from __future__ import annotations

from typing import NamedTuple, Protocol

from .envelope import Arrival, Frame


class Tick(NamedTuple):
    """Not a message of the wire: the mailbox's alarm has gone off."""

    @property
    def reply_to(self) -> None:
        return None

    @property
    def message(self) -> Tick:
        return self


class Aside(NamedTuple):
    """A frame that came, and was admitted, while its receiver waited for an answer inside a handler. `missing` as in the mailbox."""

    frame: Frame
    arrival: Arrival
    missing: int


class Held(NamedTuple):
    """The message whose handler waits."""

    frame: Frame | None
    arrival: Arrival | None
    missing: int
    since: float
    is_asked: bool


class Source(Protocol):
    """Where frames come from; see sockets.Inlet."""

    is_secure: bool

    def receive(self, flags: int = 0, /) -> bytes: ...

    def receive_with_key(self) -> tuple[bytes, str]: ...

    def is_empty(self) -> bool: ...

    def set_patience(self, milliseconds: int) -> None: ...

    def wake(self, token: bytes) -> None: ...

    def close(self) -> None: ...


class Handling:
    """How often a kind of message was handled, and for how long altogether."""

    __slots__ = ("seconds", "times")

    def __init__(self) -> None:
        self.times = 0
        self.seconds = 0.0
