"""A process that commits to a store until somebody kills it: `python -m weft.examples.committer sqlite:FOLDER`. It prints the number of each commit that it was told is durable.

The demo starts it, kills it in the middle of its work, and looks at what it left.
"""

import sys
from itertools import count

from weft.scheduler.model import CommitId, Entity
from weft.scheduler.values import freeze
from weft.storage.commit import Accepted, Commit, Set
from weft.storage.engine import open_engine
from weft.wire.codec import VALUES

COUNTER = Entity("main", "space", "counter")


def commit_for_ever(url: str) -> None:
    """Count up, one commit a number; a number is printed when the engine has accepted its commit, not before."""
    engine = open_engine(url, COUNTER.space, runtime="committer", codec=VALUES)
    for n in count(1):
        (verdict,) = engine.apply([Commit(CommitId("committer", n), (Set(COUNTER, freeze({"value": n})),))])
        if not isinstance(verdict, Accepted):
            raise SystemExit(f"commit {n} was refused: {verdict.rejection}")
        print(n, flush=True)


if __name__ == "__main__":
    commit_for_ever(sys.argv[1])
