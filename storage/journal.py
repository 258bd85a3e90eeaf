"""The log itself: numbers entries, hands each to every subscriber before anything else happens, keeps them for those who may have to read again.

Invariants
- Versions are (epoch, 1), (epoch, 2), ... without a gap.
- An entry is delivered to every subscriber, in the order of subscription, before `append` returns; one made while another is being delivered waits for its turn, so that
  all subscribers see one order.
- An error of one subscriber does not keep the entry from the others; it is raised when all have it.
- An entry is kept until every holder has acknowledged it (PROTOCOL C4, C9); without holders nothing is kept.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, TypeAlias

from ..scheduler.errors import Misuse
from ..scheduler.log import Entry
from ..scheduler.model import Version

Subscriber: TypeAlias = Callable[[Entry], None]

_new: Any = tuple.__new__  # what the class of a named tuple calls in the end, at half the cost


class Journal:
    """One storage epoch's log. `append(journal.next(), ...)` is the caller's pattern: the version is part of the entry, so it is taken first."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.n = 0  # of the newest entry
        self._subscribers: tuple[Subscriber, ...] = ()
        self._only: Subscriber | None = None  # the subscriber, if there is one alone, and nothing has to be kept
        self._holders: dict[str, int] = {}  # name -> acknowledged up to
        self._kept: deque[Entry] = deque()
        self._waiting: deque[Entry] = deque()
        self._delivering = False

    @property
    def version(self) -> Version:
        return Version(self.epoch, self.n)

    def next(self) -> Version:
        """The version of the entry that is appended next."""
        return _new(Version, (self.epoch, self.n + 1))  # type: ignore[no-any-return]

    def append(self, *entries: Entry) -> None:
        """Entries that belong to one step are all numbered before the first is delivered."""
        for entry in entries:
            self.n += 1
            if entry.version != (self.epoch, self.n):
                raise Misuse(f"the log of epoch {self.epoch} is at {self.n}: an entry numbered {entry.version} has no place in it")
            if self._holders:
                self._kept.append(entry)
        self._waiting.extend(entries)
        if not self._delivering:
            self._deliver([])

    def enter(self, entry: Entry) -> None:
        """`append` of one entry. The common case is short: nothing is on its way, nothing is kept, one subscriber."""
        only = self._only
        if only is None or self._delivering or self._waiting or entry[0][1] != self.n + 1 or entry[0][0] != self.epoch:
            self.append(entry)
            return
        self.n += 1
        self._delivering = True
        try:
            only(entry)
        except Exception as error:
            self._delivering = False
            self._deliver([error])
        finally:
            self._delivering = False
        if self._waiting:
            self._deliver([])

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """From the next entry on; call the answer to stop."""
        self._subscribers = (*self._subscribers, subscriber)
        self._regard()

        def stop() -> None:
            self._subscribers = tuple(other for other in self._subscribers if other is not subscriber)
            self._regard()

        return stop

    def hold(self, name: str) -> None:
        """From the next entry on, keep what `name` has not acknowledged."""
        self._holders.setdefault(name, self.n)
        self._regard()

    def acknowledge(self, name: str, n: int) -> None:
        """`name` has applied everything up to `n`. Older acknowledgements that come late change nothing."""
        self._holders[name] = max(self._holders.get(name, 0), min(n, self.n))
        self._regard()
        self._trim()

    def acknowledged(self, name: str) -> int:
        """Up to where `name` has applied everything; the newest entry if nothing is kept for it."""
        return self._holders.get(name, self.n)

    def release(self, name: str) -> None:
        self._holders.pop(name, None)
        self._regard()
        self._trim()

    def after(self, n: int) -> tuple[Entry, ...] | None:
        """The entries after `n`; None if some of them are no longer kept, so that the reader decides by stamps."""
        missing = self.n - n
        if missing <= 0:
            return ()
        return tuple(self._kept)[-missing:] if missing <= len(self._kept) else None

    def _trim(self) -> None:
        done = min(self._holders.values(), default=self.n)
        while self._kept and self._kept[0].version.n <= done:
            self._kept.popleft()

    def _regard(self) -> None:
        self._only = self._subscribers[0] if len(self._subscribers) == 1 and not self._holders else None

    def _deliver(self, errors: list[Exception]) -> None:
        self._delivering = True
        try:
            while self._waiting:
                entry = self._waiting.popleft()
                for subscriber in self._subscribers:
                    try:
                        subscriber(entry)
                    except Exception as error:
                        errors.append(error)
        finally:
            self._delivering = False
        if errors:
            raise errors[0] if len(errors) == 1 else ExceptionGroup("several subscribers of the log failed", errors)
