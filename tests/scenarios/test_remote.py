"""Scenarios REM and REJ-009: two runtimes on one store. Each hears of the other when the test lets it."""
from __future__ import annotations

from pathlib import Path

import pytest
from harness.scene import Scene, cells
from weft import Tx, link

R, RES, ROOT, S, SRC, LIST, NAME = cells("r res root s src list name")


@pytest.fixture
def scenes(tmp_path: Path) -> tuple[Scene, Scene]:
    """The scene, and the other one."""
    return Scene(f"sqlite:{tmp_path}"), Scene(f"sqlite:{tmp_path}")


def test_REM_001_a_remote_change_marks_a_dormant_computation_invalid_without_running_it(scenes: tuple[Scene, Scene]) -> None:
    scene, peer = scenes
    scene.commit(s=1)
    scene.C("c", R, lambda tx: tx[S] * 10)
    assert (scene.pull(R), scene.runs["c"], scene.status("c")) == (10, 1, "clean")
    peer.commit(s=2)
    peer.idle()
    scene.hear()
    scene.idle()
    assert (scene.status("c"), scene.runs["c"]) == ("invalid", 1)
    assert (scene.pull(R), scene.runs["c"], scene.status("c")) == (20, 2, "clean")
    peer.hear()
    assert peer.pull(R) == 20


def test_REM_002_a_remote_write_that_changes_links_rewires_reads(scenes: tuple[Scene, Scene]) -> None:
    scene, peer = scenes
    nodes = dict(zip((29, 33), cells("node29 node33"), strict=True))

    def branch(number: int) -> dict[str, object]:
        return {"alternate": {"children": [link(nodes[number])]}}

    scene.commit(node29={"name": "Node 29"}, node33={"name": "Node 33"}, root=branch(29))
    scene.C("c", NAME, lambda tx: tx[ROOT["alternate"]["children"][0]["name"]])
    assert (scene.pull(NAME), scene.runs["c"]) == ("Node 29", 1)
    scene.idle()
    peer.commit(root=branch(33))
    peer.idle()
    scene.hear()
    scene.idle()
    assert (scene.status("c"), scene.runs["c"]) == ("invalid", 1)
    assert (scene.pull(NAME), scene.runs["c"]) == ("Node 33", 2)
    peer.rt.set(nodes[33]["name"], "Expanded Node 33")
    peer.idle()
    scene.hear()
    scene.idle()
    assert (scene.status("c"), scene.runs["c"]) == ("invalid", 2)
    assert (scene.pull(NAME), scene.runs["c"]) == ("Expanded Node 33", 3)


def test_REM_004_the_echo_of_an_own_accepted_write_neither_applies_twice_nor_notifies_again(scenes: tuple[Scene, Scene]) -> None:
    scene, _ = scenes
    scene.commit(list=["seed"])
    told = scene.sink(LIST, list)
    scene.idle()
    commit = scene.rt.transact(lambda tx: tx.append(LIST, "A"))
    scene.idle()
    assert told == [["seed"], ["seed", "A"]]
    commit.wait()
    scene.rt.settled()
    assert commit.status == "confirmed"
    assert scene.get("list") == ["seed", "A"]
    assert told == [["seed"], ["seed", "A"]]


def test_REJ_009_an_effect_on_a_stale_replica_runs_again_on_the_fresh_value(scenes: tuple[Scene, Scene]) -> None:
    other, scene = scenes
    other.commit(src=1, res=0)
    other.idle()
    assert (scene.get("src"), scene.get("res")) == (1, 0)
    other.commit(src=2)
    other.idle()
    seen: list[int] = []
    attempts: list[int] = []

    def e(tx: Tx) -> None:
        seen.append(tx[SRC])
        attempts.append(tx.attempt)
        tx.set(RES, seen[-1] * 10)

    scene.E("e", e)
    scene.idle()
    scene.rt.settled()
    assert seen == [1, 2]
    assert attempts == [1, 2]  # one conflict
    assert (scene.get("res"), scene.errors) == (20, [])
    other.hear()
    assert other.get("res") == 20
