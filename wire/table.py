"""The closed table of messages: type code to message type, and the shape of each.

A code is never used again for another message. Tables are values: the product has one (`messages.TABLE`), a test may make its own.
"""
from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from ..scheduler.errors import Misuse
from .shapes import Shape, shape_of

Message: TypeAlias = tuple[Any, ...]  # a NamedTuple of the table


class Table:
    """`kinds`, `shapes` and their `fingerprints` by code; `codes` by type; `names` by type, as in `on_<name>`."""

    def __init__(self, kinds: Mapping[int, type[Message]]) -> None:
        self.kinds: Mapping[int, type[Message]] = MappingProxyType(dict(kinds))
        self.codes: Mapping[type[Message], int] = MappingProxyType({kind: code for code, kind in kinds.items()})
        self.names: Mapping[type[Message], str] = MappingProxyType({kind: name_of(kind) for kind in kinds.values()})
        self.shapes: Mapping[int, Shape] = MappingProxyType({code: shape_of(kind) for code, kind in kinds.items()})
        self.fingerprints: Mapping[int, str] = MappingProxyType({code: hashlib.sha256(str(shape).encode()).hexdigest()[:16] for code, shape in self.shapes.items()})
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
