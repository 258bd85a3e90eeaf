"""Typed dispatch: which method of a class handles which message. Looked up once for each class, when it is made."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from ..scheduler.errors import Misuse
from ..wire.table import Message, Table

Handler: TypeAlias = Callable[[Any, Any, str], Message | None]  # (actor, message, sender) -> the answer, if it was a question

_HOOKS = frozenset({"on_start", "on_stop", "on_failure", "on_receive"})  # pykka's


def handlers_of(cls: type, table: Table) -> dict[type[Message], Handler]:
    """The `on_<message>` methods by message type. One for a message that does not exist is a mistake of the class."""
    names = {f"on_{name}": kind for kind, name in table.names.items()}
    found = {name for name in dir(cls) if name.startswith("on_")} - _HOOKS
    if unknown := sorted(found - set(names)):
        raise Misuse(f"{cls.__name__}.{unknown[0]} handles no message of the table")
    return {names[name]: getattr(cls, name) for name in found}
