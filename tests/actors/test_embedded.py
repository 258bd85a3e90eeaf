"""A runtime of actors in one process, as its client sees it."""
from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import weft
from weft.actors.client import Client


@pytest.fixture(params=["virtual", "real"])
def rt(request: pytest.FixtureRequest) -> Iterator[Client]:
    with weft.Runtime(placement="embedded", clock=weft.VirtualClock() if request.param == "virtual" else None) as client:
        yield client


A, B, C = weft.cell("a"), weft.cell("b"), weft.cell("c")


def double(tx: weft.Tx) -> Any:
    return tx[A] * 2


def test_a_value_is_set_and_got(rt: Client) -> None:
    commit = rt.set(A, 3)
    assert (rt.get(A), commit.wait(5).status) == (3, "confirmed")


def test_a_pull_brings_what_is_computed_up_to_date(rt: Client) -> None:
    rt.register(weft.computation(double, output=B))
    rt.set(A, 3)
    assert (rt.get(B), rt.pull(B)) == (None, 6)
    rt.set(A, 4)
    assert (rt.pull(B), rt.pull(A, B)) == (8, (4, 8))


def test_an_effect_has_run_when_idle_returns(rt: Client) -> None:
    seen: list[Any] = []
    rt.set(A, 1)

    def show(tx: weft.Tx) -> None:
        seen.append(tx.get(A))

    rt.register(weft.effect(id="e")(show))
    rt.idle()
    rt.set(A, 2)
    rt.idle()
    assert (seen, rt.ran()) == ([1, 2], ["e", "e"])


def test_a_sink_is_told_before_idle_returns_and_only_what_is_up_to_date(rt: Client) -> None:
    rt.register(weft.computation(double, output=B))
    rt.set(A, 1)
    seen: list[Any] = []
    node = rt.sink(B, seen.append)
    rt.idle()
    rt.set(A, 2)
    rt.idle()
    assert seen == [2, 4]
    node.cancel()
    rt.set(A, 3)
    rt.idle()
    assert seen == [2, 4]


def test_a_callback_may_write_and_what_follows_is_waited_for(rt: Client) -> None:
    seen: list[Any] = []
    rt.sink(A, lambda value: rt.set(B, value))
    rt.sink(B, seen.append)
    rt.set(A, 7)
    rt.idle()
    assert seen[-1] == 7


def test_a_call_from_inside_a_run_is_refused(rt: Client) -> None:
    errors: list[weft.ErrorInfo] = []
    rt.on_error(errors.append)

    def call(tx: weft.Tx) -> None:
        rt.get(A)

    rt.register(weft.effect(id="e")(call))
    rt.idle()
    assert [error.code for error in errors] == ["inside-run"]
    with pytest.raises(weft.InsideRun):
        rt.transact(lambda tx: rt.get(A))


def test_what_a_node_raised_is_said_by_a_pull(rt: Client) -> None:
    def broken(tx: weft.Tx) -> Any:
        raise ValueError("no")

    rt.register(weft.computation(broken, output=B, id="broken"))
    with pytest.raises(weft.NodeFailed, match="broken failed: no"):
        rt.pull(B)


def test_a_transaction_that_was_overtaken_is_made_again(rt: Client) -> None:
    tries: list[int] = []

    def add(tx: weft.Tx) -> None:
        value = tx.get(A, 0)
        tries.append(value)
        if len(tries) == 1:
            other = threading.Thread(target=lambda: rt.set(A, 10))
            other.start()
            other.join()
        tx.set(A, value + 1)

    rt.set(A, 1)
    commit = rt.transact(add)
    assert (rt.get(A), tries, commit.wait(5).status) == (11, [1, 10], "confirmed")


def test_a_node_can_be_looked_at(rt: Client) -> None:
    rt.register(weft.computation(double, output=B, id="double"))
    rt.set(A, 1)
    rt.pull(B)
    view = rt.node("double")
    assert (view.status, view.outputs, view.runs, view.reads) == ("clean", (B,), 1, ((A, "deep"),))
    assert "double ran last" in rt.why("double")
    assert rt.stats()["computations"] == 1
    rt.check()


def test_after_the_end_every_call_says_so(rt: Client) -> None:
    rt.close()
    with pytest.raises(weft.Misuse, match="closed"):
        rt.get(A)
    rt.idle()
