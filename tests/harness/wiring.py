"""Actors for the tests of wire and actors: one that takes everything down, and what is needed to run it on any transport."""

import queue
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from weft.actors.component import Component
from weft.actors.reporter import Record
from weft.scheduler.model import Version
from weft.wire.codec import Codec
from weft.wire.endpoints import Endpoints
from weft.wire.feeding import Feed, Fetch, Fetched
from weft.wire.messages import TABLE, Fence, Hello, Presence
from weft.wire.post import Post
from weft.wire.sockets import Sockets
from weft.wire.table import Message

PATIENCE = 20.0  # seconds; only a failing test waits that long


class Scribe(Component):
    """Writes down what comes. Fetch is answered (version n = 13 raises, n = 99 stays open), Feed with `stale` raises."""

    def __init__(self, *args: Any, **rest: Any) -> None:
        super().__init__(*args, reporter=rest.pop("reporter", None) or Record(), **rest)
        self.seen: list[tuple[str, Message]] = []
        self.peers: list[tuple[str, int, Presence]] = []
        self.gaps: list[tuple[str, int]] = []
        self.news: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def met(self, peer: str, epoch: int, presence: Presence) -> None:
        self.peers.append((peer, epoch, presence))
        self.news.put(("met", peer, epoch))

    def missed(self, sender: str, missing: int) -> None:
        self.gaps.append((sender, missing))

    def on_fence(self, message: Fence, sender: str) -> None:
        self.seen.append((sender, message))
        self.news.put(message)

    def on_feed(self, message: Feed, sender: str) -> None:
        if message.stale:
            raise RuntimeError("the feed is stale")
        self.seen.append((sender, message))

    def on_fetch(self, message: Fetch, sender: str) -> Fetched | None:
        if message.version.n == 13:
            raise KeyError("unlucky")
        self.seen.append((sender, message))
        return None if message.version.n == 99 else Fetched(message.version, (), message.entities)

    def put_question(self, target: str, n: int, within: float = PATIENCE) -> None:
        """For other threads, through pykka; the outcome comes to `news`."""
        self.ask(target, Fetch(Version(1, n), ()), self.news.put, within=within)


def fence(token: int) -> Fence:
    return Fence(token, Version(1, token))


class Hand:
    """A sender made by hand: it writes the envelope itself."""

    def __init__(self, name: str = "hand", epoch: int = 1, to_epoch: int = 1) -> None:
        self.name, self.epoch, self.to_epoch, self.seq = name, epoch, to_epoch, 0
        self.codec = Codec(TABLE)

    def hello(self, sent: int = 0, addressed: int = 0, window: int = 0) -> bytes:
        return self.codec.encode(self.name, self.epoch, addressed, 0, 0, Hello(Presence(), sent, window))

    def frame(self, message: Message, ask: int = 0, seq: int | None = None) -> bytes:
        self.seq = self.seq + 1 if seq is None else seq
        return self.codec.encode(self.name, self.epoch, self.to_epoch, self.seq, ask, message)


@contextmanager
def posts(make: Callable[[], Endpoints]) -> Iterator[Post]:
    sockets = Sockets()
    try:
        yield Post(sockets, make())
    finally:
        sockets.close()


@contextmanager
def running(post: Post, *names: str) -> Iterator[list[Scribe]]:
    """Scribes in threads, stopped whatever happens: a context is not left while a socket of it is open."""
    refs = [Scribe.start(post, name) for name in names]
    try:
        actors = [ref._actor_weakref() for ref in refs]
        yield [actor for actor in actors if actor is not None]
    finally:
        for ref in refs:
            ref.stop(timeout=PATIENCE)


def until(news: "queue.SimpleQueue[Any]", wanted: Callable[[Any], bool]) -> Any:
    """The first piece of news that is wanted; fails after PATIENCE."""
    deadline = time.monotonic() + PATIENCE
    while True:
        piece = news.get(timeout=max(0.001, deadline - time.monotonic()))
        if wanted(piece):
            return piece
