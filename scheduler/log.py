"""The entries of storage's one log (PROTOCOL rule 1): everything that changes what graph, registry and settle know, in one order.

Invariants
- An entry has one version, and versions of one epoch are contiguous: whoever has applied n and receives n + 2 knows that one is lost.
- The changes of all entries, applied in order, lead from the empty state to what storage shows; an entry that changes no visible value has none.
- A read set reaches graph only in a RunResult, which rides on the commit of its run, or on an entry of its own where the run wrote nothing or was refused.
- A revert entry names the one commit that fell, the refused commit that pulled it down, and every run that has to be looked at again because of it.
All are NamedTuples of plain values, so that they are frozen, compare in C, and can be carried.
"""
from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple, TypeAlias

from .model import Change, CommitId, Entity, Read, Stamp, Version
from .rejection import Rejection

NO_STAMP = CommitId("", 0)  # of a read whose document moved before storage looked: no commit has this id, so it never compares as still valid


class Outcome(Enum):
    """How a run ended, as storage saw it."""

    COMMITTED = "committed"  # it wrote, or required something: its commit is on the way to the engine
    UNCHANGED = "unchanged"  # nothing to write: nothing was sent
    REFUSED = "refused"  # storage refused it before it was sent
    FAILED = "failed"  # the function raised: its writes are dropped, its reads are kept


class RunId(NamedTuple):
    """Which run of which registration of a node, under which of settle's tokens."""

    node: str
    generation: int = 0
    run: int = 0
    token: int = 0

    def __str__(self) -> str:
        return f"{self.node}#{self.run}"


class ReadAt(NamedTuple):
    """One document that a run read. If its value is still the one that was read, `n` and `stamp` are storage's present ones; else `n` is the position at which it was read."""

    entity: Entity
    n: int
    stamp: Stamp


class RunResult(NamedTuple):
    """`moved` are the reads whose value differs from what the run saw, its own writes excepted (PROTOCOL H4).

    `leans` are the commits that its elided writes were equal to: should one fall, what the run believes to be written is not (PROTOCOL H9).
    """

    run: RunId
    outcome: Outcome
    reads: tuple[Read, ...] = ()
    at: tuple[ReadAt, ...] = ()
    moved: tuple[Read, ...] = ()
    leans: tuple[CommitId, ...] = ()
    rejection: Rejection | None = None


class StampOf(NamedTuple):
    """The stamp that a document shows after an entry."""

    entity: Entity
    stamp: Stamp


class CommitEntry(NamedTuple):
    """A local commit, applied as a layer. `id` is the stamp of every document it wrote; `node` is the writer, which its own changes do not invalidate (P5)."""

    version: Version
    id: CommitId
    changes: tuple[Change, ...] = ()
    node: str | None = None
    group: str | None = None
    result: RunResult | None = None

    @property
    def kind(self) -> str:
        return "commit"

    @property
    def stamps(self) -> tuple[StampOf, ...]:
        return tuple(StampOf(entity, self.id) for entity in dict.fromkeys(change.entity for change in self.changes))


class PullEntry(NamedTuple):
    """Documents loaded for the first time. `stamps` has all of them, `changes` those that exist."""

    version: Version
    changes: tuple[Change, ...]
    stamps: tuple[StampOf, ...]

    @property
    def kind(self) -> str:
        return "pull"


class IntegrateEntry(NamedTuple):
    """What others committed, as far as it can be seen here."""

    version: Version
    changes: tuple[Change, ...]
    stamps: tuple[StampOf, ...]

    @property
    def kind(self) -> str:
        return "integrate"


class RevertEntry(NamedTuple):
    """A commit that fell. `primary` is the refused commit it read, directly or through others, or itself. `leaning` are runs that wrote nothing because it had.

    Changes lead to what shows now that the refused commit's documents are repaired; of several that fell together, a document's changes are on the first that touched it.
    """

    version: Version
    id: CommitId
    primary: CommitId
    rejection: Rejection
    changes: tuple[Change, ...] = ()
    stamps: tuple[StampOf, ...] = ()
    run: RunId | None = None
    leaning: tuple[RunId, ...] = ()

    @property
    def kind(self) -> str:
        return "revert"


class ResultEntry(NamedTuple):
    """A run that changed nothing: no-op, refused before it was sent, or failed."""

    version: Version
    result: RunResult

    @property
    def kind(self) -> str:
        return "result"


class RegistrationEntry(NamedTuple):
    """`spec` is for those who register; the log does not look inside."""

    version: Version
    node: str
    generation: int
    spec: Any = None

    @property
    def kind(self) -> str:
        return "registration"


class RemovalEntry(NamedTuple):
    """From here on storage refuses what this generation of the node, or an older one, sends (PROTOCOL H10)."""

    version: Version
    node: str
    generation: int

    @property
    def kind(self) -> str:
        return "removal"


class FenceEntry(NamedTuple):
    """From here on storage refuses runs under an older token (PROTOCOL rule 5)."""

    version: Version
    token: int

    @property
    def kind(self) -> str:
        return "fence"


Entry: TypeAlias = CommitEntry | PullEntry | IntegrateEntry | RevertEntry | ResultEntry | RegistrationEntry | RemovalEntry | FenceEntry


def changes_of(entry: Entry) -> tuple[Change, ...]:
    """What an entry changes that can be seen; empty for those that change no document."""
    return entry.changes if isinstance(entry, (CommitEntry, PullEntry, IntegrateEntry, RevertEntry)) else ()
