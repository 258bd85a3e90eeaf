"""Scenarios PULL: demand, invalidation, and what a pull waits for."""
from __future__ import annotations

from typing import Any

import pytest
from harness.scene import Scene, cells
from weft import NodeFailed, Tx, link

A, Bc, C, D, ER, K, M, OC, P, R, S, SEL, X = cells("A Bc c d er k m o p r s sel x")


def test_PULL_001_an_invalidated_computation_without_demand_stays_invalid_and_does_not_run() -> None:
    scene = Scene(s=1, r=0)
    scene.C("x", R, lambda tx: tx[S] * 10, reads=[S])
    assert (scene.pull(R), scene.runs["x"], scene.status("x")) == (10, 1, "clean")
    scene.commit(s=2)
    scene.idle()
    assert (scene.status("x"), scene.runs["x"]) == ("invalid", 1)


def test_PULL_004_a_parent_that_samples_before_its_child_has_produced_converges_with_it_in_one_idle() -> None:
    scene = Scene(s=2, parent=0, er=0)
    child, parent = cells("child parent")
    kid = scene.spec("k", child, lambda tx: tx[S] * 10, reads=[S])

    def p(tx: Tx) -> int:
        if scene.runs["p"] == 1:
            tx.register(kid)
        return (tx.get(child) or 0) + 1

    scene.C("p", parent, p, reads=[child])
    scene.E("e", lambda tx: tx.set(ER, tx[parent]), reads=[parent])
    scene.idle()
    assert scene.get("er") == 21
    assert scene.runs == {"k": 1, "p": 2, "e": 2}


def test_PULL_005_equality_cut_off_an_unchanged_intermediate_runs_no_effect() -> None:
    scene = Scene(s=1, d=1, er=0)
    scene.C("c", D, lambda tx: tx[S] % 2, reads=[S])
    scene.E("e", lambda tx: tx.set(ER, tx[D]), reads=[D])
    scene.idle()
    assert (scene.runs["c"], scene.runs["e"], scene.get("er")) == (1, 1, 1)
    scene.commit(s=3)
    scene.idle()
    assert (scene.runs["c"], scene.runs["e"], scene.get("d"), scene.get("er")) == (2, 1, 1, 1)
    scene.commit(s=4)
    scene.idle()
    assert (scene.runs["c"], scene.runs["e"], scene.get("d"), scene.get("er")) == (3, 2, 0, 0)


def test_PULL_007_a_local_commit_notifies_before_the_call_returns() -> None:
    scene = Scene(s=1)
    scene.E("e", lambda tx: tx.get(S))
    scene.idle()
    told = scene.changes()
    scene.rt.set(S, 2)
    assert told == ["s"]
    assert scene.status("e") == "invalid"


def test_PULL_008_a_clean_effect_below_the_only_invalid_node_runs_in_the_same_pass_iff_the_output_changed() -> None:
    scene = Scene(s=1, d=0, er=0)
    scene.C("c", D, lambda tx: tx[S] * 10, reads=[S])
    scene.E("e", lambda tx: tx.set(ER, tx[D] + 5), reads=[D])
    scene.idle()
    assert (dict(scene.runs), scene.get("er")) == ({"c": 1, "e": 1}, 15)
    scene.commit(s=2)
    assert (scene.status("c"), scene.status("e")) == ("invalid", "clean")
    scene.idle()
    assert (dict(scene.runs), scene.get("er")) == ({"c": 2, "e": 2}, 25)
    scene.order()
    scene.commit(d=20)  # what it says already
    scene.idle()
    assert scene.order() == []


def test_PULL_010_a_child_with_an_undeclared_output_still_converges_its_reader() -> None:
    scene = Scene(s=1, p=0, k=0, er=0)
    child = scene.spec("child", None, lambda tx: tx.set(K, tx[S] * 10), reads=[S])

    def parent(tx: Tx) -> Any:
        if scene.runs["parent"] == 1:
            tx.register(child)
        return tx[S]

    scene.C("parent", P, parent, reads=[S])
    scene.E("e", lambda tx: tx.set(ER, tx[P] + tx[K]), reads=[P, K])
    scene.idle()
    assert (scene.runs["parent"], scene.runs["child"], scene.get("er")) == (1, 1, 11)
    assert scene.runs["e"] == 2


def test_PULL_012_an_effect_without_reads_that_creates_a_child_first_runs_it() -> None:
    scene = Scene(s=3, k=0)
    child = scene.spec("child", K, lambda tx: tx[S] * 10, reads=[S])
    scene.E("e", lambda tx: tx.register(child))
    scene.idle()
    assert (dict(scene.runs), scene.get("k")) == ({"e": 1, "child": 1}, 30)


def test_PULL_015_a_dynamic_read_set_drops_the_abandoned_input() -> None:
    scene = Scene(A=2, Bc=7, sel=False)
    scene.C("c", M, lambda tx: (tx[Bc] if tx[SEL] else tx[A]) * 10, reads=[SEL, A])
    scene.E("e", lambda tx: tx.set(ER, tx[M]), reads=[M])
    assert (scene.pull(ER), scene.runs["e"]) == (20, 1)
    scene.commit(sel=True)
    assert (scene.pull(ER), scene.runs["e"]) == (70, 2)
    scene.commit(A=999)
    assert (scene.pull(ER), scene.runs["e"], scene.status("c")) == (70, 2, "clean")
    assert scene.runs["c"] == 2
    scene.commit(Bc=6)
    assert (scene.pull(ER), scene.runs["e"]) == (60, 3)


