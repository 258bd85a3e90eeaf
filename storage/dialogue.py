"""The words between a session's client and the desk, as frozen values; the wire gives them bytes.

- Requests carry a number that their answer repeats. A commit's answer is its verdict, named by its commit id, and a frame's is its acknowledgement.
- One connection carries both directions in order; it may be lost at any moment, with whatever is on its way.
"""
from __future__ import annotations

from typing import NamedTuple, TypeAlias

from ..scheduler.errors import ProtocolError
from ..scheduler.model import Entity
from ..scheduler.rejection import Rejection
from .commit import Commit, Verdict
from .link import Delivered, Frame


class Flags(NamedTuple):
    """What a peer speaks. `shape` is the form of the words themselves: peers that differ cannot talk. A capability that one side lacks is not used."""

    shape: int = 1
    capabilities: frozenset[str] = frozenset({"preconditions"})

    def shared(self, other: Flags) -> Flags:
        if self.shape != other.shape:
            raise ProtocolError(f"memory flag mismatch: this side speaks shape {self.shape}, the other {other.shape}; run the same version of weft on both")
        return Flags(self.shape, self.capabilities & other.capabilities)


class Open(NamedTuple):
    """`outstanding`: local sequences that the client will send again; no frame comes before they are answered."""

    request: int
    session: str | None
    token: str | None = None
    outstanding: tuple[int, ...] = ()
    flags: Flags = Flags()


class Transact(NamedTuple):
    session: str
    commit: Commit


class Watch(NamedTuple):
    request: int
    session: str
    entities: tuple[Entity, ...]
    branch: str = ""


class Forget(NamedTuple):
    """Frames sent before the answer may still hold these documents; the client passes over them."""

    request: int
    session: str
    entities: tuple[Entity, ...]


class Ack(NamedTuple):
    """This frame, and all before it, were handled."""

    session: str
    number: int


class Close(NamedTuple):
    session: str


Request: TypeAlias = Open | Transact | Watch | Forget | Ack | Close


class Opened(NamedTuple):
    request: int
    session: str
    token: str
    resumed: bool
    head: int
    flags: Flags


class Documents(NamedTuple):
    """The answer to Watch, as of the head that the session was last sent."""

    request: int
    head: int
    documents: tuple[Delivered, ...]


class Forgotten(NamedTuple):
    request: int


class Decided(NamedTuple):
    verdict: Verdict


class Pushed(NamedTuple):
    number: int
    frame: Frame


class TakenOver(NamedTuple):
    """Another connection has this session now."""

    session: str


class Failed(NamedTuple):
    """`request` is 0 where it could not be told which one failed."""

    request: int
    rejection: Rejection


Answer: TypeAlias = Opened | Documents | Forgotten | Decided | Pushed | TakenOver | Failed
