"""Restart arithmetic: how often something may die before it is not started again. A pure machine; `now` is a parameter."""
from __future__ import annotations

from collections import deque

MOST, WITHIN = 5, 10.0  # deaths, in seconds: what dies more often has a cause that a restart does not mend


class Intensity:
    """The deaths of one child."""

    def __init__(self, most: int = MOST, within: float = WITHIN) -> None:
        self._most = most
        self._within = within
        self._deaths: deque[float] = deque()

    def allows(self, now: float) -> bool:
        """One more death; whether it may be started again."""
        self._deaths.append(now)
        while self._deaths and self._deaths[0] <= now - self._within:
            self._deaths.popleft()
        return len(self._deaths) <= self._most

    def __str__(self) -> str:
        return f"{len(self._deaths)} times in {self._within:g} s"
