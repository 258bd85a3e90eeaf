"""What a finished transaction proposes to storage: what it read, what it wants written.

A transaction reports versions only. Storage decides at the commit (PROTOCOL rule 4): it compares each read with its present state, fills in basis, layers and stamps,
names what moved, and does the elision once more. One proposal is for one space.
"""
from __future__ import annotations

from enum import IntFlag
from typing import NamedTuple, Protocol

from ..scheduler.model import Address, Entity, Read
from ..scheduler.values import Value
from .commit import Operation, Precondition, Provenance


class Seen(NamedTuple):
    """A document as it was read: the whole document (MISSING if there is none), and the log position at which it last changed visibly."""

    document: Value
    n: int


class View(Protocol):
    """Where a transaction reads documents: the replica itself, or a worker's cache at the version of its run."""

    def read(self, entity: Entity) -> Seen: ...


class Use(IntFlag):
    """What a recorded read is for. The two are independent (semantics C.3)."""

    SCHEDULING = 1  # the run depends on it
    CONFLICT = 2  # the commit is refused if it is stale
    BOTH = 3


class Proposal(NamedTuple):
    """`space` is None when nothing is written and nothing required. `seen` pins every document that was touched, as it was when first touched.

    `elided` are writes that were dropped because the value was there already: they count as reads of the layers below, for cascade only (PROTOCOL H9).
    """

    space: str | None
    seen: dict[Entity, Seen]
    reads: dict[Read, Use]
    operations: tuple[Operation, ...] = ()
    elided: tuple[Address, ...] = ()
    preconditions: tuple[Precondition, ...] = ()
    provenance: Provenance = Provenance()
    group: str | None = None
