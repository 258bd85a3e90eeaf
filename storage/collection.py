"""Garbage collection: history before a horizon is forgotten, what is and what ever was is not (decision 15).

Goals: every question about the horizon and later is answered as if nothing had been collected; one about earlier is refused by name; nothing is guessed.
Invariants
- G1 A document keeps one revision at or before the horizon of its branch, the newest, as a whole document or a tombstone; every later revision stays. A document whose only
  such revision is a patch keeps that as it is.
- G2 The horizon of a branch is the one asked for, or the fork point of a branch made from it if that is earlier: what a branch inherits stays readable.
- G3 Head rows and commit rows stay: `entity-absent` fails, and a commit sent again replays, as long as the store lives.
Why that suffices: wherever a revision is missing, a later set or delete of the same document is left. So a scan for conflicts from a basis before the horizon meets that one
and conflicts, the log still names every document that changed after any sequence number, and a replay of what is left gives the same documents. The one scan that could step over
it, past the sender's own commits, does not do so before the horizon (`Batch.overwritten`).
The horizon is raised first, in a transaction of its own, and documents follow in small ones: commits get in between, and a collection that was cut short is finished by the next.
"""
from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from typing import NamedTuple, TypeAlias

from ..scheduler.errors import CorruptRow, NotStorable, ProtocolError
from ..scheduler.ids import shown
from .codec import Codec
from .current import Current
from .tables import PATCH, SET, Branch, Head

BATCH = 128  # documents in one transaction: some milliseconds, in which no commit gets in

Transaction: TypeAlias = Callable[[], AbstractContextManager[Current]]


class Collected(NamedTuple):
    """What a collection did. `refused` names the documents that were left alone because a row of theirs is corrupt, or they are too large, each with the reason."""

    horizon: int
    documents: int
    revisions: int
    read_sets: int
    refused: tuple[str, ...] = ()


def collect(transaction: Transaction, codec: Codec, horizon: int) -> Collected:
    """Forget what lies before `horizon`. One that lies before the present horizon finishes what that one left."""
    with transaction() as current:
        if type(horizon) is not int or not 0 <= horizon <= current.seq:
            raise ProtocolError(f"a horizon of {shown(horizon)}: it is a sequence number from 0 to {current.seq}, where the log ends")
        reached = max(horizon, current.tables.horizon())
        if reached > current.tables.horizon():
            current.tables.set_horizon(reached)
        names = list(current.branches)
    current.horizon = reached
    documents = revisions = 0
    refused: list[str] = []
    for name in names:
        after: int | None = 0
        while after is not None:
            with transaction() as current:
                gone, after = _batch(current, codec, name, reached, after, refused)
            documents, revisions = documents + len(gone), revisions + sum(gone)
    with transaction() as current:
        read_sets = current.tables.drop_read_sets()
    return Collected(reached, documents, revisions, read_sets, tuple(refused))


def limit_of(branches: dict[str, Branch], name: str, horizon: int) -> int:
    """The horizon of one branch."""
    return min([horizon, *(branch.fork_seq for branch in branches.values() if branch.parent == name)])


def _batch(current: Current, codec: Codec, name: str, horizon: int, after: int, refused: list[str]) -> tuple[list[int], int | None]:
    """How many revisions each of the next documents lost, and where to go on; None at the end."""
    limit = limit_of(current.branches, name, horizon)
    heads = current.tables.crowded(name, limit, after, BATCH)
    gone: list[int] = []
    for head in heads:
        try:
            gone.append(_rebase(current, codec, head, limit))
        except (CorruptRow, NotStorable) as error:
            refused.append(f"{head.entity}: {error}")
    return gone, heads[-1].number if len(heads) == BATCH else None


def _rebase(current: Current, codec: Codec, head: Head, limit: int) -> int:
    tables = current.tables
    with closing(tables.backwards(head.number, limit)) as rows:
        row = next(rows)
    document = current.history.read(current.branches, head.branch, head.entity, row.seq).document  # whatever the word: what does not read is not thrown away
    if row.op == PATCH:
        row = row._replace(op=SET, data=codec.encode(document))
        if (head.seq, head.op_index) == (row.seq, row.op_index):
            tables.put_heads([head._replace(op=SET, size=len(row.data or b""), weight=0, patches=0)])
            current.heads.drop((head.branch, head.entity))
    return tables.rebase(row)
