"""Specs: what the decorators return. Values that describe a node or a handler and register nothing.

- A spec never changes; `bind` and `member` make new ones. Equal specs describe the same thing, so that loading one twice is loading it once.
- Called as a function, a spec is the plain function, for unit tests.
- A spec whose output is a family stands for one node per member; `member` gives that node. Its id and arguments follow from the member's address alone.
- Everything was checked when it was declared (`declaring`), or bound: whoever holds a spec can run it, if `unbound` is empty.
The runtime, `loading` and the public API use specs; `declaring` makes them.
"""
from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, ParamSpec, TypeVar, cast

from ..scheduler.cells import Cell, Family, Stream
from ..scheduler.errors import Misuse
from ..scheduler.ids import shown
from ..scheduler.values import ReadOnlyDict
from .importing import importable
from .naming import checked_node_id, exact, frozen_args, instance_id
from .parameters import Function, Parameters
from .surface import check_apart, checked_output

if TYPE_CHECKING:
    from .context import Tx

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
NOTHING: Mapping[str, Any] = ReadOnlyDict()


@dataclass(frozen=True, eq=False, repr=False, slots=True, kw_only=True)
class NodeSpec(Generic[P, R]):
    """A computation or an effect, as it was declared. Load it with `rt.load`; call it to run the plain function."""

    id: str
    kind: Literal["computation", "effect"]
    fn: Function
    parameters: Parameters  # of `fn`, behind tx
    output: Cell[Any] | Family[Any] | None = None
    also_writes: tuple[Cell[Any], ...] = ()
    envelope: tuple[Cell[Any], ...] = ()
    declared_reads: tuple[Cell[Any], ...] = ()
    args: Mapping[str, Any]  # what is bound, frozen
    debounce: float | None = None
    max_wait: float | None = None
    throttle: float | None = None
    auto_debounce: bool = False
    deadline: float | None = None
    version: str = ""
    is_async: bool = False
    stem: str  # the id before arguments are appended
    settled: frozenset[str] = frozenset()  # arguments that an explicit id stands for, so that they are not appended to it

    @property
    def unbound(self) -> tuple[str, ...]:
        """The parameters that still need an argument, other than those a family's member brings along."""
        brought = self.output.params if isinstance(self.output, Family) else ()
        return self.parameters.absent({*self.args, *brought})

    def bind(self, *, id: str | None = None, args: Mapping[str, Any] = NOTHING, output: Cell[R] | None = None) -> NodeSpec[[], R]:
        """An instance with arguments. Bound to all arguments of its output's family, it is the member's node."""
        instance: NodeSpec[[], R] = self.given(args, id, None if output is None else self._placed(output))
        if instance.unbound:
            raise Misuse(f"{self.id}: the parameter {instance.unbound[0]!r} is left without an argument; add it to args={{…}}")
        return instance

    def given(self, args: Mapping[str, Any], id: str | None = None, place: Cell[Any] | None = None) -> NodeSpec[..., R]:
        """As `bind`, but parameters may be left for later: what `args=` of a decorator gives."""
        added = frozen_args(args, self.id)
        if twice := sorted(added.keys() & self.args.keys()):
            raise Misuse(f"{self.id}: the parameter {twice[0]!r} is bound already, to {shown(self.args[twice[0]])}; bind the spec it was made from")
        if unknown := self.parameters.unknown(added):
            raise Misuse(f"{self.id} has no parameter {unknown[0]!r}; it takes {self.parameters.told()} behind tx")
        if place is not None or not isinstance(self.output, Family) or not added.keys() & set(self.output.params):
            return self._instance(added, self.output if place is None else place, id)
        if left := [name for name in self.output.params if name not in added]:
            raise Misuse(f"{self.id}: {left[0]!r} is missing; an instance names a member of {self.output!r} by all of its parameters, or writes elsewhere with output=")
        member = self.output(**{name: added[name] for name in self.output.params})
        brought = self._brought(member)
        if brought is None:
            raise Misuse(f"{self.id}: {shown(dict(added))} names no member of {self.output!r}; a parameter annotated int takes an integer")
        return self._instance(added | brought, member, id)

    def member(self, cell: Cell[Any]) -> NodeSpec[[], R] | None:
        """The node of the family's member at this cell, or at one above it; None if there is no such member."""
        if not isinstance(self.output, Family):
            return None
        brought = self._brought(cell)
        return None if brought is None else self._instance(brought, self.output(**brought), None)

    def call(self, tx: Tx) -> R:
        """One run: the function with the arguments that are bound."""
        return cast(R, self.fn(tx, **self.args))

    def importable(self) -> str:
        """`module:qualname`, under which another process finds the function. Raises NotImportable if none would."""
        return importable(self.fn)

    def __call__(self, tx: Tx, *args: P.args, **kwargs: P.kwargs) -> R:
        bound = {name: value for name, value in self.args.items() if name not in self.parameters.names[: len(args)]}
        return cast(R, self.fn(tx, *args, **{**bound, **kwargs}))

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, NodeSpec) and self._parts() == other._parts() and exact(self.args) == exact(other.args))

    def __hash__(self) -> int:
        return hash((self.id, self.kind, self.fn))

    def __repr__(self) -> str:
        return f"<{self.kind} {self.id}>"

    def _parts(self) -> tuple[Any, ...]:
        surface = (self.output, self.also_writes, self.envelope, self.declared_reads)
        return self.id, self.kind, self.fn, surface, self.debounce, self.max_wait, self.throttle, self.auto_debounce, self.deadline, self.version

    def _placed(self, output: object) -> Cell[Any]:
        place = checked_output(output, self.id)
        if self.kind == "effect":
            raise Misuse(f"{self.id} is an effect and has no output; make it a computation to give it one")
        if not isinstance(place, Cell):
            raise Misuse(f"{self.id}: an instance writes one cell; name a member of {place!r}")
        check_apart(place, self.also_writes, self.id)
        return place

    def _brought(self, cell: Cell[Any]) -> dict[str, Any] | None:
        """The arguments that the address of a member brings along. An integer is spelled in one way only, so that one node has one address."""
        brought: dict[str, Any] | None = self.output.match(cell) if isinstance(self.output, Family) else None
        for name, text in (brought or {}).items():
            if brought is not None and name in self.parameters.integers:
                number = _integer(text)
                if number is None:
                    return None
                brought[name] = number
        return brought

    def _instance(self, given: Mapping[str, Any], place: Cell[Any] | Family[Any] | None, id: str | None) -> NodeSpec[[], R]:
        args = ReadOnlyDict({**self.args, **given})
        if id is not None:
            stem, settled = checked_node_id(id, self.id), frozenset(args)
        else:
            stem, settled = self.stem, self.settled
        texts = self.parameters.texts | frozenset(self.output.params if isinstance(self.output, Family) else ())
        name = instance_id(stem, {key: value for key, value in args.items() if key not in settled}, self.parameters, texts)
        return cast("NodeSpec[[], R]", replace(self, id=name, args=args, output=place, stem=stem, settled=settled))


