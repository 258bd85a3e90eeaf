"""Scenarios REJ and CFC: what a refused commit leaves behind, and causes."""
from __future__ import annotations

from pathlib import Path

import pytest
import weft
from harness.scene import Scene, cells
from weft import Tx

N, OC, RES, S, SRC = cells("n o res s src")


def test_CFC_002_a_change_from_the_nodes_own_run_records_no_cause() -> None:
    scene = Scene(n=0, s=1)
    scene.E("inc", lambda tx: tx.set(N, tx[N] + tx[S]))
    scene.idle()
    assert scene.record("inc").causes == {}
    assert scene.status("inc") == "clean"
    scene.commit(s=2)
    assert scene.rt.node("inc").causes == (S,)
    scene.idle()
    assert [run.causes for run in scene.rt.run_log()] == [(), (S,)]
    assert scene.record("inc").causes == {}


def test_REJ_001_a_run_that_asks_for_another_gets_its_causes_back_and_is_queued_once() -> None:
    scene = Scene(s=1)
    causes: list[tuple[weft.Cell[object], ...]] = []

    def e(tx: Tx) -> None:
        causes.append(tx.causes)
        tx.get(S)
        if len(causes) == 2:
            raise weft.RetryLater("not yet")

    scene.E("e", e)
    scene.idle()
    scene.commit(s=2)
    scene.idle()
    assert causes == [(), (S,), (S,)]
    assert scene.errors == []


def test_REJ_002_a_conflict_restores_the_causes_before_it_runs_again(tmp_path: Path) -> None:
    scene, other = Scene(f"sqlite:{tmp_path}"), Scene(f"sqlite:{tmp_path}")
    scene.commit(s=1, src=1)
    scene.idle()
    other.idle()
    causes: list[tuple[weft.Cell[object], ...]] = []
    seen: list[int] = []

    def e(tx: Tx) -> None:
        causes.append(tx.causes)
        seen.append(tx[S] + tx[SRC])
        tx.set(RES, seen[-1])

    scene.E("e", e)
    scene.idle()
    other.commit(src=10)
    other.idle()
    scene.commit(s=2)
    scene.rt.settled()
    assert seen[0] == 2
    assert seen[-1] == 12
    assert S in causes[-1]
    assert SRC in causes[-1]
    assert (scene.get("res"), scene.errors) == (12, [])


def test_REJ_007_a_successful_commit_restores_nothing() -> None:
    scene = Scene(s=1)
    scene.E("e", lambda tx: tx.set(OC, tx[S]))
    scene.idle()
    scene.commit(s=2)
    scene.rt.settled()
    assert (scene.record("e").causes, scene.status("e"), scene.runs["e"]) == ({}, "clean", 2)


def test_REJ_008_with_the_budget_used_up_nothing_is_queued_and_it_is_reported() -> None:
    scene = Scene(s=1)

    def e(tx: Tx) -> None:
        tx.get(S)
        raise weft.RetryLater("never")

    scene.E("e", e)
    scene.idle()
    assert scene.runs["e"] == 10
    assert len(scene.errors) == 1
    assert "10 attempts" in scene.errors[0].message
    scene.commit(s=2)  # it is subscribed still
    scene.idle()
    assert scene.runs["e"] > 10


def test_REJ_a_permanent_refusal_is_never_tried_again() -> None:
    scene = Scene(s=1)

    def e(tx: Tx) -> None:
        tx.get(S)
        tx.abort("no")

    scene.E("e", e)
    scene.idle()
    assert scene.runs["e"] == 1
    scene.commit(s=2)
    scene.idle()
    assert scene.runs["e"] == 2


def test_REJ_a_pull_says_that_a_node_failed() -> None:
    scene = Scene(s=1)

    def c(tx: Tx) -> int:
        raise ValueError(f"cannot use {tx[S]}")

    scene.C("c", OC, c)
    with pytest.raises(weft.NodeFailed, match="cannot use 1"):
        scene.pull(OC)
