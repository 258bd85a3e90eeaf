"""The mailbox: pykka's inbox and ZeroMQ's socket in one, so that there is no bridging thread and no second hop.

Invariants
- A frame that cannot be decoded, or is not for this epoch, is counted under its reason word, reported and dropped; the actor lives on.
- What pykka itself puts in (a stop, a question of this process) comes out after everything that had arrived before it.
- Counts by sender are kept here, where the actor's handlers cannot forget them, and may be read from any thread: depth is what a sender sent less what is handled here.
- A handler that waits for an answer gets it past everything else; what else comes meanwhile is handled after it, in the order in which it came.
- Nothing that wants an answer is lost in silence: `remains` gives what is left when the actor stops, and `put` into a closed mailbox fails the question.
One thread, the actor's, calls `get`; any thread may `put` and look.
"""
from __future__ import annotations

import math
import secrets
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pykka

from ..scheduler.errors import Undecodable
from .codec import Codec
from .envelope import Arrival, Arrivals, Frame
from .mail import Aside, Handling, Held, Source, Tick
from .messages import GREETINGS
from .sockets import NEVER, Idle
from .table import Table

INTAKE = 10_000  # frames taken in ahead of one local message: a flood must not keep a stop from being seen
ROUNDS = 200  # intakes that empty a dead mailbox: two million frames, far above what an honest ring has under way, and yet an end


