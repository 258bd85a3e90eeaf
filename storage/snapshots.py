"""When a whole document is written beside its patches, so that reading it stays cheap without making its writing dear.

By weight: once the patches since the last whole form outweigh the document. Writing it then costs no more than the patches did, and reading it never costs more than about
twice the document. By count, where an interval is given: after that many patches. And always once the document may have become too large to be stored whole: only by writing
it is that known, and the patch that made it so is refused.
"""
from __future__ import annotations

from typing import NamedTuple

from .tables import Head

FLOOR = 2048  # bytes: replaying less than this is cheaper than keeping one more row current
LARGE = 16 << 20  # bytes: what a codec takes of one document
RETENTION = 2  # snapshots kept of a document: the newest, and one for readers who are a little behind


class SnapshotPolicy(NamedTuple):
    interval: int | None = None

    def due(self, head: Head) -> bool:
        if head.size + head.weight > LARGE:
            return True
        if self.interval is not None:
            return head.patches >= self.interval
        return head.weight > head.size and head.weight > FLOOR
