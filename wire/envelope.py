"""What is round every message: sender, both epochs, sequence number, question number; and what a mailbox remembers of each sender.

Invariants
- A message is taken only if it was sent to this epoch of the receiver (the successor does not get the dead one's mail, PROTOCOL C10), by the newest known epoch of its sender,
  after that sender had introduced itself.
- Sequence numbers count from 1 for each pair of epochs. A number that was taken before is refused, a number that skips some shows a gap. A greeting states how many were sent,
  so that a lost last message shows too (C9).
Epochs are above 0; 0 in a greeting's envelope stands for "I do not know your epoch". One thread uses an `Arrivals`; its counts may be read by any.
"""
from __future__ import annotations

from typing import Any, NamedTuple

from ..scheduler.errors import Undecodable


class Frame(NamedTuple):
    """One message as it travels. `ask` > 0: a question that wants an answer; `ask` < 0: the answer to question -ask; 0: neither."""

    sender: str
    sender_epoch: int
    receiver_epoch: int
    seq: int
    ask: int
    message: Any

    @property
    def reply_to(self) -> None:
        """A frame is also what pykka's loop takes from an inbox; its answers go by the wire, never by a future."""
        return None


class Arrival:
    """One sender, as its receiver knows it. Counts are of the present pair of epochs.

    epoch     its newest epoch
    expected  the sequence number that comes next
    taken     messages taken into the mailbox
    handled   messages whose handler has returned
    missing   messages that never came, as the gaps show
    bytes     of the messages taken
    window    how many it may have unhandled; 0: it is inside the ring and has no bound
    credited  what it was last told to be handled
    """

    __slots__ = ("bytes", "credited", "epoch", "expected", "handled", "missing", "taken", "window")

    def __init__(self, epoch: int) -> None:
        self.window = 0
        self.begin(epoch)

    def begin(self, epoch: int) -> None:
        """A new pair of epochs: it starts counting."""
        self.epoch = epoch
        self.expected = 1
        self.taken = self.handled = self.missing = self.bytes = self.credited = 0

    @property
    def done(self) -> int:
        """Messages that need no more waiting for."""
        return self.handled + self.missing

    def newly_done(self) -> int:
        """What a sender at the edge is to be told, the current message included, when half of what it may have under way is done; 0 until then."""
        done = self.done + 1  # the current one is done but for being counted
        if done - self.credited < (self.window + 1) // 2:
            return 0
        self.credited = done
        return done


class Arrivals:
    """Every sender that has introduced itself to one epoch of one actor."""

    MOST = 512  # senders; a hostile peer that invents names is refused from there on

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.known: dict[str, Arrival] = {}

    def greet(self, sender: str, epoch: int, addressed: int, sent: int) -> int:
        """A greeting: `addressed` is the epoch it believes this receiver to have, `sent` the messages it has sent to that epoch. Returns how many of them are missing."""
        arrival = self.known.get(sender)
        if arrival is None:
            if len(self.known) >= self.MOST:
                raise Undecodable(f"{sender[:40]!r} is one sender too many; {self.MOST} are known", reason="too-many")
            arrival = self.known[sender] = Arrival(epoch)
        elif epoch < arrival.epoch:
            raise _stale_sender(sender, epoch, arrival.epoch)
        elif epoch > arrival.epoch or addressed != self.epoch:
            arrival.begin(epoch)
        if addressed != self.epoch:
            return 0  # it counts from when it has learned this epoch
        missing = sent - arrival.expected + 1
        if missing < 0:
            raise Undecodable(f"{sender} says it sent {sent} messages, and {arrival.expected - 1} are here", reason="repeated")
        arrival.expected = sent + 1
        arrival.missing += missing
        return missing

    def accept(self, frame: Frame) -> int:
        """Anything but a greeting. Returns how many messages are missing before it; Undecodable if it is not to be handled."""
        sender, sender_epoch, receiver_epoch, seq, _, _ = frame
        if receiver_epoch != self.epoch:
            raise Undecodable(f"{sender[:40]!r} sent this to epoch {receiver_epoch}, and this is epoch {self.epoch}", reason="stale-receiver")
        arrival = self.known.get(sender)
        if arrival is None or sender_epoch > arrival.epoch:
            raise Undecodable(f"{sender[:40]!r} epoch {sender_epoch} has not introduced itself", reason="unannounced")
        if sender_epoch < arrival.epoch:
            raise _stale_sender(sender, sender_epoch, arrival.epoch)
        missing = seq - arrival.expected
        if missing < 0:
            raise Undecodable(f"message {seq} of {sender} was here before", reason="repeated")
        arrival.expected = seq + 1
        arrival.missing += missing
        return missing


def _stale_sender(sender: str, epoch: int, newest: int) -> Undecodable:
    return Undecodable(f"{sender} epoch {epoch} was replaced by epoch {newest}", reason="stale-sender")
