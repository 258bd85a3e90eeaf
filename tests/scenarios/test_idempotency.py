"""Scenarios IDEM: a computation may be run any number of times, and whoever cannot bear it is found."""
from __future__ import annotations

import itertools
from pathlib import Path

from harness.scene import Scene, cells
from weft import Tx
from weft.scheduler.idempotency import Contradiction, Trial, contradiction, differing

IN, LOG, N, OC, S, X = cells("in log n o s x")


def flagged(scene: Scene) -> list[tuple[str, str]]:
    """Nodes and cells."""
    return [(violation["node"], violation["cell"]) for violation in scene.rt.violations() if violation["kind"] == "idempotency"]


def accumulator(scene: Scene) -> None:
    scene.C("acc", LOG, lambda tx: [*tx.get(LOG, []), tx[S]])


def dice(scene: Scene) -> None:
    throws = itertools.count()
    scene.C("dice", OC, lambda tx: (tx[S], next(throws))[1])


def test_IDEM_001_the_check_on_demand_flags_an_accumulator() -> None:
    scene = Scene(s=1)
    accumulator(scene)
    scene.pull(LOG)
    assert flagged(scene) == []
    scene.rt.check_idempotency(True)
    assert {node for node, _ in flagged(scene)} == {"acc"}
    assert scene.get("log") == [1]  # a rehearsal has no consequences


def test_IDEM_003_the_check_on_demand_flags_a_random_writer() -> None:
    scene = Scene(s=1)
    dice(scene)
    scene.pull(OC)
    scene.rt.check_idempotency(True)
    assert flagged(scene) == [("dice", "o")]


def test_IDEM_004_while_it_is_on_a_random_writer_is_flagged_after_one_demanded_run() -> None:
    scene = Scene(s=1)
    dice(scene)
    scene.rt.check_idempotency(True)
    assert flagged(scene) == []
    assert scene.pull(OC) == 0
    assert flagged(scene) == [("dice", "o")]


def test_IDEM_006_an_idempotent_computation_is_not_flagged() -> None:
    scene = Scene(s=5)
    scene.rt.check_idempotency(True)
    scene.C("c", OC, lambda tx: tx[S] * 2)
    assert scene.pull(OC) == 10
    assert scene.rt.violations() == []
    assert scene.rt.node("c").runs == 1  # the second one is none


def test_IDEM_007_somebody_elses_write_between_run_and_recheck_is_no_violation_and_it_converges(tmp_path: Path) -> None:
    scene, peer = Scene(f"sqlite:{tmp_path}"), Scene(f"sqlite:{tmp_path}")
    scene.commit(**{"in": 5})
    scene.idle()
    scene.rt.check_idempotency(True)

    def c(tx: Tx) -> int:
        found: int = tx[IN]
        if scene.runs["c"] == 1:
            peer.commit(**{"in": 99})
            peer.idle()
        return found * 2

    scene.C("c", OC, c)
    scene.pull(OC)
    scene.idle()
    assert scene.pull(OC) == 198
    assert scene.rt.violations() == []


def test_IDEM_008_a_self_feeding_accumulator_is_flagged_though_its_input_moved() -> None:
    scene = Scene(n=0)
    scene.rt.check_idempotency(True)
    scene.C("c", N, lambda tx: min(tx[N] + 1, 3))
    assert scene.pull(N) == 1
    assert flagged(scene) == [("c", "n")]


def test_IDEM_010_a_touch_that_changes_nothing_is_not_compared() -> None:
    scene = Scene(s=1, x=7)
    scene.rt.check_idempotency(True)

    def c(tx: Tx) -> object:
        tx.set(X, tx[X])
        return tx[S]

    scene.C("c", OC, c, writes=[X])
    assert scene.pull(OC) == 1
    assert scene.rt.violations() == []


def test_IDEM_011_differing_positions() -> None:
    assert differing({"a": 1}, {"b": 1}) == ("b", "a")
    assert differing({"a": 1}, {"a": 2}) == ("a",)
    assert differing({"a": {"x": [1, 2]}}, {"a": {"x": [1, 2]}}) == ()
    assert differing({"a": 1, "old": 2}, {"a": 1}, latest_only=True) == ()
    assert differing({"a": 1}, {"a": 1, "new": 2}, latest_only=True) == ("new",)


def test_IDEM_012_the_pair_that_read_the_same_and_wrote_otherwise() -> None:
    first = Trial({"r": 1}, {"w": 1})
    assert contradiction([]) is None
    assert contradiction([first]) is None
    assert contradiction([first, Trial({"r": 1}, {"w": 2})]) == Contradiction(0, 1, ("w",))
    assert contradiction([first, Trial({"r": 2}, {"w": 2})]) is None
    assert contradiction([first, Trial({"r": 1}, {"w": 1})]) is None
