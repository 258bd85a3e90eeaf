"""The operands of patch operations as they come from outside: checked and frozen, or refused with ProtocolError and the path. `patch` calls it for every operation."""
from __future__ import annotations

from typing import NoReturn

from ..scheduler.errors import NotStorable, ProtocolError
from ..scheduler.ids import encodable, shown
from ..scheduler.model import Path, pointer
from ..scheduler.values import MAX_DEPTH, MAX_ITEMS, Value, freeze, height


def checked_path(path: object) -> Path:
    if type(path) is not tuple or not all(type(step) is str and encodable(step) for step in path):
        raise ProtocolError(f"{shown(path)} is no path: a path is a tuple of strings that UTF-8 can spell")
    if len(path) > MAX_DEPTH:
        raise ProtocolError(f"{pointer(path[:8])}...: a path of {len(path)} steps; documents are at most {MAX_DEPTH} levels deep")
    return path


def below_root(path: Path, what: str) -> Path:
    if not path:
        raise ProtocolError(f"/: {what} at the root of a document; delete the document, or set it")
    return path


def checked(path: Path, value: Value, inside: int = 0) -> Value:
    """An operand, checked and frozen; `inside` containers lie between the path and it."""
    try:
        value = freeze(value)
    except NotStorable as error:
        refuse(path, str(error))
    if len(path) + inside + height(value) > MAX_DEPTH:
        refuse(path, f"a value that would lie more than {MAX_DEPTH} levels deep")
    return value


def checked_values(path: Path, values: object) -> tuple[Value, ...]:
    if type(values) is not tuple:
        refuse(path, f"{shown(values)} where a tuple of values belongs")
    if len(values) > MAX_ITEMS:
        refuse(path, f"{len(values)} values at once, where a list has at most {MAX_ITEMS}")
    return tuple(checked(path, value, 1) for value in values)


def refuse(path: Path, what: str) -> NoReturn:
    raise ProtocolError(f"{pointer(path) or '/'}: {what}")
