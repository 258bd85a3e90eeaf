"""Typed dispatch: which method of a class handles which message. Looked up once for each class, when it is made."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

from ..scheduler.errors import Misuse, ProtocolError
from ..wire.table import Message, Table

Handler: TypeAlias = Callable[[Any, Any, str], Message | None]  # (actor, message, sender) -> the answer, if it was a question

_HOOKS = frozenset({"on_start", "on_stop", "on_failure", "on_receive"})  # pykka's


class Handlers(dict[type[Message], Handler]):
    """By message type. A message that the class does not take raises, with the name of both."""

    def __init__(self, owner: str, found: dict[type[Message], Handler]) -> None:
        super().__init__(found)
        self._owner = owner

    def __missing__(self, kind: type[Message]) -> NoReturn:
        raise ProtocolError(f"{self._owner} does not take {kind.__name__}")


def handlers_of(cls: type, table: Table) -> Handlers:
    """The `on_<message>` methods by message type. One for a message that does not exist is a mistake of the class."""
    names = {f"on_{name}": kind for kind, name in table.names.items()}
    found = {name for name in dir(cls) if name.startswith("on_")} - _HOOKS
    if unknown := sorted(found - set(names)):
        raise Misuse(f"{cls.__name__}.{unknown[0]} handles no message of the table")
    return Handlers(cls.__name__, {names[name]: getattr(cls, name) for name in found})
