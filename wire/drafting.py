"""Writes `loaders.py` and `dumpers.py`: the shapes of the messages that go round for every run, spelled out as straight code. Run it after changing one of them:
`python -m weft.wire.drafting`.

Nothing is compiled while weft runs: what is written is an ordinary module, read, type-checked and tested like any other, and a test compares it with what would be written now.
A loader takes a record apart into variables, compares exact types, and goes on inside; loops and inner records are written in place, because on bodies this small
calls cost more than checks. It raises ValueError for whatever does not fit and leaves the reason to `checks`.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import Path

from .feeding import Feed
from .messages import TABLE
from .ring import Changes, CommitRuns, Invalidated, RunWave
from .shapes import VALUE_KINDS, Shape
from .table import Message, Table

RING = (RunWave, CommitRuns, Changes, Invalidated, Feed)  # the others are rare, and `checks` is quick enough for them
WIDTH = 168

_WRITTEN = "Written by `drafting`; do not edit it. To write it anew: python -m weft.wire.drafting"
_BESIDE = "Each stands beside the fingerprint of the shape it was written for; a codec uses it for that shape only."

LOADERS = f'''"""Loaders of the messages of the ring, by type code: the body in, the message out, ValueError if it does not fit (`checks` says why).

{_BESIDE}
{_WRITTEN}
"""
from __future__ import annotations

from typing import Any

from ..scheduler import {{words}}
from . import {{modules}}
from .checks import Load, Unfit
from .shapes import VALUE_KINDS

new: Any = tuple.__new__  # without the keyword handling of a NamedTuple's own
'''

DUMPERS = f'''"""Dumpers of the messages of the ring that hold documents, by type code: the message in, what is packed out.

{_BESIDE}
{_WRITTEN}
"""
from __future__ import annotations

from typing import Any

from .checks import Dump, Wrap
from .shapes import SCALARS
'''


def loaders(table: Table = TABLE, kinds: Collection[type[Message]] = RING) -> str:
    """The text of `loaders.py`."""
    codes = [table.codes[kind] for kind in kinds]
    modules = {module for code in codes for module in _modules(table.shapes[code])}
    words = {module for module in modules if module in ("model", "rows")}
    head = LOADERS.replace("{words}", ", ".join(sorted(words))).replace("{modules}", ", ".join(sorted(modules - words)))
    return _module(table, head, "load", "Load", {code: Draft(table.shapes[code]).loader(table.names[table.kinds[code]]) for code in codes})


def dumpers(table: Table = TABLE, kinds: Collection[type[Message]] = RING) -> str:
    """The text of `dumpers.py`."""
    codes = [table.codes[kind] for kind in kinds if table.shapes[table.codes[kind]].holds_values]
    return _module(table, DUMPERS, "dump", "Dump", {code: Draft(table.shapes[code]).dumper(table.names[table.kinds[code]]) for code in codes})


def _module(table: Table, head: str, verb: str, kind: str, functions: dict[int, str]) -> str:
    rows = [f'    {code}: ("{table.fingerprints[code]}", {verb}_{table.names[table.kinds[code]]}),\n' for code in functions]
    return "\n\n".join([head, *functions.values(), f"{verb.upper()}ERS: dict[int, tuple[str, {kind}]] = {{\n{''.join(rows)}}}\n"])


class Draft:
    """One function. `_lines` is its text so far; variables are named after fields and numbered, so that no two are the same and none hides a builtin."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._lines: list[str] = []
        self._used: Counter[str] = Counter()

    def loader(self, name: str) -> str:
        self._lines.append(f"def load_{name}(body: Any) -> Any:")
        self._add(1, f"return {self._loaded('body', self._shape, 1)}")
        return "\n".join(self._lines) + "\n"

    def dumper(self, name: str) -> str:
        self._lines.append(f"def dump_{name}(body: Any, wrap: Wrap) -> Any:")
        names = self._names(self._shape)
        self._add(1, f"{_row(names)} = body")
        self._add(1, f"return ({_row(self._dumped_parts(names, self._shape, 1))})")
        return "\n".join(self._lines) + "\n"

    # Loading

    def _loaded(self, name: str, shape: Shape, depth: int) -> str:
        """Write the checks of what is inside; return the expression of the result."""
        if shape.item is not None:
            return self._loaded_items(name, shape.item, depth)
        if shape.record is None:
            return name
        if not shape.fields:
            self._refuse(depth, [name])
            return _made(shape.record, name)
        names = self._names(shape)
        self._add(depth, f"{_row(names)} = {name}")
        self._refuse(depth, [_misfit(*pair) for pair in zip(names, shape.fields, strict=True)])
        parts = [self._loaded_part(*pair, depth) for pair in zip(names, shape.fields, strict=True)]
        return _made(shape.record, f"({_row(parts)})" if any(map(_makes, shape.fields)) else name)

    def _loaded_part(self, name: str, shape: Shape, depth: int) -> str:
        """A field; if it may be something else than what has parts, its parts are looked at only then."""
        if len(shape.kinds) == 1 or (shape.item is None and shape.record is None):
            return self._loaded(name, shape, depth)
        self._add(depth, f"if type({name}) is tuple:")
        self._add(depth + 1, f"{name} = {self._loaded(name, shape, depth + 1)}")
        return name

    def _loaded_items(self, name: str, item: Shape, depth: int) -> str:
        each, out = self._name("each"), self._name("out")
        if not _makes(item):
            self._add(depth, f"for {each} in {name}:")
            self._refuse(depth + 1, [_misfit(each, item)])
            self._loaded_part(each, item, depth + 1)
            return name
        self._add(depth, f"if {name}:")
        self._add(depth + 1, f"{out} = []")
        self._add(depth + 1, f"for {each} in {name}:")
        self._refuse(depth + 2, [_misfit(each, item)])
        self._add(depth + 2, f"{out}.append({self._loaded_part(each, item, depth + 2)})")
        self._add(depth + 1, f"{name} = tuple({out})")
        return name

    def _refuse(self, depth: int, misfits: list[str]) -> None:
        """One condition for all, in as many lines as it takes."""
        line = ""
        for misfit in misfits:
            if line and len(line) + len(misfit) > WIDTH - 4 * depth:
                self._add(depth, f"if {line}:")
                self._add(depth + 1, "raise Unfit")
                line = ""
            line = f"{line} or {misfit}" if line else misfit
        self._add(depth, f"if {line}:")
        self._add(depth + 1, "raise Unfit")

    # Dumping

    def _dumped_parts(self, names: list[str], shape: Shape, depth: int) -> list[str]:
        return [self._dumped(name, field, depth) if field.holds_values else name for name, field in zip(names, shape.fields, strict=True)]

    def _dumped(self, name: str, shape: Shape, depth: int) -> str:
        """Write how what is inside is wrapped; return the expression of the result."""
        if shape.is_value:
            self._add(depth, f"if type({name}) not in SCALARS:")
            self._add(depth + 1, f"{name} = wrap({name})")
        elif shape.item is not None:
            each, out = self._name("each"), self._name("out")
            self._add(depth, f"if {name}:")
            self._add(depth + 1, f"{out}: list[Any] = []")
            self._add(depth + 1, f"for {each} in {name}:")
            self._add(depth + 2, f"{out}.append({self._dumped(each, shape.item, depth + 2)})")
            self._add(depth + 1, f"{name} = {out}")
        elif len(shape.kinds) > 1:
            self._add(depth, f"if isinstance({name}, tuple):")
            self._add(depth + 1, f"{name} = {self._dumped(name, shape._replace(kinds=frozenset({tuple})), depth + 1)}")
        else:
            names = self._names(shape)
            self._add(depth, f"{_row(names)} = {name}")
            return f"({_row(self._dumped_parts(names, shape, depth))})"
        return name

    # Text

    def _names(self, shape: Shape) -> list[str]:
        return [self._name(name if name.isidentifier() else f"part{name}") for name in shape.names]

    def _name(self, name: str) -> str:
        self._used[name] += 1
        return f"{name}_{self._used[name]}"

    def _add(self, depth: int, text: str) -> None:
        self._lines.append("    " * depth + text)


