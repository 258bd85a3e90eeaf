"""The reading half of a transaction: pinned documents, links followed, every dependency recorded with its depth and use (semantics C.3).

- A document is pinned at its first touch, so all reads of it are of one state, own writes on top.
- A link on the way, and one at the end, is followed. Each hop records a shallow read of the link's own position, the end the read that was asked for; a value behind links
  depends on nothing else of the documents in between.
- The same position reached twice, a link into itself, and more hops than MAX_HOPS raise LinkLoop; what was recorded until then stays, so the run is made again when it is mended.
- What a read is for: BOTH by default; CONFLICT alone if the run shall not depend on it (`track=False`); SCHEDULING alone if only a reference was wanted (pitfalls B-100).
- A document that is only read has no draft: what was seen is enough. One gets a draft when it is written, unless its whole value was put in place and nothing else was done to it;
  then the new document waits in `_whole`, and becomes a draft as soon as anybody touches it again.
Reading a cell without links is one look-up of the document, one for each step, and one record (`fetch`).
"""
from __future__ import annotations

from typing import NamedTuple

from ..scheduler.cells import Link
from ..scheduler.errors import LinkLoop, Misuse
from ..scheduler.matching import child
from ..scheduler.model import VALUE, Address, Entity, Path, Read
from ..scheduler.values import MISSING, ReadOnlyDict, Value
from .draft import Draft
from .place import named, place
from .proposal import Seen, Use, View

_BOTH = Use.BOTH  # asking the enumeration for it costs as much as the look-up it stands beside
MAX_HOPS = 100  # links followed for one read: chains are short, and what is longer is a loop through growing paths


class Arrival(NamedTuple):
    """Where a path leads, with no link on the way."""

    entity: Entity
    path: Path
    value: Value


class Reading:
    """Reads over a view. Positions are `(entity, document path)`; `place` gives those of a cell."""

    def __init__(self, view: View, home: str) -> None:
        self.home = home
        self.reads: dict[Read, Use] = {}
        self._view = view
        self._seen: dict[Entity, Seen] = {}  # every document that was touched, in this order, as it was then
        self._drafts: dict[Entity, Draft] = {}
        self._whole: dict[Entity, Value] = {}  # the documents whose whole value was put in place; none of them has a draft

    def fetch(self, read: Read) -> Value:
        """The value of a deep read that the run depends on, MISSING if there is none. Whoever reads a position often keeps the record and gives it here each time."""
        entity, path, _ = read
        if (self._whole and entity in self._whole) or (self._drafts and entity in self._drafts):
            return self._look(entity, path, _BOTH)
        value = (self._seen.get(entity) or self._pin(entity))[0]
        for step in path:
            if type(value) is ReadOnlyDict or isinstance(value, dict):
                value = value.get(step, MISSING)
            elif isinstance(value, list):
                value = child(value, step)
            else:
                if type(value) is not Link:
                    value = MISSING
                break
        if type(value) is Link:
            return self._look(entity, path, _BOTH)
        self.reads[read] = _BOTH
        return value

    def get(self, entity: Entity, path: Path, *, track: bool = True, raw: bool = False) -> Value:
        """The value, MISSING if there is none. `raw` gives a link at the end as it is stored."""
        return self.fetch(Read(entity, path, True)) if track and not raw else self._look(entity, path, _BOTH if track else Use.CONFLICT, last=not raw)

    def _look(self, entity: Entity, path: Path, use: Use, *, deep: bool = True, last: bool = True) -> Value:
        """Any read: through links, with own writes on top."""
        entity, path, value = self.arrive(entity, path, use, last=last)
        self._note(entity, path, deep, use)
        if entity in self._drafts:
            self._drafts[entity].share()
        return value

    def track(self, entity: Entity, path: Path) -> None:
        """Depend on the value without reading it."""
        entity, path, _ = self.arrive(entity, path, Use.SCHEDULING)
        self._note(entity, path, True, Use.SCHEDULING)

    def shape(self, entity: Entity, path: Path, *, track: bool = True) -> Value:
        """The value, depending only on its key set or length, or on the value if it is no container. For `keys`, `length`, `exists`."""
        return self._look(entity, path, _BOTH if track else Use.CONFLICT, deep=False)

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
        entity, path, _ = self.arrive(entity, path, Use.SCHEDULING)
        self._note(entity, path, False, Use.SCHEDULING)
        return entity.at(path)

    def cells(self, entity: Entity, path: Path) -> list[Address]:
        """One position for each child, behind links."""
        entity, path, value = self.arrive(entity, path, _BOTH)
        self._note(entity, path, False, _BOTH)
        found = []
        for step in range(len(value)) if isinstance(value, list) else self._sized(value, entity, path, "children"):
            below = (*path, str(step))
            behind = isinstance(child(value, str(step)), Link)
            found.append(self.resolve(entity, below) if behind else entity.at(below))
        return found

    def arrive(self, entity: Entity, path: Path, use: Use, *, last: bool = True) -> Arrival:
        """Follow the links on the way, and with `last` the one at the end, recording each hop for `use`."""
        asked = (entity, path)
        been: set[tuple[Entity, Path]] | None = None
        while True:
            value, taken = walk(self._document(entity), path)
            if not isinstance(value, Link) or (taken == len(path) and not last):
                return Arrival(entity, path, value)
            been = been or {asked}
            position, rest = path[:taken], path[taken:]
            self._note(entity, position, False, use)
            target, start = place(value, entity.space)
            if target == entity and start[: len(position)] == position:
                raise LinkLoop(f"{named(*asked)}: the link at {named(entity, position)} leads into itself")
            entity, path = target, start + rest
            if (entity, path) in been:
                raise LinkLoop(f"{named(*asked)}: its links lead in a circle through {named(entity, path)}")
            if len(been) > MAX_HOPS:
                raise LinkLoop(f"{named(*asked)}: more than {MAX_HOPS} links in a row")
            been.add((entity, path))

    def _document(self, entity: Entity) -> Value:
        """As this transaction sees it now."""
        if entity in self._whole:
            return self._whole[entity]
        draft = self._drafts.get(entity)
        return (self._seen.get(entity) or self._pin(entity)).document if draft is None else draft.document

    def _note(self, entity: Entity, path: Path, deep: bool, use: Use) -> None:
        """Record a read. What the transaction itself has put there as a whole is no dependency."""
        draft = self._drafts.get(entity)
        if draft is not None:
            draft.note(path, deep, use)
        elif entity not in self._whole or path[:1] != VALUE:
            read = Read(entity, path, deep)
            known = self.reads.get(read)
            self.reads[read] = use if known is None or known is use else _BOTH

    def _draft(self, entity: Entity) -> Draft:
        """For writing."""
        draft = self._drafts.get(entity)
        if draft is None:
            draft = Draft(entity, self._seen.get(entity) or self._pin(entity), self.reads, self._claim)
            if entity in self._whole:
                draft.replace(self._whole.pop(entity))
            self._drafts[entity] = draft
        return draft

    def _pin(self, entity: Entity) -> Seen:
        seen = self._seen[entity] = self._view.read(entity)
        return seen

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
