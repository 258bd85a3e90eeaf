"""Trees of test actors: plans for them, and what is left of them. Ends are waited for by pidfd: nothing sleeps."""

import os
import select
import sys
import time
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
from harness.leaves import PATIENCE
from weft.deploy.plan import Plan

TESTS = str(Path(__file__).parents[1])


def leaf(name: str, **parameters: str) -> list[Any]:
    return [name, "harness.leaves:Leaf", parameters]


def plan(run: Path, *children: list[Any]) -> Plan:
    return Plan("leaves", str(run), path=(TESTS, *sys.path), children=children)


def small(run: Path, diary: str = "") -> Plan:
    """Two processes with three actors; the second is a worker."""
    return plan(run, ["trunk", [leaf("alpha", diary=diary, target="gamma"), leaf("beta", diary=diary)]], ["worker-1", [leaf("gamma", diary=diary, target="alpha")], "restart"])


def family(pid: int) -> list[int]:
    """This process and everything below it, the fork server included."""
    return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]


class Watched:
    """Processes whose end can be waited for, also those that are not our children."""

    def __init__(self, pids: list[int]) -> None:
        self._files = [os.pidfd_open(pid) for pid in pids]

    def gone(self, within: float = PATIENCE) -> float:
        """Seconds until the last of them ended."""
        begun = time.monotonic()
        for file in self._files:
            assert select.select([file], [], [], max(0.0, begun + within - time.monotonic()))[0], "a process is still there"
            os.close(file)
        return time.monotonic() - begun


def remains(run: Path) -> list[str]:
    """What is in a run folder; nothing if it is gone."""
    return sorted(entry.name for entry in run.iterdir()) if run.exists() else []
