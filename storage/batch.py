"""A group of commits on its way into the store: what those decided so far have changed, over what is committed.

- Commits of a group are decided one after another, each against everything before it, and nothing is written before all are decided: a bad one leaves no trace by itself.
- Each patch is staged with its reach, what it wrote beyond its names; the reach of committed ones is remembered, or told again from the document that the patch met.
- `flush` writes the rows, table by table; `publish` puts the outcome into the engine's memory, once the backend has committed.
Made by the engine for each group, filled by the commit algorithm.
"""
from __future__ import annotations

from collections.abc import Iterator

from ..scheduler.model import CommitId, Entity, Path
from ..scheduler.values import Value
from . import faults as at
from .branches import lineage
from .conflicts import operation_touches, reach_touches
from .current import Bound, Current, Key
from .faults import Faults
from .patch import PatchOp
from .reach import Reach, may_reach, reach_of
from .replay import Replay
from .snapshots import RETENTION
from .tables import PATCH, CommitRow, Head, RevisionRow, SnapshotRow, Tables

Entry = tuple[RevisionRow, Value, Reach]  # one operation: its row, and the operations of a patch with their reach
Written = dict[Key, tuple[Head, Value]]  # documents as a commit leaves them
Touch = tuple[RevisionRow, tuple[PatchOp, ...] | None, Reach | None]  # one operation of the log as conflicts look at it: row, operations of a patch, reach if it is at hand


