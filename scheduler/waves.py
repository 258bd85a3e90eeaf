"""Waves: nodes of one work set that have no edge and no parent link between them, to be sent to a worker in one message (DESIGN section 3).

The members are exactly those that the pass would run one after another, in that order; a wave ends where a result could change what comes next:
- at another height, because what is there may read what a member writes; at an edge between members, which closes a cycle;
- at a node that has to be looked at when its turn comes: one that never ran, whose run may reveal anything; a member's child; one that is only demanded; every one while
  materializers order.
What a member's run changes for a later one all the same (its removal, a write outside its surface) is met by fences and versions, not here. A dormant node that a member's run
brings to life runs after the wave, where one by one it would have run before the next member.
"""
from __future__ import annotations

from .mirror import Leave, Mirror
from .records import Status

MOST = 250  # members: a worker sends results back every few milliseconds, and the pass goes on when the last is there


def wave(mirror: Mirror, now: float, *, materializers: bool = False, most: int = MOST) -> list[Leave]:
    """What runs next; nothing when nothing is left to run in this pass."""
    mirror.now, settle = now, mirror.settle
    node = settle.next(now, materializers=materializers)
    if node is None:
        return []
    alone = node.status is Status.NEVER_RAN
    leaves, members = [mirror.send(node)], {node}
    while not alone and len(leaves) < most and (node := settle.follow(members, now)) is not None:
        leaves.append(mirror.send(node))
        members.add(node)
    return leaves
