"""The document that a revision met: read once, then carried on from revision to revision.

For whoever looks through the log of one document, oldest first, and has to know now and then what was there: conflicts and overlap queries. One that never asks costs nothing.
"""
from __future__ import annotations

from collections.abc import Mapping

from ..scheduler.values import MISSING, Value
from .history import History
from .tables import Branch, Head, RevisionRow, Tables


class Replay:
    """Of one document in a branch, from its committed revisions."""

    def __init__(self, tables: Tables, history: History, branches: Mapping[str, Branch], head: Head) -> None:
        self._tables, self._history, self._branches, self._head = tables, history, branches, head
        self._place: tuple[int, int] | None = None  # of the revision that met `_document`; None: nothing was looked at yet
        self._document: Value = MISSING

    def before(self, row: RevisionRow) -> Value:
        """What the revision met. Asked in the order of the log."""
        if self._place is None:
            self._place = row.seq, 0
            self._document = self._history.read(self._branches, self._head.branch, self._head.entity, row.seq - 1).document
        place = row.seq, row.op_index
        if self._place < place:
            for earlier in self._tables.revisions(self._head.number, self._place[0] - 1, row.seq):
                if self._place <= (earlier.seq, earlier.op_index) < place:
                    self._document = self._history.moved_on(self._document, earlier, self._head)
        self._place = place
        return self._document
