"""What nodes did that they should not: writes outside of their surface, runs that are not idempotent."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import weft
from weft.actors.violations import Violations
from weft.scheduler.constants import VIOLATIONS

S, OUT, SIDE, LIST = weft.cell("s"), weft.cell("out"), weft.cell("side"), weft.cell("list")


def computation(fn: Any, **how: Any) -> weft.NodeSpec[..., Any]:
    """A small one."""
    return weft.computation(fn, **how)


def effect(fn: Any, id: str) -> weft.NodeSpec[..., Any]:
    return weft.effect(id=id)(fn)


@pytest.fixture
def rt() -> Iterator[weft.Runtime]:
    with weft.Runtime(placement="inline", clock=weft.VirtualClock()) as runtime:
        runtime.set(S, 1)
        yield runtime


def found(rt: weft.Runtime) -> list[tuple[str, str, str, int]]:
    return [(entry["kind"], entry["node"], entry["cell"], entry["count"]) for entry in rt.violations()]


# Surfaces


def test_a_place_outside_of_the_surface_is_named_once_and_counted(rt: weft.Runtime) -> None:
    @weft.computation(output=OUT, id="c")
    def c(tx: weft.Tx) -> int:
        tx.set(SIDE["deep"]["er"], tx[S])
        return int(tx[S])

    rt.register(c)
    rt.sink(OUT, lambda value: None)
    rt.idle()
    assert found(rt) == [("surface", "c", "side", 1)], "the document was not there: all of it came"
    rt.set(S, 2)
    rt.idle()
    rt.set(S, 3)
    rt.idle()
    assert found(rt) == [("surface", "c", "side", 1), ("surface", "c", "side#/deep/er", 2)]
    assert rt.stats()["violations"] == 2


@pytest.mark.parametrize(
    ("surface", "write"),
    [
        ({"output": OUT}, lambda tx: None),
        ({"output": OUT, "also_writes": [SIDE]}, lambda tx: tx.set(SIDE, {"a": {"b": tx[S]}})),
        ({"output": OUT, "also_writes": [SIDE["a"]["b"]]}, lambda tx: tx.set(SIDE["a"]["b"], tx[S])),
        ({"output": OUT, "also_writes": [LIST]}, lambda tx: tx.append(LIST, tx[S])),
        ({"output": OUT, "also_writes": [SIDE, LIST]}, lambda tx: (tx.set(SIDE, 1), tx.delete(SIDE), tx.set(LIST["a"], 1))),
        ({"output": OUT, "envelope": [SIDE]}, lambda tx: tx.set(LIST, tx[S])),
        ({"output": OUT}, lambda tx: tx.set(weft.cell("cursor", scope="session"), tx[S])),
    ],
    ids=["its output", "a side write", "objects on the way", "a list", "several", "a materializer", "another scope"],
)
def test_what_is_inside_or_exempt_is_no_violation(rt: weft.Runtime, surface: dict[str, Any], write: Callable[[weft.Tx], Any]) -> None:
    def c(tx: weft.Tx) -> int:
        write(tx)
        return int(tx[S])

    rt.register(computation(c, id="c", **surface))
    rt.sink(OUT, lambda value: None)
    for value in (2, 3):
        rt.idle()
        rt.set(S, value)
    assert found(rt) == []


def test_an_effect_may_write_anywhere_and_what_lies_beside_a_surface_may_not_be_written(rt: weft.Runtime) -> None:
    rt.register(effect(lambda tx: tx.set(LIST, tx[S]), "e"))
    rt.register(computation(lambda tx: tx.set(SIDE, {"mine": 1, "yours": 2}), also_writes=[SIDE["mine"]], output=OUT, id="c"))
    rt.register(computation(lambda tx: tx.set(weft.cell("out2").meta["by"], "c"), output=weft.cell("out2"), id="meta"))
    rt.pull(OUT, weft.cell("out2"))
    assert found(rt) == [("surface", "c", "side#/yours", 1), ("surface", "meta", "out2#meta/by", 1)]


# Idempotency


def test_a_computation_that_writes_something_else_each_time_is_flagged_and_nothing_else_happens(rt: weft.Runtime) -> None:
    numbers = itertools.count()
    rt.register(computation(lambda tx: next(numbers), output=OUT, id="random"))
    rt.register(computation(lambda tx: tx[S] * 2, output=SIDE, id="fine"))
    rt.check_idempotency(True)
    assert rt.pull(OUT, SIDE) == (0, 2)
    assert found(rt) == [("idempotency", "random", "out", 1)]
    assert (rt.get(OUT), [run.node for run in rt.run_log()], rt.stats()["idempotency"]) == (0, ["random", "fine"], {"checked": 2, "skipped": {}})
    rt.check_idempotency(False)
    rt.set(S, 2)
    rt.pull(SIDE)
    assert rt.stats()["idempotency"] is None


def test_turning_it_on_looks_at_what_has_run_already(rt: weft.Runtime) -> None:
    rt.register(computation(lambda tx: [*tx.get(LIST, []), 1], output=LIST, id="more"))
    rt.pull(LIST)
    rt.check_idempotency(True)
    assert found(rt) == [("idempotency", "more", "list", 1)]
    assert rt.get(LIST) == [1]


@pytest.mark.parametrize(
    "write",
    [
        lambda tx: tx.append(LIST, 1),
        lambda tx: tx.increment(SIDE),
        lambda tx: tx.set(LIST, [*tx.get(LIST, []), tx[S]]),
        lambda tx: tx.set(SIDE, not tx.get(SIDE)),
        lambda tx: tx.set(SIDE, 1) if tx.get(SIDE) is None else tx.delete(SIDE),
    ],
    ids=["append", "increment", "accumulate", "toggle", "come and go"],
)
def test_side_writes_are_compared_too(rt: weft.Runtime, write: Callable[[weft.Tx], Any]) -> None:
    def c(tx: weft.Tx) -> int:
        write(tx)
        return int(tx[S])

    rt.check_idempotency(True)
    rt.register(computation(c, output=OUT, also_writes=[SIDE, LIST], id="c"))
    assert rt.pull(OUT) == 1
    assert [(kind, node) for kind, node, _, _ in found(rt)] == [("idempotency", "c")]


@pytest.mark.parametrize(
    "write",
    [
        lambda tx: tx.set(SIDE, tx[S]),
        lambda tx: tx.add_unique(LIST, tx[S]),
        lambda tx: None if tx.get(SIDE) else tx.set(SIDE, {"made": "once"}),
        lambda tx: tx.set(tx.new("doc"), tx[S]),
    ],
    ids=["set", "add unique", "make what is missing", "a document of its own"],
)
def test_what_comes_to_the_same_is_not_flagged(rt: weft.Runtime, write: Callable[[weft.Tx], Any]) -> None:
    def c(tx: weft.Tx) -> int:
        write(tx)
        return int(tx[S])

    rt.check_idempotency(True)
    rt.register(computation(c, output=OUT, also_writes=[SIDE, LIST], id="c"))
    assert rt.pull(OUT) == 1
    assert [entry for entry in found(rt) if entry[0] == "idempotency"] == []


def test_what_the_second_run_sends_or_registers_does_not_come_into_being(rt: weft.Runtime) -> None:
    handled: list[int] = []
    stream = weft.stream("told")

    @weft.handler(stream, id="h")
    def h(tx: weft.Tx, event: int) -> None:
        handled.append(event)

    @weft.effect(id="child")
    def child(tx: weft.Tx) -> None:
        tx.get(S)

    @weft.computation(output=OUT, id="c")
    def c(tx: weft.Tx) -> int:
        tx.send(stream, 1)
        tx.register(child)
        return 1

    rt.load([h, c])
    rt.check_idempotency(True)
    rt.pull(OUT)
    rt.idle()
    assert (handled, rt.ran(), found(rt)) == ([1], ["c", "child", "h"], [])


def test_async_failed_and_disturbed_runs_are_left_out_and_said_to_be(rt: weft.Runtime) -> None:
    async def later(tx: weft.Tx) -> int:
        return int(tx[S])

    def failing(tx: weft.Tx) -> int:
        raise ValueError("no")

    other = weft.cell("other")
    rt.check_idempotency(True)
    rt.register(computation(later, output=OUT, id="later"))
    rt.register(computation(failing, output=SIDE, id="failing"))
    peers = itertools.count()

    def picky(tx: weft.Tx) -> Any:
        return tx.get(other if next(peers) == 0 else weft.cell(f"unseen{next(peers)}"))

    rt.register(computation(picky, output=LIST, id="picky"))
    rt.pull(OUT, LIST)
    with pytest.raises(weft.NodeFailed):
        rt.pull(SIDE)
    assert rt.stats()["idempotency"] == {"checked": 0, "skipped": {"async": 1, "it could not be run again": 1, "failed": 1}}
    assert rt.diagnose()[-1] == "Not checked for idempotency: 1 runs (async), 1 runs (it could not be run again), 1 runs (failed)."


def test_places_are_bounded_and_the_rest_is_counted() -> None:
    violations = Violations()
    for n in range(VIOLATIONS + 5):
        violations.add("surface", "c", f"x{n}")
        violations.add("surface", "c", "x0")
    assert (len(violations), violations.unnamed, violations.listed()[0]["count"]) == (VIOLATIONS, 5, VIOLATIONS + 6)
