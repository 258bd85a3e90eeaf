"""Diagnostics: statistics, traces, reports, breakpoints, and that none of them takes part (P10)."""
from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
import weft
from harness.parts import parts
from weft.actors.statistics import Statistics
from weft.actors.traces import KINDS, Traces
from weft.scheduler.constants import RUN_TRACE, SETTLE_TRACE, TRIGGER_TRACE
from weft.scheduler.errors import BrokenInvariant

S, OUT, LOG = weft.cell("s"), weft.cell("out"), weft.cell("log")
CLICK = weft.stream("click")


@weft.computation(output=OUT, id="c")
def tenfold(tx: weft.Tx) -> int:
    return int(tx.get(S, 0)) * 10


@weft.effect(id="e")
def show(tx: weft.Tx) -> None:
    tx.get(OUT)


@weft.handler(CLICK, id="h")
def click(tx: weft.Tx, by: int) -> int:
    tx.set(S, int(tx.get(S, 0)) + by)
    return by


def computation(fn: Any, **how: Any) -> weft.NodeSpec[..., Any]:
    """A small one."""
    return weft.computation(fn, **how)


def effect(fn: Any, id: str) -> weft.NodeSpec[..., Any]:
    return weft.effect(id=id)(fn)


@pytest.fixture
def rt() -> Iterator[weft.Runtime]:
    with weft.Runtime(placement="inline", clock=weft.VirtualClock()) as runtime:
        yield runtime


# Statistics


def test_the_figures_of_a_runtime(rt: weft.Runtime) -> None:
    rt.load([tenfold, show])
    sink = rt.sink(OUT, lambda value: None)
    rt.idle()
    stats = rt.stats()
    assert (stats["computations"], stats["effects"], stats["materializers"], stats["live"], stats["invalid"], stats["pending"]) == (1, 2, 0, 3, 0, 0)
    sink.cancel()
    assert (rt.stats()["computations"], rt.stats()["effects"]) == (1, 1)
    rt.set(S, 1)
    assert (rt.stats()["invalid"], rt.stats()["pending"]) == (1, 1)


def test_a_reset_counts_from_zero_and_does_not_change_what_gates_go_by(rt: weft.Runtime) -> None:
    clock = parts(rt).clock
    assert isinstance(clock, weft.VirtualClock)

    @weft.effect(id="slow")
    def slow(tx: weft.Tx) -> None:
        tx.get(S)
        clock.advance(0.06)

    rt.load([slow])
    rt.idle()
    rt.set(S, 1)
    rt.idle()
    rt.reset_stats()
    assert (rt.node("slow").runs, rt.node("slow").mean_seconds, rt.node("slow").last_run_at, rt.stats()["executed"], rt.stats()["passes"]) == (0, 0.0, None, 0, 0)
    rt.set(S, 2)
    rt.idle()
    assert (rt.node("slow").runs, rt.node("slow").debounce) == (1, 0.1), "it is the third slow run, whatever is shown"


def test_statistics_forget_who_ran_least_recently_and_totals_go_on() -> None:
    statistics = Statistics(most=2)
    for id in ("a", "b", "a", "c"):
        statistics.ran(id, 0.0, 1.0)
    assert (statistics.counts("a"), statistics.counts("b"), statistics.executed, len(statistics)) == ((2, 0, 1.0, 1.0), None, 4, 2)


def test_work_that_a_gate_holds_is_skipped_once_each_time_somebody_looks_for_work(rt: weft.Runtime) -> None:
    rt.load([tenfold, show])
    rt.idle()
    rt.set_throttle("e", 30.0)
    rt.set(S, 1)
    rt.drain()
    rt.drain()
    assert (rt.node("e").skipped, rt.node("c").skipped, rt.stats()["skipped"]) == (2, 0, 2)


# Traces


def test_traces_are_empty_until_they_are_turned_on_and_forgotten_when_they_are_turned_off(rt: weft.Runtime) -> None:
    rt.load([tenfold, show, click])
    rt.send(CLICK, 1).result()
    assert [rt.trace(kind) for kind in KINDS] == [[], [], [], []]
    for kind in KINDS:
        rt.set_trace(kind, True)
        rt.set_trace(kind, True)
    rt.send(CLICK, 1).result()
    rt.idle()
    assert [entry["node"] for entry in rt.trace("runs")] == ["h", "c", "e"]
    assert [(entry["node"], entry["causes"], entry["live"]) for entry in rt.trace("triggers")] == [("c", ["s"], True), ("e", ["out"], True)]
    assert [entry["iterations"] for entry in rt.trace("settle") if entry["runs"]] == [[["c", "e"]]]
    (event,) = rt.trace("events")
    assert (event["stream"], event["handler"], event["status"], event["error"]) == ("click", "h", "handled", None)
    for kind in KINDS:
        rt.set_trace(kind, False)
    assert [rt.trace(kind) for kind in KINDS] == [[], [], [], []]


