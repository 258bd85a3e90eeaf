"""The decorators `computation`, `effect` and `handler`. They check what they are given, return a spec and register nothing.

Mistakes are reported where they are declared, by the function's name. What the specs mean is in `specs`.
"""
from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar, overload

from ..scheduler.cells import Cell, Family, Stream
from ..scheduler.errors import Misuse
from ..scheduler.ids import shown
from .naming import checked_node_id
from .parameters import check_takes_two, checked_function, parameters_of, where
from .specs import NOTHING, HandlerSpec, NodeSpec
from .surface import check_apart, checked_cells, checked_flag, checked_output, checked_seconds, checked_version

if TYPE_CHECKING:
    from .context import Reader, Tx

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
Cells = Sequence[Cell[Any]]


@overload
def computation(fn: Callable[Concatenate[Tx, P], Awaitable[R]], /, *, output: Cell[R] | Family[R] | None = None, also_writes: Sequence[Cell[Any]] = (), envelope: Sequence[Cell[Any]] = (), declared_reads: Sequence[Cell[Any]] = (), id: str | None = None, args: Mapping[str, Any] = ..., debounce: float | None = None, max_wait: float | None = None, throttle: float | None = None, deadline: float | None = None, version: str = "") -> NodeSpec[P, R]: ...  # noqa: E501
@overload
def computation(fn: Callable[Concatenate[Tx, P], R], /, *, output: Cell[R] | Family[R] | None = None, also_writes: Sequence[Cell[Any]] = (), envelope: Sequence[Cell[Any]] = (), declared_reads: Sequence[Cell[Any]] = (), id: str | None = None, args: Mapping[str, Any] = ..., debounce: float | None = None, max_wait: float | None = None, throttle: float | None = None, deadline: float | None = None, version: str = "") -> NodeSpec[P, R]: ...  # noqa: E501
@overload
def computation(*, output: Cell[R] | Family[R], also_writes: Sequence[Cell[Any]] = (), envelope: Sequence[Cell[Any]] = (), declared_reads: Sequence[Cell[Any]] = (), id: str | None = None, args: Mapping[str, Any] = ..., debounce: float | None = None, max_wait: float | None = None, throttle: float | None = None, deadline: float | None = None, version: str = "") -> Callable[[Callable[Concatenate[Tx, P], R | Awaitable[R]]], NodeSpec[P, R]]: ...  # noqa: E501
@overload
def computation(*, also_writes: Sequence[Cell[Any]] = (), envelope: Sequence[Cell[Any]] = (), declared_reads: Sequence[Cell[Any]] = (), id: str | None = None, args: Mapping[str, Any] = ..., debounce: float | None = None, max_wait: float | None = None, throttle: float | None = None, deadline: float | None = None, version: str = "") -> Callable[[Callable[Concatenate[Tx, P], R | Awaitable[R]]], NodeSpec[P, R]]: ...  # noqa: E501
def computation(
    fn: Any = None, /, *, output: Any = None, also_writes: Cells = (), envelope: Cells = (), declared_reads: Cells = (), id: str | None = None, args: Mapping[str, Any] = NOTHING,
    debounce: float | None = None, max_wait: float | None = None, throttle: float | None = None, deadline: float | None = None, version: str = "",
) -> Any:  # fmt: skip
    """A function of stored values: what it returns is written to its output, whenever somebody looks and something it read has changed."""
    declare = partial(
        _node, "computation", id=id, args=args, output=output, also_writes=also_writes, envelope=envelope, declared_reads=declared_reads,
        times={"debounce": debounce, "max_wait": max_wait, "throttle": throttle, "deadline": deadline}, auto_debounce=False, version=version,
    )  # fmt: skip
    return declare if fn is None else declare(fn)


