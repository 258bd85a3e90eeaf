"""The reactive libraries that `core` measures, behind the few shapes of node its cases are made of.

Each side spells a node the way its own users do: nothing stands between the library and the function but one count for each call, the same on every side. A value that is
given to `update` is seen by every effect before `update` returns.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import count
from typing import Any, Literal, Protocol, TypeAlias

import weft
from weft.actors.runtime import Runtime
from weft.actors.specs import NodeSpec

Handle: TypeAlias = Any  # what a side calls a value: each has its own


class Side(Protocol):
    """`runs` counts the calls of computations, `seen` those of effects."""

    name: str
    runs: int
    seen: int

    def source(self, value: int) -> Handle: ...

    def sums(self, parts: Sequence[Handle]) -> Handle:
        """A computation: the sum of its parts."""

    def constant(self, source: Handle) -> Handle:
        """A computation that reads, and always gives the same."""

    def choice(self, flag: Handle, one: Handle, other: Handle) -> Handle:
        """A computation that reads the flag, and then the one or, if the flag is even, the other."""

    def effect(self, value: Handle) -> None: ...

    def update(self, source: Handle, value: int) -> None: ...

    def close(self) -> None: ...


class Weft:
    """Inline and in memory, unless it is said otherwise: every run is a transaction with a read log, committed, decided by the engine and entered in its log."""

    name = "weft"

    def __init__(self, placement: Literal["inline", "embedded"] = "inline", storage: str = "memory:") -> None:
        self.runs = self.seen = 0
        self._rt = Runtime(placement=placement, storage=storage)
        self._names = count()

    def source(self, value: int) -> Handle:
        cell: weft.Cell[int] = weft.cell(f"source{next(self._names)}")
        self._rt.set(cell, value)
        return cell

    def sums(self, parts: Sequence[Handle]) -> Handle:
        if len(parts) > 1:
            return self._computed(lambda tx: sum([tx[part] for part in parts]), parts)
        part = parts[0]
        return self._computed(lambda tx: tx[part] + 1, parts)

    def constant(self, source: Handle) -> Handle:
        return self._computed(lambda tx: tx[source] * 0, (source,))

    def choice(self, flag: Handle, one: Handle, other: Handle) -> Handle:
        return self._computed(lambda tx: tx[one] if tx[flag] % 2 else tx[other], (flag, one, other))

    def effect(self, value: Handle) -> None:
        def show(tx: weft.Tx) -> None:
            self.seen += 1
            tx[value]

        self._rt.register(weft.effect(id=f"effect{next(self._names)}", auto_debounce=False)(show))

    def register(self, spec: NodeSpec[..., Any]) -> None:
        """A node of another shape."""
        self._rt.register(spec)

    def write(self, cell: weft.Cell[Any], value: Any) -> None:
        self._rt.set(cell, value)

    def update(self, source: Handle, value: int) -> None:
        self._rt.set(source, value)
        self._rt.idle()

    def close(self) -> None:
        self._rt.close()

    def _computed(self, read: Callable[[weft.Tx], int], declared: Sequence[Handle]) -> Handle:
        cell: weft.Cell[int] = weft.cell(f"node{next(self._names)}")

        def compute(tx: weft.Tx) -> int:
            self.runs += 1
            return read(tx)

        self._rt.register(weft.computation(output=cell, id=cell.id, declared_reads=list(declared))(compute))
        return cell


class Reaktiv:
    """Signals that are read by calling them; effects run inside `set`."""

    name = "reaktiv"

    def __init__(self) -> None:
        self.runs = self.seen = 0
        self._lib: Any = import_module(self.name)
        self._kept: list[object] = []  # an effect that nobody holds is gone

    def source(self, value: int) -> Handle:
        return self._lib.Signal(value)

    def sums(self, parts: Sequence[Handle]) -> Handle:
        if len(parts) > 1:
            return self._computed(lambda: sum([part() for part in parts]))
        part = parts[0]
        return self._computed(lambda: part() + 1)

    def constant(self, source: Handle) -> Handle:
        return self._computed(lambda: source() * 0)

    def choice(self, flag: Handle, one: Handle, other: Handle) -> Handle:
        return self._computed(lambda: one() if flag() % 2 else other())

    def effect(self, value: Handle) -> None:
        def show() -> None:
            self.seen += 1
            value()

        self._kept.append(self._lib.Effect(show))

    def update(self, source: Handle, value: int) -> None:
        source.set(value)

    def close(self) -> None:
        self._kept.clear()

    def _computed(self, read: Callable[[], int]) -> Handle:
        def compute() -> int:
            self.runs += 1
            return read()

        return self._lib.Computed(compute)


class Observ:
    """Computed functions over references; effects wait for the scheduler, which is flushed after each write."""

    name = "observ"

    def __init__(self) -> None:
        self.runs = self.seen = 0
        self._lib: Any = import_module(self.name)
        self._kept: list[object] = []
        self._lib.scheduler.register_request_flush(lambda: None)

    def source(self, value: int) -> Handle:
        ref = self._lib.ref(value)
        self._kept.append(ref)
        return lambda: ref["value"], ref

    def sums(self, parts: Sequence[Handle]) -> Handle:
        read = [part[0] for part in parts]
        if len(read) > 1:
            return self._computed(lambda: sum([part() for part in read]))
        part = read[0]
        return self._computed(lambda: part() + 1)

    def constant(self, source: Handle) -> Handle:
        read = source[0]
        return self._computed(lambda: read() * 0)

    def choice(self, flag: Handle, one: Handle, other: Handle) -> Handle:
        chosen, first, second = flag[0], one[0], other[0]
        return self._computed(lambda: first() if chosen() % 2 else second())

    def effect(self, value: Handle) -> None:
        read = value[0]

        def show() -> None:
            self.seen += 1
            read()

        self._kept.append(self._lib.watch_effect(show))

    def update(self, source: Handle, value: int) -> None:
        source[1]["value"] = value
        self._lib.scheduler.flush()

    def close(self) -> None:
        self._kept.clear()

    def _computed(self, read: Callable[[], int]) -> Handle:
        def compute() -> int:
            self.runs += 1
            return read()

        return self._lib.computed(compute), None
