"""Which threads run user code at this moment. A call of the runtime from one of them is refused: it would wait for itself, or see half a run."""
from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Insiders:
    """One for all clients and workers of a runtime in this process."""

    def __init__(self) -> None:
        self._depths: dict[int, int] = {}

    def here(self) -> bool:
        return threading.get_ident() in self._depths

    def enter(self) -> None:
        me = threading.get_ident()
        self._depths[me] = self._depths.get(me, 0) + 1

    def leave(self) -> None:
        me = threading.get_ident()
        self._depths[me] -= 1
        if not self._depths[me]:
            del self._depths[me]

    @contextmanager
    def inside(self) -> Iterator[None]:
        self.enter()
        try:
            yield
        finally:
            self.leave()
