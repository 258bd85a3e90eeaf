"""The storage actor: the one log, the replica behind it, the feeds, and the engine's verdicts (DESIGN section 6).

- What a message led to goes to graph as one Changes, then to those who hold documents, then to clients; so whoever hears of something hears of it after graph was told.
- Clients are let in only so far ahead of graph; their questions wait here. Nobody of the ring ever waits (PROTOCOL H2).
- The engines run in threads of their own, and what they decide comes in as messages of this process; or at desks that are served here whenever no message waits.
"""
from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, NamedTuple

from ..scheduler.errors import ErrorInfo, Misuse
from ..scheduler.model import Version
from ..storage.desks import Desks
from ..storage.engine import Engine
from ..storage.feeds import Batch
from ..storage.link import Connect
from ..wire.edge import Enter, Entered, Question, Submit, Submitted, Told
from ..wire.envelope import Frame
from ..wire.feeding import Fed, Feed, Fetch, Fetched
from ..wire.messages import Fence, Presence
from ..wire.ring import Applied, Changes, CommitRuns, Served
from ..wire.table import Message
from .asked import Asked
from .keeping import GRAPH, Keeping
from .pages import listed
from .questions import Owed

CLIENT_PATIENCE = 0.002  # seconds until the engine is asked about a client's commit
GROUP = 100  # commits in one transaction of the engine's
LEAD = 10_000  # entries that clients may be ahead of graph: a moment's work for it, and little memory
WORKER = "worker"  # names of those who hold documents begin so

Deliver = Callable[[Callable[[], None]], None]


class Delivery(NamedTuple):
    """Not a message of the wire: what an engine's thread has to say."""

    call: Callable[[], None]


class Waiting(NamedTuple):
    """A client's commit that was not let in yet."""

    owed: Owed
    client: str
    submit: Submit


