"""Breakpoints: the pass stops before the next run of a named node, and goes on by single runs, or altogether.

This is the one thing among the diagnostics that takes part, and only where somebody has asked for it. While it is stopped nothing runs, and whatever waits comes back.
"""
from __future__ import annotations

from ..scheduler.records import Node


class Breakpoints:
    """`stopped` is the node before whose run everything stands. `_free`: the next run is made, whichever it is; `_hold`: the one after it is not."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._free = self._hold = False
        self.stopped: str | None = None

    @property
    def any(self) -> bool:
        return bool(self._ids) or self.stopped is not None

    def set(self, id: str, on: bool) -> None:
        if on:
            self._ids.add(id)
        else:
            self._ids.discard(id)
            if self.stopped == id:
                self.stopped = None

    def clear(self) -> None:
        """None are left, and what is stopped goes on."""
        self._ids.clear()
        self.stopped = None

    def allow(self) -> bool:
        """One run more. False: nothing is stopped."""
        if self.stopped is None:
            return False
        self.stopped, self._free = None, True
        return True

    def stepped(self) -> None:
        """The step is made. If nothing came after it, nothing is stopped."""
        self._free = self._hold = False

    def halts(self, node: Node) -> bool:
        """Asked when it is the node's turn."""
        if self._free:
            self._free, self._hold = False, True
            return False
        if self._hold or node.id in self._ids:
            self._hold = False
            self.stopped = node.id
            return True
        return False
