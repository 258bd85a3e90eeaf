"""What must hold for a commit beside its reads (semantics D.4, decision 15).

- origin-committed: the commit that launched this one is in the log. Permanent when it is not.
- entity-absent: no revision of the document ever was, of any kind, inherited ones and tombstones included. Permanent.
- value-hash: the document's present value hashes to what the sender saw. A lost race, so a conflict.
Called by the commit algorithm, after the replay look-up and before the reads.
"""
from __future__ import annotations

from typing import Protocol

from ..scheduler.errors import ConflictError, PreconditionFailedError
from ..scheduler.model import CommitId, Entity
from ..scheduler.values import Value
from .commit import EntityAbsent, OriginCommitted, Precondition
from .document import value_hash

ORIGIN_COMMITTED = "origin-committed"
RECEIPT_EXISTS = "receipt-exists"


class Facts(Protocol):
    """What is asked of the store as the commit finds it."""

    def seq_of(self, id: CommitId) -> int | None: ...

    def existed(self, branch: str, entity: Entity) -> bool: ...

    def document(self, branch: str, entity: Entity) -> Value: ...

    def newest(self, branch: str, entity: Entity) -> int: ...


def require(facts: Facts, branch: str, precondition: Precondition) -> None:
    """Raises if it does not hold."""
    if isinstance(precondition, OriginCommitted):
        if facts.seq_of(precondition.origin) is None:
            raise PreconditionFailedError(f"origin commit not committed: {precondition.origin}", precondition=ORIGIN_COMMITTED)
        return
    entity = precondition.entity
    if isinstance(precondition, EntityAbsent):
        if facts.existed(branch, entity):
            raise PreconditionFailedError(f"{entity} exists or has existed, and this commit may only create it", precondition=RECEIPT_EXISTS)
        return
    if value_hash(facts.document(branch, entity)) != precondition.hash:
        raise ConflictError(f"the value of {entity} is not the one this commit was built on", entity=str(entity), seq=facts.newest(branch, entity))
