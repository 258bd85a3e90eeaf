"""A runtime of actors in one process, as its client sees it."""
from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import weft
from weft.actors.caller import Caller, Ear
from weft.actors.client import Client
from weft.actors.embedded import Shop, open_embedded
from weft.actors.ensemble import Member


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


def _threads() -> set[str]:
    return {thread.name for thread in threading.enumerate()}


def test_nothing_is_left_behind_when_it_is_closed() -> None:
    before = _threads()
    with weft.Runtime(placement="embedded") as rt:
        rt.sink(A, lambda value: None)
        rt.set(A, 1)
        rt.idle()
        assert len(_threads() - before) >= 7
    assert _threads() == before


def test_nothing_is_left_behind_when_it_cannot_be_opened() -> None:
    before = _threads()

    def broken(post: Any) -> Any:
        raise OSError("no room for a worker")

    with pytest.raises(OSError, match="no room"):
        open_embedded(Shop(None), "main", Member("storage", lambda post: Caller.start(post, "storage", hearing=Ear())), [Member("worker-1", broken)])
    assert _threads() == before


def test_several_runtimes_live_beside_each_other() -> None:
    with weft.Runtime(placement="embedded") as one, weft.Runtime(placement="embedded") as other:
        one.set(A, 1)
        other.set(A, 2)
        assert (one.get(A), other.get(A)) == (1, 2)


def test_two_threads_call_at_once() -> None:
    with weft.Runtime(placement="embedded") as rt:
        rt.set(A, 0)
        threads = [threading.Thread(target=lambda: [rt.transact(lambda tx: tx.set(A, tx[A] + 1)) for _ in range(20)]) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert rt.get(A) == 60


def test_a_wait_that_takes_too_long_is_given_up() -> None:
    go = threading.Event()

    def slow(tx: weft.Tx) -> None:
        go.wait(10)

    with weft.Runtime(placement="embedded") as rt:
        rt.register(weft.effect(id="slow")(slow))
        with pytest.raises(weft.WaitTimeout, match="not idle after"):
            rt.idle(timeout=0.05)
        go.set()
        rt.idle()
        assert rt.ran() == ["slow"]


def test_a_watch_yields_the_newest_and_ends_with_the_runtime() -> None:
    with weft.Runtime(placement="embedded") as rt:
        rt.set(A, 1)
        seen = []
        with rt.watch(A) as watch:
            for update in watch:
                seen.append(update.value)
                if update.value == 3:
                    break
                rt.set(A, update.value + 1)
        assert seen == [1, 2, 3]
