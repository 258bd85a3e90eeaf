"""Documents on their way from storage to those who hold copies of them: fed as they change, fetched when first read."""
from __future__ import annotations

from typing import NamedTuple

from ..scheduler.model import Change, Entity, Version
from ..scheduler.values import Value


class Fed(NamedTuple):
    """A document as storage shows it, from `n` on; MISSING if there is none."""

    entity: Entity
    n: int
    document: Value


class Feed(NamedTuple):
    """storage -> worker, numbered: documents that you hold have become this, by changes or as a whole. `stale`: too many to list; everything you hold is old."""

    fed: int
    version: Version
    changes: tuple[Change, ...]
    documents: tuple[Fed, ...]
    stale: bool


class Fetch(NamedTuple):
    """worker -> storage, the one question of the run path: documents as of a version. With `n` 0, as of now."""

    version: Version
    entities: tuple[Entity, ...]


class Fetched(NamedTuple):
    """The answer to Fetch. `moved`: these cannot be had as of that version any more."""

    version: Version
    documents: tuple[Fed, ...]
    moved: tuple[Entity, ...]
