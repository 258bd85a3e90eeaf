"""What became of the members of a wave whose results are coming in, so that a reader of an earlier member's write is judged with it (PROTOCOL H12).

The storage actor keeps one for each worker, from the first result of a wave to the last.
"""
from __future__ import annotations

from collections.abc import Collection

from ..scheduler.model import Entity


class Wave:
    """`token` and `number` say which."""

    __slots__ = ("_left", "number", "token")

    def __init__(self, token: int, number: int) -> None:
        self.token, self.number = token, number
        self._left: list[tuple[int, Collection[Entity]] | None] = []

    def is_this(self, token: int, number: int) -> bool:
        return token == self.token and number == self.number

    def ended(self, n: int, otherwise: Collection[Entity] = ()) -> None:
        """The next member's commit is at this position of the log. `otherwise`: documents that storage made something else of than the worker did."""
        self._left.append((n, otherwise))

    def refused(self) -> None:
        """The next member's commit was not taken."""
        self._left.append(None)

    def left(self, member: int, entity: Entity) -> int | None:
        """The position at which the document is as that member left it, and as a later member must have seen it; None: it never was."""
        if not 0 <= member < len(self._left):
            return None
        found = self._left[member]
        return None if found is None or entity in found[1] else found[0]
