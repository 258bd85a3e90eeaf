"""The transport without threads and sockets: all actors in the caller's thread, one frame per turn, in an order that a seed decides.

It ships, so that users test with it too. Frames go through the same codec and the same mailboxes. Order between one sender and one receiver is kept, as ZeroMQ keeps it; among
pairs the seed chooses. Delivering one frame a turn, never inside the sender's own call, is what lets races show. A failing run is replayed by its seed.
"""
from __future__ import annotations

import random
from collections import deque
from typing import NamedTuple, Protocol

from ..scheduler.errors import Misuse
from .mailbox import Mailbox
from .names import is_name


class Player(Protocol):
    """An actor on a loopback."""

    mailbox: Mailbox

    def handle(self, data: bytes) -> None:
        """One frame has come."""


class Turn(NamedTuple):
    """One delivery, as `Loopback.played` lists it."""

    sender: str
    target: str
    size: int


class Loopback:
    """`played` is the order in which frames were delivered; two runs with one seed have the same."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.played: list[Turn] = []
        self._random = random.Random(seed)
        self._queues: dict[tuple[str, str], deque[bytes]] = {}
        self._players: dict[str, Player] = {}
        self._open: set[str] = set()

    def open(self, mailbox: Mailbox) -> None:
        if mailbox.name in self._open:
            raise Misuse(f"{mailbox.name} is already there; crash it first")
        self._open.add(mailbox.name)

    def join(self, name: str, player: Player) -> None:
        """This actor plays that name from now on; mail that waited for a predecessor comes to it, as ZeroMQ would have it."""
        self._players[name] = player

    def crash(self, name: str, *, keep_mail: bool = True) -> None:
        """The actor is gone between two turns. `keep_mail`: what was on the way reaches its successor; else it is lost, as with a killed process."""
        self._players.pop(name, None)
        self._open.discard(name)
        if not keep_mail:
            for pair in [pair for pair in self._queues if pair[1] == name]:
                del self._queues[pair]

    def connect(self, sender: str, target: str, bound: int = 0) -> _Wire:
        return _Wire(self, sender, target, bound)

    def is_known(self, name: str) -> bool:
        return is_name(name)

    @property
    def waiting(self) -> int:
        """Frames under way, those to crashed actors included."""
        return sum(len(queue) for queue in self._queues.values())

    def step(self) -> bool:
        """Deliver one frame. False if nothing is under way to anyone who is there."""
        ready = [pair for pair, queue in self._queues.items() if queue and pair[1] in self._players]
        if not ready:
            return False
        sender, target = pair = self._random.choice(sorted(ready))
        data = self._queues[pair].popleft()
        self.played.append(Turn(sender, target, len(data)))
        self._players[target].handle(data)
        return True

    def run(self, turns: int = 100_000) -> int:
        """Step until nothing is under way. Raises after so many turns, naming the seed."""
        for taken in range(turns):
            if not self.step():
                return taken
        raise Misuse(f"the actors still talk after {turns} turns (seed {self.seed}, {self.waiting} frames under way)")

    def put(self, sender: str, target: str, data: bytes) -> None:
        """Raw bytes, as a hostile sender would put them."""
        self._queues.setdefault((sender, target), deque()).append(data)

    def under_way(self, sender: str, target: str) -> int:
        return len(self._queues.get((sender, target), ()))


class _Wire:
    """The sending end of one pair."""

    def __init__(self, loopback: Loopback, sender: str, target: str, bound: int) -> None:
        self._loopback, self._sender, self._target, self._bound = loopback, sender, target, bound

    def send(self, data: bytes) -> bool:
        if self._bound and self._loopback.under_way(self._sender, self._target) >= self._bound:
            return False
        self._loopback.put(self._sender, self._target, data)
        return True

    def close(self) -> None:
        """What is under way stays under way."""
