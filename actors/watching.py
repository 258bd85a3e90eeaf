"""Sinks and watches: effects of the runtime's own, whose findings are delivered after their run, outside of it (API.md "Reading")."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, Self, TypeVar

from ..scheduler.cells import Cell
from ..scheduler.errors import ErrorInfo
from .context import Tx
from .declaring import effect
from .results import Update
from .specs import NodeSpec
from .telling import told

T = TypeVar("T")


class Deliveries:
    """What waits to be told to the caller, in order."""

    def __init__(self, report: Callable[[ErrorInfo], None]) -> None:
        """`report` hears what callbacks raise: neither the call that delivers nor the callbacks behind it suffer."""
        self._waiting: deque[tuple[str, Callable[[], object]]] = deque()
        self._report = report

    def add(self, sink: str, call: Callable[[], object]) -> None:
        self._waiting.append((sink, call))

    def make(self) -> bool:
        """True: there was something."""
        found = bool(self._waiting)
        while self._waiting:
            sink, call = self._waiting.popleft()
            try:
                call()
            except Exception as error:
                self._report(told(error, sink))
        return found


def sink_spec(id: str, cell: Cell[Any], callback: Callable[[Any], object], deliveries: Deliveries) -> NodeSpec[..., Any]:
    def show(tx: Tx) -> None:
        value = tx.get(cell)
        deliveries.add(id, lambda: callback(value))

    return effect(id=id, auto_debounce=False)(show)


def watch_spec(id: str, cells: Sequence[Cell[Any]], take: Callable[[Update[Any]], object]) -> NodeSpec[..., Any]:
    def look(tx: Tx) -> None:
        values = tuple([tx.get(cell) for cell in cells])
        take(Update(values[0] if len(cells) == 1 else values, tx.version))

    return effect(id=id, auto_debounce=False)(look)


class Watch(Generic[T]):
    """Yields the newest value whenever it has changed: the first at once. It ends when nothing more can change by itself."""

    def __init__(self, open: Callable[[Callable[[Update[Any]], object]], Callable[[], None]], turn: Callable[[Callable[[], bool]], bool]) -> None:
        self._open, self._turn = open, turn
        self._newest: Update[Any] | None = None
        self._close: Callable[[], None] | None = None

    def __enter__(self) -> Self:
        if self._close is None:
            self._close = self._open(self._take)
        return self

    def __exit__(self, *exc: object) -> None:
        if self._close is not None:
            self._close()
            self._close = None

    def __iter__(self) -> Iterator[Update[T]]:
        with self:
            while self._turn(lambda: self._newest is not None):
                newest, self._newest = self._newest, None
                assert newest is not None
                yield newest

    def _take(self, update: Update[Any]) -> None:
        self._newest = update
