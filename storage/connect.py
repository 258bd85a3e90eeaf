"""The hosts of one store: one for each space, opened when it is first asked for, shared by every replica of the process, closed together."""
from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from pathlib import Path

from ..scheduler.errors import SessionError
from .authority import Readable
from .codec import Codec
from .desk import FANOUT_DELAY
from .engine import open_engine
from .hints import Hints
from .host import Host
from .hostlink import Deliver, HostLink
from .link import Connect, Receiver
from .pace import Pace
from .spaces import Store


class Hosts:
    """`opener` opens a space's engine. `folder` is where a store that other processes share lives; `pace`, how often others' commits are looked for (None: there are no others)."""

    def __init__(self, opener: Callable[[str], Readable], folder: Path | None = None, *, delay: float = FANOUT_DELAY, pace: Callable[[], Pace] | None = None) -> None:
        self._opener, self._folder, self._delay, self._pace = opener, folder, delay, pace
        self._lock = threading.Lock()
        self._hosts: dict[str, Host] = {}
        self._closed = False

    def host(self, space: str) -> Host:
        with self._lock:
            if self._closed:
                raise SessionError("the store is closed; open it again")
            found = self._hosts.get(space)
            if found is None:
                found = self._hosts[space] = self._opened(space)
            return found

    def _opened(self, space: str) -> Host:
        folder = self._folder
        hints = None if folder is None else lambda: Hints(folder, space, secrets.token_hex(4))
        return Host(lambda: self._opener(space), delay=self._delay, pace=None if self._pace is None else self._pace(), hints=hints)

    def connect(self, space: str, receiver: Receiver) -> HostLink:
        """A `Connect`: receivers are called in the host's thread."""
        return self.host(space).connect(receiver)

    def connector(self, *, principal: str = "", deliver: Deliver | None = None) -> Connect:
        """A `Connect` for one replica, whose callbacks go through `deliver`."""
        return lambda space, receiver: self.host(space).connect(receiver, principal=principal, deliver=deliver)

    def close(self) -> None:
        """Every commit sent before is decided; every thread is joined."""
        with self._lock:
            self._closed = True
            hosts, self._hosts = self._hosts, {}
        for host in hosts.values():
            host.close()


def open_hosts(store: str | Store, *, runtime: str, codec: Codec, full_sync: bool = False, delay: float = FANOUT_DELAY) -> Hosts:
    """The hosts of a store: a url, "memory:" or "sqlite:FOLDER", or a Store, which several hosts of one process may share. A "memory:" that is only named is theirs alone."""
    kept = store if isinstance(store, Store) else Store(store, full_sync=full_sync)
    pace = Pace if kept.folder is not None or kept is store else None
    return Hosts(lambda space: open_engine(kept, space, runtime=runtime, codec=codec), kept.folder, delay=delay, pace=pace)