class Batch:
    def __init__(self, current: Current) -> None:
        self._current = current
        self.seq = current.seq
        self.number = current.number
        self.branches = current.branches
        self.commits: dict[CommitId, CommitRow] = {}
        self._entries: list[Entry] = []
        self._snapshots: list[SnapshotRow] = []
        self._heads: dict[Key, Head] = {}
        self._documents: dict[Key, Value] = {}
        self.weights: dict[int, Bound] = {}
        self._locals: dict[str, int] = {}  # newest local sequence of the sessions met here
        self._moved: dict[str, int] = {}  # branches written here, with their newest sequence number
        self._log: dict[int, list[Touch]] = {}  # by document number, for the first `_indexed` entries
        self._indexed = 0

    # what a commit finds
    def commit(self, id: CommitId) -> CommitRow | None:
        """The commit that was accepted under this id."""
        session, local_seq = id
        newest = self._locals.get(session)
        if newest is None:
            newest = self._locals[session] = self._current.newest_local(session)
        if local_seq > newest:
            return None
        return self.commits.get(id) or self._current.commit(id)

    def seq_of(self, id: CommitId) -> int | None:
        row = self.commit(id)
        return None if row is None else row.seq

    def head(self, key: Key) -> Head | None:
        """The newest revision of a document in this very branch."""
        head = self._heads.get(key)
        return self._current.head(key) if head is None else head

    def weighed(self, head: Head, weights: dict[int, Bound]) -> int | None:
        """What the document at this very head weighs at most, if it is known; `weights` are those of the commit that is being decided."""
        known = weights.get(head.number) or self.weights.get(head.number) or self._current.weights.get(head.number, None)
        return known[2] if known is not None and known[:2] == (head.seq, head.op_index) else None

    def document(self, branch: str, entity: Entity) -> Value:
        """As the branch shows it now. What it inherits lies before its fork point, so the group cannot have changed that."""
        key = (branch, entity)
        return self._documents[key] if key in self._documents else self._current.read(branch, entity).document

    def newest(self, branch: str, entity: Entity) -> int:
        head = self.visible(branch, entity)
        return 0 if head is None else head.seq

    def existed(self, branch: str, entity: Entity) -> bool:
        return self.visible(branch, entity) is not None

    def visible(self, branch: str, entity: Entity) -> Head | None:
        """The head through which the branch sees a document: its own, or an ancestor's that was born before the fork."""
        for level, limit in lineage(self.branches, branch, self.seq):
            head = self.head((level, entity))
            if head is not None and head.born <= limit:
                return head
        return None

    def overwritten(self, branch: str, entity: Entity, path: Path, deep: bool, basis: int, named: frozenset[int]) -> int | None:
        """The sequence number of a commit after `basis`, other than those named, that touches a read; None if there is none."""
        for level, limit in lineage(self.branches, branch, self.seq):
            if limit <= basis:
                return None
            head = self.head((level, entity))
            if head is None or head.seq <= basis:
                continue
            replay = Replay(self._current.tables, self._current.history, self._current.branches, head)
            for row, operations, reach in self._since(head, basis, limit):
                if row.seq in named and row.seq > self._current.horizon:  # before the horizon it may stand for others
                    continue
                if operation_touches(row.op, operations, path, deep):
                    return row.seq
                if operations is not None and may_reach(operations, path, deep):
                    if reach is None:
                        reach = self._recalled(replay, row, operations)
                    if reach_touches(reach, path, deep):
                        return row.seq
        return None

    def stored_op(self, commit: CommitRow, entity: Entity, index: int) -> str | None:
        """What an accepted commit did to a document with its n-th operation; None if that was collected."""
        head = self.head((commit.branch, entity))
        rows = () if head is None else self._since(head, commit.seq - 1, commit.seq)
        return next((row.op for row, _, _ in rows if row.op_index == index), None)

    def _recalled(self, replay: Replay, row: RevisionRow, operations: tuple[PatchOp, ...]) -> Reach:
        """The reach of a committed patch."""
        place, known = row[:3], self._current.reaches
        reach = known.get(place, None)
        if reach is None:
            reach = reach_of(operations, replay.before(row))
            known.put(place, reach)
        return reach

    def _since(self, head: Head, basis: int, limit: int) -> Iterator[Touch]:
        current = self._current
        stored = current.head((head.branch, head.entity)) if head.seq > current.seq else head
        if stored is not None and stored.seq > basis:  # else all there is since the basis was decided in this group
            for row in current.tables.revisions(head.number, basis, min(limit, current.seq)):
                yield row, current.history.operations(row, head) if row.op == PATCH else None, None
        for entry in self._entries[self._indexed :]:
            self._log.setdefault(entry[0].number, []).append(entry)
        self._indexed = len(self._entries)
        for touch in self._log.get(head.number, ()):
            if basis < touch[0].seq <= limit:
                yield touch

    # what a commit leaves
    def stage(self, row: CommitRow, entries: list[Entry], written: Written, snapshots: list[SnapshotRow]) -> None:
        self.seq = row.seq
        self.commits[row.id] = row
        self._locals[row.session] = max(row.local_seq, self._locals[row.session])
        self._moved[row.branch] = row.seq
        self._entries += entries
        self._snapshots += snapshots
        for key, (head, document) in written.items():
            self._heads[key] = head
            self._documents[key] = document
            if head.number > self.number:
                self.number = head.number

    def flush(self, tables: Tables, faults: Faults) -> None:
        tables.add_commits(list(self.commits.values()))
        faults.point(at.AFTER_COMMITS)
        tables.put_heads(list(self._heads.values()))
        for name, seq in self._moved.items():
            tables.put_branch(self.branches[name]._replace(head_seq=seq))
        faults.point(at.AFTER_HEADS)
        tables.add_revisions([entry[0] for entry in self._entries])
        faults.point(at.AFTER_REVISIONS)
        if self._snapshots:
            tables.add_snapshots(self._snapshots, RETENTION)
        faults.point(at.AFTER_SNAPSHOTS)

    def publish(self) -> None:
        """The backend has committed: from here on everybody may see it."""
        current = self._current
        current.seq, current.number = self.seq, self.number
        current.branches |= {name: self.branches[name]._replace(head_seq=seq) for name, seq in self._moved.items()}
        current.commits.update(self.commits)
        current.locals.update(self._locals)
        current.heads.update(self._heads)
        current.weights.update(self.weights)
        current.reaches.update({row[:3]: reach for row, _, reach in self._entries if row.op == PATCH})
        for key, head in self._heads.items():
            current.remember(key, head, self._documents[key])
