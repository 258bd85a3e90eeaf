"""Addresses as programs write them: cells, streams, families, links.

- A cell is a plain value `(space, scope, id, path)`; `space` None means *here*. Equality and hash are on those four alone, never on the type it is declared `of`.
- A cell is not iterable, holds nothing and has no truth value, so that a forgotten `tx.get` fails where it stands.
- A link is the stored reference to a cell, a value among values.
- A family is a parametrised address; its member's id is the family's id and the quoted arguments, so that it can be matched back.
- `str(cell)` is `[space:]id[#/path]`, with `[@scope]` after the id where it is not "space", and `parse` is its inverse.
What the parts may be is in `ids`. None of these ever changes; copies are the thing itself or equal to it.
"""
from __future__ import annotations

from functools import total_ordering
from typing import Any, Generic, NoReturn, TypeVar, overload
from urllib.parse import quote, unquote

from typing_extensions import TypeForm

from .errors import BadAddress
from .ids import MAX_STEPS, META, checked_id, checked_path, checked_space, checked_step, encodable, shown, spelled, stored_path, unspelled
from .model import VALUE, Address, Path

T = TypeVar("T")


class _Fixed:
    """What never changes once it is made, and is equal to whatever is of the same class and has the same parts."""

    __slots__ = ()

    def _parts(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise BadAddress(f"{self} is an address and does not change; write its value with rt.set or tx.set")

    def __delattr__(self, name: str) -> NoReturn:
        raise BadAddress(f"{self} is an address and does not change; delete its value with rt.delete or tx.delete")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._parts()))

    def __reduce__(self) -> tuple[type[Any], tuple[Any, ...]]:
        return type(self), self._parts()


@total_ordering
class Cell(_Fixed, Generic[T]):
    """A position in a document."""

    __slots__ = ("_hash", "id", "of", "path", "placed", "scope", "space")
    space: str | None
    scope: str
    id: str
    path: Path
    of: Any
    _hash: int
    placed: tuple[str, Any]  # a mark, once it was read: the home it was last read from, and what that comes to there; no part of its value

    def __init__(self, space: str | None, scope: str, id: str, path: Path = (), of: Any = None) -> None:
        put = object.__setattr__
        put(self, "space", space)
        put(self, "scope", scope)
        put(self, "id", id)
        put(self, "path", path)
        put(self, "of", of)
        put(self, "_hash", hash((space, scope, id, path)))

    @property
    def doc(self) -> Cell[Any]:
        return Cell(self.space, self.scope, self.id)

    @property
    def parent(self) -> Cell[Any] | None:
        return Cell(self.space, self.scope, self.id, self.path[:-1]) if self.path and self.path != (META,) else None

    @property
    def meta(self) -> Cell[Any]:
        return Cell(self.space, self.scope, self.id, (META,))

    def __getitem__(self, step: str | int) -> Cell[Any]:
        checked = checked_step(step, self)
        if len(self.path) >= MAX_STEPS:
            raise BadAddress(f"{self}: a path has at most {MAX_STEPS} steps; put inner parts into documents of their own and link them")
        if self.path == (META,) and checked == VALUE[0]:
            raise BadAddress(f"{self.doc} is where the document keeps its value; its metadata has no key {checked!r}")
        return Cell(self.space, self.scope, self.id, (*self.path, checked))

    def address(self, here: str) -> Address:
        """Where it is in the document `{value, ...metadata}`, for a reader whose home space is `here`."""
        return Address(here if self.space is None else self.space, self.scope, self.id, stored_path(self.path))

    def _parts(self) -> tuple[str | None, str, str, Path]:
        return self.space, self.scope, self.id, self.path

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is Cell and self._hash == other._hash and self._parts() == other._parts())

    def __lt__(self, other: Cell[Any]) -> bool:
        if not isinstance(other, Cell):
            return NotImplemented
        return (self.space or "", *self._parts()[1:]) < (other.space or "", *other._parts()[1:])

    def __bool__(self) -> NoReturn:
        raise BadAddress(f"{self} is an address and has no truth value; read it with tx.get(cell) or rt.get(cell)")

    __iter__ = None
    __contains__ = None

    def __reduce__(self) -> tuple[type[Any], tuple[Any, ...]]:
        return Cell, (*self._parts(), self.of)

    def __str__(self) -> str:
        return spelled(*self._parts())

    def __repr__(self) -> str:
        return f"<cell {self}>"


class Link(_Fixed, Generic[T]):
    """A stored reference to a position of a document; `space` None means the space it is stored in."""

    __slots__ = ("id", "path", "scope", "space")
    space: str | None
    scope: str
    id: str
    path: Path

    def __init__(self, space: str | None, scope: str, id: str, path: Path) -> None:
        put = object.__setattr__
        put(self, "space", checked_space(space))
        put(self, "scope", checked_id(scope, "scope"))
        put(self, "id", checked_id(id))
        put(self, "path", checked_path(path))

    @property
    def cell(self) -> Cell[T]:
        return Cell(*self.parts())

    def parts(self) -> tuple[str | None, str, str, Path]:
        return self.space, self.scope, self.id, self.path

    _parts = parts

    def __str__(self) -> str:
        return spelled(*self.parts())

    def __repr__(self) -> str:
        return f"<link {self}>"


