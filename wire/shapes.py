"""Checks compiled from type annotations: what a message's body must look like after decoding, and how documents in it are wrapped before encoding.

A record is a NamedTuple. Its fields are str, int, float, bool, bytes, None, Literal texts, `Value`, other records, tuples of these, and unions with None or among scalars.
Goals: a body of the wrong shape is refused and the field named; a body of the right shape costs little. Hence the exact types of all fields of a record are looked up at once,
as one tuple in a set made when the table is built, and only fields that hold something of their own are visited. Who calls: the codec, once for each frame.
"""
from __future__ import annotations

import types
import typing
from collections.abc import Iterable
from typing import Any, Literal

from ..scheduler.errors import Misuse
from ..scheduler.values import Link, MissingType, ReadOnlyDict, ReadOnlyList, Value
from .records import Shape, Wrap, Wrong, at, expected, loader, remembered

VALUE_KINDS = frozenset({type(None), bool, int, float, str, bytes, Link, MissingType, ReadOnlyDict, ReadOnlyList})
_SCALARS = frozenset({type(None), bool, int, float, str, bytes})



def shape_of(hint: Any) -> Shape:
    """The shape that an annotation asks for."""
    if hint is Any:
        return Shape(VALUE_KINDS, None, _dump_value)
    if hint is None or hint in _SCALARS:
        return Shape(frozenset({type(None) if hint is None else hint}), is_text=hint is str)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return _words(frozenset(args))
    if origin is tuple and len(args) == 2 and args[1] is Ellipsis:
        return _sequence(shape_of(args[0]))
    if origin is tuple:
        return _fixed(tuple, [str(i) for i in range(len(args))], [shape_of(arg) for arg in args])
    if origin in (typing.Union, types.UnionType):
        return _union([shape_of(arg) for arg in args], hint)
    if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
        hints = typing.get_type_hints(hint)
        return _fixed(hint, list(hint._fields), [shape_of(hints[field]) for field in hint._fields])
    raise Misuse(f"a message cannot carry {hint!r}: use scalars, Value, NamedTuples and tuples of these")


def _dump_value(value: Value, wrap: Wrap) -> Any:
    return value if type(value) in _SCALARS else wrap(value)


def _words(words: frozenset[str]) -> Shape:
    def load(value: Any) -> Any:
        if value not in words:
            raise Wrong(f"{str(value)[:40]!r} is none of {', '.join(sorted(words))}")
        return value

    return Shape(frozenset({str}), load)


def _union(shapes: list[Shape], hint: Any) -> Shape:
    inner = [shape for shape in shapes if shape.load or shape.dump]
    if len(inner) > 1 or any(shape.kinds != {tuple} and shape.kinds != {str} for shape in inner):
        raise Misuse(f"a message cannot carry {hint!r}: only one alternative of a union may hold parts of its own")
    kinds = frozenset().union(*(shape.kinds for shape in shapes))
    if not inner:
        return Shape(kinds)
    (kind,), load, dump, *_ = inner[0]
    return Shape(
        kinds,
        load and (lambda value: load(value) if type(value) is kind else value),
        dump and (lambda value, wrap: dump(value, wrap) if isinstance(value, kind) else value),
    )


def _sequence(item: Shape) -> Shape:
    """Items are checked by exact type in the same breath as they are loaded; only a wrong one pays for finding out which."""
    kinds, load_item, dump_item, *_ = item
    (kind,) = kinds if len(kinds) == 1 else (None,)

    def check(items: tuple[Any, ...]) -> tuple[Any, ...]:
        for each in items:
            if type(each) not in kinds:
                raise _wrong_item(items, kinds)
        return items

    def check_one(items: tuple[Any, ...]) -> tuple[Any, ...]:
        for each in items:
            if type(each) is not kind:
                raise _wrong_item(items, kinds)
        return items

    def load(items: tuple[Any, ...]) -> tuple[Any, ...]:
        assert load_item is not None
        out: list[Any] = []
        try:
            for each in items:
                if type(each) not in kinds:
                    raise Wrong(expected(kinds, each))
                out.append(load_item(each))
        except Wrong as wrong:
            raise at(str(len(out)), wrong) from None
        return tuple(out)

    def dump(items: Iterable[Any], wrap: Wrap) -> list[Any]:
        assert dump_item is not None
        return [dump_item(each, wrap) for each in items]

    return Shape(frozenset({tuple}), load if load_item else check_one if kind else check, dump if dump_item else None, item.is_text, True)


def _wrong_item(items: tuple[Any, ...], kinds: frozenset[type]) -> Wrong:
    i = next(i for i, each in enumerate(items) if type(each) not in kinds)
    return at(str(i), Wrong(expected(kinds, items[i])))


def _fixed(kind: type, names: list[str], shapes: list[Shape]) -> Shape:
    """A record, or a tuple of fixed length."""
    wrapped = [(i, shape.dump) for i, shape in enumerate(shapes) if shape.dump]

    def dump(body: Any, wrap: Wrap) -> list[Any]:
        out = list(body)
        for i, dump_field in wrapped:
            out[i] = dump_field(out[i], wrap)
        return out

    load = loader(kind, names, shapes)
    texts = all(shape.is_text for shape in shapes)
    return Shape(frozenset({tuple}), remembered(load) if texts and shapes else load, dump if wrapped else None, texts)
