"""A document out of its rows: the newest whole form, and the patches since, replayed (semantics D.1, D.7).

- A whole form is a set, a delete, a snapshot, or, for a document that a branch inherits, its parent's state at the fork point (decision 16).
- Rows are checked against one another as far as they say the same thing; where they do not, CorruptRow names them.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing

from ..scheduler.errors import CorruptRow, PatchApplyError, ProtocolError
from ..scheduler.model import Entity, Stamp
from ..scheduler.values import MISSING, Value
from .branches import lineage
from .codec import Codec
from .forms import row_document, row_op, row_operations
from .link import Delivered
from .patch import PatchOp, apply
from .tables import PATCH, SET, Branch, Head, RevisionRow, SnapshotRow, Tables


class History:
    """Reads what was committed, at any sequence number, through one connection."""

    def __init__(self, tables: Tables, codec: Codec) -> None:
        self._tables = tables
        self._codec = codec

    def read(self, branches: Mapping[str, Branch], name: str, entity: Entity, upto: int) -> Delivered:
        """The document as the branch shows it at `upto`."""
        for level, limit in lineage(branches, name, upto):
            head = self._tables.head(level, entity)
            if head is not None and head.born <= limit:
                seq, document = self._replayed(branches, head, limit)
                return Delivered(entity, seq, head.stamp if seq == head.seq else self._stamp(seq), document)
        return Delivered(entity, 0, None, MISSING)

    def operations(self, row: RevisionRow, head: Head) -> tuple[PatchOp, ...]:
        return row_operations(self._codec, row, _where(head, row))

    def moved_on(self, document: Value, row: RevisionRow, head: Head) -> Value:
        """The document after one more revision."""
        op = row_op(row, _where(head, row))
        if op != PATCH:
            return row_document(self._codec, row, _where(head, row)) if op == SET else MISSING
        try:
            return apply(document, self.operations(row, head))
        except (PatchApplyError, ProtocolError) as error:
            raise CorruptRow(f"{_where(head, row)} does not apply to what went before it: {error}") from error

    def _stamp(self, seq: int) -> Stamp:
        row = self._tables.commit_row(seq)
        if row is None:
            raise CorruptRow(f"a revision names commit {seq}, which is not there")
        return row.id

    def _replayed(self, branches: Mapping[str, Branch], head: Head, limit: int) -> tuple[int, Value]:
        snapshot = self._tables.snapshot(head.number, limit)
        with closing(self._tables.backwards(head.number, limit)) as rows:
            seq, base, patches = self._gather(head, snapshot, rows)
        if limit >= head.seq != seq:
            raise CorruptRow(f"{_name(head)} has its newest revision at {head.seq}, and the log ends at {seq}")
        if base is None:
            parent = branches[head.branch].parent
            base = MISSING if parent is None else self.read(branches, parent, head.entity, min(limit, branches[head.branch].fork_seq)).document
        if not patches:
            return seq, base
        try:
            return seq, apply(base, [op for ops in reversed(patches) for op in ops])
        except (PatchApplyError, ProtocolError) as error:
            raise CorruptRow(f"the patches of {_name(head)} up to {seq} do not apply to what went before them: {error}") from error

    def _gather(self, head: Head, snapshot: SnapshotRow | None, rows: Iterator[RevisionRow]) -> tuple[int, Value, list[tuple[PatchOp, ...]]]:
        """The newest sequence number, the whole form to start from (None: the inherited one) and the patches since, newest first."""
        newest, oldest, patches = 0, 0, list[tuple[PatchOp, ...]]()
        for row in rows:
            newest, oldest = newest or row.seq, row.seq
            if snapshot is not None and row.seq <= snapshot.seq:
                break
            op = row_op(row, _where(head, row))
            if op != PATCH:
                return newest, row_document(self._codec, row, _where(head, row)) if op == SET else MISSING, patches
            patches.append(self.operations(row, head))
        if snapshot is not None:
            return newest or snapshot.seq, row_document(self._codec, snapshot, f"the snapshot of {_name(head)} at {snapshot.seq}"), patches
        if oldest != head.born:
            raise CorruptRow(f"{_name(head)} was first written at {head.born}, and the log begins at {oldest}")
        return newest, None, patches


def _name(head: Head) -> str:
    return f"{head.entity} in branch {head.branch!r}" if head.branch else str(head.entity)


def _where(head: Head, row: RevisionRow) -> str:
    return f"revision {row.seq}.{row.op_index} of {_name(head)}"
