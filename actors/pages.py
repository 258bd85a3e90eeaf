"""The ids of a space's documents, as many as are asked for, page by page from the engine, in one state of the space."""
from __future__ import annotations

from collections.abc import Iterator

from ..scheduler.model import Entity
from ..storage.engine import Engine
from ..storage.listing import PAGE_LIMIT


def listed(engine: Engine, space: str, begins: str, after: str | None) -> Iterator[str]:
    """Those that begin so and come after that one, in order."""
    if begins and (after is None or after < begins):  # what begins so comes right after the beginning itself
        if engine.exists(Entity(space, "space", begins)):
            yield begins
        after = begins
    seq = None
    while True:
        page = engine.list(limit=PAGE_LIMIT, after=after, seq=seq)
        for id in page.ids:
            if not id.startswith(begins):
                return
            yield id
        if page.after is None:
            return
        after, seq = page.after, page.seq
