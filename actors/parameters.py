"""What a declared function takes: its parameters, read once when it is declared, and whether arguments fit them.

- A node's function takes `tx` first and everything else by name; a handler's takes `tx` and the event.
- Functions that cannot be run as one attempt of one transaction are refused here: generators, classes, callable objects.
- Annotations are looked at, never evaluated: only whether one names `int` or `str` matters, for arguments that come out of an address as text.
`specs` and `declaring` call this.
"""
from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType, MethodType
from typing import Any, NamedTuple, TypeAlias

from ..scheduler.errors import Misuse
from ..scheduler.ids import shown

Function: TypeAlias = Callable[..., Any]
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Parameters(NamedTuple):
    """The parameters of a node's function behind `tx`."""

    names: tuple[str, ...]  # in order
    required: frozenset[str]  # those without a default
    integers: frozenset[str]  # those annotated int
    texts: frozenset[str]  # those annotated str
    extra: bool  # there is a **parameter that takes any other name

    def unknown(self, given: Iterable[str]) -> list[str]:
        return [] if self.extra else [name for name in given if name not in self.names]

    def absent(self, given: Iterable[str]) -> tuple[str, ...]:
        """Those that must still be given, in order."""
        there = set(given)
        return tuple(name for name in self.names if name in self.required and name not in there)

    def ordered(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments in the order of the parameters; those of a **parameter behind them, by name."""
        return {name: args[name] for name in self.names if name in args} | {name: args[name] for name in sorted(args) if name not in self.names}

    def told(self) -> str:
        return f"({', '.join([*self.names, *(['**'] if self.extra else [])])})"


def where(fn: Function) -> str:
    """`module:qualname`, the name under which people find a function."""
    return f"{fn.__module__}:{fn.__qualname__}"


def checked_function(fn: object, decorator: str) -> Function:
    """A plain function or a bound method, `async` or not."""
    if not isinstance(fn, (FunctionType, MethodType)):
        raise Misuse(f"{decorator} takes a function, not {shown(fn)}; write it above a def")
    if inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn):
        raise Misuse(f"{where(fn)} is a generator, and {decorator} runs a function to its end in one transaction; return a list instead of yielding")
    return fn


def parameters_of(fn: Function, decorator: str) -> Parameters:
    """What a node's function takes behind `tx`."""
    taken = list(inspect.signature(fn).parameters.values())
    if not taken or taken[0].kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD):
        raise Misuse(f"{where(fn)} must take the transaction first: def {fn.__name__}(tx)")
    behind = taken if taken[0].kind is inspect.Parameter.VAR_POSITIONAL else taken[1:]
    for parameter in behind:
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY and parameter.default is parameter.empty:
            raise Misuse(f"{where(fn)}: {decorator} passes arguments by name, and {parameter.name!r} takes none; remove the / behind it")
    named = [parameter for parameter in behind if parameter.kind in _BY_NAME]
    return Parameters(
        tuple(parameter.name for parameter in named),
        frozenset(parameter.name for parameter in named if parameter.default is parameter.empty),
        frozenset(parameter.name for parameter in named if _annotated(fn, parameter) is int),
        frozenset(parameter.name for parameter in named if _annotated(fn, parameter) is str),
        any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in behind),
    )


def check_takes_two(fn: Function, decorator: str, second: str) -> None:
    """A handler's function, or a preflight: it is called with two arguments in order."""
    try:
        inspect.signature(fn).bind(None, None)
    except TypeError as error:
        raise Misuse(f"{where(fn)}: {decorator} calls it with two arguments: def {fn.__name__}(tx, {second}); {error}") from None


def _annotated(fn: Function, parameter: inspect.Parameter) -> object:
    """What the annotation names: a text (`from __future__ import annotations`) is looked up as one plain name; a NewType stands for what it is made of."""
    found = parameter.annotation
    if isinstance(found, str):
        scope: dict[str, Any] = getattr(fn, "__globals__", {})
        found = scope.get(found, vars(builtins).get(found))
    return getattr(found, "__supertype__", found)
