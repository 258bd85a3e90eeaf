"""The public calls (API.md): nodes, data, demand, events, waiting. Each says what is asked; the parts do it.

A client is a handle: any number of them share one runtime, each at home in a space. Looking is `inspector`, waiting in asyncio is `aio`.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from inspect import iscoroutinefunction
from itertools import islice
from secrets import token_hex
from types import ModuleType
from typing import Any, Literal, Self, TypeAlias, TypeVar, overload

from ..scheduler.cells import Cell, Family, Link, Stream
from ..scheduler.errors import Misuse
from ..scheduler.ids import checked_id, shown
from ..scheduler.rejection import Fate
from ..scheduler.values import freeze
from .absent import Absent
from .aio import AsyncRuntime
from .context import Tx
from .inspector import Inspector
from .loading import specs_of
from .node import Node
from .outlet import Departing
from .places import misplaced
from .plain import plain
from .results import Commit
from .sent import Sent
from .site import Overtaken, Site
from .specs import HandlerSpec, NodeSpec
from .surface import checked_group, checked_seconds
from .watching import Watch

T = TypeVar("T")
D = TypeVar("D")
R = TypeVar("R")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
Loadable: TypeAlias = NodeSpec[..., Any] | HandlerSpec[Any, Any] | ModuleType | str
RETRIES = 100  # of a transaction whose reads were overtaken; each lost race means that somebody else won


class Client(Inspector, Absent):
    """A handle of a runtime, at home in one space. `weft.Runtime` is one."""

    _strict: bool

    def __init__(self, shared: Site, home: str, strict: bool) -> None:
        self._shared, self._home, self._strict = shared, home, strict

    @property
    def aio(self) -> AsyncRuntime:
        """The waiting methods, for asyncio. Inline they do their work in the calling thread before they return."""
        return AsyncRuntime(self, self._shared.awaited)

    # Life

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Waits until settled. After that every call says that it is closed."""
        self._shared.close()

    def in_space(self, name: str) -> Self:
        """The same runtime, at home in another space."""
        handle = object.__new__(type(self))
        Client.__init__(handle, self._shared, checked_id(name, "space"), self._strict)
        return handle

    # Nodes

    def register(self, spec: NodeSpec[..., Any], mode: Literal["fresh", "resume"] = "fresh") -> Node:
        """A node from its spec. Registered again it runs again; with `resume`, not if it is registered equal already."""
        self._shared.guard()
        if not isinstance(spec, NodeSpec):
            raise Misuse(f"{shown(spec)} is no node; decorate a function with @weft.computation or @weft.effect")
        return self._register([spec], mode)[0]

    def load(self, what: Loadable | Sequence[Loadable], mode: Literal["resume", "fresh"] = "resume") -> list[Node]:
        """Everything that is declared there."""
        self._shared.guard()
        specs = specs_of(what)
        for spec in specs:
            if isinstance(spec, HandlerSpec):
                if self._strict:
                    spec.importable()
                self._shared.handle(spec, self._home, strict=self._strict)
        return self._register([spec for spec in specs if isinstance(spec, NodeSpec)], mode)

    def remove(self, node: Node | str) -> None:
        """It does not run again. One that is not registered is nothing to remove."""
        if not self._shared.closed:
            self._shared.remove(self._names(node))

    # Data

    @overload
    def get(self, cell: Cell[T]) -> T | None: ...
    @overload
    def get(self, cell: Cell[T], default: D) -> T | D: ...
    def get(self, cell: Cell[Any], default: Any = None) -> Any:
        """What is stored, which may be out of date; `pull` brings it up to date."""
        self._shared.guard()
        return self._shared.get(cell, default, self._home)

    def set(self, cell: Cell[T], value: T) -> Commit[None]:
        self._shared.guard()
        return self._write(lambda tx: tx.set(cell, value), None)

    def delete(self, cell: Cell[Any]) -> Commit[None]:
        self._shared.guard()
        return self._write(lambda tx: tx.delete(cell), None)

    def transact(self, fn: Callable[[Tx], R], retries: int | None = None, *, group: str | None = None) -> Commit[R]:
        """Run the function in a transaction, again when its reads were overtaken."""
        self._shared.guard()
        if not callable(fn) or iscoroutinefunction(fn):
            raise Misuse(f"transact calls a plain function with a tx, and {shown(fn)} is none; what has to be awaited is awaited before it")
        if retries is not None and (type(retries) is not int or retries < 0):
            raise Misuse(f"transact: retries={shown(retries)} is no number of retries; it is an integer from 0, or None")
        checked_group(group)
        for left in range(RETRIES if retries is None else retries, -1, -1):
            try:
                commit: Commit[R] = self._write(fn, group)
            except Overtaken:
                if not left:
                    raise
                continue
            if not left:
                break
            commit.wait()
            if commit.rejection is None or commit.rejection.fate is not Fate.STALE_BASIS:
                break
        return commit

    @contextmanager
    def transaction(self, *, group: str | None = None) -> Iterator[Tx]:
        """One attempt, committed when the block ends and dropped when it raises."""
        self._shared.guard()
        transaction, tx, departures = self._shared.open(self._home, checked_group(group))
        yield tx
        self._shared.guard()  # the block may have closed it
        tx.conclude(self._shared.commit(transaction, departures, self._home, None))

    def documents(self, prefix: str | Family[Any] = "", *, after: Cell[Any] | None = None, limit: int = 1000) -> list[Cell[Any]]:
        """The documents whose id begins so, or the members of a family, in order of id; the next page comes after the last cell of this one."""
        self._shared.guard()
        if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
            raise Misuse(f"documents: limit={shown(limit)} is no number of documents; it is an integer from 1")
        if after is not None and not isinstance(after, Cell):
            raise misplaced(after)
        if not isinstance(prefix, (str, Family)):
            raise Misuse(f"documents: {shown(prefix)} is neither the beginning of an id nor a family")
        family = prefix if isinstance(prefix, Family) else None
        space = family.space or self._home if family is not None else self._home
        begins = f"{family.id}/" if family is not None else str(prefix)
        named, of = None if space == self._home else space, family.of if family is not None else None
        cells: Iterator[Cell[Any]] = (Cell(named, "space", id, (), of) for id in self._shared.listed(space, begins, None if after is None else after.id))
        return list(islice((cell for cell in cells if family is None or family.match(cell) is not None), limit))

    # Demand

    @overload
    def pull(self, a: Cell[A], /, *, timeout: float | None = None) -> A | None: ...
    @overload
    def pull(self, a: Cell[A], b: Cell[B], /, *, timeout: float | None = None) -> tuple[A | None, B | None]: ...
    @overload
    def pull(self, a: Cell[A], b: Cell[B], c: Cell[C], /, *, timeout: float | None = None) -> tuple[A | None, B | None, C | None]: ...
    @overload
    def pull(self, *cells: Cell[Any], timeout: float | None = None) -> Any: ...
    def pull(self, *cells: Cell[Any], timeout: float | None = None) -> Any:
        """What is up to date; several cells of one version."""
        self._shared.guard()
        if not cells:
            raise Misuse("pull takes at least one cell")
        values = self._shared.pull(cells, self._home, timeout)
        return values[0] if len(cells) == 1 else tuple(values)

    def sink(self, cell: Cell[T], callback: Callable[[T | None], object], *, group: str | None = None) -> Node:
        """Call back with the value, now and whenever it has changed."""
        self._shared.guard()
        if not callable(callback):
            raise Misuse(f"sink calls a function with the value, and {shown(callback)} is none")
        self._readable([cell])
        return Node(self._shared.sink(cell, callback, self._home, checked_group(group)), self)

    def watch(self, *cells: Cell[Any], group: str | None = None) -> Watch[Any]:
        """Iterate over what the cells become: the first at once, then the newest."""
        self._shared.guard()
        if not cells:
            raise Misuse("watch takes at least one cell")
        self._readable(cells)
        return self._shared.watch(cells, self._home, checked_group(group))

    # Events

    def send(self, stream: Stream[T], payload: T, id: str | None = None, *, session: str = "", after: float = 0.0, durable: bool = True) -> Sent:
        """An event. The same (stream, session, id) is one event, however often it is sent. Inline it is kept in memory, durable or not."""
        self._shared.guard()
        if not isinstance(stream, Stream):
            raise Misuse(f"{shown(stream)} is no stream; make one with weft.stream(id)")
        sent = Sent.of(id if id is not None else token_hex(12), stream, session, self._home)
        self._shared.send(Departing(stream, freeze(plain(payload)), session, checked_seconds(after, "after", "send") or 0.0, sent), self._home)
        return sent

    # Waiting

    def idle(self, timeout: float | None = None, gated: bool = False) -> None:
        """Until nothing is runnable and no event is parked; with `gated`, until nothing waits for a time gate either. Of a closed runtime there is nothing to wait for."""
        if not self._shared.closed:
            self._shared.guard()
            self._shared.idle(timeout, gated)

    def settled(self, timeout: float | None = None) -> None:
        """Until idle, and every commit is decided."""
        if not self._shared.closed:
            self._shared.guard()
            self._shared.settled(timeout)

    # Inside

    def _register(self, specs: list[NodeSpec[..., Any]], mode: str) -> list[Node]:
        if self._strict:
            for spec in specs:
                spec.importable()
        return [Node(id, self) for id in self._shared.register(specs, self._home, resume=_mode(mode) == "resume")]

    def _readable(self, cells: Sequence[object]) -> None:
        """Raises what reading them would."""
        for cell in cells:
            if not isinstance(cell, (Cell, Link)):
                raise misplaced(cell)

    def _write(self, fn: Callable[[Tx], R], group: str | None) -> Commit[R]:
        transaction, tx, departures = self._shared.open(self._home, group)
        with self._shared.inside():
            value = fn(tx)
        return self._shared.commit(transaction, departures, self._home, value)


def _mode(mode: object) -> object:
    if mode not in ("fresh", "resume"):
        raise Misuse(f"mode={shown(mode)}: a node is registered 'fresh', or 'resume'd where it is registered equal already")
    return mode