class Storing(Asked):
    """`engine`: desks that are served here, or what gives a `Connect` whose callbacks go through the function it is given. `storage_epoch` was raised when the engine was opened.
    `lead` is how far clients may be ahead of graph. Desks are served when nobody writes any more, or, with `patience`, so many seconds after the first commit that waits, or GROUP
    commits later, so that they share a transaction of the engine's."""

    def __init__(self, *args: Any, engine: Desks | Callable[[Deliver], Connect], storage_epoch: int = 1, lead: int = LEAD, patience: float = 0.0, **rest: Any) -> None:
        super().__init__(*args, **rest)
        self._desks = engine if isinstance(engine, Desks) else None
        connect = engine.connect if isinstance(engine, Desks) else engine(self._deliver)
        self.keeping = Keeping(connect, storage_epoch, self._warn)
        self._most, self._patience = lead, patience
        self._unserved = 0  # messages since the desks were served
        self._serve_at = math.inf
        self._waiting: deque[Waiting] = deque()
        self._heard_of: dict[str, int] = {}  # workers and their epochs
        self._follows = False  # graph has acknowledged something
        self._settling: list[Owed] = []  # who waits until nothing is pending
        self.answers = {"pending": self._pending, "news": self._news, "listed": self._listed}

    @property
    def version(self) -> Version:  # type: ignore[override]
        return self.keeping.journal.version

    def presence(self) -> Presence:
        return Presence("ready", self.keeping.journal.version, self.keeping.replica.token)

    def met(self, peer: str, epoch: int, presence: Presence) -> None:
        if peer.startswith(WORKER) and self._heard_of.get(peer) != epoch:
            if peer in self._heard_of:
                self.keeping.drop(peer)
            self._heard_of[peer] = epoch

    def end(self) -> None:
        self.keeping.replica.close()

    # The ring

    def on_commit_runs(self, message: CommitRuns, sender: str) -> None:
        try:
            self.keeping.commit_runs(sender, message)
        finally:
            self._send(message.wave, message.last)

    def on_fence(self, message: Fence, sender: str) -> None:
        self.keeping.replica.fence(message.token)
        self._send()

    def on_applied(self, message: Applied, sender: str) -> None:
        if message.version.epoch == self.keeping.journal.epoch:
            self._follows = True
            self.keeping.journal.acknowledge(GRAPH, message.version.n)
            while self._waiting and self.keeping.lead() < self._most:
                owed, client, submit = self._waiting.popleft()
                answer = self.keeping.submit(client, submit)
                self._send()
                self.answer(owed, answer)

    def on_fetch(self, message: Fetch, sender: str) -> Fetched:
        answer = self.keeping.fetch(sender, message, sender.startswith(WORKER))
        self._send()
        return answer

    # The edge

    def on_submit(self, message: Submit, sender: str) -> Submitted | None:
        if self._follows and (self._waiting or self.keeping.lead() >= self._most):
            self._waiting.append(Waiting(self.owed, sender, message))
            return None
        answer = self.keeping.submit(sender, message)
        self._send()
        if self._patience and answer.pending:
            self._serve_by(min(self._patience, CLIENT_PATIENCE))
        return answer

    def on_enter(self, message: Enter, sender: str) -> Entered:
        version = self.keeping.enter(message.declared, message.removed)
        self._send()
        return Entered(version)

    def on_question(self, message: Question, sender: str) -> Message | None:
        if message.about != "settled":
            return super().on_question(message, sender)
        self._look()
        if not self.keeping.replica.pending():
            return Told(self.keeping.journal.n)
        self._settling.append(self.owed)
        return None

    def _pending(self, asked: Mapping[str, Any]) -> int:
        """How many commits are not decided yet, once the engine has been asked for what it knows."""
        self._look()
        return len(self.keeping.replica.pending())

    def _news(self, asked: Mapping[str, Any]) -> int:
        """The newest version, with what others have committed."""
        self._look()
        return self.keeping.journal.n

    def _listed(self, asked: Mapping[str, Any]) -> list[str]:
        """What was sent is decided first, so that a caller finds what it wrote."""
        self._look()
        space = asked["space"]
        if self._desks is None:
            raise Misuse("documents cannot be listed here yet")
        engine = self._desks.desk(space).engine
        assert isinstance(engine, Engine)
        return list(islice(listed(engine, space, asked["begins"], asked["after"]), asked["limit"]))

    def _look(self) -> None:
        if self._desks is not None:
            self._desks.pump()
            self._desks.poll()
            self._send()

    # The engine

    def on_receive(self, message: Any) -> Any:
        if type(message) is not Delivery:
            return super().on_receive(message)
        try:
            message.call()
        finally:
            self._send()
        return None

    def _deliver(self, call: Callable[[], None]) -> None:
        self.actor_ref.tell(Delivery(call))

    def _dispatch(self, frame: Frame) -> None:
        """Whatever the message was: when it is answered, and it is time, the desks decide what they were sent."""
        super()._dispatch(frame)
        self._served()

    def _local(self, message: Any) -> Any:
        """A message of this process may have stood behind one of the wire, whose work then waits for nobody else."""
        told = super()._local(message)
        if not self._patience:
            self._served()
        return told

    def _served(self) -> None:
        """A message has been handled: if it is time, the engine decides what it was sent."""
        if self._desks is None:
            return
        if not self._patience:
            if self.mailbox.empty():
                self._serve()
            return
        self._unserved += 1
        if self._unserved >= GROUP:
            self._serve()
        elif self._serve_at == math.inf:
            self._serve_by(self._patience)

    def _serve_by(self, seconds: float) -> None:
        now = self.clock()
        if now + seconds < self._serve_at:
            self._serve_at = now + seconds
            self._arm(now)

    def _serve(self) -> None:
        """The engine decides what it was sent."""
        self._unserved, self._serve_at = 0, math.inf
        assert self._desks is not None
        with self._guard.on("engine"):
            self._desks.pump()
            self._send()

    def tick(self, now: float) -> None:
        if self._serve_at <= now:
            self._serve()
        super().tick(now)

    def _arm(self, now: float) -> None:
        super()._arm(now)
        if self._serve_at < self.mailbox.alarm:
            self.mailbox.set_alarm(self._serve_at, now)

    # Inside

    def _send(self, wave: int = 0, last: bool = True) -> None:
        """What has come of this message. A wave's end is told in any case, so that settle goes on."""
        entries, batches, decided = self.keeping.take()
        if entries or batches or wave:
            version = self.keeping.journal.version
            served = tuple([Served(batch.holder, batch.number) for batch in batches])
            self.tell(GRAPH, Changes(self.keeping.replica.token, version, wave, entries, served, last))
            for batch in batches:
                self.tell(batch.holder, _feed(batch, version))
        for client, verdict in decided:
            self.tell(client, verdict)
        if self._settling and not self.keeping.replica.pending():
            settling, self._settling = self._settling, []
            for owed in settling:
                self.answer(owed, Told(self.keeping.journal.n))

    def _warn(self, text: str) -> None:
        self.spread(ErrorInfo("storage", text, "storage", ""))


def _feed(batch: Batch, version: Version) -> Feed:
    return Feed(batch.number, version, batch.changes, tuple([Fed(entity, *reversed(seen)) for entity, seen in batch.documents]), batch.stale)
