"""The actors of one process that make up a runtime: started in order, stopped in reverse, and nothing left behind, also when one of them does not come up.

What is started is data: a name, and how. Each is asked for a sign of life before the next is started.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from secrets import token_hex
from typing import Any, NamedTuple

from ..scheduler.errors import ActorDead, WaitTimeout
from ..wire.endpoints import Inproc
from ..wire.messages import Probe
from ..wire.post import Post
from ..wire.sockets import Sockets
from ..wire.transport import Transport
from .caller import Caller, Ear, Threaded

READY = 10.0  # seconds for an actor to come up; a thread takes a millisecond, a store on a slow disk some hundred
STOP = 10.0  # seconds for one to end what it is doing; a node that never returns must not keep a program from ending


class Member(NamedTuple):
    """One actor. `start` gives pykka's handle of it."""

    name: str
    start: Callable[[Transport], Any]


class Ensemble:
    """`line` asks in the name of `client`, whose actor is the last to start and the first to stop."""

    def __init__(self, members: Sequence[Member], hears: Ear) -> None:
        self.client = f"client-{token_hex(6)}"
        with ExitStack() as undo:
            sockets = Sockets()
            undo.callback(sockets.close)
            post = Post(sockets, Inproc(f"weft-{token_hex(6)}"))
            for member in members:
                undo.callback(partial(_stop, member.start(post)))
            ref = Caller.start(post, self.client, hearing=hears)
            undo.callback(partial(_stop, ref))
            self.line = Threaded(ref)
            for member in members:
                try:
                    self.line.ask(member.name, Probe(), READY)
                except (ActorDead, WaitTimeout) as error:
                    raise ActorDead(f"{member.name} did not come up: {error}; the log of weft.actors says why") from None
            self._undo = undo.pop_all()

    def close(self) -> None:
        self._undo.close()


def _stop(ref: Any) -> None:
    try:
        ref.stop(block=True, timeout=STOP)
    except Exception:  # it is still busy, in user code above all; its thread does not keep the process
        return
