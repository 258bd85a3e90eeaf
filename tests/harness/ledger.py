"""An engine's log written by hand: one session, one commit a call, each of which must be taken; and the overlap queries over it."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.engines import Author, Rig, delete, doc, patch, put, rig_on, value
from weft.scheduler.values import Value
from weft.storage.commit import Operation
from weft.storage.overlaps import Overlaps
from weft.storage.patch import PatchOp


class Ledger:
    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.engine = rig.open()
        self.author = Author(self.engine)
        self.overlaps = Overlaps(self.engine.space, self.engine.tables, self.engine.codec)

    def commit(self, *operations: Operation, branch: str = "") -> int:
        return self.author.commit(*operations, branch=branch).seq

    def set(self, id: str, value: Value, scope: str = "space", branch: str = "") -> int:
        return self.commit(put(doc(id, scope), value), branch=branch)

    def patch(self, id: str, *ops: PatchOp, branch: str = "") -> int:
        return self.commit(patch(doc(id), *ops), branch=branch)

    def delete(self, id: str, branch: str = "") -> int:
        return self.commit(delete(doc(id)), branch=branch)

    def value(self, id: str, branch: str = "", at: int | None = None) -> Value:
        return value(self.engine, doc(id), branch, at)

    def revisions(self, id: str, branch: str = "") -> list[tuple[int, str]]:
        """What the log has of a document: sequence number and word."""
        head = self.engine.tables.head(branch, doc(id))
        assert head is not None
        return [(row.seq, row.op) for row in self.engine.tables.revisions(head.number, 0, self.engine.head())]


@contextmanager
def ledger(backend: str, folder: Path) -> Iterator[Ledger]:
    with rig_on(backend, folder) as rig:
        yield Ledger(rig)
