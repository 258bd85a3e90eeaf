"""Where a cell or a link is in the store: its document and the path inside `{value, ...metadata}`. And back, as people read it."""
from __future__ import annotations

from typing import Any

from ..scheduler.cells import Cell, Link
from ..scheduler.ids import META, spelled, stored_path
from ..scheduler.model import VALUE, Entity, Path


def place(what: Cell[Any] | Link[Any], here: str) -> tuple[Entity, Path]:
    """`here` is the home of whoever wrote the cell, the space of the document that holds the link."""
    return Entity(here if what.space is None else what.space, what.scope, what.id), stored_path(what.path)


def spoken(entity: Entity, path: Path, here: str | None, of: Any = None) -> Cell[Any]:
    """The cell of a position, for a program whose home is `here`; None: name the space in any case."""
    return Cell(None if entity.space == here else entity.space, entity.scope, entity.id, path[1:] if path[:1] == VALUE else (META, *path), of)


def named(entity: Entity, path: Path) -> str:
    """The text of the address."""
    return spelled(*entity, path[1:] if path[:1] == VALUE else (META, *path))
