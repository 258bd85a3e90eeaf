"""The stored form of what programs write: instances of dataclasses, msgspec structs, pydantic models and enumerations become JSON.

Everything else is left as it is, and storage refuses with its address what it cannot keep: a tuple stays a tuple (decision 21).
The libraries are never imported here. A program that has an instance of theirs has imported them, so they are looked for among the loaded modules.
"""
from __future__ import annotations

import sys
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from ..scheduler.cells import Link
from ..scheduler.errors import NotStorable
from ..scheduler.values import MAX_DEPTH, ReadOnlyDict, ReadOnlyList, Value

_ALREADY = frozenset({str, int, float, bool, bytes, type(None), Link, ReadOnlyDict, ReadOnlyList})


def struct_class() -> type[Any] | None:
    """msgspec's Struct, if the program uses it."""
    return getattr(sys.modules.get("msgspec"), "Struct", None)


def model_class() -> type[Any] | None:
    """pydantic's BaseModel, if the program uses it. Asking the package itself would load the rest of it."""
    return getattr(sys.modules.get("pydantic.main"), "BaseModel", None)


def is_of(value: object, kind: type[Any] | None) -> bool:
    return kind is not None and isinstance(value, kind)


def plain(value: Any, room: int = MAX_DEPTH) -> Value:
    """The stored form. What lies deeper than anything may is left alone, so that a value inside itself ends here and is refused by storage."""
    if type(value) in _ALREADY or not room:
        return value
    if isinstance(value, dict):
        return {key: plain(item, room - 1) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item, room - 1) for item in value]
    if isinstance(value, Enum):
        return plain(value.value, room - 1)
    if isinstance(value, type):
        return value
    if is_of(value, struct_class()):
        try:
            return sys.modules["msgspec"].to_builtins(value, builtin_types=(bytes,))
        except TypeError as error:
            raise NotStorable(f"/: {type(value).__name__} has no stored form: {error}") from None
    if is_of(value, model_class()):
        return value.model_dump(mode="json", by_alias=True)
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name), room - 1) for field in fields(value) if field.init}
    return value
