"""Questions under way: those an actor has asked, with their deadlines, and those it still owes an answer.

Nobody waits for an answer: whoever asks names what is to be done with it. Every question ends exactly once: with the answer, an error, its deadline, or the death of the asked.
What is to be done may fail: that is reported, and the other questions end none the less.
Used by `Component`, in its thread.
"""
from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from ..scheduler.errors import ActorDead, WaitTimeout, WeftError, by_name, describe
from ..scheduler.values import freeze
from ..wire.codec import VALUES
from ..wire.messages import Failed
from ..wire.table import Message
from .reporter import MOST_TEXT, wording

MOST_FIELDS = 1 << 20  # bytes of an error's fields that are sent with it
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
    """`owed` is what this actor has not answered yet. `report` is told what was asked, and the error, when the asker's own `then` fails."""

    def __init__(self, report: Callable[[str, BaseException], None]) -> None:
        self.owed: set[Owed] = set()
        self._asked: dict[int, _Asked] = {}
        self._deadlines: list[tuple[float, int]] = []
        self._last = 0
        self._report = report
        self._closed_by = ""

    def ask(self, target: str, kind: str, then: Then, deadline: float) -> int:
        """Note a question; returns its number."""
        if self._closed_by:
            raise ActorDead(f"{self._closed_by} has stopped, and asks nothing any more")
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
        """The asker has stopped: nothing is asked from now on, and what was asked ends."""
        self._closed_by = name
        self._fail(list(self._asked), ActorDead(f"{name} stopped while it waited for an answer"))

    def _fail(self, numbers: list[int], error: WeftError) -> None:
        for number in numbers:
            asked = self._asked.pop(number, None)
            if asked is None:
                continue  # the `then` of another has ended it
            try:
                asked.then(error)
            except BaseException as second:  # sys.exit() too: the other questions have to end
                self._report(asked.kind, second)


def failure(error: BaseException) -> Failed:
    """An error as an answer, which can be sent whatever the error is: its text is cut, and fields that cannot be sent are left out."""
    try:
        _, _, fields = describe(error)
        told = freeze(fields)
        if len(VALUES.encode(told)) > MOST_FIELDS:
            told = freeze({})
    except BaseException:  # its fields cannot be had, or not be sent; its name and its text are told
        told = freeze({})
    return Failed(type(error).__name__[:MOST_TEXT].encode("utf-8", "backslashreplace").decode(), wording(error), told)


def outcome(message: Message) -> Message | WeftError:
    """What an answer says: itself, or the error that a Failed describes. Fields that are not as weft makes them are left out: the question ends all the same."""
    if not isinstance(message, Failed):
        return message
    try:
        return by_name(message.name, message.text, dict(message.fields) if isinstance(message.fields, dict) else {})
    except Exception:
        return WeftError(f"{message.name}: {message.text}")
