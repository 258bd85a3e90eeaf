"""The waiting methods for asyncio, under the same names (API.md "Reading").

How a call that may wait is awaited is the placement's matter (`Site.awaited`). Inline nothing runs in the background: it is made in the calling thread, and the event loop breathes
once before it. A node that is `async def` is awaited to its end meanwhile. Everywhere else it is made in a thread of its own.
"""
from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, Self, TypeAlias, TypeVar, overload

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


Awaited: TypeAlias = Callable[[Callable[[], Any]], Awaitable[Any]]


class AsyncSent:
    """An event that was sent, and what became of it."""

    id: str
    receipt: Cell[Any]

    def __init__(self, sent: Sent, awaited: Awaited) -> None:
        self.id = sent.id
        self.receipt = sent.receipt
        self._sent, self._awaited = sent, awaited

    async def wait(self, timeout: float | None = None) -> Outcome:
        """Until it was handled, or it is certain that it will not be."""
        outcome: Outcome = await self._awaited(lambda: self._sent.wait(timeout))
        return outcome

    async def result(self, timeout: float | None = None) -> Any:
        """What the handler returned; raises if it failed or nobody handled it."""
        return await self._awaited(lambda: self._sent.result(timeout))


class AsyncWatch(Generic[T]):
    """Yields the newest value whenever it has changed: the first at once. It ends when nothing more can change by itself."""

    def __init__(self, watch: Watch[T], awaited: Awaited) -> None:
        self._watch, self._awaited = watch, awaited
        self._updates: Iterator[Update[T]] | None = None

    async def __aenter__(self) -> Self:
        await self._awaited(self._watch.__enter__)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._awaited(lambda: self._watch.__exit__(*exc))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Update[T]:
        updates = self._updates = iter(self._watch) if self._updates is None else self._updates
        update: Update[T] | None = await self._awaited(lambda: next(updates, None))
        if update is None:
            raise StopAsyncIteration
        return update


class AsyncRuntime:
    """The waiting methods of a client, awaitable. `rt.aio` is one."""

    def __init__(self, client: Client, awaited: Awaited) -> None:
        self._client, self._awaited = client, awaited

    @overload
    async def get(self, cell: Cell[T]) -> T | None: ...
    @overload
    async def get(self, cell: Cell[T], default: D) -> T | D: ...
    async def get(self, cell: Cell[Any], default: Any = None) -> Any:
        """What is stored."""
        return await self._awaited(lambda: self._client.get(cell, default))

    async def set(self, cell: Cell[T], value: T) -> Commit[None]:
        commit: Commit[None] = await self._awaited(lambda: self._client.set(cell, value))
        return commit

    async def delete(self, cell: Cell[Any]) -> Commit[None]:
        commit: Commit[None] = await self._awaited(lambda: self._client.delete(cell))
        return commit

    async def transact(self, fn: Callable[[Tx], R], retries: int | None = None, *, group: str | None = None) -> Commit[R]:
        """Run the function in a transaction, again when its reads were overtaken."""
        commit: Commit[R] = await self._awaited(lambda: self._client.transact(fn, retries, group=group))
        return commit

    async def send(self, stream: Stream[T], payload: T, id: str | None = None, *, session: str = "", after: float = 0.0, durable: bool = True) -> AsyncSent:
        """An event."""
        sent = await self._awaited(lambda: self._client.send(stream, payload, id, session=session, after=after, durable=durable))
        return AsyncSent(sent, self._awaited)

    @overload
    async def pull(self, a: Cell[A], /, *, timeout: float | None = None) -> A | None: ...
    @overload
    async def pull(self, a: Cell[A], b: Cell[B], /, *, timeout: float | None = None) -> tuple[A | None, B | None]: ...
    @overload
    async def pull(self, *cells: Cell[Any], timeout: float | None = None) -> Any: ...
    async def pull(self, *cells: Cell[Any], timeout: float | None = None) -> Any:
        """What is up to date; several cells of one version."""
        return await self._awaited(lambda: self._client.pull(*cells, timeout=timeout))

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
        return AsyncWatch(self._client.watch(*cells, group=group), self._awaited)

    async def idle(self, timeout: float | None = None, gated: bool = False) -> None:
        """Until nothing is runnable and no event is parked."""
        await self._awaited(lambda: self._client.idle(timeout, gated))

    async def settled(self, timeout: float | None = None) -> None:
        """Until idle, and every commit is decided."""
        await self._awaited(lambda: self._client.settled(timeout))
