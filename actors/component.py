"""The base of every actor: a message comes in, its handler is called, what it decided goes out.

A handler is a method `on_<message>(self, message, sender)`. What it returns answers a question; None leaves the question open (`self.owed`, then `self.answer`).
Invariants
- An exception of a handler, sys.exit() included, is reported and, if it was a question, answered with; it never stops the actor and is never swallowed.
- Nothing is sent to an actor before it has said which epoch it is; greetings are repeated until then.
- Stopping handles what had arrived before the stop; whatever wanted an answer and gets none is answered with ActorDead.
The same class runs in a pykka thread over ZeroMQ (`start`) and in the caller's thread over a Loopback (`play`).
"""
from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Self

import pykka

from ..scheduler.errors import ActorDead, Misuse, Undecodable, WeftError
from ..wire.codec import Codec
from ..wire.envelope import Frame
from ..wire.link import Link
from ..wire.loopback import Loopback
from ..wire.mail import Tick
from ..wire.mailbox import Mailbox
from ..wire.messages import TABLE, Counted, Credit, Heartbeat, Hello, Presence, Probe, Ready
from ..wire.names import checked_name
from ..wire.table import Message, Table
from ..wire.transport import Transport
from .guard import Guard
from .handlers import Handlers, handlers_of
from .questions import Owed, Questions, Then, failure, outcome
from .reporter import Log, Reporter, wording

GREET_AGAIN = 0.5  # seconds between greetings to somebody who has not answered; a lost one costs no more than this


