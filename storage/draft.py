"""One document inside a transaction: pinned as it was first seen, and as it looks with the transaction's own writes.

- `seen` never changes: every read of the document in this transaction is of one state.
- `document` is that state with the writes so far. What has been handed out never changes; containers made by writes are copied before the next write once they were read.
- A plain write is absolute: what lies at its path afterwards does not depend on what lay there before, so it is no read. `writes` holds their paths,
  and whether the value was given as a whole (else it was edited, and what it was edited from is validated).
- A mergeable write is relative, and goes to the engine as the operation it is, so that others may do the same. `merges` holds them by path; nothing else in this
  transaction overlaps such a path, else they are turned into a plain write that is validated as the read it then is (pitfalls B-101).
"""
from __future__ import annotations

from collections.abc import Callable

from ..scheduler.model import VALUE, Entity, Path, Read
from ..scheduler.overlap import is_prefix
from ..scheduler.values import MISSING, ReadOnlyDict, Value
from .patch import AddUnique, Append, Increment, RemoveByValue
from .proposal import Seen, Use
from .spine import Spine

Merge = Append | AddUnique | RemoveByValue | Increment


class Draft:
    """`reads` belongs to the transaction: all its drafts record into one. `claim` is asked before the first change, and raises if the transaction may not write here."""

    __slots__ = ("_claim", "_spine", "_ways", "document", "entity", "idle", "made", "merges", "reads", "seen", "writes")

    def __init__(self, entity: Entity, seen: Seen, reads: dict[Read, Use], claim: Callable[[str], None]) -> None:
        self.entity = entity
        self._claim = claim
        self.seen = seen
        self.document = seen.document
        self.reads = reads
        self.writes: dict[Path, bool] = {}
        self.merges: dict[Path, list[Merge]] = {}
        self.idle: dict[Path, None] = {}  # mergeable writes that found nothing to do
        self.made: set[Path] = set()  # objects made on the way to a write: what else comes into them is sent with them
        self._ways: set[Path] = set()  # all that ever lay above a write: where nothing was written below, nothing needs to be searched
        self._spine: Spine | None = None

    def note(self, path: Path, deep: bool, use: Use) -> None:
        """Record a read. What the transaction itself has put there as a whole is no dependency."""
        if self.writes and any(self.writes.get(path[:length]) for length in range(len(path) + 1)):
            return
        read = Read(self.entity, path, deep)
        known = self.reads.get(read)
        self.reads[read] = use if known is None or known is use else Use.BOTH

    def covered(self, path: Path) -> bool:
        """A plain write, or an edit, is at this path or above it."""
        return any(path[:length] in self.writes for length in range(len(path) + 1))

    def validated(self, path: Path) -> bool:
        """The engine is told that what the transaction saw at and below this path must still be there."""
        for length in range(len(path) + 1):
            use = self.reads.get(Read(self.entity, path[:length], True))
            if use is Use.BOTH or use is Use.CONFLICT:
                return True
        return False

    def share(self) -> Value:
        """The document, for handing out parts of it."""
        if self._spine is not None:
            self._spine.share()
        return self.document

    def spine(self) -> Spine:
        """For changing the document; `changed` must follow."""
        self._claim(self.entity.space)
        if self._spine is None:
            self._spine = Spine(self.document)
        if self.document is MISSING:
            self._spine.document = ReadOnlyDict()
        return self._spine

    def changed(self) -> None:
        """The spine has been changed."""
        if self._spine is not None:
            self.document = self._spine.document

    def replace(self, document: Value) -> None:
        """The whole value has been put in place, as the first thing that was done here; the transaction has claimed the space if that changed anything."""
        self.document = document
        self.decide(VALUE)

    def vanish(self) -> None:
        """No document any more."""
        self._claim(self.entity.space)
        self._spine = None
        self.document = MISSING

    def decide(self, path: Path, whole: bool = True) -> None:
        """A plain write has been made at the path, or with `whole` False an edit of what was there. Writes and merges below it no longer count; a merge above it is one no more."""
        for length in range(len(path)):
            if path[:length] in self.merges:
                self.unmerge(path[:length])
        if self.covered(path):
            if whole and path in self.writes:
                self.writes[path] = True
            return
        if path in self._ways:
            for below in [other for other in self.writes if is_prefix(path, other)]:
                del self.writes[below]
            for below in [other for other in self.merges if is_prefix(path, other)]:
                del self.merges[below]
        self.merges.pop(path, None)
        self.writes[path] = whole
        self._lead(path)

    def keep(self, path: Path, merges: list[Merge]) -> None:
        """What the mergeable writes at the path come to."""
        self.merges[path] = merges
        self._lead(path)

    def crossed(self, path: Path) -> bool:
        """Something that was written lies below the path, or a mergeable write above it."""
        return path in self._ways or any(path[:length] in self.merges for length in range(len(path)))

    def _lead(self, path: Path) -> None:
        self._ways.update(path[:length] for length in range(len(path)))

    def unmerge(self, path: Path) -> None:
        """From here on the merge is a plain write of what it made, and holds only if what it was made from still does."""
        self.note(path, True, Use.CONFLICT)
        del self.merges[path]
        self.decide(path, whole=False)