def test_what_is_read_of_a_trace_is_the_readers_own(rt: weft.Runtime) -> None:
    rt.set_trace("runs", True)
    rt.load([tenfold, show])
    rt.idle()
    rt.trace("runs")[0]["node"] = "x"
    assert rt.trace("runs")[0]["node"] == "e"


def test_an_event_that_nobody_handles_and_one_that_fails_are_traced(rt: weft.Runtime) -> None:
    @weft.handler(weft.stream("bad"), id="bad")
    def bad(tx: weft.Tx, event: int) -> None:
        raise ValueError("no")

    rt.set_trace("events", True)
    rt.load([bad])
    rt.send(weft.stream("nowhere"), 1).wait()
    rt.send(weft.stream("bad"), 1).wait()
    assert [(entry["handler"], entry["status"], entry["error"]) for entry in rt.trace("events")] == [
        (None, "dropped", "nobody handles nowhere; load its handler first"),
        ("bad", "failed", "no"),
    ]


def test_every_trace_is_bounded() -> None:
    traces = Traces()
    bounds = {}
    for kind in KINDS:
        traces.turn(kind, True)
        ring = getattr(traces, kind)
        ring.extend({"n": n} for n in range(3000))
        assert traces.read(kind)[-1] == {"n": 2999}
        bounds[kind] = len(traces.read(kind))
    assert bounds == {"runs": RUN_TRACE, "triggers": TRIGGER_TRACE, "settle": SETTLE_TRACE, "events": 400}


def test_a_trace_that_there_is_not_is_named(rt: weft.Runtime) -> None:
    with pytest.raises(weft.Misuse, match="'pulls' is no trace; there are runs, triggers, settle, events"):
        rt.trace("pulls")  # type: ignore[arg-type]
    with pytest.raises(weft.Misuse, match="neither True nor False"):
        rt.set_trace("runs", 1)  # type: ignore[arg-type]


# Reports


def test_a_listener_that_raises_does_not_keep_the_others_from_hearing_nor_the_loop_from_going_on(rt: weft.Runtime) -> None:
    heard: list[weft.ErrorInfo] = []

    def deaf(error: weft.ErrorInfo) -> None:
        raise RuntimeError("not now")

    @weft.effect(id="boom")
    def boom(tx: weft.Tx) -> None:
        raise ValueError(f"no luck with {tx.get(S)}")

    rt.on_error(deaf)
    rt.on_error(heard.append)
    rt.load([boom, tenfold, show])
    rt.idle()
    assert [(error.code, error.message, error.where) for error in heard] == [("ValueError", "no luck with None", "boom")]
    assert "ValueError: no luck with None" in heard[0].trace
    assert (rt.ran(), rt.stats()["listeners_failed"], rt.stats()["reports"]) == (["boom", "e", "c", "e"], 1, 1)
    assert "Listeners of on_error raised 1 times; what they raised was dropped." in rt.diagnose()


def test_what_does_not_settle_is_reported_once_until_everything_has_settled(rt: weft.Runtime) -> None:
    heard: list[weft.ErrorInfo] = []
    rt.on_error(heard.append)
    a, b = weft.cell("a"), weft.cell("b")
    up = rt.register(computation(lambda tx: tx.get(b, 0) + 1, output=a, id="up"))
    rt.register(computation(lambda tx: tx.get(a, 0) + 1, output=b, id="down"))
    rt.sink(b, lambda value: None)
    rt.idle(gated=True)
    (told,) = heard
    assert (told.code, told.where in ("up", "down"), "check_idempotency(True)" in told.message) == ("not-settled", True, True)
    assert rt.stats()["non_settling"]
    assert any("does not settle" in line for line in rt.diagnose())
    up.cancel()
    rt.idle(gated=True)
    assert len(heard) == 1
    assert not rt.stats()["non_settling"]


def test_a_console_listener_is_kept_and_prints_go_where_they_go(rt: weft.Runtime, capsys: pytest.CaptureFixture[str]) -> None:
    heard: list[tuple[str, str]] = []
    rt.on_console(lambda node, line: heard.append((node, line)))
    rt.load([effect(lambda tx: print("hello"), "say")])
    rt.idle()
    assert (capsys.readouterr().out, heard) == ("hello\n", [])
    with pytest.raises(weft.Misuse, match="takes a function"):
        rt.on_console(None)  # type: ignore[arg-type]


# Breakpoints