class Component(pykka.ThreadingActor):
    """One epoch of one actor."""

    table: ClassVar[Table] = TABLE
    edge_bound: ClassVar[int] = 0  # above 0: this actor is outside the ring and has at most so many messages unhandled at any other
    use_daemon_thread = True  # a hung actor must not keep its process from ending; the supervisor stops actors in order
    _handlers: ClassVar[Handlers]

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls._handlers = handlers_of(cls, cls.table)

    def __init__(self, transport: Transport, name: str, epoch: int = 1, *, reporter: Reporter | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        if epoch < 1:
            raise Misuse(f"the epoch of {name} is {epoch}; epochs begin at 1")
        self.name = checked_name(name)
        self.epoch = epoch
        self.reporter: Reporter = reporter or Log()
        self._guard = Guard(self.name, self.reporter)
        self.clock = clock
        self.links: dict[str, Link] = {}
        self.questions = Questions(self._guard.failed)
        self._transport = transport
        self._codec = Codec(self.table)
        self._greeting: dict[str, float] = {}  # whom to greet again, and when
        self.mailbox = Mailbox(self.name, epoch, self.table, partial(self.reporter.refused, self.name), transport.is_known, clock)
        super().__init__()
        transport.open(self.mailbox)

    def _create_actor_inbox(self) -> Mailbox:  # type: ignore[override]
        return self.mailbox

    # What a component may override

    def presence(self) -> Presence:
        """The present state, which every greeting and heartbeat repeats."""
        return Presence()

    def begin(self) -> None:
        """First thing in the actor's own thread."""

    def end(self) -> None:
        """Last thing before the mailbox closes."""

    def met(self, peer: str, epoch: int, presence: Presence) -> None:
        """A peer has introduced itself, again or anew."""

    def missed(self, sender: str, missing: int) -> None:
        """Messages of this sender never came: act as after a crash of your own (PROTOCOL C9)."""

    # What a component calls

    def tell(self, target: str, message: Message) -> None:
        """One way. Kept until the target is ready; never blocks."""
        (self.links.get(target) or self.link(target)).send(message)

    def ask(self, target: str, message: Message, then: Then, *, within: float) -> int:
        """A question; `then` gets the answer or the error, in this actor's thread, never before this returns. Returns the question's number."""
        number = self.questions.ask(target, type(message).__name__, then, (now := self.clock()) + within)
        try:
            (self.links.get(target) or self.link(target)).send(message, number)
        except WeftError:
            self.questions.drop(number)
            raise
        self._arm(now)
        return number

    def answer(self, owed: Owed, message: Message) -> None:
        """Answer a question that was left open. One whose asker was replaced meanwhile is let go; an answer that cannot be sent is told to the asker, too, as the error."""
        if owed not in self.questions.owed:
            raise Misuse(f"question {owed.number} of {owed.sender} has been answered already")
        try:
            self._reply(owed, message)
        except Misuse as error:
            self._reply(owed, failure(error))
            raise

    @property
    def owed(self) -> Owed:
        """The question being handled, for a later `answer`."""
        frame = self.mailbox.current
        if frame is None or frame.ask <= 0:
            raise Misuse("no question is being handled")
        return Owed(frame.sender, frame.sender_epoch, frame.ask)

    def link(self, target: str) -> Link:
        """The link to an actor, opened and greeted when it is first needed."""
        link = self.links.get(target)
        if link is None:
            outlet = self._transport.connect(self.name, target, self.edge_bound)
            link = self.links[target] = Link(self.name, self.epoch, target, outlet, self._codec, self.edge_bound)
            now = self.clock()
            self._greet(target, now)
            self._arm(now)
        return link

    # Running

    @classmethod
    def play(cls, loopback: Loopback, name: str, epoch: int = 1, **rest: Any) -> Self:
        """The same actor without a thread: the loopback hands it one frame a turn."""
        actor = cls(loopback, name, epoch, **rest)
        loopback.join(name, actor)
        actor.begin()
        return actor

    def handle(self, data: bytes) -> None:
        """One raw frame, in the caller's thread (loopback)."""
        frame = self.mailbox.take(data)
        if frame is not None:
            self._dispatch(frame)
            self.mailbox.finish(self.clock())

    def on_start(self) -> None:
        try:
            self.begin()
        except BaseException as error:
            self._guard.failed("begin", error)
            self.stop()

    def _handle_receive(self, message: Any) -> Any:
        """What came by the wire goes straight to its handler, past pykka's look at what it might be."""
        frame = self.mailbox.current
        return self._local(message) if frame is None else self._dispatch(frame)

    def _local(self, message: Any) -> Any:
        """What pykka put in. Whoever waits for the outcome gets the error, as pykka has it; if nobody does, it is reported."""
        try:
            return super()._handle_receive(message)
        except BaseException as error:
            if not self.mailbox.is_asked:
                return self._guard.failed(type(message).__name__, error)
            if isinstance(error, Exception):
                raise
            raise WeftError(f"{type(error).__name__}: {wording(error)}") from error  # raised as it is, pykka would stop every actor of the process

    def on_receive(self, message: Any) -> Any:
        if type(message) is Tick:
            return self.tick(self.clock())
        raise Misuse(f"{self.name} takes messages from the wire only; {type(message).__name__} was put in locally")

    def tick(self, now: float) -> None:
        """Deadlines that have come. On a loopback whoever moves the clock calls this."""
        self.questions.expire(now)
        for target in [target for target, due in self._greeting.items() if due <= now]:
            with self._guard.on("tick"):
                self._greet(target, now)
        self._arm(now)

    def on_stop(self) -> None:
        """Whatever wanted an answer gets one, and everything that was opened is closed, whatever else goes wrong."""
        self.questions.close(self.name)
        with self._guard.on("end"):
            self.end()
        with self._guard.on("stop"):
            self.questions.owed.update(Owed(frame.sender, frame.sender_epoch, frame.ask) for frame in self.mailbox.remains() if frame.ask > 0)
        dead = failure(ActorDead(f"{self.name} stopped before it answered"))
        for owed in sorted(self.questions.owed):
            with self._guard.on("stop"):
                self.answer(owed, dead)
        for close in (*(link.close for link in self.links.values()), self.mailbox.close):
            with self._guard.on("stop"):
                close()

    def on_failure(self, *problem: Any) -> None:
        """pykka has given this actor up: what it holds is given back as at any other end, the lock on its name above all."""
        self.on_stop()

    # Messages that every component takes

    def on_hello(self, message: Hello, sender: str) -> None:
        self._meet(message, sender)
        self.links[sender].welcome(self.presence())
        self.links[sender].flush()

    def on_ready(self, message: Ready, sender: str) -> None:
        if sender not in self.links:
            raise Undecodable(f"{sender[:40]!r} was not greeted", reason="unknown-peer")
        self._meet(message, sender)
        self.links[sender].flush()

    def on_credit(self, message: Credit, sender: str) -> None:
        self.link(sender).credit(message.handled)
        self.links[sender].flush()

    def on_probe(self, message: Probe, sender: str) -> Heartbeat:
        return self.heartbeat()

    def heartbeat(self) -> Heartbeat:
        sent = tuple(Counted(name, link.seq, link.bytes) for name, link in sorted(self.links.items()))
        return Heartbeat(self.presence(), sent, tuple(Counted(name, arrival.done, arrival.bytes) for name, arrival in sorted(self.mailbox.arrivals.known.items())))

    # Inside

    def _dispatch(self, frame: Frame) -> None:
        sender, sender_epoch, _, _, ask, message = frame
        mailbox = self.mailbox
        try:
            if mailbox.missing:
                self.reporter.gap(self.name, sender, mailbox.missing)
                self.missed(sender, mailbox.missing)
            if not ask:
                self._handlers[type(message)](self, message, sender)
            elif ask < 0:
                if not self.questions.end(-ask, sender, outcome(message)):
                    raise Undecodable(f"{sender[:40]!r} answers question {-ask}, which nobody asks", reason="unasked")
            else:
                self.questions.owed.add(owed := Owed(sender, sender_epoch, ask))
                answer = self._handlers[type(message)](self, message, sender)
                if answer is not None:
                    self.answer(owed, answer)
        except BaseException as error:
            self._caught(frame, error)
        arrival = mailbox.arrival
        if arrival is not None and arrival.window and (ask or type(message) is not Credit) and (handled := arrival.newly_done()):  # Credit earns none, or it never ends
            with self._guard.on("Credit"):
                self.link(sender).reply(Credit(handled))

    def _caught(self, frame: Frame, error: BaseException) -> None:
        """A handler raised. A fault of the frame is refused, any other reported; the asker is told in both cases."""
        if isinstance(error, Undecodable):
            self.mailbox.refuse(error)
        else:
            self._guard.failed(type(frame.message).__name__, error)
        if frame.ask > 0 and (owed := Owed(frame.sender, frame.sender_epoch, frame.ask)) in self.questions.owed:
            with self._guard.on("answer"):
                self.answer(owed, failure(error))

    def _meet(self, message: Hello | Ready, sender: str) -> None:
        frame = self.mailbox.current
        assert frame is not None
        if frame.seq:
            raise Undecodable("a greeting has no sequence number", reason="envelope")
        link = self.link(sender)
        if link.establish(frame.sender_epoch):
            link.renew(self._transport.connect(self.name, sender, self.edge_bound))
            self.questions.bury(sender)
        self._greeting.pop(sender, None)
        self.mailbox.arrivals.known[sender].window = max(0, message.window)
        self.met(sender, frame.sender_epoch, message.presence)

    def _reply(self, owed: Owed, message: Message) -> None:
        link = self.link(owed.sender)
        if link.peer_epoch in (0, owed.epoch):
            link.reply(message, -owed.number, owed.epoch)
        self.questions.owed.discard(owed)
        if link.is_stuck:  # a greeting is answered when there is room again
            self._greeting.setdefault(owed.sender, (now := self.clock()) + GREET_AGAIN)
            self._arm(now)

    def _greet(self, target: str, now: float) -> None:
        self._greeting[target] = now + GREET_AGAIN
        self.links[target].flush()
        self.links[target].greet(self.presence())

    def _arm(self, now: float) -> None:
        due = min(self.questions.next_deadline(), min(self._greeting.values(), default=math.inf))
        if due != self.mailbox.alarm:
            self.mailbox.set_alarm(due, now)


Component._handlers = handlers_of(Component, TABLE)
