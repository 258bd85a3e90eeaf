"""Looking at the scheduler: views, plans, pictures, reasons. Driven through the inline runtime, which gives them away unchanged."""
from __future__ import annotations

from collections.abc import Iterator

import pytest
import weft

S, T, M, OUT = (weft.cell(name) for name in ("s", "t", "m", "out"))


@pytest.fixture
def rt() -> Iterator[weft.Runtime]:
    with weft.Runtime(placement="inline", clock=weft.VirtualClock()) as runtime:
        runtime.set(S, 1)
        runtime.set(T, 1)
        yield runtime


@weft.computation(output=M, id="double")
def double(tx: weft.Tx) -> int:
    return int(tx[S] * 2)


@weft.computation(output=OUT, id="sum")
def total(tx: weft.Tx) -> int:
    return int(tx[M] + tx[T])


@weft.effect(id="show")
def show(tx: weft.Tx) -> None:
    tx.get(OUT)
    tx.exists(S)


def test_a_view_shows_a_node_before_during_and_after_its_runs(rt: weft.Runtime) -> None:
    node = rt.register(double)
    before = node.view()
    assert (before.kind, before.status, before.live, before.reads, before.outputs, before.runs, before.ordinal) == ("computation", "never-ran", False, (), (M,), 0, 1)
    assert (before.eligible_at, before.debounce, before.throttle, before.last_run_at, before.error, before.quarantined) == (0.0, None, None, None, None, False)
    rt.load([total, show])
    rt.idle()
    after = rt.node(double)
    assert (after.status, after.live, after.live_refs, after.provisional, after.reads, after.dependents) == ("clean", True, 1, False, ((S, "deep"),), ("sum",))
    assert (after.runs, after.skipped, after.last_run_at, after.attempt) == (1, 0, 0.0, 0)
    assert dict(rt.node("show").reads) == {OUT: "deep", S: "shallow"}
    rt.set(S, 5)
    assert (rt.node("double").status, rt.node("double").causes) == ("invalid", (S,))
    assert before.status == "never-ran", "a view is of its moment"


def test_a_view_cannot_be_written(rt: weft.Runtime) -> None:
    view = rt.register(double).view()
    with pytest.raises(AttributeError):
        view.live = True  # type: ignore[misc]


def test_a_plan_has_what_would_run_in_order_and_leaves_out_what_nobody_observes(rt: weft.Runtime) -> None:
    rt.load([double, total])
    assert rt.plan(S) == []
    rt.load([show, total.bind(id="dormant", output=weft.cell("elsewhere"))])
    rt.pull(weft.cell("elsewhere"))
    assert rt.plan(S) == ["double", "sum", "show"]
    assert rt.plan(T) == ["sum", "show"]
    assert rt.plan(M) == ["sum", "show"]
    assert rt.plan(weft.cell("nowhere")) == rt.plan() == []
    rt.ran()
    rt.set(S, 2)
    rt.idle()
    assert rt.ran() == ["double", "sum", "show"], "the plan was right"


def test_a_plan_goes_through_the_envelope_of_a_materializer(rt: weft.Runtime) -> None:
    @weft.computation(id="fill", envelope=[OUT])
    def fill(tx: weft.Tx) -> None:
        tx.set(OUT["a"], tx.get(S))

    rt.load([fill, show])
    rt.idle()
    assert rt.plan(S) == ["fill", "show"]


def test_a_picture_has_nodes_and_edges_of_every_kind(rt: weft.Runtime) -> None:
    @weft.effect(id="parent")
    def parent(tx: weft.Tx) -> None:
        tx.register(double)

    rt.load([parent, total, show])
    rt.idle()
    picture = rt.graph()
    assert {node["id"]: (node["kind"], node["status"], node["live"]) for node in picture["nodes"]} == {
        "parent": ("effect", "clean", True), "sum": ("computation", "clean", True), "show": ("effect", "clean", True), "double": ("computation", "clean", True),
    }  # fmt: skip
    assert {(edge["from"], edge["to"], edge["kind"]) for edge in picture["edges"]} == {("double", "sum", "data"), ("sum", "show", "data"), ("parent", "double", "parent")}
    heights = {node["id"]: node["height"] for node in picture["nodes"]}
    assert heights["double"] < heights["sum"] < heights["show"]


def test_why_a_node_has_never_run(rt: weft.Runtime) -> None:
    rt.load([double])
    assert rt.why("double") == (
        "double has never run. It does not run, because nothing observes it. It is not observed: no effect, sink, watch or pull reads what it writes, directly or through others."
    )


def test_why_a_node_ran_and_why_it_does_not_now(rt: weft.Runtime) -> None:
    rt.load([double, total, show])
    rt.idle()
    rt.set(S, 2)
    rt.idle()
    assert rt.why("double") == "double ran last (run 2) because s changed. Nothing that it read has changed since, so it does not run. It is observed: sum reads what it writes."
    rt.set(S, 3)
    assert "It is invalid: s changed. It runs in the next pass." in rt.why("double")


def test_why_a_node_waits(rt: weft.Runtime) -> None:
    rt.load([show])
    rt.idle()
    rt.set_throttle("show", 30.0)
    rt.set(OUT, 9)
    assert "It is invalid: out changed. It waits: its throttle until 30." in rt.why("show")
    assert rt.diagnose() == ["show has work to do and waits: its throttle until 30."]


def test_why_a_node_failed(rt: weft.Runtime) -> None:
    @weft.effect(id="boom")
    def boom(tx: weft.Tx) -> None:
        raise ValueError("no luck")

    rt.load([boom])
    rt.idle()
    assert rt.why("boom").endswith("Its last run failed: no luck.")
    assert rt.node("boom").error is not None
    assert rt.diagnose() == ["boom failed: no luck. It runs again when something that it read changes."]


def test_two_writers_of_one_cell_are_worth_a_look(rt: weft.Runtime) -> None:
    rt.register(double)
    rt.register(double.bind(id="other"))
    assert rt.diagnose() == ["double and other write m: the one that runs last wins. Give each an output of its own."]


@pytest.mark.parametrize("ask", ["node", "why"])
def test_a_node_that_is_not_there_is_said_to_be_unknown(rt: weft.Runtime, ask: str) -> None:
    with pytest.raises(weft.Misuse, match="no node 'nobody' is registered"):
        getattr(rt, ask)("nobody")
    with pytest.raises(weft.Misuse, match="is no node"):
        getattr(rt, ask)(7)
