"""The overlap queries of durable dirtiness: what was written since that touches these reads, and who reads what is written (decision 26).

- Nothing is marked when a commit lands. A node is dirty if a change after its watermark overlaps its read set, and that is asked of the log.
- The rule is that of paths (semantics C.2), on what a patch wrote; a set or a delete wrote everything. It may say too much, and never misses what the matcher finds.
- Read sets are rows, interned under the hash of their content: owners with the same reads share them, and a run that read the same as before writes nothing.
  One that nobody has any more stays until the next garbage collection, because a condition that toggles comes back to it.
- A branch's readers are its own: what a parent commits after the fork point is not shown there.
- A store answers for the documents of its own space; it keeps readers of any space's documents, those of the owners that live in it.
Where history was collected the answer is HistoryCollected, never a guess. Lookups are made in one view of the tables, `note_readers` in the caller's write transaction.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from typing import NamedTuple

from ..scheduler.errors import HistoryCollected, ProtocolError
from ..scheduler.model import Entity, Path, Read
from ..scheduler.overlap import compact, write_touches
from ..scheduler.readset import ReadSet
from .branches import lineage, readable
from .codec import Codec
from .forms import row_op
from .history import History
from .patch import PatchOp
from .replay import Replay
from .seal import check_entity
from .tables import DELETE, PATCH, Branch, Head, RevisionRow, Tables
from .written import is_plain, named_paths, written_paths


class Overlap(NamedTuple):
    """One operation of the log, and which of the reads asked about it touches."""

    seq: int
    op_index: int
    op: str
    entity: Entity
    reads: tuple[Read, ...]


class Overlaps:
    """The queries, over one connection to the tables of a space."""

    def __init__(self, space: str, tables: Tables, codec: Codec) -> None:
        self._space = space
        self._tables = tables
        self._history = History(tables, codec)

    def find_overlapping_writes_after(self, branch: str, reads: Iterable[Read], seq: int, upto: int | None = None) -> list[Overlap]:
        """What was committed in (seq, upto] and touches one of the reads, as the branch shows it; in the order of the log. Without `upto`, up to now."""
        if type(seq) is not int or seq < 0:
            raise ProtocolError(f"malformed seq {seq!r}: it is the sequence number, from 0, after which to look")
        with self._tables.reading():
            branches = {row.name: row for row in self._tables.branches()}
            readable(branches, branch)
            newest = self._tables.newest()[0]
            limit = newest if upto is None else min(upto, newest)
            grouped: dict[Entity, list[Read]] = {}
            for read in reads:
                check_entity(self._space, read.entity)
                grouped.setdefault(read.entity, []).append(read)
            found = [overlap for group in grouped.values() for overlap in self._overlapping(branches, branch, group, seq, limit)]
        return sorted(found, key=lambda overlap: overlap[:2])

    def find_readers_for_write(self, entity: Entity, paths: Iterable[Path], branch: str = "") -> list[str]:
        """The owners whose reads in the branch a write at one of the paths touches, in order; the root path stands for a set or a delete."""
        with self._tables.reading():
            return sorted({owner for write in compact(paths) for owner, path, deep in self._tables.reads_near(branch, entity, write) if write_touches(write, path, deep)})

    def note_readers(self, owner: str, reads: ReadSet | Iterable[Read], branch: str = "") -> bool:
        """The owner reads exactly these from here on. Answers whether anything had to be written."""
        kept = reads if isinstance(reads, ReadSet) else ReadSet(reads)
        key = kept.key if len(kept) else None
        if key == self._tables.read_set_of(branch, owner):
            return False
        if key is not None and not self._tables.has_read_set(key):
            self._tables.add_read_set(key, kept.reads())
        self._tables.put_reader(branch, owner, key)
        return True

    def _overlapping(self, branches: Mapping[str, Branch], branch: str, reads: list[Read], seq: int, upto: int) -> Iterator[Overlap]:
        """Of one document, through every branch that shows it."""
        entity = reads[0].entity
        for level, limit in lineage(branches, branch, upto):
            head = self._tables.head(level, entity)
            if head is None or limit <= seq:
                continue
            rows = list(self._tables.revisions(head.number, seq, limit))
            self._refuse_collected(head, rows, seq)
            log = _Log(self._tables, self._history, branches, head, rows)
            for index, row in enumerate(rows):
                touched = tuple(log.touched(index, reads))
                if touched:
                    yield Overlap(row.seq, row.op_index, row.op, entity, touched)

    def _refuse_collected(self, head: Head, rows: list[RevisionRow], seq: int) -> None:
        """Of what was collected, a later revision of the same document is always left: where none is, nothing is missing."""
        horizon = self._tables.horizon()
        if rows and seq < rows[0].seq <= horizon:
            raise HistoryCollected(f"what was written to {head.entity} after {seq} was collected up to {horizon}: whether it overlaps cannot be told", horizon=horizon)


class _Log:
    """The revisions of one document, oldest first, with the document between them where it has to be looked at."""

    def __init__(self, tables: Tables, history: History, branches: Mapping[str, Branch], head: Head, rows: list[RevisionRow]) -> None:
        self._tables, self._history, self._head, self._rows = tables, history, head, rows
        self._replay = Replay(tables, history, branches, head)

    def touched(self, index: int, reads: list[Read]) -> Iterator[Read]:
        """The reads that a revision touches."""
        row = self._rows[index]
        if row_op(row, f"revision {row.seq}.{row.op_index} of {self._head.entity}") != PATCH:
            yield from reads
            return
        ops = self._history.operations(row, self._head)
        writes, exact = named_paths(ops), False
        for read in reads:
            hit = _touches(writes, read)
            if not hit and not exact:
                writes, exact = self._written(index, ops), True
                hit = _touches(writes, read)
            if hit:
                yield read

    def _written(self, index: int, ops: tuple[PatchOp, ...]) -> tuple[Path, ...]:
        if is_plain(ops) and self._met_document(index):
            return named_paths(ops)
        return written_paths(ops, self._replay.before(self._rows[index]))

    def _met_document(self, index: int) -> bool:
        """In this very branch; what a first patch inherits is looked at."""
        if index:
            return self._rows[index - 1].op != DELETE
        with closing(self._tables.backwards(self._head.number, self._rows[0].seq - 1)) as earlier:
            row = next(earlier, None)
        return row is not None and row.op != DELETE


def _touches(writes: tuple[Path, ...], read: Read) -> bool:
    return any(write_touches(write, read.path, read.deep) for write in writes)