def _row(names: list[str]) -> str:
    return f"{names[0]}," if len(names) == 1 else ", ".join(names)


def _makes(shape: Shape) -> bool:
    """Whether loading gives something else than what came in."""
    return shape.record not in (None, tuple) or (shape.item is not None and _makes(shape.item)) or any(map(_makes, shape.fields))


def _modules(shape: Shape) -> set[str]:
    """Where the records of a shape are declared."""
    inner = (*shape.fields, *(() if shape.item is None else (shape.item,)))
    own = set() if shape.record in (None, tuple) else {_home(shape.record)}
    return own.union(*map(_modules, inner))


def _home(record: type | None) -> str:
    return "" if record is None else record.__module__.rpartition(".")[2]


def _made(record: type, parts: str) -> str:
    if record is tuple:
        return parts
    return f"new({_home(record)}.{record.__qualname__}, {parts})"


def _misfit(name: str, shape: Shape) -> str:
    """The condition under which a variable is not of the shape's types."""
    if shape.kinds == VALUE_KINDS:
        return f"type({name}) not in VALUE_KINDS"
    kinds = sorted(kind.__name__ for kind in shape.kinds if kind is not type(None))
    tests = [f"{name} is not None"] * (type(None) in shape.kinds) + [f"type({name}) is not {kind}" for kind in kinds]
    test = " and ".join(tests)
    if shape.words is not None:
        words = f"{name} not in {{{', '.join(f'{word!r}' for word in sorted(shape.words))}}}".replace("'", '"')
        test = f"{test} or {words}" if len(tests) == 1 else f"{test} or type({name}) is str and {words}"
    return test if len(tests) == 1 and shape.words is None else f"({test})"


def main() -> None:
    folder = Path(__file__).parent
    (folder / "loaders.py").write_text(loaders())
    (folder / "dumpers.py").write_text(dumpers())


if __name__ == "__main__":
    main()
