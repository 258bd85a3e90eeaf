"""The checks themselves: a decoded tuple in, a record out, or Wrong with the field's name. `shapes` chooses among them when a table is built; the codec runs them on every frame.

The exact types of a record's fields are compared at once, and only fields that hold something of their own are visited. Finding out what is wrong is left to the slow side.
"""
from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, TypeAlias

from ..scheduler.errors import Misuse, Undecodable
from ..scheduler.values import Value

_REMEMBERED = 4096  # records of each kind; at most 4 MB
_SIGNATURES = 2048  # of one record; two values and a few optional fields stay far below

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
        return Undecodable(f"{name}: field {'/'.join(self.steps) or '(all)'}: {self.why}", reason="field")


class Shape(NamedTuple):
    """`kinds`: the exact types that may stand here. `load` checks and converts what is inside, `dump` wraps the documents inside; None: nothing to do.
    `is_text`: nothing but texts, however deep. `is_sequence`: a tuple of any length, so that an empty one needs no look."""

    kinds: frozenset[type]
    load: Load | None = None
    dump: Dump | None = None
    is_text: bool = False
    is_sequence: bool = False


def loader(kind: type, names: list[str], shapes: list[Shape]) -> Load:
    if 2 <= len(shapes) <= 4 and all(len(shape.kinds) == 1 for shape in shapes):
        return _short_loader(kind, names, shapes)
    known = _signatures([shape.kinds for shape in shapes])
    inner = [(i, shape.load, shape.is_sequence) for i, shape in enumerate(shapes) if shape.load]
    new: Any = tuple.__new__

    def load(body: Any) -> Any:
        if tuple(map(type, body)) not in known:
            raise _mismatch(body, names, shapes)
        if not inner:
            return new(kind, body)
        out = list(body)
        i = 0
        try:
            for i, load_field, is_sequence in inner:
                value = out[i]
                if value or not is_sequence:  # most of a record's sequences are empty
                    out[i] = load_field(value)
        except Wrong as wrong:
            raise at(names[i], wrong) from None
        return new(kind, out)

    return load


def _short_loader(kind: type, names: list[str], shapes: list[Shape]) -> Load:
    """Written out for two, three and four fields of one type each, which is what most records inside a message are: twice as fast as the look-up."""
    kinds = [next(iter(shape.kinds)) for shape in shapes]
    loads = [shape.load for shape in shapes]
    new: Any = tuple.__new__

    def wrong(body: Any) -> NoReturn:
        for name, shape, value in zip(names, shapes, body, strict=False):
            if type(value) in shape.kinds and shape.load:
                try:
                    shape.load(value)
                except Wrong as found:
                    raise at(name, found) from None
        raise _mismatch(body, names, shapes)

    if len(shapes) == 2:
        (k0, k1), (l0, l1) = kinds, loads

        def load_2(body: Any) -> Any:
            if len(body) != 2:
                wrong(body)
            a, b = body
            if type(a) is not k0 or type(b) is not k1:
                wrong(body)
            if l0 or l1:
                try:
                    return new(kind, (l0(a) if l0 else a, l1(b) if l1 else b))
                except Wrong:
                    wrong(body)
            return new(kind, body)

        return load_2
    if len(shapes) == 3:
        (m0, m1, m2), (n0, n1, n2) = kinds, loads

        def load_3(body: Any) -> Any:
            if len(body) != 3:
                wrong(body)
            a, b, c = body
            if type(a) is not m0 or type(b) is not m1 or type(c) is not m2:
                wrong(body)
            if n0 or n1 or n2:
                try:
                    return new(kind, (n0(a) if n0 else a, n1(b) if n1 else b, n2(c) if n2 else c))
                except Wrong:
                    wrong(body)
            return new(kind, body)

        return load_3
    (o0, o1, o2, o3), (p0, p1, p2, p3) = kinds, loads

    def load_4(body: Any) -> Any:
        if len(body) != 4:
            wrong(body)
        a, b, c, d = body
        if type(a) is not o0 or type(b) is not o1 or type(c) is not o2 or type(d) is not o3:
            wrong(body)
        if p0 or p1 or p2 or p3:
            try:
                return new(kind, (p0(a) if p0 else a, p1(b) if p1 else b, p2(c) if p2 else c, p3(d) if p3 else d))
            except Wrong:
                wrong(body)
        return new(kind, body)

    return load_4


def remembered(load: Load) -> Load:
    """Addresses come again and again, so the last ones are kept and looked up. Sound for records of texts alone: a text equals nothing but a text, so what equals a checked
    record has its shape. (1 equals True and 1.0.) Bounded in number and in length, whatever a sender invents."""
    memory: dict[Any, Any] = {}

    def recall(body: Any) -> Any:
        found = memory.get(body)
        if found is None:
            found = load(body)
            if len(memory) >= _REMEMBERED:
                memory.clear()
            if len(repr(found)) <= 1024:
                memory[body] = found
        return found

    return recall


def _signatures(kinds: list[frozenset[type]]) -> frozenset[tuple[type, ...]]:
    size = 1
    for each in kinds:
        size *= len(each)
    if size > _SIGNATURES:
        raise Misuse(f"one record may have at most {_SIGNATURES} combinations of field types, this one has {size}: move some of its values into a record of their own")
    return frozenset(itertools.product(*kinds))


def _mismatch(body: Any, names: list[str], shapes: list[Shape]) -> Wrong:
    """Name the first field that is wrong; the slow side of the look-up."""
    if len(body) < len(names):
        return at(names[len(body)], Wrong("is missing"))
    if len(body) > len(names):
        return Wrong(f"{len(body) - len(names)} fields too many")
    for name, shape, value in zip(names, shapes, body, strict=True):
        if type(value) not in shape.kinds:
            return at(name, Wrong(expected(shape.kinds, value)))
    raise AssertionError("a body that fits every field is among the signatures")


def at(step: str, wrong: Wrong) -> Wrong:
    wrong.steps.insert(0, step)
    return wrong


def expected(kinds: frozenset[type], value: Any) -> str:
    return f"is {type(value).__name__}, not {' or '.join(sorted(kind.__name__ for kind in kinds))}"
