"""Shapes: what a type annotation asks of a message's body after decoding. Data only: `checks` follows them one by one, `drafting` writes them out as source.

A record is a NamedTuple. Its fields are str, int, float, bool, bytes, None, Literal texts, `Value`, other records, tuples of these, and unions with None or among scalars.
Called when a table is built.
"""
from __future__ import annotations

import types
import typing
from typing import Any, Literal, NamedTuple

from ..scheduler.errors import Misuse
from ..scheduler.values import Link, MissingType, ReadOnlyDict, ReadOnlyList

SCALARS = frozenset({type(None), bool, int, float, str, bytes})
VALUE_KINDS = SCALARS | {Link, MissingType, ReadOnlyDict, ReadOnlyList}


class Shape(NamedTuple):
    """`kinds`: the exact types that may stand here. A text may have to be one of `words`. A tuple is a sequence of `item`, or a `record` with `names` and `fields`
    (`tuple` itself: one of fixed length). `is_value`: a document or a part of one, which is wrapped before it is packed."""

    kinds: frozenset[type]
    words: frozenset[str] | None = None
    item: Shape | None = None
    record: type | None = None
    names: tuple[str, ...] = ()
    fields: tuple[Shape, ...] = ()
    is_value: bool = False

    @property
    def is_plain(self) -> bool:
        """Nothing inside has to be looked at."""
        return self.words is None and self.item is None and self.record is None

    @property
    def holds_values(self) -> bool:
        return self.is_value or (self.item is not None and self.item.holds_values) or any(field.holds_values for field in self.fields)

    def __str__(self) -> str:
        """Everything that a check depends on; two shapes that read alike are checked alike."""
        inner = "".join([
            "" if self.words is None else f" in {sorted(self.words)}",
            "" if self.item is None else f" of {self.item}",
            "" if self.record is None else f" as {self.record.__module__}.{self.record.__qualname__}",
            "".join(f" {name}={field}" for name, field in zip(self.names, self.fields, strict=True)),
            " wrapped" if self.is_value else "",
        ])
        return f"<{' or '.join(sorted(kind.__name__ for kind in self.kinds))}{inner}>"


def shape_of(hint: Any) -> Shape:
    """The shape that an annotation asks for."""
    if hint is Any:
        return Shape(VALUE_KINDS, is_value=True)
    if hint is None or hint in SCALARS:
        return Shape(frozenset({type(None) if hint is None else hint}))
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return Shape(frozenset({str}), words=frozenset(args))
    if origin is tuple and len(args) == 2 and args[1] is Ellipsis:
        return Shape(frozenset({tuple}), item=shape_of(args[0]))
    if origin is tuple:
        return _record(tuple, {str(i): arg for i, arg in enumerate(args)})
    if origin in (typing.Union, types.UnionType):
        return _union([shape_of(arg) for arg in args], hint)
    if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
        hints = typing.get_type_hints(hint)
        return _record(hint, {field: hints[field] for field in hint._fields})
    raise Misuse(f"a message cannot carry {hint!r}: use scalars, Value, NamedTuples and tuples of these")


def _record(kind: type, hints: dict[str, Any]) -> Shape:
    return Shape(frozenset({tuple}), record=kind, names=tuple(hints), fields=tuple(shape_of(hint) for hint in hints.values()))


def _union(shapes: list[Shape], hint: Any) -> Shape:
    inner = [shape for shape in shapes if not shape.is_plain]
    if len(inner) > 1 or any(shape.is_value for shape in shapes) or (inner and any(inner[0].kinds & shape.kinds for shape in shapes if shape is not inner[0])):
        raise Misuse(f"a message cannot carry {hint!r}: only one alternative of a union may hold parts of its own")
    kinds = frozenset[type]().union(*(shape.kinds for shape in shapes))
    return inner[0]._replace(kinds=kinds) if inner else Shape(kinds)
