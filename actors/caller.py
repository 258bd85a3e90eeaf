"""A client's own actor: it asks for those who call, and hears verdicts and news for them.

Any thread may call; `ask` waits for the answer in the caller's thread, the asking and hearing happen in the actor's. A call whose actor stops ends with ActorDead.
On a loopback nobody waits: the caller turns it until the answer is there, so that a client can be simulated with the ring it talks to.
"""
from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any, Protocol

from ..scheduler.errors import ActorDead, WaitTimeout, WeftError
from ..wire.edge import Decided, News
from ..wire.loopback import Loopback
from ..wire.table import Message
from .component import Component

LOOK = 1.0  # seconds between two looks whether the actor is still there to end a call; it matters only when it has died
PATIENCE = 60.0  # seconds that a question may take which waits for nobody's work: long beyond any load, short enough to be told


class Hearing(Protocol):
    """Who is told what the actor hears, in the actor's thread: it must not wait."""

    def decided(self, message: Decided) -> None: ...

    def told(self, message: News) -> None: ...


class Ear:
    """For whoever is made after the actor that tells it: nothing is told before anybody was asked, so nothing is missed."""

    def __init__(self) -> None:
        self.of: Hearing | None = None

    def decided(self, message: Decided) -> None:
        if self.of is not None:
            self.of.decided(message)

    def told(self, message: News) -> None:
        if self.of is not None:
            self.of.told(message)


class Call:
    """One question on its way. `outcome` is there once `done` is released."""

    __slots__ = ("done", "message", "outcome", "target", "within")

    def __init__(self, target: str, message: Message, within: float) -> None:
        self.target, self.message, self.within = target, message, within
        self.outcome: Message | WeftError | None = None
        self.done = threading.Lock()
        self.done.acquire()

    def end(self, outcome: Message | WeftError) -> None:
        self.outcome = outcome
        self.done.release()

    def result(self) -> Message:
        if isinstance(self.outcome, WeftError):
            raise self.outcome
        assert self.outcome is not None
        return self.outcome


class Caller(Component):
    """`hearing` is told what comes by itself."""

    def __init__(self, *given: Any, hearing: Hearing, **more: Any) -> None:
        super().__init__(*given, **more)
        self._hearing = hearing

    def on_receive(self, message: Any) -> Any:
        return self.put_through(message) if isinstance(message, Call) else super().on_receive(message)

    def put_through(self, call: Call) -> None:
        try:
            self.ask(call.target, call.message, call.end, within=call.within)
        except WeftError as error:
            call.end(error)

    def on_decided(self, message: Decided, sender: str) -> None:
        self._hearing.decided(message)

    def on_news(self, message: News, sender: str) -> None:
        self._hearing.told(message)


class Line(Protocol):
    """How a client asks. Raises what the answer says, WaitTimeout if none comes in time."""

    def ask(self, target: str, message: Message, within: float = PATIENCE) -> Message: ...


class Threaded:
    """Over an actor in a thread of its own; `ref` is pykka's handle of it."""

    def __init__(self, ref: Any) -> None:
        self._ref = ref

    def ask(self, target: str, message: Message, within: float = PATIENCE) -> Message:
        call = Call(target, message, within)
        try:
            self._ref.tell(call)
        except Exception:  # pykka's own word for an actor that has stopped
            raise ActorDead("this client has stopped, or what it was a client of; open another runtime") from None
        while not call.done.acquire(timeout=LOOK):
            if not self._ref.is_alive() and not call.done.acquire(timeout=LOOK):
                raise ActorDead(f"this client stopped while it waited for {target}")
        return call.result()


class Played:
    """Over an actor on a loopback; `turn` does one thing more, False if there is nothing."""

    def __init__(self, caller: Caller, loopback: Loopback, turn: Callable[[], bool] = lambda: False) -> None:
        self._caller, self._loopback, self._turn = caller, loopback, turn

    def ask(self, target: str, message: Message, within: float = PATIENCE) -> Message:
        call = Call(target, message, math.inf)
        self._caller.put_through(call)
        while call.outcome is None:
            if not self._loopback.step() and not self._turn():
                raise WaitTimeout(f"{target} does not answer {type(message).__name__}, and nothing is under way")
        return call.result()
