"""The waiting methods for asyncio, under the same names (API.md "Reading").

Inline nothing runs in the background: each of these does its work in the calling thread when it is awaited, and lets the event loop breathe once before it returns. A node that is
`async def` is awaited to its end meanwhile.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

from ..scheduler.cells import Cell, Stream
from .results import Commit, Update
from .sent import Outcome, Sent

if TYPE_CHECKING:
    from .client import Client
    from .context import Tx
    from .watching import Watch

T = TypeVar("T")
D = TypeVar("D")
R = TypeVar("R")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")


async def _breathe() -> None:
    from asyncio import sleep  # whoever comes here has loaded it

    await sleep(0)


class AsyncSent:
    """An event that was sent, and what became of it."""

    id: str
    receipt: Cell[Any]

    def __init__(self, sent: Sent) -> None:
        self.id = sent.id
        self.receipt = sent.receipt
        self._sent = sent

    async def wait(self, timeout: float | None = None) -> Outcome:
        """Until it was handled, or it is certain that it will not be."""
        await _breathe()
        return self._sent.wait(timeout)

    async def result(self, timeout: float | None = None) -> Any:
        """What the handler returned; raises if it failed or nobody handled it."""
        await _breathe()
        return self._sent.result(timeout)


class AsyncWatch(Generic[T]):
    """Yields the newest value whenever it has changed: the first at once. It ends when nothing more can change by itself."""

    def __init__(self, watch: Watch[T]) -> None:
        self._watch = watch
        self._updates: Iterator[Update[T]] | None = None

    async def __aenter__(self) -> Self:
        await _breathe()
        self._watch.__enter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await _breathe()
        self._watch.__exit__(*exc)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Update[T]:
        await _breathe()
        if self._updates is None:
            self._updates = iter(self._watch)
        for update in self._updates:
            return update
        raise StopAsyncIteration


class AsyncRuntime:
    """The waiting methods of a client, awaitable. `rt.aio` is one."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @overload
    async def get(self, cell: Cell[T]) -> T | None: ...
    @overload
    async def get(self, cell: Cell[T], default: D) -> T | D: ...
    async def get(self, cell: Cell[Any], default: Any = None) -> Any:
        """What is stored."""
        await _breathe()
        return self._client.get(cell, default)

    async def set(self, cell: Cell[T], value: T) -> Commit[None]:
        await _breathe()
        return self._client.set(cell, value)

    async def delete(self, cell: Cell[Any]) -> Commit[None]:
        await _breathe()
        return self._client.delete(cell)

    async def transact(self, fn: Callable[[Tx], R], retries: int | None = None, *, group: str | None = None) -> Commit[R]:
        """Run the function in a transaction, again when its reads were overtaken."""
        await _breathe()
        return self._client.transact(fn, retries, group=group)

    async def send(self, stream: Stream[T], payload: T, id: str | None = None, *, session: str = "", after: float = 0.0, durable: bool = True) -> AsyncSent:
        """An event."""
        await _breathe()
        return AsyncSent(self._client.send(stream, payload, id, session=session, after=after, durable=durable))

    @overload
    async def pull(self, a: Cell[A], /, *, timeout: float | None = None) -> A | None: ...
    @overload
    async def pull(self, a: Cell[A], b: Cell[B], /, *, timeout: float | None = None) -> tuple[A | None, B | None]: ...
    @overload
    async def pull(self, *cells: Cell[Any], timeout: float | None = None) -> Any: ...
    async def pull(self, *cells: Cell[Any], timeout: float | None = None) -> Any:
        """What is up to date; several cells of one version."""
        await _breathe()
        return self._client.pull(*cells, timeout=timeout)

    @overload
    def watch(self, a: Cell[A], /, *, group: str | None = None) -> AsyncWatch[A | None]: ...
    @overload
    def watch(self, a: Cell[A], b: Cell[B], /, *, group: str | None = None) -> AsyncWatch[tuple[A | None, B | None]]: ...
    @overload
    def watch(self, a: Cell[A], b: Cell[B], c: Cell[C], /, *, group: str | None = None) -> AsyncWatch[tuple[A | None, B | None, C | None]]: ...
    @overload
    def watch(self, a: Cell[Any], b: Cell[Any], c: Cell[Any], d: Cell[Any], /, *more: Cell[Any], group: str | None = None) -> AsyncWatch[tuple[Any, ...]]: ...
    def watch(self, *cells: Cell[Any], group: str | None = None) -> AsyncWatch[Any]:
        """Iterate over what the cells become."""
        return AsyncWatch(self._client.watch(*cells, group=group))

    async def idle(self, timeout: float | None = None, gated: bool = False) -> None:
        """Until nothing is runnable and no event is parked."""
        await _breathe()
        self._client.idle(timeout, gated)

    async def settled(self, timeout: float | None = None) -> None:
        """Until idle, and every commit is decided."""
        await _breathe()
        self._client.settled(timeout)
