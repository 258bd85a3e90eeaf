"""What is sent to the engine, and what it answers.

- A commit is one atomic request: operations, the reads that must still hold, preconditions, provenance. Its key is `(session, local_seq)`.
- A confirmed read holds if nothing that overlaps it was committed after `basis`. A pending read was made through optimistic layers: every layer of the document is
  named, each must be an accepted commit, and nothing else that overlaps may have been committed after `basis`, the true confirmed sequence under the layers.
- The engine's answer is a value: Accepted, or Rejected with the rejection taxonomy's word in it.
Paths here are document paths: a cell's value is at ("value", ...).
"""
from __future__ import annotations

from typing import NamedTuple, TypeAlias

from ..scheduler.model import Address, CommitId, Entity, Path
from ..scheduler.rejection import Rejection
from ..scheduler.values import Value
from .patch import PatchOp


class Set(NamedTuple):
    """The whole document becomes this."""

    entity: Entity
    document: Value


class Put(Set):
    """The value of the document becomes this one's, which holds nothing else. Metadata that the document has, whoever gave it meanwhile, stays."""

    __slots__ = ()


class Patch(NamedTuple):
    """The document changes by these operations, in order, all or none."""

    entity: Entity
    ops: tuple[PatchOp, ...]


class Delete(NamedTuple):
    """The document goes; that it existed stays known."""

    entity: Entity


Operation: TypeAlias = Set | Patch | Delete


class ConfirmedRead(NamedTuple):
    entity: Entity
    path: Path
    basis: int
    deep: bool = True
    branch: str | None = None  # None: the commit's own


class PendingRead(NamedTuple):
    entity: Entity
    path: Path
    basis: int
    layers: tuple[CommitId, ...]
    deep: bool = True


class OriginCommitted(NamedTuple):
    """The commit that launched this one was accepted."""

    origin: CommitId


class EntityAbsent(NamedTuple):
    """No revision of this document ever existed, inherited ones and tombstones included."""

    entity: Entity


class ValueHash(NamedTuple):
    """The document's present value hashes to this; None: it is absent."""

    entity: Entity
    hash: bytes | None


Precondition: TypeAlias = OriginCommitted | EntityAbsent | ValueHash


class Provenance(NamedTuple):
    """Why a commit exists: the node and its run number, what triggered the run, the event that was handled."""

    node: str | None = None
    run: int = 0
    triggers: tuple[Address, ...] = ()
    event: str | None = None


class Commit(NamedTuple):
    """One transaction as it goes to the engine of one space."""

    id: CommitId
    operations: tuple[Operation, ...] = ()
    confirmed: tuple[ConfirmedRead, ...] = ()
    pending: tuple[PendingRead, ...] = ()
    preconditions: tuple[Precondition, ...] = ()
    provenance: Provenance = Provenance()
    branch: str = ""


class Revision(NamedTuple):
    """One operation of an accepted commit, as the log keeps it. `data` is the document of a set, the operations of a patch, None for a delete."""

    entity: Entity
    branch: str
    seq: int
    op_index: int
    op: str
    data: Value


class Accepted(NamedTuple):
    """`replayed`: the same commit had been accepted before. `resolved`: the sequence numbers of the layers its pending reads named."""

    id: CommitId
    seq: int
    branch: str
    revisions: tuple[Revision, ...]
    resolved: tuple[tuple[CommitId, int], ...] = ()
    replayed: bool = False


class Rejected(NamedTuple):
    """`head` is the space's newest sequence, so that the sender knows how far to catch up before it tries again."""

    id: CommitId
    rejection: Rejection
    head: int


Verdict: TypeAlias = Accepted | Rejected
