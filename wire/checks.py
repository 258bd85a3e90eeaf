"""The plain definition of what fits a shape: a decoded body in, a record out, or Wrong with the field's name; and of what is wrapped before a body is packed.

`compiled` does the same, faster, for the messages of the product's table; whatever it does not accept comes here, to be named. Tests hold the two against each other.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from ..scheduler.errors import Undecodable
from ..scheduler.values import Value
from .shapes import SCALARS, Shape

Load: TypeAlias = Callable[[Any], Any]
Wrap: TypeAlias = Callable[[Value], Any]
Dump: TypeAlias = Callable[[Any, Wrap], Any]


class Wrong(Exception):
    """Why a part has the wrong shape, and the steps to it, gathered on the way out so that a good body pays nothing for them."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why
        self.steps: list[str] = []

    def undecodable(self, name: str) -> Undecodable:
        return Undecodable(f"{name}: field {'/'.join(reversed(self.steps)) or '(all)'}: {self.why}", reason="field")


class Unfit(ValueError):
    """What `compiled` raises: this body does not fit. Why is for `load` to say."""


def load(shape: Shape, value: Any) -> Any:
    """The value with its records made; Wrong if it does not fit."""
    if type(value) not in shape.kinds:
        raise Wrong(f"is {type(value).__name__}, not {' or '.join(sorted(kind.__name__ for kind in shape.kinds))}")
    if type(value) is str and shape.words is not None and value not in shape.words:
        raise Wrong(f"{value[:40]!r} is none of {', '.join(sorted(shape.words))}")
    if type(value) is not tuple:
        return value
    if shape.item is not None:
        return tuple([_part(str(i), shape.item, each) for i, each in enumerate(value)])
    assert shape.record is not None
    if len(value) > len(shape.names):
        raise Wrong(f"{len(value) - len(shape.names)} fields too many")
    parts = [_part(*part) for part in zip(shape.names, shape.fields, value, strict=False)]
    if len(value) < len(shape.names):
        wrong = Wrong("is missing")
        wrong.steps.append(shape.names[len(value)])
        raise wrong
    return tuple.__new__(shape.record, parts)


def _part(step: str, shape: Shape, value: Any) -> Any:
    try:
        return load(shape, value)
    except Wrong as wrong:
        wrong.steps.append(step)
        raise


def dump(shape: Shape, value: Any, wrap: Wrap) -> Any:
    """The value with its documents wrapped."""
    if shape.is_value:
        return value if type(value) in SCALARS else wrap(value)
    if not shape.holds_values or not isinstance(value, tuple):
        return value
    if shape.item is not None:
        item = shape.item
        return [dump(item, each, wrap) for each in value]
    return [dump(field, each, wrap) for field, each in zip(shape.fields, value, strict=True)]
