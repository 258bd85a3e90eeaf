"""Questions under way: those an actor has asked, with their deadlines, and those it still owes an answer.

Nobody waits for an answer: whoever asks names what is to be done with it. Every question ends exactly once: with the answer, an error, its deadline, or the death of the asked.
Used by `Component`, in its thread.
"""
from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from ..scheduler.errors import ActorDead, WaitTimeout, WeftError, describe
from ..scheduler.values import freeze
from ..wire.messages import Failed
from ..wire.table import Message

Then: TypeAlias = Callable[[Message | WeftError], None]


class Owed(NamedTuple):
    """A question of another actor; keep it to answer later."""

    sender: str
    epoch: int
    number: int


class _Asked(NamedTuple):
    target: str
    kind: str
    then: Then


class Questions:
    """`owed` is what this actor has not answered yet."""

    def __init__(self) -> None:
        self.owed: set[Owed] = set()
        self._asked: dict[int, _Asked] = {}
        self._deadlines: list[tuple[float, int]] = []
        self._last = 0

    def ask(self, target: str, kind: str, then: Then, deadline: float) -> int:
        """Note a question; returns its number."""
        self._last += 1
        self._asked[self._last] = _Asked(target, kind, then)
        heapq.heappush(self._deadlines, (deadline, self._last))
        return self._last

    def end(self, number: int, sender: str, outcome: Message | WeftError) -> bool:
        """The answer. False if nobody waits for it: too late, or from somebody who was not asked."""
        asked = self._asked.get(number)
        if asked is None or asked.target != sender:
            return False
        del self._asked[number]
        asked.then(outcome)
        return True

    def drop(self, number: int) -> None:
        """The question was never sent."""
        self._asked.pop(number, None)

    def bury(self, target: str) -> None:
        """The asked was replaced: its answers will never come."""
        self._fail([number for number, asked in self._asked.items() if asked.target == target], ActorDead(f"{target} was replaced before it answered; ask its successor"))

    def expire(self, now: float) -> None:
        """Fail what is overdue."""
        late: list[int] = []
        while self._deadlines and (self._deadlines[0][0] <= now or self._deadlines[0][1] not in self._asked):
            late.append(heapq.heappop(self._deadlines)[1])
        for number in late:
            if asked := self._asked.get(number):
                self._fail([number], WaitTimeout(f"{asked.target} did not answer {asked.kind} in time"))

    def next_deadline(self) -> float:
        while self._deadlines and self._deadlines[0][1] not in self._asked:
            heapq.heappop(self._deadlines)
        return self._deadlines[0][0] if self._deadlines else math.inf

    def close(self, name: str) -> None:
        self._fail(list(self._asked), ActorDead(f"{name} stopped while it waited for an answer"))

    def _fail(self, numbers: list[int], error: WeftError) -> None:
        for number in numbers:
            self._asked.pop(number).then(error)


def failure(error: BaseException) -> Failed:
    """An error as an answer."""
    name, text, fields = describe(error)
    return Failed(name, text, freeze(fields))