def test_everything_stops_before_the_node_and_goes_on_step_by_step(rt: weft.Runtime) -> None:
    rt.load([tenfold, show])
    rt.idle()
    rt.ran()
    rt.break_on("c")
    rt.set(S, 1)
    rt.idle()
    assert (rt.ran(), rt.node("c").status, rt.node("c").causes) == ([], "invalid", (S,))
    assert rt.why("c").endswith("a breakpoint stopped it before c.")
    with pytest.raises(weft.NotSettled, match=r"rt\.step\(\) or rt\.unbreak\(\)"):
        rt.pull(OUT)
    rt.step()
    assert (rt.ran(), rt.node("e").status) == (["c"], "invalid"), "one run, then it stands again"
    rt.step()
    assert rt.ran() == ["e"]
    rt.set(S, 2)
    rt.idle()
    assert rt.ran() == [], "the breakpoint is still there"
    rt.unbreak()
    rt.idle()
    assert (rt.ran(), rt.pull(OUT)) == (["c", "e"], 20)


def test_a_breakpoint_is_taken_away_and_a_step_without_one_does_nothing(rt: weft.Runtime) -> None:
    rt.load([tenfold, show])
    rt.break_on("c")
    rt.break_on("c", False)
    rt.step()
    rt.idle()
    assert rt.ran() == ["e", "c", "e"]


def test_events_wait_at_a_breakpoint_and_closing_does_not_hang(rt: weft.Runtime) -> None:
    rt.load([tenfold, show, click])
    rt.idle()
    rt.break_on("c")
    rt.send(CLICK, 1).result()
    later = rt.send(CLICK, 1)
    rt.idle()
    assert rt.node("c").status == "invalid"
    assert later.outcome is None
    with pytest.raises(weft.WaitTimeout):
        later.wait(0.1)


# Nothing takes part


def program(seed: int, rt: weft.Runtime, after: Any) -> list[tuple[Any, ...]]:
    """A seeded program: computations that read two of eight cells each, effects, gates, failures, removals, events. What ran, with versions and causes."""
    pick = random.Random(seed)
    cells = [weft.cell(f"x{n}") for n in range(8)]
    nodes: list[weft.Node] = []

    def reader(n: int, left: weft.Cell[Any], right: weft.Cell[Any]) -> weft.NodeSpec[..., Any]:
        def run(tx: weft.Tx) -> Any:
            value = tx.get(left, 0)
            if value % 11 == 10:
                raise ValueError("ten")
            return (value + tx.get(right if value % 2 else left, 0) + 1) % 97

        return weft.computation(run, output=cells[4 + n % 4], id=f"c{n}")

    @weft.handler(CLICK, id="h", reads=[cells[7]])
    def on_click(tx: weft.Tx, by: int) -> None:
        tx.set(cells[by % 4], (tx.get(cells[7], 0) or 0) + by)

    rt.load([on_click])
    for n in range(30):
        what = pick.randrange(8)
        if what == 0:
            nodes.append(rt.register(reader(n, pick.choice(cells), pick.choice(cells))))
        elif what == 1:
            cell = pick.choice(cells)
            nodes.append(rt.register(effect(lambda tx, cell=cell: tx.get(cell), f"e{n}")))
        elif what == 2 and nodes:
            nodes.pop(pick.randrange(len(nodes))).cancel()
        elif what == 3 and nodes:
            rt.set_throttle(pick.choice(nodes), pick.choice([0.0, 0.5]))
        elif what == 4:
            rt.send(CLICK, n, id=str(n))
        elif what == 5:
            clock = parts(rt).clock
            assert isinstance(clock, weft.VirtualClock)
            clock.advance(0.3)
        else:
            rt.set(pick.choice(cells), pick.randrange(20))
        rt.drain()
        after()
    rt.idle(gated=True)
    return [(run.node, run.version, run.causes, run.error and run.error.message) for run in rt.run_log()]


@pytest.mark.parametrize("seed", range(25))
def test_the_same_runs_are_made_with_everything_on_and_with_everything_off(seed: int) -> None:
    with weft.Runtime(placement="inline", clock=weft.VirtualClock()) as plain:
        off = program(seed, plain, lambda: None)
    with weft.Runtime(placement="inline", clock=weft.VirtualClock()) as watched:
        watched.check_idempotency(True)
        watched.on_error(lambda error: 1 / 0)
        for kind in KINDS:
            watched.set_trace(kind, True)

        def look() -> None:
            for node in watched.graph()["nodes"]:
                watched.node(node["id"])
                watched.why(node["id"])
            watched.plan(*(weft.cell(f"x{n}") for n in range(8)))
            watched.stats()
            watched.reset_stats()
            watched.diagnose()
            watched.violations()
            watched.ran()
            watched.check()

        on = program(seed, watched, look)
    assert on == off
    assert off


def test_a_broken_invariant_is_raised_with_its_number(rt: weft.Runtime) -> None:
    rt.load([tenfold, show])
    rt.idle()
    rt.check()
    (record,) = [node for node in parts(rt).core.registry.nodes.values() if node.id == "c"]
    record.live_refs += 1
    with pytest.raises(BrokenInvariant) as caught:
        rt.check()
    assert caught.value.number == "L1"
