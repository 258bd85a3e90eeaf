"""The reading half of a transaction: pinned documents, links followed, every dependency recorded with its depth and use (semantics C.3).

- A document is pinned at its first touch, so all reads of it are of one state, own writes on top.
- A link on the way, and one at the end, is followed. Each hop records a shallow read of the link's own position, the end the read that was asked for; a value behind links
  depends on nothing else of the documents in between.
- The same position reached twice, a link into itself, and more hops than MAX_HOPS raise LinkLoop; what was recorded until then stays, so the run is made again when it is mended.
- What a read is for: BOTH by default; CONFLICT alone if the run shall not depend on it (`track=False`); SCHEDULING alone if only a reference was wanted (pitfalls B-100).
Reading a cell without links is one look-up of the document, one for each step, and one record.
"""
from __future__ import annotations

from typing import NamedTuple

from ..scheduler.cells import Link
from ..scheduler.errors import LinkLoop, Misuse
from ..scheduler.matching import child
from ..scheduler.model import Address, Entity, Path, Read
from ..scheduler.values import MISSING, Value
from .draft import Draft
from .place import named, place
from .proposal import Use, View

MAX_HOPS = 100  # links followed for one read: chains are short, and what is longer is a loop through growing paths


class Arrival(NamedTuple):
    """Where a path leads, with no link on the way."""

    draft: Draft
    path: Path
    value: Value


class Reading:
    """Reads over a view. Positions are `(entity, document path)`; `place` gives those of a cell."""

    def __init__(self, view: View, home: str) -> None:
        self.home = home
        self.reads: dict[Read, Use] = {}
        self._view = view
        self._drafts: dict[Entity, Draft] = {}

    def get(self, entity: Entity, path: Path, *, track: bool = True, raw: bool = False) -> Value:
        """The value, MISSING if there is none. `raw` gives a link at the end as it is stored."""
        draft = self._drafts.get(entity) or self._pin(entity)
        value = draft.document
        for step in path:
            if not isinstance(value, (dict, list)):
                if isinstance(value, Link):
                    break
                value = MISSING
                break
            value = value.get(step, MISSING) if isinstance(value, dict) else child(value, step)
        use = Use.BOTH if track else Use.CONFLICT
        if isinstance(value, Link):
            draft, path, value = self.arrive(entity, path, use, last=not raw)
        if draft.writes or use is not Use.BOTH:
            draft.note(path, True, use)
        else:
            self.reads[Read(draft.entity, path, True)] = use
        if draft.writes or draft.merges:
            draft.share()
        return value

    def track(self, entity: Entity, path: Path) -> None:
        """Depend on the value without reading it."""
        draft, path, _ = self.arrive(entity, path, Use.SCHEDULING)
        draft.note(path, True, Use.SCHEDULING)

    def shape(self, entity: Entity, path: Path, *, track: bool = True) -> Value:
        """The value, depending only on its key set or length, or on the value if it is no container. For `keys`, `length`, `exists`."""
        use = Use.BOTH if track else Use.CONFLICT
        draft, path, value = self.arrive(entity, path, use)
        draft.note(path, False, use)
        draft.share()
        return value

    def keys(self, entity: Entity, path: Path) -> list[str]:
        """The keys of an object, the indices of a list; none where nothing is."""
        value = self.shape(entity, path)
        if isinstance(value, list):
            return [str(index) for index in range(len(value))]
        return list(self._sized(value, entity, path, "keys"))

    def length(self, entity: Entity, path: Path) -> int:
        """How many elements or keys; 0 where nothing is."""
        return len(self._sized(self.shape(entity, path), entity, path, "length"))

    def exists(self, entity: Entity, path: Path) -> bool:
        return self.shape(entity, path) is not MISSING

    def resolve(self, entity: Entity, path: Path) -> Address:
        """Where the links lead. Wanting a reference does not conflict with anybody's write."""
        draft, path, _ = self.arrive(entity, path, Use.SCHEDULING)
        draft.note(path, False, Use.SCHEDULING)
        return draft.entity.at(path)

    def cells(self, entity: Entity, path: Path) -> list[Address]:
        """One position for each child, behind links."""
        draft, path, value = self.arrive(entity, path, Use.BOTH)
        draft.note(path, False, Use.BOTH)
        found = []
        for step in range(len(value)) if isinstance(value, list) else self._sized(value, entity, path, "children"):
            below = (*path, str(step))
            behind = isinstance(child(value, str(step)), Link)
            found.append(self.resolve(draft.entity, below) if behind else draft.entity.at(below))
        return found

    def arrive(self, entity: Entity, path: Path, use: Use, *, last: bool = True) -> Arrival:
        """Follow the links on the way, and with `last` the one at the end, recording each hop for `use`."""
        asked, been = (entity, path), {(entity, path)}
        while True:
            draft = self._drafts.get(entity) or self._pin(entity)
            value, taken = walk(draft.document, path)
            if not isinstance(value, Link) or (taken == len(path) and not last):
                return Arrival(draft, path, value)
            position, rest = path[:taken], path[taken:]
            draft.note(position, False, use)
            target, start = place(value, entity.space)
            if target == entity and start[: len(position)] == position:
                raise LinkLoop(f"{named(*asked)}: the link at {named(entity, position)} leads into itself")
            entity, path = target, start + rest
            if (entity, path) in been:
                raise LinkLoop(f"{named(*asked)}: its links lead in a circle through {named(entity, path)}")
            if len(been) > MAX_HOPS:
                raise LinkLoop(f"{named(*asked)}: more than {MAX_HOPS} links in a row")
            been.add((entity, path))

    def _pin(self, entity: Entity) -> Draft:
        draft = self._drafts[entity] = Draft(entity, self._view.read(entity), self.reads, self._claim)
        return draft

    def _claim(self, space: str) -> None:
        """May this transaction write there?"""
        raise Misuse("this reader only reads")

    @staticmethod
    def _sized(value: Value, entity: Entity, path: Path, what: str) -> Value:
        if value is MISSING or value is None:
            return ()
        if isinstance(value, (dict, list)):
            return value
        raise Misuse(f"{named(entity, path)} holds {value!r:.80}, which has no {what}")


def walk(value: Value, path: Path) -> tuple[Value, int]:
    """As far as a path leads without following a link: the value there, and how many steps were taken. Where nothing is, all of them."""
    for taken, step in enumerate(path):
        if isinstance(value, dict):
            value = value.get(step, MISSING)
        elif isinstance(value, list):
            value = child(value, step)
        else:
            return (value, taken) if isinstance(value, Link) else (MISSING, len(path))
    return value, len(path)