@dataclass(frozen=True, eq=False, repr=False, slots=True, kw_only=True)
class HandlerSpec(Generic[T, R]):
    """The handler of a stream's events, as it was declared. Load it with `rt.load`; call it to run the plain function."""

    id: str
    stream: Stream[Any]
    fn: Function
    reads: tuple[Cell[Any], ...] = ()
    preflight: Function | None = None
    retry: bool = True
    multi_space: bool = False
    deadline: float | None = None

    @property
    def is_async(self) -> bool:
        return inspect.iscoroutinefunction(self.fn)

    def importable(self) -> str:
        """`module:qualname`, under which another process finds the function. Raises NotImportable if none would."""
        return importable(self.fn)

    def __call__(self, tx: Tx, event: T) -> R:
        return cast(R, self.fn(tx, event))

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, HandlerSpec) and self._parts() == other._parts())

    def __hash__(self) -> int:
        return hash((self.id, self.stream, self.fn))

    def __repr__(self) -> str:
        return f"<handler {self.id}>"

    def _parts(self) -> tuple[Any, ...]:
        return self.id, self.stream, self.fn, self.reads, self.preflight, self.retry, self.multi_space, self.deadline


def _integer(text: str) -> int | None:
    digits = text.removeprefix("-")
    number = int(text) if digits.isascii() and digits.isdigit() and len(digits) <= 20 else None  # 64 bits have no more digits
    return number if number is not None and str(number) == text and abs(number) < 2**64 else None
