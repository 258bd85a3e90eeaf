"""Where a runtime's parts are, as its clients see it: the port between the public calls and a placement.

A client checks what it was given and asks its site; the site has the parts, in the caller's thread (`inline`) or behind messages (`distant`). All handles of one runtime share one.
- `guard` comes first in every public call: from inside a run, or after the end, it raises.
- What a call did is covered by every later call: whoever waits, waits for that too (PROTOCOL H5).
What can be asked about the runtime itself is `outlook`.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol, TypeVar

from ..scheduler.cells import Cell
from ..scheduler.errors import ConflictError
from ..storage.transaction import Transaction
from .clock import Clock
from .context import Tx
from .outlet import Departing, Departures
from .outlook import Outlook
from .results import Commit
from .specs import HandlerSpec, NodeSpec
from .watching import Watch

R = TypeVar("R")
GateKind = Literal["debounce", "throttle", "auto"]


class Overtaken(ConflictError):
    """What a transaction has read before is older than what it would read now; it is begun again."""


class Site(Protocol):
    """`placement` is its word for messages; `outlook` tells about the runtime."""

    placement: str

    @property
    def clock(self) -> Clock: ...

    @property
    def outlook(self) -> Outlook: ...

    # Life

    @property
    def closed(self) -> bool: ...

    def guard(self) -> None:
        """Every public call begins with this."""

    def inside(self) -> AbstractContextManager[None]:
        """User code runs in this thread."""

    async def awaited(self, call: Callable[[], R]) -> R:
        """Make a call that may wait, for somebody who must not hold up an event loop."""

    def close(self) -> None:
        """Waits until settled."""

    # Nodes

    def id_of(self, id: str, space: str) -> str:
        """The id under which a spec's node is registered in a space."""

    def known(self, ids: Sequence[str]) -> str | None:
        """The first of these that is registered."""

    def register(self, specs: Sequence[NodeSpec[..., Any]], space: str, *, resume: bool = False) -> list[str]:
        """Their nodes' ids. With `resume`, one that is registered equal already is left alone."""

    def remove(self, ids: Sequence[str]) -> None:
        """The first of these that is registered goes."""

    def handle(self, spec: HandlerSpec[Any, Any], space: str, *, strict: bool = False) -> None:
        """From now on this handles its stream."""

    def set_gate(self, ids: Sequence[str], kind: GateKind, value: float) -> None:
        """Seconds, 0 for none; for `auto`, 1 or 0. Of a node that is not registered yet, it waits for it."""

    # Data

    def open(self, home: str, group: str | None = None) -> tuple[Transaction, Tx, Departures]:
        """A transaction of the caller's."""

    def get(self, cell: Cell[Any], default: Any, home: str) -> Any:
        """What is stored."""

    def commit(self, transaction: Transaction, departures: Departures, home: str, value: R) -> Commit[R]:
        """What the transaction proposes, and what became of it."""

    def listed(self, space: str, begins: str, after: str | None) -> Iterator[str]:
        """The ids of documents that begin so and come after that one, in order."""

    # Demand

    def pull(self, cells: Sequence[Cell[Any]], home: str, timeout: float | None) -> list[Any]: ...

    def sink(self, cell: Cell[Any], callback: Callable[[Any], object], home: str, group: str | None) -> str:
        """Call back with the value, now and whenever it has changed. The id of who looks."""

    def watch(self, cells: Sequence[Cell[Any]], home: str, group: str | None) -> Watch[Any]: ...

    # Events

    def send(self, departing: Departing, home: str) -> None: ...

    # Waiting

    def idle(self, timeout: float | None, gated: bool) -> None: ...

    def settled(self, timeout: float | None) -> None: ...

    def drain(self) -> None:
        """Everything that is runnable now, without waiting for anything."""

    # Breakpoints

    def stop_before(self, ids: Sequence[str], on: bool) -> None: ...

    def step(self) -> None: ...

    def unbreak(self) -> None: ...
