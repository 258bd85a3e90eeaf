"""Turns: the passes one after another, as settle makes them from what it has seen (decision 29: the work set, then one event, then materializers).

`step` says what to send next. It is asked again only when everything that was sent is done and what it invalidated has been seen: a wave is one step of the pass.
"""
from __future__ import annotations

from enum import Enum

from .mirror import Leave, Mirror
from .settle import PassEnd
from .waves import MOST, wave


class Phase(Enum):
    REST = "rest"  # between two passes
    NODES = "nodes"
    MATERIALIZERS = "materializers"


class Turns:
    """`last` is how the last pass ended."""

    def __init__(self, mirror: Mirror, most: int = MOST) -> None:
        self._mirror, self._most = mirror, most
        self.phase = Phase.REST
        self.last: PassEnd | None = None

    def due(self, now: float) -> bool:
        """Is there a pass to be made, or to go on with?"""
        return self.phase is not Phase.REST or self._mirror.idle.runnable(now)

    def step(self, now: float) -> list[Leave]:
        """What to send. Nothing: the pass is over, and `ended` of the mirror is to be told; there may be another one to make."""
        mirror = self._mirror
        if self.phase is Phase.REST:
            mirror.begin(now)
            self.phase = Phase.NODES
        if self.phase is Phase.NODES:
            leaves = wave(mirror, now, most=self._most)
            if leaves:
                return leaves
            self.phase = Phase.MATERIALIZERS
        leaves = wave(mirror, now, materializers=True, most=self._most)
        if not leaves:
            self.phase = Phase.REST
            self.last = mirror.end(now)
        return leaves
