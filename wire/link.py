"""An outgoing link to one named actor.

Invariants
- Nothing is sent before the other has said which epoch it is (DESIGN section 3: a late joiner misses the first messages); until then messages wait here, in order.
- Each message carries the next number of this pair of epochs. When the other is replaced, numbering starts again, and what was sent to the dead one is not sent again: recovery
  never relies on a message (section 8).
- Inside the ring a link never refuses. At the edge (`bound` > 0) it refuses with Busy while that many messages are unhandled; the other tells with Credit.
Used by one thread, the actor's; its counts may be read by any.
"""
from __future__ import annotations

from collections import deque

from ..scheduler.errors import Busy
from .codec import Codec
from .messages import Hello, Presence, Ready
from .table import Message
from .transport import Outlet


class Link:
    """`sent` and `bytes` count everything ever sent; `seq` what was sent to the present epoch of the other, `credited` what of it is handled."""

    def __init__(self, owner: str, epoch: int, target: str, outlet: Outlet, codec: Codec, bound: int = 0) -> None:
        self.target = target
        self.peer_epoch = 0  # not known yet
        self.seq = self.sent = self.bytes = self.credited = 0
        self.bound = bound
        self._owner = owner
        self._epoch = epoch
        self._outlet = outlet
        self._send = outlet.send
        self._encode = codec.encode
        self._waiting: deque[tuple[Message, int]] = deque()

    @property
    def is_ready(self) -> bool:
        return self.peer_epoch > 0

    @property
    def unhandled(self) -> int:
        """Messages under way, by what the other has told."""
        return len(self._waiting) + self.seq - self.credited

    def send(self, message: Message, ask: int = 0) -> None:
        """Send, or keep it until the other is ready. Busy at the edge when there is no room."""
        if self.bound and self.unhandled >= self.bound:
            raise Busy(f"{self.target} has {self.unhandled} messages of {self._owner} to handle, and {self.bound} is the most; wait for some to be done")
        if not self.peer_epoch:
            self._waiting.append((message, ask))
            return
        data = self._encode(self._owner, self._epoch, self.peer_epoch, self.seq + 1, ask, message)
        if not self._send(data):
            raise Busy(f"no room on the way to {self.target}; wait for some messages to be handled")
        self.seq += 1
        self.sent += 1
        self.bytes += len(data)

    def greet(self, presence: Presence) -> None:
        """Introduce this actor, and repeat its state (PROTOCOL rule 6)."""
        self._outlet.send(self._encode(self._owner, self._epoch, self.peer_epoch, 0, 0, Hello(presence, self.seq, self.bound)))

    def welcome(self, presence: Presence) -> None:
        """Answer a greeting."""
        self._outlet.send(self._encode(self._owner, self._epoch, self.peer_epoch, 0, 0, Ready(presence, self.seq, self.bound)))

    def establish(self, epoch: int) -> bool:
        """The other is this epoch. True if it replaces one that was known: whoever made this link must then `renew` it."""
        if epoch <= self.peer_epoch:
            return False
        replaced = self.is_ready
        self.peer_epoch = epoch
        self.seq = self.credited = 0
        return replaced

    def renew(self, outlet: Outlet) -> None:
        """Send by a new way. The old one may still lead to the dead actor: ZeroMQ notices late, and what is written there meanwhile is lost."""
        self._outlet.close()
        self._outlet, self._send = outlet, outlet.send

    def flush(self) -> None:
        """Send what waited for the other to be ready."""
        waiting, self._waiting = self._waiting, deque()
        for message, ask in waiting:
            self.send(message, ask)

    def credit(self, handled: int) -> None:
        self.credited = max(self.credited, min(handled, self.seq))

    def close(self) -> None:
        self._outlet.close()
