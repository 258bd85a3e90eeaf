"""A process that commits until it is killed, and says what was acknowledged: `python committer.py FOLDER FIRST GROUPS [KILL_AT]`.

Each commit writes its number into two documents and appends it to a third, so that a torn one shows. With KILL_AT it kills itself at the n-th named crash point.
The last line is `done <points passed>`.
"""
from __future__ import annotations

import os
import signal
import sys

from weft.scheduler.model import CommitId, Entity
from weft.storage.commit import Accepted, Commit, Patch, Set
from weft.storage.engine import open_engine
from weft.storage.faults import Faults
from weft.storage.patch import Append
from weft.wire.codec import VALUES

LEFT, RIGHT, ALL = (Entity("main", "space", id) for id in ("left", "right", "all"))
SESSION = "crash:1"
GROUP = 3


class Killing(Faults):
    """Kills the process at the n-th point it comes to; 0: never."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.passed = 0

    def point(self, name: str) -> None:
        self.passed += 1
        if self.passed == self.at:
            os.kill(os.getpid(), signal.SIGKILL)


def commit(n: int) -> Commit:
    document = {"value": {"n": n, "text": "x" * (n % 97)}}
    return Commit(CommitId(SESSION, n), (Set(LEFT, document), Set(RIGHT, document), Patch(ALL, (Append(("value",), (n,), True),))))


def main(folder: str, first: int, groups: int, kill_at: int = 0) -> None:
    faults = Killing(kill_at)
    engine = open_engine(f"sqlite:{folder}", "main", runtime="crash", codec=VALUES, faults=faults)
    for group in range(groups):
        start = first + group * GROUP
        for verdict in engine.apply([commit(n) for n in range(start, start + GROUP)]):
            assert isinstance(verdict, Accepted), verdict
            print(verdict.id.local_seq, verdict.seq, flush=True)
    engine.close()
    print("done", faults.passed, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *(int(argument) for argument in sys.argv[2:]))
