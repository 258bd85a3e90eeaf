"""What is committed, as far as the engine has looked: its sequence number, its branches, and bounded memories of heads, documents and commits.

- It is one state of the log: everything in it is as of `seq`. What another connection commits comes in by `refresh` alone.
- Nothing enters it before the backend has committed: a sequence number that is rolled back is given again, to something else.
Owned by the engine; drafts read it and, once they are durable, publish into it.
"""
from __future__ import annotations

from ..scheduler.model import CommitId, Entity
from ..scheduler.values import MISSING, Value
from .branches import check_range, lineage
from .codec import Codec
from .history import History
from .link import Delivered
from .reach import Reach
from .recent import Recent, Weighed
from .tables import Branch, CommitRow, Head, Tables

HEADS = 50_000  # some 400 bytes each
DOCUMENT_BYTES = 64 << 20  # encoded; in memory they are a few times that
COMMITS = 20_000
SESSIONS = 10_000
REACHES = 50_000  # some 200 bytes each; nearly all of them are the empty one
WEIGHTS = 10_000
CATCH_UP = 1_000  # foreign commits that are looked through one by one; beyond that it is cheaper to forget everything
OVERHEAD = 200  # bytes that even an empty document costs

Key = tuple[str, Entity]  # a document in a branch
Place = tuple[int, int, int]  # a revision: document number, seq, index
Bound = tuple[int, int, int]  # a revision, seq and index, and what the document weighs at most there
UNKNOWN = -1


class Current:
    def __init__(self, tables: Tables, codec: Codec) -> None:
        self.tables = tables
        self.history = History(tables, codec)
        self.seq = 0
        self.number = 0  # highest document number given
        self.horizon = 0  # history before it was collected
        self.branches: dict[str, Branch] = {}
        self.heads: Recent[Key, Head | None] = Recent(HEADS)
        self.documents: Weighed[Key, Value] = Weighed(DOCUMENT_BYTES)
        self.commits: Recent[CommitId, CommitRow] = Recent(COMMITS)
        self.locals: Recent[str, int] = Recent(SESSIONS)  # newest accepted local sequence of a session, UNKNOWN if it has none
        self.weights: Recent[int, Bound] = Recent(WEIGHTS)  # of large documents, by number
        self.reaches: Recent[Place, Reach] = Recent(REACHES)  # what patches wrote beyond their names

    def refresh(self) -> None:
        """Catch up with the log. The caller holds one view of the tables, or the write transaction."""
        seq, number = self.tables.newest()
        landed = self.tables.landed(self.seq, CATCH_UP + 1) if seq >= self.seq else []
        if seq < self.seq or len(landed) > CATCH_UP:
            self.heads.clear()
            self.documents.clear()
            self.commits.clear()
            self.locals.clear()
            self.reaches.clear()
        else:
            for commit in landed:
                self.locals.drop(commit.id.session)
                for entity in commit.entities:
                    self.heads.drop((commit.branch, entity))
                    self.documents.drop((commit.branch, entity))
        self.seq, self.number, self.horizon = seq, number, self.tables.horizon()
        self.branches = {branch.name: branch for branch in self.tables.branches()}

    def head(self, key: Key) -> Head | None:
        """The newest revision of a document in this very branch. If another process has written it since, that one: its sequence number is then above `seq`."""
        head = self.heads.get(key, None)
        if head is None and key not in self.heads:
            head = self.tables.head(*key)
            if head is None or head.seq <= self.seq:
                self.heads.put(key, head)
        return head

    def read(self, branch: str, entity: Entity, at: int | None = None) -> Delivered:
        """The document as the branch shows it at `at`, or now."""
        upto = check_range(self.branches, branch, self.seq if at is None else at, self.seq, 0 if at is None else self.tables.horizon())
        for level, limit in lineage(self.branches, branch, upto):
            head = self.head((level, entity))
            if head is None or head.born > limit:
                continue
            if head.seq > limit:
                return self.history.read(self.branches, level, entity, limit)
            return Delivered(entity, head.seq, head.stamp, self._document((level, entity), head))
        return Delivered(entity, 0, None, MISSING)

    def _document(self, key: Key, head: Head) -> Value:
        """The document at a head."""
        document = self.documents.get(key, None)
        if document is None:
            document = self.history.read(self.branches, key[0], key[1], head.seq).document
            self.remember(key, head, document)
        return document

    def remember(self, key: Key, head: Head, document: Value) -> None:
        self.documents.put(key, document, OVERHEAD + head.size + head.weight)

    def commit(self, id: CommitId) -> CommitRow | None:
        """The commit that was accepted under this id."""
        row = self.commits.get(id, None)
        if row is None and id.local_seq <= self.newest_local(id.session):
            row = self.tables.commit_of(id)
            if row is not None and row.seq > self.seq:
                return None
            if row is not None:
                self.commits.put(id, row)
        return row

    def newest_local(self, session: str) -> int:
        newest = self.locals.get(session, None)
        if newest is None:
            found = self.tables.newest_local(session)
            newest = UNKNOWN if found is None else found
            self.locals.put(session, newest)
        return newest
