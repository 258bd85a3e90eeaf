"""The port: the few table operations over which the commit algorithm is written once. One `Tables` is one connection to the tables of one space.

- Rows are values. A document in a branch has a `number`, given by the algorithm; revisions and snapshots name it by that.
- `begin` opens the one write transaction there can be: what is read until `commit` or `rollback` is the newest, and nobody else writes meanwhile.
- `reading` is one consistent view for several lookups outside a write transaction.
- A backend raises StorageUnavailable (StorageFull) with the reason when the world fails it, and CorruptRow for a row that is not what it must be.
- Rows of `heads` and `commits` are never removed: that an entity existed, and that a commit was taken, stays known.
"""
from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol, TypeAlias

from ..scheduler.model import Address, CommitId, Entity, Path, Read, Stamp
from ..scheduler.values import ReadOnlyDict

SET, PATCH, DELETE = "set", "patch", "delete"
OPS = frozenset((SET, PATCH, DELETE))
ACTIVE, DELETED = "active", "deleted"
SENT_ONCE = b""  # the digest of a commit whose sender does not send it again
Resolved: TypeAlias = tuple[tuple[CommitId, int], ...]  # the layers that pending reads named, with their sequence numbers
MAX_OPERATIONS = 65_536  # of one commit: a revision's place in the log is one integer, its sequence number and 16 bits of index


class CommitRow(NamedTuple):
    """An accepted commit. `digest` is of the exact commit as submitted; `resolution` and `triggers` are encoded, None where there is nothing.
    A store that keeps values keeps these."""

    seq: int
    branch: str
    session: str
    local_seq: int
    digest: bytes
    resolution: bytes | Resolved | None
    node: str | None
    run: int
    triggers: bytes | tuple[Address, ...] | None
    event: str | None
    at: float

    @property
    def id(self) -> CommitId:
        return CommitId(self.session, self.local_seq)


class RevisionRow(NamedTuple):
    """One operation of an accepted commit. `data`: the encoded document of a set, the encoded operations of a patch, None for a delete.
    A store that keeps values may keep the document of a set as it is."""

    number: int
    seq: int
    op_index: int
    op: str
    data: bytes | ReadOnlyDict | None


class Head(NamedTuple):
    """The newest revision of a document in a branch. The row stays when the document goes."""

    number: int
    branch: str
    entity: Entity
    seq: int
    op_index: int
    op: str
    born: int  # sequence of the first revision: whether the document existed at a fork point is answered by this alone
    size: int  # bytes of the last whole form (a set or a snapshot)
    weight: int  # bytes of the patches since
    patches: int  # how many they are
    stamp: Stamp  # of the commit at `seq`; derived, not stored twice


class SnapshotRow(NamedTuple):
    """The whole document as it was after the commit `seq`. Derivable, never authoritative."""

    number: int
    seq: int
    data: bytes


class Branch(NamedTuple):
    """A line of history. It sees its parent's up to and including `fork_seq`, and can be read from there on. The default branch is the empty string and has no parent."""

    name: str
    parent: str | None
    fork_seq: int
    head_seq: int
    status: str


class Landed(NamedTuple):
    """An accepted commit as the log names it: for fan-out, and for catching up with what other processes committed."""

    seq: int
    id: CommitId
    branch: str
    entities: tuple[Entity, ...]


class Tables(Protocol):
    """One connection to the tables of one space."""

    # transactions
    def begin(self) -> None: ...

    def commit(self) -> None: ...

    def rollback(self) -> None: ...

    def reading(self) -> AbstractContextManager[None]: ...

    def changed(self) -> bool:
        """Whether another connection has committed since the last call."""
        ...

    # lookups
    def newest(self) -> tuple[int, int]:
        """The newest sequence number and the highest document number; zeros in an empty space."""
        ...

    def commit_row(self, seq: int) -> CommitRow | None: ...

    def commit_of(self, id: CommitId) -> CommitRow | None: ...

    def newest_local(self, session: str) -> int | None:
        """The highest local sequence number that was accepted of a session."""
        ...

    def landed(self, after: int, limit: int) -> list[Landed]: ...

    def head(self, branch: str, entity: Entity) -> Head | None: ...

    def revisions(self, number: int, after: int, upto: int) -> Generator[RevisionRow, None, None]:
        """Of one document in a branch, those with after < seq <= upto, oldest first."""
        ...

    def backwards(self, number: int, upto: int) -> Generator[RevisionRow, None, None]:
        """Of one document in a branch, those with seq <= upto, newest first; lazily, for a reader who stops early."""
        ...

    def snapshot(self, number: int, upto: int) -> SnapshotRow | None:
        """The newest with seq <= upto."""
        ...

    def branches(self) -> list[Branch]: ...

    def epoch(self, runtime: str) -> int:
        """0 for a runtime that never opened this space."""
        ...

    def heads(self, branch: str, scope: str, after: str | None, limit: int) -> list[Head]:
        """Of one scope in this very branch, deleted documents included, those whose id comes after `after`, by code points."""
        ...

    def horizon(self) -> int:
        """History before this sequence number was collected; 0 as long as none was."""
        ...

    def crowded(self, branch: str, upto: int, after: int, limit: int) -> list[Head]:
        """Documents of this very branch that have several revisions with seq <= upto; those numbered above `after`, in order of number."""
        ...

    def read_set_of(self, branch: str, owner: str) -> bytes | None:
        """The key of the read set that a reader has."""
        ...

    def has_read_set(self, key: bytes) -> bool: ...

    def reads_near(self, branch: str, entity: Entity, path: Path) -> list[tuple[str, Path, bool]]:
        """Owner, path and depth of every read of the document at the path, above it or below it."""
        ...

    # writes, inside a write transaction only
    def add_commits(self, rows: Sequence[CommitRow]) -> None: ...

    def add_revisions(self, rows: Sequence[RevisionRow]) -> None: ...

    def put_heads(self, rows: Sequence[Head]) -> None: ...

    def add_snapshots(self, rows: Sequence[SnapshotRow], keep: int) -> None:
        """Adds them, and of each document concerned keeps the newest `keep`."""
        ...

    def put_branch(self, row: Branch) -> None: ...

    def set_epoch(self, runtime: str, epoch: int) -> None: ...

    def set_horizon(self, seq: int) -> None: ...

    def rebase(self, row: RevisionRow) -> int:
        """The row takes the place of the revision with its seq and index; those of its document before it go, and so do snapshots up to it. Answers how many revisions went."""
        ...

    def add_read_set(self, key: bytes, reads: Sequence[Read]) -> None:
        """Under a key that is not there yet."""
        ...

    def put_reader(self, branch: str, owner: str, key: bytes | None) -> None:
        """The owner has this read set from here on; None: it reads nothing any more."""
        ...

    def drop_read_sets(self) -> int:
        """Those that no reader has. Answers how many."""
        ...

    # connections
    def reader(self) -> Tables:
        """Another connection, for lookups only, in whichever thread uses it."""
        ...

    def close(self) -> None: ...
