"""Named places in the engine where a test lets it fail, or kills the process.

The engine is given a `Faults` when it is opened and calls `point` at each place; the plain one does nothing. A test derives from it and raises, or sends itself a signal,
at the n-th call: after every one of them the store must hold each commit entirely or not at all.
"""
from __future__ import annotations

BEFORE_BEGIN = "before-begin"
AFTER_BEGIN = "after-begin"
AFTER_EPOCH = "after-epoch"  # the runtime's epoch was checked (or raised, when the engine opens)
AFTER_REPLAY_CHECK = "after-replay-check"  # of one commit
AFTER_DECISION = "after-decision"  # of one commit: everything held, nothing is written yet
AFTER_COMMITS = "after-commits"  # the group's rows go in table by table
AFTER_HEADS = "after-heads"
AFTER_REVISIONS = "after-revisions"
AFTER_SNAPSHOTS = "after-snapshots"
BEFORE_COMMIT = "before-commit"
AFTER_COMMIT = "after-commit"  # durable, but not yet in the caches and not acknowledged
AFTER_PUBLISH = "after-publish"

POINTS = (
    *(BEFORE_BEGIN, AFTER_BEGIN, AFTER_EPOCH, AFTER_REPLAY_CHECK, AFTER_DECISION, AFTER_COMMITS, AFTER_HEADS),
    *(AFTER_REVISIONS, AFTER_SNAPSHOTS, BEFORE_COMMIT, AFTER_COMMIT, AFTER_PUBLISH),
)


class Faults:
    """Does nothing."""

    def point(self, name: str) -> None:
        return