class Stream(_Fixed, Generic[T]):
    """An address that takes events; its own type, so that it is not read or written by mistake."""

    __slots__ = ("cell",)
    cell: Cell[Any]

    def __init__(self, cell: Cell[Any]) -> None:
        object.__setattr__(self, "cell", cell)

    @property
    def id(self) -> str:
        return self.cell.id

    def __getitem__(self, step: str | int) -> Stream[Any]:
        return Stream(self.cell[step])

    __iter__ = None
    __contains__ = None

    def _parts(self) -> tuple[Cell[Any]]:
        return (self.cell,)

    def __str__(self) -> str:
        return str(self.cell)

    def __repr__(self) -> str:
        return f"<stream {self.cell}>"


class Family(_Fixed, Generic[T]):
    """A parametrised address: called with its arguments it gives the member's cell."""

    __slots__ = ("id", "of", "params", "space")
    id: str
    params: tuple[str, ...]
    space: str | None
    of: Any

    def __init__(self, id: str, params: tuple[str, ...], space: str | None, of: Any) -> None:
        put = object.__setattr__
        put(self, "id", id)
        put(self, "params", params)
        put(self, "space", space)
        put(self, "of", of)

    def __call__(self, *values: str | int, **named: str | int) -> Cell[T]:
        bound: dict[str, object] = dict(zip(self.params, values, strict=False))
        extra = [*map(shown, values[len(self.params):]), *(name for name in named if name not in self.params or name in bound)]
        bound.update(named)
        absent = [param for param in self.params if param not in bound]
        if extra or absent:
            raise BadAddress(f"family {self.id!r} takes ({', '.join(self.params)}); missing: {absent or 'none'}, unexpected: {extra or 'none'}")
        return Cell(self.space, "space", checked_id("/".join([self.id, *(_argument(self, bound[param]) for param in self.params)])), (), self.of)

    def match(self, cell: Cell[Any]) -> dict[str, str] | None:
        """The arguments of a member of this family, or of a position inside one; else None."""
        if not isinstance(cell, Cell):
            raise BadAddress(f"family {self.id!r}: match takes a cell, not {shown(cell)}")
        if cell.scope != "space" or (cell.space != self.space and None not in (cell.space, self.space)) or not cell.id.startswith(self.id + "/"):
            return None
        quoted = cell.id[len(self.id) + 1:].split("/")
        values = [unquote(value) for value in quoted]
        if len(values) != len(self.params) or [quote(value, safe="") for value in values] != quoted:
            return None
        return dict(zip(self.params, values, strict=True))

    def _parts(self) -> tuple[str, tuple[str, ...], str | None]:
        return self.id, self.params, self.space

    def __reduce__(self) -> tuple[type[Any], tuple[Any, ...]]:
        return Family, (*self._parts(), self.of)

    def __repr__(self) -> str:
        return f"<family {self.id}({', '.join(self.params)})>"


@overload
def cell(id: str, space: str | None = None, scope: str = "space", *, of: TypeForm[T]) -> Cell[T]: ...
@overload
def cell(id: str, space: str | None = None, scope: str = "space") -> Cell[Any]: ...
def cell(id: str, space: str | None = None, scope: str = "space", *, of: Any = None) -> Cell[Any]:
    """The address of a document."""
    return Cell(checked_space(space), checked_id(scope, "scope"), checked_id(id), (), of)


@overload
def stream(id: str, space: str | None = None, scope: str = "space", *, of: TypeForm[T]) -> Stream[T]: ...
@overload
def stream(id: str, space: str | None = None, scope: str = "space") -> Stream[Any]: ...
def stream(id: str, space: str | None = None, scope: str = "space", *, of: Any = None) -> Stream[Any]:
    """The address of a stream of events."""
    return Stream(Cell(checked_space(space), checked_id(scope, "scope"), checked_id(id), (), of))


@overload
def family(id: str, *params: str, of: TypeForm[T], space: str | None = None) -> Family[T]: ...
@overload
def family(id: str, *params: str, space: str | None = None) -> Family[Any]: ...
def family(id: str, *params: str, of: Any = None, space: str | None = None) -> Family[Any]:
    """A parametrised address."""
    if not params or len(set(params)) != len(params) or not all(type(param) is str and param for param in params):
        raise BadAddress(f"family {shown(id)} needs at least one parameter, each named once: weft.family({shown(id)}, 'user')")
    return Family(checked_id(id), params, checked_space(space), of)


def link(cell: Cell[T]) -> Link[T]:
    """The stored reference to a cell."""
    if not isinstance(cell, Cell):
        raise BadAddress(f"weft.link takes a cell, not {shown(cell)}")
    return Link(*cell._parts())


def parse(address: str) -> Cell[Any]:
    """The inverse of `str(cell)`: "space:id#/items/0/price"."""
    if type(address) is not str:
        raise BadAddress(f"an address is a text like space:id#/path, not {shown(address)}")
    try:
        space, scope, id, path = unspelled(address)
        base: Cell[Any] = cell(id, space, scope)
    except ValueError as error:  # a BadAddress is one
        raise BadAddress(f"{shown(address)}: {error}; an address reads [space:]id[#/path]") from None
    if path[:1] == (META,):
        base, path = base.meta, path[1:]
    for step in path:
        base = base[step]
    return base


def _argument(family: Family[Any], value: object) -> str:
    """A member's argument, as it stands in the member's id."""
    if type(value) is int and abs(value) < 2**64:
        return str(value)
    if type(value) is not str or not encodable(value):
        raise BadAddress(f"family {family.id!r} takes strings and integers of 64 bits, not {shown(value)}")
    return quote(value, safe="")