def test_PULL_016_an_undemanded_computation_remains_as_it_was_and_statistics_count_it() -> None:
    scene = Scene(s=1)
    scene.C("c", None, lambda tx: None, reads=[S])
    scene.drain()
    scene.idle()
    assert (scene.status("c"), scene.runs["c"]) == ("never-ran", 0)
    stats = scene.rt.stats()
    assert (stats["computations"], stats["effects"]) == (1, 0)


def chain() -> Scene:
    scene = Scene(s=1)
    scene.C("a", M, lambda tx: tx[S] + 1, reads=[S])
    scene.C("b", OC, lambda tx: tx[M] + 1, reads=[M])
    scene.E("e", lambda tx: tx.set(K, tx[OC]), reads=[OC])
    assert scene.pull(K) == 3
    return scene


def test_PULL_017_invalidity_is_value_local_never_transitive() -> None:
    scene = chain()
    scene.commit(s=2)
    assert [scene.status(id) for id in "abe"] == ["invalid", "clean", "clean"]
    scene.idle()
    assert (scene.get("k"), dict(scene.runs)) == (4, {"a": 2, "b": 2, "e": 2})


def test_PULL_021_after_a_switch_of_reads_invalidation_is_decided_at_commit_by_the_new_ones() -> None:
    scene = Scene(sel=0, A=1, Bc=10)
    scene.C("c", OC, lambda tx: tx[Bc] if tx[SEL] == 1 else tx[A], reads=[SEL, A])
    scene.E("e", lambda tx: tx.set(K, tx[OC]), reads=[OC])
    scene.pull(K)
    scene.commit(sel=1)
    assert scene.pull(K) == 10
    scene.commit(A=2)
    assert scene.status("c") == "clean"
    scene.commit(Bc=11)
    assert scene.status("c") == "invalid"


def test_PULL_022_pull_returns_the_current_value_of_a_plain_cell() -> None:
    scene = Scene(c=42, n={"a": {"b": 99}})
    assert scene.pull(C) == 42
    scene.commit(c=100)
    assert scene.pull(C) == 100
    for value in (1, 2, 3):
        scene.commit(c=value)
        assert scene.pull(C) == value
    assert scene.pull(cells("n")[0]["a"]["b"]) == 99


def test_PULL_023_pull_waits_for_the_computation_that_feeds_the_cell() -> None:
    scene = Scene(s=5)
    scene.C("c", X, lambda tx: tx[S] * 2)
    assert (scene.pull(X), scene.runs["c"]) == (10, 1)


@pytest.mark.parametrize(("cond", "expected", "ran", "idle"), [(True, "A7", "t", "f"), (False, "B9", "f", "t")])
def test_PULL_025_the_first_settle_of_a_selector_does_not_run_the_unselected_branch(cond: bool, expected: str, ran: str, idle: str) -> None:
    scene = Scene(cond=cond, seedT="7", seedF="9")
    condition, seed_t, seed_f, t, f, result = cells("cond seedT seedF T F result")
    scene.C("t", t, lambda tx: "A" + tx[seed_t])
    scene.C("f", f, lambda tx: "B" + tx[seed_f])
    scene.C("select", result, lambda tx: link(t) if tx[condition] else link(f))
    assert scene.pull(result) == expected
    assert (scene.runs[ran], scene.runs[idle], scene.runs["select"]) == (1, 0, 1)


def test_PULL_026_a_selector_that_selects_the_same_branch_again_writes_nothing() -> None:
    scene = Scene(n=1, a="A", b="B")
    n, a, b, result, text = cells("n a b result text")
    written = scene.changes()
    scene.C("select", result, lambda tx: link(a) if tx[n] else link(b))
    scene.C("bind", text, lambda tx: tx[result])
    assert scene.pull(text) == "A"
    assert sorted(written) == ["result", "text"]
    scene.commit(n=2)
    del written[:]
    assert scene.pull(text) == "A"
    assert written == []
    assert scene.runs["select"] == 2


def test_PULL_027_a_throwing_upstream_is_reported_its_writes_are_dropped_and_the_scheduler_goes_on() -> None:
    scene = Scene(**{"in": 0})
    given, p, h = cells("in P Hh")

    def first(tx: Tx) -> str:
        if tx[given] > 1:
            raise ValueError("too much")
        return f"got: {tx[given]}"

    scene.C("p", p, first)
    scene.C("h", h, lambda tx: f"healthy: {tx[p]}")
    assert scene.pull(h) == "healthy: got: 0"
    scene.commit(**{"in": 1})
    assert scene.pull(h) == "healthy: got: 1"
    scene.commit(**{"in": 2})
    with pytest.raises(NodeFailed, match="too much"):
        scene.pull(h)
    assert [(error.code, error.where) for error in scene.errors] == [("ValueError", "p")]
    assert (scene.get("P"), scene.get("Hh")) == ("got: 1", "healthy: got: 1")  # decision 7: what is stored stays; a pull says that it is stale
    scene.idle()
    scene.commit(**{"in": 0})
    assert scene.pull(h) == "healthy: got: 0"
