"""The gates actor: gates as clients set them, and the one wake timer (PROTOCOL H11).

Settle evaluates the gates itself, by the pure functions, so that nothing is runnable before its debounce is armed; what a client sets goes through here to settle, in the order in
which it was set, and the client is answered when settle has it. Settle says when it wants to be woken; the last one said holds.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..scheduler.errors import WeftError
from ..wire.edge import Question
from ..wire.ring import Wake, Woken
from ..wire.table import Message
from .component import Component
from .questions import failure

WITHIN = 60.0  # seconds for settle to take a change


class Gating(Component):
    """`now` is the clock whose times settle names; None: somebody else keeps it, and nobody is woken."""

    _wake = math.inf

    def __init__(self, *given: Any, now: Callable[[], float] | None = None, **more: Any) -> None:
        self.now = now
        super().__init__(*given, **more)

    def begin(self) -> None:
        self.link("settle")

    def on_wake(self, message: Wake, sender: str) -> None:
        self._wake = message.at
        self._ring()

    def on_question(self, message: Question, sender: str) -> Message | None:
        owed = self.owed

        def told(outcome: Message | WeftError) -> None:
            self.answer(owed, failure(outcome) if isinstance(outcome, WeftError) else outcome)

        self.ask("settle", message, told, within=WITHIN)
        return None

    def _arm(self, now: float) -> None:
        super()._arm(now)
        self._ring()

    def _ring(self) -> None:
        """Tell settle if it is time, else be woken when it is."""
        if self.now is None or self._wake == math.inf:
            return
        left = self._wake - self.now()
        if left <= 0:
            at, self._wake = self._wake, math.inf
            self.tell("settle", Woken(at))
        else:
            now = self.clock()
            if now + left < self.mailbox.alarm:
                self.mailbox.set_alarm(now + left, now)


