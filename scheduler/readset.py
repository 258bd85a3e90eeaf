"""What one run read, in one canonical form.

Invariants
- Deep reads are compacted per document: one above absorbs those below. Shallow reads are only freed of duplicates, and the two depths are kept apart, because a shallow read
  conflicts with writes that a deep read of the same path does not (semantics C.1.3, C.5).
- Documents of another space, scope or id never merge.
- Two read sets with the same reads have the same order and the same `key`, in any process and after any restart, so that storage keeps equal ones once.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from hashlib import blake2b

from .model import Entity, Path, Read
from .overlap import is_prefix


class ReadSet:
    """Immutable; ordered by document, path, depth.

    But for a mark: `spelling` is what the last run read that came to this set, in its order. A run that reads the same cells each time is recognised by it, without a look into
    its reads."""

    __slots__ = ("_held", "_key", "_reads", "spelling")
    _reads: tuple[Read, ...]
    _held: frozenset[Read]
    _key: bytes | None
    spelling: tuple[Read, ...] | None

    def __init__(self, reads: Iterable[Read] = ()) -> None:
        self._reads = _compacted(reads)
        self._held = frozenset(self._reads)
        self._key = None
        self.spelling = None

    def reads(self) -> tuple[Read, ...]:
        return self._reads

    def renewed(self, reads: AbstractSet[Read] | Mapping[Read, object]) -> ReadSet:
        """The read set of the next run, whose reads have no duplicates: this very one if it read the same, which is the usual case and then costs no sorting."""
        if len(reads) == len(self._held) and self._held.issuperset(reads):
            return self
        fresh = ReadSet(reads)
        return self if fresh._reads == self._reads else fresh

    def entities(self) -> tuple[Entity, ...]:
        return tuple(dict.fromkeys(read.entity for read in self._reads))

    @property
    def key(self) -> bytes:
        """The content's hash, the name under which storage interns it."""
        if self._key is None:
            self._key = _hash(self._reads)
        return self._key

    def __contains__(self, read: object) -> bool:
        return read in self._held

    def __iter__(self) -> Iterator[Read]:
        return iter(self._reads)

    def __len__(self) -> int:
        return len(self._reads)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReadSet) and self._reads == other._reads

    def __hash__(self) -> int:
        return hash(self._reads)

    def __repr__(self) -> str:
        return f"ReadSet({list(self._reads)!r})"


def delta(old: ReadSet, new: ReadSet) -> tuple[tuple[Read, ...], tuple[Read, ...]]:
    """What came and what went, each in order."""
    if old is new:
        return (), ()
    return tuple(read for read in new if read not in old), tuple(read for read in old if read not in new)


def _compacted(reads: Iterable[Read]) -> tuple[Read, ...]:
    kept: list[Read] = []
    entity: Entity | None = None
    cover: Path = ()
    covered = False  # `cover` is a deep read of `entity`
    for read in sorted(set(reads)):
        if read.entity != entity:
            entity, covered = read.entity, False
        if read.deep:
            if covered and is_prefix(cover, read.path):
                continue
            cover, covered = read.path, True
        kept.append(read)
    return tuple(kept)


def _hash(reads: Iterable[Read]) -> bytes:
    """Every text goes in behind its length, so no two read sets spell the same bytes."""
    digest = blake2b(digest_size=16)
    for entity, path, deep in reads:
        digest.update(b"%d %d;" % (len(path), deep))
        for text in (*entity, *path):
            data = text.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(data))
            digest.update(data)
    return digest.digest()


EMPTY = ReadSet()