class Mailbox:
    """One epoch of one actor's mail.

    current   the message being handled, with `since`; None between messages
    arrival   what is known of its sender
    missing   how many messages before the current one never came
    is_asked  whether somebody of this process waits for what comes of the local message being handled
    alarm     when `get` must return a Tick at the latest
    refused   frames refused, by reason word
    kinds     handling times by message type
    """

    def __init__(
        self, name: str, epoch: int, table: Table, refuse: Callable[[Undecodable], None], is_known: Callable[[str], bool], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`refuse` is told of every refused frame; `is_known` says whether an actor of that name can be there, so that a stranger's greeting opens nothing."""
        self.name = name
        self.arrivals = Arrivals(epoch)
        self.refused: Counter[str] = Counter()
        self.kinds: dict[type, Handling] = {}
        self.current: Frame | None = None
        self.since = 0.0
        self.missing = 0
        self.is_asked = False
        self.alarm = math.inf
        self.arrival: Arrival | None = None
        self._clock = clock
        self._report = refuse
        self._is_known = is_known
        self._decode = Codec(table).decode
        self._token = secrets.token_bytes(16)
        self._local: deque[Any] = deque()  # what pykka put, each announced by one token in the socket
        self._backlog: deque[Any] = deque()  # taken in already: raw frames, frames that were put aside, and local messages in their place
        self._aside: list[Any] = []  # what has come while a handler waits
        self._source: Source | None = None
        self._receive: Callable[[], bytes] = self._receive_proven
        self._lock = threading.Lock()  # between `put` and `close`: nothing is put where nobody looks any more
        self._names: Mapping[str, str] = {}

    def attach(self, source: Source, names: Mapping[str, str] | None = None) -> None:
        """Mail comes from there. `names`: which actor each public key may speak for, where keys are asked for."""
        self._source = source
        self._receive = self._receive_proven if source.is_secure else source.receive
        self._names = names or {}

    # The actor's side

    def get(self) -> Any:
        """The next frame, tick or local message; waits for it. What was got before is finished with this."""
        now = self._clock()
        if self.current is not None:
            self.finish(now)
        while True:
            if now >= self.alarm:
                self.set_alarm(math.inf, now)
                return Tick()
            if self._backlog:
                item = self._backlog.popleft()
            elif self._source is None:
                return self._local.popleft()
            else:
                try:
                    item = self._receive()
                except Idle:
                    now = self._clock()
                    continue
            if type(item) is not bytes:
                if type(item) is Aside:
                    return self._recall(item)
                self.is_asked = item.reply_to is not None
                return item
            if item == self._token:
                self._take_in()
            elif (frame := self.take(item)) is not None:
                return frame
            now = self._clock()

    def take(self, data: bytes) -> Frame | None:
        """Decode and admit one frame, which is then the current one; None if it was refused."""
        try:
            frame = self._decode(data)
            arrivals = self.arrivals
            arrival = arrivals.known.get(frame[0])
            if arrival is not None and frame[3] == arrival.expected and frame[1] == arrival.epoch and frame[2] == arrivals.epoch:
                arrival.expected += 1
                self.missing = 0
            else:
                self.missing = self._admit(frame)
                arrival = arrivals.known[frame[0]]
        except Undecodable as error:
            self.refuse(error)
            return None
        if frame[3]:
            arrival.taken += 1
            arrival.bytes += len(data)
        self.arrival = arrival
        self.current = frame
        self.since = self._clock()
        return frame

    def finish(self, now: float) -> None:
        """The current message has been handled."""
        frame, arrival = self.current, self.arrival
        if frame is None or arrival is None:
            return
        if frame[3]:
            arrival.handled += 1
        kind = type(frame[5])
        handling = self.kinds.get(kind)
        if handling is None:
            handling = self.kinds[kind] = Handling()
        handling.times += 1
        handling.seconds += now - self.since
        self.current = None

    def interrupt(self) -> Held:
        """The handler of the current message waits for an answer: others are got meanwhile. `resume` must follow."""
        held = Held(self.current, self.arrival, self.missing, self.since, self.is_asked)
        self.current = None
        if self._source is None:  # what was put aside before is got by `recall` only, and stays in front
            self._aside.extend(self._backlog)
            self._backlog.clear()
        return held

    def put_aside(self, item: Any) -> None:
        """What was got just now is for later."""
        if self.current is not None and self.arrival is not None:
            self._aside.append(Aside(self.current, self.arrival, self.missing))
            self.current = None
        else:
            self._aside.append(item)

    def resume(self, held: Held) -> None:
        """The answer has come, or never will."""
        self._backlog.extendleft(reversed(self._aside))
        self._aside = []
        self.current, self.arrival, self.missing, self.since, self.is_asked = held

    def recall(self) -> Frame | None:
        """The next frame that was put aside, for a loopback's player, which gets no others."""
        return self._recall(self._backlog.popleft()) if self._backlog else None

    def _recall(self, item: Aside) -> Frame:
        self.current, self.arrival, self.missing = item
        self.since = self._clock()
        return item.frame

    def refuse(self, error: Undecodable) -> None:
        self.refused[error.reason] += 1
        self._report(error)

    def set_alarm(self, when: float, now: float) -> None:
        """`get` returns a Tick at that time, whatever comes or does not come."""
        self.alarm = when
        if self._source is not None:
            self._source.set_patience(NEVER if when == math.inf else max(1, math.ceil((when - now) * 1000)))

    def remains(self) -> Iterator[Frame]:
        """Empty the mailbox without waiting: what nobody will handle any more. Local messages stay for pykka."""
        if self.current is not None:
            self.finish(self._clock())
        local: deque[Any] = deque()
        for _ in range(ROUNDS):
            self._take_in()
            items, self._backlog = self._backlog, deque()
            for item in items:
                if type(item) is Aside:
                    yield self._recall(item)
                    self.finish(self._clock())
                elif type(item) is not bytes:
                    local.append(item)
                elif (frame := self.take(item)) is not None:
                    yield frame
                    self.finish(self._clock())
            if self._source is None or self._source.is_empty():
                break
        self._local.extendleft(reversed(local))

    def close(self) -> None:
        with self._lock:
            source, self._source = self._source, None
        if source is not None:
            source.close()

    # pykka's side

    def put(self, envelope: Any) -> None:
        """A message of pykka's own, from any thread."""
        with self._lock:
            source = self._source
            if source is not None:
                self._local.append(envelope)
                source.wake(self._token)
        if source is None and envelope.reply_to is not None:
            envelope.reply_to.set_exception((pykka.ActorDeadError, pykka.ActorDeadError(f"{self.name} has stopped"), None))

    def empty(self) -> bool:
        return not self._backlog and not self._local and (self._source is None or self._source.is_empty())

    # Inside

    def _receive_proven(self) -> bytes:
        """The next frame from the network, if its sender's name belongs to its key; else Idle, as if it had not come."""
        assert self._source is not None
        data, key = self._source.receive_with_key()
        if data == self._token:
            return data
        try:
            sender = self._decode(data).sender
        except Undecodable:
            return data  # refused, and counted, when it is taken
        if self._names.get(key) == sender:
            return data
        self.refuse(Undecodable(f"a client that may speak as {self._names.get(key)!r} spoke as {sender[:40]!r}", reason="impostor"))
        raise Idle

    def _admit(self, frame: Frame) -> int:
        if type(frame.message) in GREETINGS:
            if frame.seq:
                raise Undecodable("a greeting has no sequence number", reason="envelope")
            if frame.ask:
                raise Undecodable("a greeting asks nothing and answers nothing", reason="envelope")
            if frame.sender not in self.arrivals.known and not self._is_known(frame.sender):
                raise Undecodable(f"{frame.sender[:40]!r} is nobody who could be answered", reason="unknown-peer")
            return self.arrivals.greet(frame.sender, frame.sender_epoch, frame.receiver_epoch, frame.message.sent)
        return self.arrivals.accept(frame)

    def _take_in(self) -> None:
        """Everything that has arrived goes into the backlog, then the local messages whose tokens were met."""
        source = self._source
        locals_due = 1
        if source is not None:
            for _ in range(INTAKE):
                if source.is_empty():
                    break
                try:
                    data = self._receive()
                except Idle:
                    continue
                if data == self._token:
                    locals_due += 1
                else:
                    self._backlog.append(data)
        for _ in range(min(locals_due, len(self._local))):
            self._backlog.append(self._local.popleft())
