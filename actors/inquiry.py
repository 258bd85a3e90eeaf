"""An actor whose handlers may wait for an answer: the one question of the run path, a worker's first read of a document (DESIGN section 3).

- While it waits it does nothing else. What comes meanwhile is admitted as it comes, so that no gap is seen where there is none, and handled afterwards in its order; greetings and
  credit are taken at once, because a link needs them to go on.
- Every wait ends: with the answer, the asked one's death, or the deadline. On a loopback others play until the answer is there; when nobody has anything to play, it never will be.
- One handler waits at a time.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from ..scheduler.errors import WaitTimeout, WeftError
from ..wire.loopback import Loopback
from ..wire.mail import Tick
from ..wire.messages import GREETINGS, Credit
from ..wire.table import Message
from .component import Component

_ALWAYS = GREETINGS | {Credit}


class Inquirer(Component):
    def __init__(self, *args: Any, **rest: Any) -> None:
        super().__init__(*args, **rest)
        self._awaiting = 0  # the question that a handler waits for
        self._turn: Callable[[], bool] | None = None  # on a loopback: lets another one play

    @classmethod
    def play(cls, loopback: Loopback, name: str, epoch: int = 1, **rest: Any) -> Self:
        actor = super().play(loopback, name, epoch, **rest)
        actor._turn = loopback.step
        return actor

    def inquire(self, target: str, message: Message, *, within: float) -> Message | WeftError:
        """A question whose answer the handler needs to go on."""
        told: list[Message | WeftError] = []
        self._awaiting = self.ask(target, message, told.append, within=within)
        held = self.mailbox.interrupt()
        try:
            while not told:
                if self._turn is None:
                    self._meanwhile(self.mailbox.get())
                elif not self._turn():
                    self.questions.drop(self._awaiting)
                    told.append(WaitTimeout(f"nothing is under way any more, and {target} has not answered {type(message).__name__}"))
        finally:
            self._awaiting = 0
            self.mailbox.resume(held)
        return told[0]

    def handle(self, data: bytes) -> None:
        if not self._awaiting:
            super().handle(data)
            while (frame := self.mailbox.recall()) is not None:
                self._dispatch(frame)
                self.mailbox.finish(self.clock())
        elif (frame := self.mailbox.take(data)) is not None:
            self._meanwhile(frame)

    def _meanwhile(self, item: object) -> None:
        """What has come while a handler waits."""
        frame = self.mailbox.current
        if frame is not None and (frame.ask == -self._awaiting or type(frame.message) in _ALWAYS):
            self._dispatch(frame)
            self.mailbox.finish(self.clock())
        elif type(item) is Tick:
            self.tick(self.clock())
        else:
            self.mailbox.put_aside(item)
