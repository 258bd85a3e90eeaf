"""Clients of a tree: those that connect, the runtime that owns it, and the one that loads its app. The same client as in one process (`actors.distant`), over ipc.

- Whoever waits for an answer of a tree that has ended is told so, and does not wait for ever: the root's end is watched for.
"""
from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

from ..actors.caller import PATIENCE, Caller, Ear, Line, Threaded
from ..actors.client import Client
from ..actors.clock import VirtualClock
from ..actors.distant import Distant
from ..actors.insiders import Insiders
from ..actors.topics import question
from ..scheduler.model import Version
from ..wire.endpoints import Ipc
from ..wire.post import Post
from ..wire.sockets import Sockets
from ..wire.table import Message
from ..wire.transport import Transport
from .folder import state_of
from .remains import ended

LISTENED = ("graph", "settle", "storage")  # who has news of errors


class Attached(NamedTuple):
    """`leave` lets go of the tree at once; closing the site waits until everything is settled first."""

    site: Distant
    leave: Callable[[], None]


def attached(folder: Path, clock: VirtualClock | None = None, end: Callable[[], None] = lambda: None, placement: str = "tree") -> Attached:
    """A client's side of the tree in this folder. With a clock, this client keeps the time of the whole tree. `end` is called after its end."""
    state = state_of(folder)
    with ExitStack() as undo:
        undo.callback(end)
        sockets = Sockets()
        undo.callback(sockets.close)
        name, ear = f"client-{token_hex(6)}", Ear()
        ref = Caller.start(Post(sockets, Ipc(folder)), name, hearing=ear)
        undo.callback(partial(_stop, ref))
        if state is not None:
            undo.callback(Watch(state, partial(_stop, ref)).close)
            placement = state["placement"]
        line: Line = Threaded(ref) if clock is None else Timed(Threaded(ref), clock)
        whole = ExitStack()
        site = client_of(line, name, ear, "main" if state is None else state["space"], placement, clock, whole.close, _workers(state))
        whole.callback(undo.pop_all().close)
    return Attached(site, whole.close)


def client_of(
    line: Line, name: str, ear: Ear, space: str, placement: str, clock: VirtualClock | None = None, end: Callable[[], None] = lambda: None, workers: Sequence[str] = ()
) -> Distant:
    site = Distant(line, name, placement, space, clock, None, Insiders(), end, strict=True, workers=workers)
    ear.of = site
    for actor in LISTENED:
        line.ask(actor, question("listen", site.covered.version))
    return site


def loader(post: Transport, name: str, epoch: int, *, reporter: Any, app: str, space: str, **more: Any) -> Any:
    """The actor that loads the app when a tree comes up by itself: a client of the tree's own, which has nothing more to do once it has answered."""
    ear = Ear()
    ref = Caller.start(post, name, epoch, reporter=reporter, hearing=ear)
    site = client_of(Threaded(ref), name, ear, space, "tree")
    Client(site, space, True).load(app)
    return ref


class Timed:
    """A line whose client keeps the time: settle hears of every move of the clock before anything else that follows it."""

    def __init__(self, line: Line, clock: VirtualClock) -> None:
        self._line, self._clock = line, clock
        self._told: float | None = None

    def ask(self, target: str, message: Message, within: float = PATIENCE) -> Message:
        now = self._clock.now()
        if now != self._told:
            self._told = now
            self._line.ask("settle", question("clock", Version(0, 0), now=now))
        return self._line.ask(target, message, within)


class Watch:
    """Calls back when the root of a tree has ended."""

    def __init__(self, state: dict[str, Any], lost: Callable[[], None]) -> None:
        self._state, self._lost = state, lost
        self._heard, self._bell = os.pipe()
        self._thread = threading.Thread(target=self._run, name="weft-watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        os.close(self._bell)
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        try:
            gone = self._wait()
        finally:
            os.close(self._heard)
        if gone:
            self._lost()

    def _wait(self) -> bool:
        if not hasattr(os, "pidfd_open"):
            while not select.select([self._heard], [], [], 0)[0]:
                if ended(self._state, 1.0):
                    return True
            return False
        try:
            root = os.pidfd_open(self._state["pid"])
        except ProcessLookupError:
            return True
        try:
            return self._heard not in select.select([root, self._heard], [], [])[0]
        finally:
            os.close(root)


def _stop(ref: Any) -> None:
    ref.stop(block=True, timeout=5.0)


def _workers(state: dict[str, Any] | None) -> list[str]:
    return [] if state is None else [actor for process in state["processes"] for actor in process["actors"] if actor.startswith("worker-")]
