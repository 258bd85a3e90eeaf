"""The closed table of messages: type code to message type, with the checks compiled once.

A code is never used again for another message. Tables are values: the product has one (`messages.TABLE`), a test may make its own.
"""
from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from ..scheduler.errors import Misuse
from .records import Dump, Load
from .shapes import shape_of

Message: TypeAlias = tuple[Any, ...]  # a NamedTuple of the table


class Table:
    """`kinds` by code, `codes` by type; `loads` by code, `dumps` by type where a message holds documents; `names` by type, as in `on_<name>`."""

    def __init__(self, kinds: Mapping[int, type[Message]]) -> None:
        shapes = {code: shape_of(kind) for code, kind in kinds.items()}
        self.kinds: Mapping[int, type[Message]] = MappingProxyType(dict(kinds))
        self.codes: Mapping[type[Message], int] = MappingProxyType({kind: code for code, kind in kinds.items()})
        self.names: Mapping[type[Message], str] = MappingProxyType({kind: name_of(kind) for kind in kinds.values()})
        self.loads: dict[int, Load] = {code: shape.load for code, shape in shapes.items() if shape.load}
        self.dumps: dict[type[Message], Dump] = {kinds[code]: shape.dump for code, shape in shapes.items() if shape.dump}
        if len(self.codes) != len(kinds) or len(set(self.names.values())) != len(kinds):
            raise Misuse("a message type, or a name, is in the table twice")

    def extended(self, kinds: Mapping[int, type[Message]]) -> Table:
        """A table with these besides. A code that is taken raises."""
        if taken := sorted(set(kinds) & set(self.kinds)):
            raise Misuse(f"the type codes {taken} are taken")
        return Table({**self.kinds, **kinds})


def name_of(kind: type) -> str:
    """RunWave -> run_wave."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind.__name__).lower()
