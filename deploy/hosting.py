"""One process of the tree from inside: it starts its actors, says that they are ready, stops them in reverse when it is asked to, and ends at once when the root does.

It speaks with the root over one pipe, in msgpack: `ready` or `failed` upwards once, anything downwards means stop. Called by `multiprocessing` in a fresh child (see `process`).
"""
from __future__ import annotations

import gc
import importlib
import io
import logging
import os
import signal
import sys
from multiprocessing.connection import Connection
from typing import Any

from ..actors.reporter import Log, wording
from ..scheduler.errors import Misuse, describe
from ..wire.codec import VALUES
from ..wire.endpoints import Ipc
from ..wire.mail import Tick
from ..wire.post import Post
from ..wire.sockets import Sockets
from .lifeline import die_with
from .specification import Actor, Start, decoded

FIRST_ANSWER = 60.0  # seconds an actor has for its first answer: long enough to open a large store


class Beginnings(Log):
    """The log, and why an actor that did not begin did not."""

    failure: BaseException | None = None

    def failed(self, actor: str, kind: str, error: BaseException) -> None:
        if kind == "begin":
            self.failure = error
        else:
            super().failed(actor, kind, error)


class Host:
    """The actors of this process. All share one context of sockets."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._sockets = Sockets()
        self._post = Post(self._sockets, Ipc(start.folder))
        self._reporter = Beginnings()
        self._running: list[Any] = []  # pykka's references, in the order of their start

    def start(self) -> None:
        """Each actor, when the one before it has answered. Raises why one did not."""
        for actor in self._start.child.actors:
            self._running.append(self._made(actor))
            try:
                self._running[-1].ask(Tick(), timeout=FIRST_ANSWER)
            except Exception:
                if self._reporter.failure is None:
                    raise
            if self._reporter.failure is not None:
                raise self._reporter.failure

    def stop(self, gently: bool = True) -> None:
        for actor in reversed(self._running):
            try:
                actor.stop(timeout=self._start.child.shutdown)
            except Exception as error:  # the others are stopped all the same
                logging.getLogger("weft.deploy").error("an actor of %s did not stop: %s", self._start.child.name, wording(error) or type(error).__name__)
        if gently:
            self._sockets.close()

    def _made(self, actor: Actor) -> Any:
        made = named(actor.start)
        return getattr(made, "start", made)(self._post, actor.name, self._start.epoch, reporter=self._reporter, **actor.parameters)


def named(path: str) -> Any:
    """What `module:name` stands for."""
    module, _, name = path.partition(":")
    found = getattr(importlib.import_module(module), name, None)
    if not callable(found):
        raise Misuse(f"{path!r} makes no actor; a child specification names a Component or a function as 'module:name'")
    return found


def serve(start: bytes, control: Connection, lifeline: Connection) -> None:
    """The whole life of a child. Its exit code says how it ended: 0 after a stop, 1 if it did not come up."""
    die_with(lifeline.fileno())
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # what a terminal sends goes to all of its processes; the root stops them in order
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # what user code prints is seen when it is printed, also in a file
    gc.freeze()  # what the fork server loaded is never freed; looking at it would copy its pages
    spec = decoded(start)
    logging.basicConfig(format=f"%(asctime)s {spec.child.name} %(levelname)s %(name)s: %(message)s")
    host = Host(spec)
    try:
        host.start()
    except BaseException as error:
        name, _, fields = describe(error)
        control.send_bytes(VALUES.encode({"failed": [name, wording(error), fields]}))
        host.stop(gently=False)
        sys.stderr.flush()
        os._exit(1)  # the actor that failed may still be closing
    control.send_bytes(VALUES.encode({"ready": True}))
    if spec.child.lost != "done":
        try:
            control.recv_bytes(1000)
        except EOFError:
            os.kill(os.getpid(), signal.SIGKILL)  # the root is gone
    host.stop()
