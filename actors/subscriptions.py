"""Sinks and watches from afar: each is an observer in the graph; settle says when it was hit, and a thread of the client's own reads and calls back (API.md "Reading").

- In the order in which they were hit; one that is hit again before it was told is told once, the newest. Nobody in the ring waits for a callback.
- What is shown is up to date: while a look finds reads that were not demanded yet (it followed a link), they are demanded and made first.
- With a virtual clock nothing is shown before somebody waits.
- A callback that raises is reported, and harms nobody.
"""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from ..scheduler.cells import Cell
from ..scheduler.errors import ActorDead, ErrorInfo
from ..scheduler.model import Read
from .telling import told

ROUNDS = 100  # reading may follow links to documents whose writers have to run, whose values are links again


class Look(NamedTuple):
    """What the cells are, all of one version, and what was read for it."""

    values: list[Any]
    reads: tuple[Read, ...]
    version: int


class Surroundings(Protocol):
    """What subscriptions need of their client."""

    def look(self, cells: Sequence[Cell[Any]], home: str) -> Look: ...

    def observe(self, id: str, home: str, reads: tuple[Read, ...], group: str | None) -> None:
        """Demand these from now on."""

    def withdraw(self, id: str) -> None: ...

    def rest(self) -> object:
        """Until nothing is runnable."""

    def report(self, error: ErrorInfo) -> None: ...


class Subscription:
    """`show` is told what it looks at."""

    def __init__(self, id: str, cells: Sequence[Cell[Any]], home: str, group: str | None, show: Callable[[Look], object]) -> None:
        self.id, self.cells, self.home, self.group, self.show = id, tuple(cells), home, group, show
        self.reads: tuple[Read, ...] = ()
        self.shown = -1  # the version of what was shown last


class Subscriptions:
    """`eager`: what is new is shown by itself; else when somebody calls `flush`."""

    def __init__(self, around: Surroundings, eager: bool) -> None:
        self._around, self._eager = around, eager
        self._known: dict[str, Subscription] = {}
        self._due: dict[str, int] = {}  # and since which version
        self._fresh: dict[str, None] = {}
        self._bell = threading.Condition()
        self._busy = self._closed = False
        self._thread: threading.Thread | None = None

    def add(self, subscription: Subscription) -> None:
        """It is shown for the first time when what it reads is up to date."""
        subscription.reads = self._around.look(subscription.cells, subscription.home).reads
        self._around.observe(subscription.id, subscription.home, subscription.reads, subscription.group)
        with self._bell:
            self._known[subscription.id] = subscription
            if self._eager:
                self._due[subscription.id] = 0
            else:
                self._fresh[subscription.id] = None
            if self._thread is None:
                self._thread = threading.Thread(target=self._tell, name="weft-subscriptions", daemon=True)
                self._thread.start()
            self._bell.notify_all()

    def remove(self, id: str) -> bool:
        """False: there is none of this name."""
        with self._bell:
            found = self._known.pop(id, None)
            self._due.pop(id, None)
            self._fresh.pop(id, None)
        if found is not None:
            self._around.withdraw(id)
        return found is not None

    def hit(self, ids: Iterable[str], n: int) -> None:
        """What these read has changed, up to this version."""
        with self._bell:
            for id in ids:
                if id in self._known:
                    self._fresh.pop(id, None)
                    self._due[id] = n
            self._bell.notify_all()

    def flush(self) -> bool:
        """Until everybody was told. True: somebody was, so there may be more to wait for. A callback that waits does not wait for itself."""
        if threading.current_thread() is self._thread:
            return False
        with self._bell:
            self._due.update(dict.fromkeys(self._fresh, 0))
            self._fresh.clear()
            if not (self._due or self._busy):
                return False
            self._bell.notify_all()
            self._bell.wait_for(lambda: self._closed or not (self._due or self._busy))
        return True

    def close(self) -> None:
        with self._bell:
            self._closed = True
            self._known.clear()
            self._bell.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    # In the thread of its own

    def _tell(self) -> None:
        while True:
            with self._bell:
                self._busy = False
                self._bell.notify_all()
                self._bell.wait_for(lambda: self._closed or self._due)
                if self._closed:
                    return
                id = next(iter(self._due))
                since = self._due.pop(id)
                subscription = self._known.get(id)
                self._busy = True
            if subscription is not None and since > subscription.shown:
                try:
                    subscription.show(self._newest(subscription))
                except ActorDead:
                    return  # the client is closing
                except Exception as error:
                    self._around.report(told(error, id))

    def _newest(self, subscription: Subscription) -> Look:
        if self._eager and subscription.shown < 0:
            self._around.rest()  # what it demands is made first
        for _ in range(ROUNDS):
            look = self._around.look(subscription.cells, subscription.home)
            if look.reads == subscription.reads:
                break
            subscription.reads = look.reads
            self._around.observe(subscription.id, subscription.home, look.reads, subscription.group)
            self._around.rest()
        subscription.shown = look.version
        return look
