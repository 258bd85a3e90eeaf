"""An outgoing link to one named actor.

Invariants
- Nothing is sent before the other has said which epoch it is (DESIGN section 3: a late joiner misses the first messages); until then messages wait here, in order.
- Each message carries the next number of this pair of epochs. When the other is replaced, numbering starts again, and what was sent to the dead one is not sent again: recovery
  never relies on a message (section 8).
- What cannot be encoded is refused when it is given to the link, not later, where it would take others with it.
- Inside the ring a link never refuses. At the edge (`bound` > 0) it refuses with Busy while that many messages are unhandled; the other tells with Credit.
- Answers and Credit are owed: they are never refused and take nothing of the bound. What finds no room on the way waits here, and whatever comes later waits behind it.
Used by one thread, the actor's; its counts may be read by any.
"""
from __future__ import annotations

from collections import deque
from typing import NamedTuple

from ..scheduler.errors import Busy, WeftError
from .codec import Codec
from .messages import Credit, Hello, Presence, Ready
from .table import Message
from .transport import Outlet

_LARGEST = 2**63 - 1  # stands for a number that is not known yet: what fits with it fits with any


class _Kept(NamedTuple):
    """A message that waits. `epoch`: of the other to which alone it may go, 0 for any: an answer to a dead one's question must not end a question of its successor."""

    message: Message
    ask: int
    epoch: int

    @property
    def is_counted(self) -> bool:
        return not _is_owed(self.message, self.ask)


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
        self._waiting: deque[_Kept] = deque()
        self._waiting_counted = 0  # of them, those that count against the bound
        self._owed: deque[int] = deque()  # at the edge: the numbers of answers and Credits under way, which do not count

    @property
    def is_ready(self) -> bool:
        return self.peer_epoch > 0

    @property
    def is_stuck(self) -> bool:
        """Whether something waits though the other is ready: there was no room on the way."""
        return self.peer_epoch > 0 and len(self._waiting) > 0

    @property
    def unhandled(self) -> int:
        """Messages under way that count against the bound, by what the other has told."""
        return self._waiting_counted + self.seq - self.credited - len(self._owed)

    def send(self, message: Message, ask: int = 0) -> None:
        """Send, or keep it until the other is ready. Busy at the edge when there is no room; Misuse if it cannot be sent at all."""
        if self.bound and self.unhandled >= self.bound:
            raise Busy(f"{self.target} has {self.unhandled} messages of {self._owner} to handle, and {self.bound} is the most; wait for some to be done")
        if not self.peer_epoch or self._waiting:
            self._keep(_Kept(message, ask, 0))
        elif not self._put(message, ask):
            raise Busy(f"no room on the way to {self.target}; wait for some messages to be handled")

    def reply(self, message: Message, ask: int = 0, epoch: int = 0) -> None:
        """Send what is owed: an answer to a question of that epoch of the other, or Credit. Misuse if it cannot be sent at all."""
        if not self.peer_epoch or self._waiting or not self._put(message, ask):
            self._keep(_Kept(message, ask, epoch))

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
        self._owed.clear()
        return replaced

    def renew(self, outlet: Outlet) -> None:
        """Send by a new way. The old one may still lead to the dead actor: ZeroMQ notices late, and what is written there meanwhile is lost."""
        self._outlet.close()
        self._outlet, self._send = outlet, outlet.send

    def flush(self) -> None:
        """Send what waits, as far as there is room. One that cannot be sent (it was changed since it was given) is passed over, and raised when the others are on their way."""
        problem: WeftError | None = None
        while self.is_stuck:
            kept = self._waiting[0]
            try:
                if kept.epoch in (0, self.peer_epoch) and not self._put(kept.message, kept.ask):
                    break
            except WeftError as error:
                problem = error
            self._waiting.popleft()
            self._waiting_counted -= kept.is_counted
        if problem is not None:
            raise problem

    def credit(self, handled: int) -> None:
        self.credited = max(self.credited, min(handled, self.seq))
        while self._owed and self._owed[0] <= self.credited:
            self._owed.popleft()

    def close(self) -> None:
        self._outlet.close()

    def _put(self, message: Message, ask: int) -> bool:
        """Onto the way, with the next number; False if there is no room."""
        data = self._encode(self._owner, self._epoch, self.peer_epoch, self.seq + 1, ask, message)
        if not self._send(data):
            return False
        self.seq += 1
        self.sent += 1
        self.bytes += len(data)
        if self.bound and _is_owed(message, ask):
            self._owed.append(self.seq)
        return True

    def _keep(self, kept: _Kept) -> None:
        self._encode(self._owner, self._epoch, _LARGEST, _LARGEST, kept.ask, kept.message)  # only to see that it can be sent
        self._waiting.append(kept)
        self._waiting_counted += kept.is_counted


def _is_owed(message: Message, ask: int) -> bool:
    return ask < 0 or type(message) is Credit