@overload
def effect(fn: Callable[Concatenate[Tx, P], object], /) -> NodeSpec[P, None]: ...
@overload
def effect(*, id: str | None = None, args: Mapping[str, Any] = ..., declared_reads: Sequence[Cell[Any]] = (), debounce: float | None = None, max_wait: float | None = None, throttle: float | None = None, auto_debounce: bool = True, deadline: float | None = None, version: str = "") -> Callable[[Callable[Concatenate[Tx, P], object]], NodeSpec[P, None]]: ...  # noqa: E501
def effect(
    fn: Any = None, /, *, id: str | None = None, args: Mapping[str, Any] = NOTHING, declared_reads: Cells = (), debounce: float | None = None, max_wait: float | None = None,
    throttle: float | None = None, auto_debounce: bool = True, deadline: float | None = None, version: str = "",
) -> Any:  # fmt: skip
    """A function that shows stored values to the world: it is demand, and runs again whenever something it read has changed."""
    declare = partial(
        _node, "effect", id=id, args=args, output=None, also_writes=(), envelope=(), declared_reads=declared_reads,
        times={"debounce": debounce, "max_wait": max_wait, "throttle": throttle, "deadline": deadline}, auto_debounce=auto_debounce, version=version,
    )  # fmt: skip
    return declare if fn is None else declare(fn)


def handler(
    stream: Stream[T], /, *, reads: Sequence[Cell[Any]] = (), preflight: Callable[[Reader, T], object] | None = None, id: str | None = None, retry: bool = True,
    multi_space: bool = False, deadline: float | None = None,
) -> Callable[[Callable[[Tx, T], R]], HandlerSpec[T, R]]:  # fmt: skip
    """The function that handles the events of a stream, each in a transaction of its own; what it returns is the receipt's value."""
    if not isinstance(stream, Stream):
        raise Misuse(f"weft.handler takes the stream it handles, not {shown(stream)}; write @weft.handler(weft.stream('name')) above the function")

    def declare(fn: Callable[[Tx, T], R]) -> HandlerSpec[T, R]:
        checked = checked_function(fn, "weft.handler")
        owner = where(checked)
        check_takes_two(checked, "weft.handler", "event")
        if preflight is not None:
            check_takes_two(checked_function(preflight, "preflight="), "preflight=", "event")
            if inspect.iscoroutinefunction(preflight):
                raise Misuse(f"{owner}: the preflight {where(preflight)} is async, and a preflight only reads what is stored; make it a plain def")
        return HandlerSpec(
            id=checked_node_id(owner if id is None else id, owner),
            stream=stream,
            fn=checked,
            reads=checked_cells(reads, "reads", owner),
            preflight=preflight,
            retry=checked_flag(retry, "retry", owner),
            multi_space=checked_flag(multi_space, "multi_space", owner),
            deadline=checked_seconds(deadline, "deadline", owner),
        )

    return declare


def _node(
    kind: Literal["computation", "effect"], fn: object, *, id: str | None, args: Mapping[str, Any], output: object, also_writes: object, envelope: object, declared_reads: object,
    times: Mapping[str, object], auto_debounce: bool, version: str,
) -> NodeSpec[..., Any]:  # fmt: skip
    decorator = f"weft.{kind}"
    checked = checked_function(fn, decorator)
    owner = where(checked)
    parameters = parameters_of(checked, decorator)
    place, beside = checked_output(output, owner), checked_cells(also_writes, "also_writes", owner)
    check_apart(place, beside, owner)
    if isinstance(place, Family) and (unknown := parameters.unknown(place.params)):
        raise Misuse(f"{owner} writes {place!r} and must take its parameters: def {checked.__name__}(tx, {', '.join(place.params)}); {unknown[0]!r} is missing")
    stem = checked_node_id(owner if id is None else id, owner)
    spec: NodeSpec[..., Any] = NodeSpec(
        id=stem,
        kind=kind,
        fn=checked,
        parameters=parameters,
        output=place,
        also_writes=beside,
        envelope=checked_cells(envelope, "envelope", owner),
        declared_reads=checked_cells(declared_reads, "declared_reads", owner),
        args=NOTHING,
        auto_debounce=checked_flag(auto_debounce, "auto_debounce", owner),
        version=checked_version(version, owner),
        is_async=inspect.iscoroutinefunction(checked),
        stem=stem,
        **{what: checked_seconds(seconds, what, owner) for what, seconds in times.items()},  # type: ignore[arg-type]
    )
    return spec.given(args, id) if args is not NOTHING else spec
