"""A committing process is killed: every acknowledged commit is there, none is torn, and the database is sound."""
from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from harness import committer
from weft.scheduler.values import MISSING
from weft.storage.commit import Accepted
from weft.storage.engine import open_engine
from weft.wire.codec import VALUES

FOREVER = 1_000_000


def start(folder: Path, first: int, groups: int, kill_at: int = 0) -> subprocess.Popen[str]:
    arguments = [sys.executable, committer.__file__, str(folder), str(first), str(groups), str(kill_at)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)


def acknowledged(lines: list[str]) -> dict[int, int]:
    """Whole lines only: the last one may be cut off by the kill."""
    pairs = (line.split() for line in lines if line.endswith("\n") and not line.startswith("done"))
    return {int(local): int(seq) for local, seq in pairs}


def audit(folder: Path, acks: dict[int, int]) -> int:
    """The number of commits that are there."""
    for file in folder.glob("*.db"):
        with closing(sqlite3.connect(file)) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    engine = open_engine(f"sqlite:{folder}", "main", runtime="crash", codec=VALUES)
    try:
        assert (folder / "main.db").exists()
        head = engine.head()
        documents: list[Any] = [engine.read(entity).document for entity in (committer.LEFT, committer.RIGHT, committer.ALL)]
        if head == 0:
            assert not acks
            assert documents == [MISSING] * 3
            return 0
        left, right, everything = (document["value"] for document in documents)
        assert list(everything) == list(range(1, head + 1)), "a commit is missing, or there twice"
        assert left["n"] == right["n"] == head, "a commit is torn"
        for n, seq in acks.items():
            again = engine.apply([committer.commit(n)])[0]
            assert isinstance(again, Accepted)
            assert (again.seq, again.replayed) == (seq, True)
        assert engine.head() == head
        return head
    finally:
        engine.close()


def kill_repeatedly(folder: Path, times: int, seed: int) -> None:
    chance = random.Random(seed)
    there = 0
    for _ in range(times):
        process = start(folder, there + 1, FOREVER)
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(chance.randrange(0, 40))]
        for _ in range(chance.randrange(0, 20_000)):
            pass
        process.send_signal(signal.SIGKILL)
        lines += process.stdout.readlines()
        process.stdout.close()
        assert process.wait() == -signal.SIGKILL
        acks = acknowledged(lines)
        found = audit(folder, acks)
        assert found >= max(acks, default=there), "an acknowledged commit is gone"
        there = found
    assert there > 0


def test_twenty_kills_at_random_moments_lose_no_acknowledged_commit(tmp_path: Path) -> None:
    kill_repeatedly(tmp_path / "store", 20, seed=20)


@pytest.mark.soak
def test_two_hundred_kills_at_random_moments_lose_no_acknowledged_commit(tmp_path: Path) -> None:
    kill_repeatedly(tmp_path / "store", 200, seed=200)


def test_a_kill_at_every_named_point_in_turn_loses_no_acknowledged_commit(tmp_path: Path) -> None:
    killed = 0
    while True:
        folder = tmp_path / str(killed + 1)
        process = start(folder, 1, 2, kill_at=killed + 1)
        output, _ = process.communicate(timeout=60)
        lines = output.splitlines(keepends=True)
        audit(folder, acknowledged(lines))
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL
        killed += 1
    assert lines[-1] == f"done {killed}\n"
    assert killed > 12, "two groups of commits pass every named point at least once"
