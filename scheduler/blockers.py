"""What has to run before a node whose turn has come: the writers that it declares to read, if it never ran; materializers whose envelope it reads; what it reads, if it is
only demanded.

Each of them is demanded in this pass from then on, whether or not it can run now.
"""
from __future__ import annotations

from typing import Protocol

from .records import Node, Status
from .ways import Ways


class Pass(Protocol):
    number: int

    def runnable(self, node: Node, now: float) -> bool: ...


def blockers_of(at: Pass, ways: Ways, node: Node, now: float) -> list[Node]:
    never_ran = node.status is Status.NEVER_RAN
    if not (never_ran or ways.envelopes) and (node.live_refs > 0 or node.roots > 0):
        return []
    reads = node.surface.declared if never_ran else node.reads
    found = dict.fromkeys(ways.promoted_by(reads))
    if never_ran:
        for read in reads:
            found.update(dict.fromkeys(ways.writers_of(read)))
    if not node.live:
        found.update(dict.fromkeys(node.upstream))
    blockers = []
    for other in found:
        if other is not node and other.status is not Status.CLEAN:
            other.demanded_in = at.number
            if at.runnable(other, now):
                blockers.append(other)
    return blockers
