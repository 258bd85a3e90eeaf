"""What a program does wrong at the public calls: it is told at the call, by a WeftError that says what to do, and the runtime goes on."""
from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
import weft
from weft.later import LATER

a, b, c = weft.cell("a"), weft.cell("b"), weft.cell("c")
s = weft.stream("s")
NAN = float("nan")


@pytest.fixture
def rt() -> weft.Runtime:
    runtime = weft.Runtime(placement="inline", clock=weft.VirtualClock())
    runtime.set(a, 1)
    return runtime


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def look(tx: weft.Tx) -> None:
    tx.get(b)


class Foreign(BaseException):
    """Such as a test framework ends a test with."""


WRONG: dict[str, Callable[[Any], object]] = {
    "a sink without a function": lambda rt: rt.sink(a, 3),
    "a sink on a text": lambda rt: rt.sink("a", print),
    "a sink on a family": lambda rt: rt.sink(weft.family("f", "x"), print),
    "a sink in a group that is no text": lambda rt: rt.sink(a, print, group=3),
    "a watch of a text": lambda rt: rt.watch("a"),
    "a watch in a group that is no text": lambda rt: rt.watch(a, group=3),
    "transact of no function": lambda rt: rt.transact(3),
    "transact of what has to be awaited": lambda rt: rt.transact(_later),
    "fewer retries than none": lambda rt: rt.transact(lambda tx: None, retries=-1),
    "retries that are no number": lambda rt: rt.transact(lambda tx: None, retries="x"),
    "a group that is no text": lambda rt: rt.transact(lambda tx: None, group=3),
    "a timeout that is no number": lambda rt: rt.idle("x"),
    "a timeout that is not a number": lambda rt: rt.settled(NAN),
    "a timeout that is a flag": lambda rt: rt.pull(a, timeout=True),
    "a timeout of a commit": lambda rt: rt.set(a, 2).wait("x"),
    "a timeout of an event": lambda rt: rt.send(s, 1).wait("x"),
    "a payload that has no stored form": lambda rt: rt.send(s, (1,)),
    "an id that is no text": lambda rt: rt.send(s, 1, id=3),
    "a session that is no text": lambda rt: rt.send(s, 1, session=3),
    "a delay that is no number": lambda rt: rt.send(s, 1, after="x"),
    "a delay that never ends": lambda rt: rt.send(s, 1, after=NAN),
    "a payload of a run that has no stored form": lambda rt: rt.transact(lambda tx: tx.send(s, (1,))),
    "a delay of a run that never ends": lambda rt: rt.transact(lambda tx: tx.send(s, 1, after=NAN)),
}


async def _later(tx: weft.Tx) -> None:
    await asyncio.sleep(0)


@pytest.mark.parametrize("what", WRONG)
def test_a_call_that_makes_no_sense_is_refused_at_once_and_costs_nothing(rt: weft.Runtime, what: str) -> None:
    with pytest.raises(weft.Misuse):
        WRONG[what](rt)
    rt.settled()
    assert rt.stats()["effects"] == 0
    assert rt.pull(a) in (1, 2)


def test_what_is_up_to_date_is_given_however_little_time_there_is(rt: weft.Runtime) -> None:
    def ten(tx: weft.Tx) -> Any:
        return tx[a] * 10

    rt.load(weft.computation(ten, output=b))
    assert (rt.pull(a, timeout=0), rt.pull(b, timeout=0), rt.pull(b, timeout=-1)) == (1, 10, 10)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), Foreign("the test ends here")])
def test_a_run_that_is_broken_off_from_outside_is_made_by_the_next_call(rt: weft.Runtime, error: BaseException) -> None:
    """It is no failure of the node: nothing is reported, nothing is written, and what the run was made for is not lost."""
    reports: list[weft.ErrorInfo] = []
    causes: list[Any] = []
    rt.on_error(reports.append)
    again = iter([None, error, None])

    def ten(tx: weft.Tx) -> Any:
        value = tx[a] * 10
        causes.append(tx.causes)
        if raised := next(again, None):
            tx.set(c, "torn")
            raise raised
        return value

    rt.load([weft.computation(ten, output=b, id="ten", also_writes=[c]), weft.effect(id="show")(look)])
    rt.idle()
    rt.set(a, 2)
    with pytest.raises(type(error)):
        rt.idle()
    rt.check()
    assert (rt.node("ten").status, rt.get(b), rt.get(c)) == ("invalid", 10, None)
    rt.ran()
    rt.idle()
    rt.check()
    assert (rt.ran(), rt.get(b), causes[1:], reports) == (["ten", "show"], 20, [(a,), (a,)], [])
    rt.set(a, 3)
    assert rt.pull(b) == 30


@pytest.mark.parametrize(
    ("error", "told"),
    [(asyncio.CancelledError(), "CancelledError"), (StopIteration(5), "5"), (RecursionError("deep"), "deep"), (Mute(), "(its text cannot be had: RuntimeError)")],
)
def test_whatever_a_node_raises_is_told_once_and_it_runs_again_when_something_it_read_changes(rt: weft.Runtime, error: BaseException, told: str) -> None:
    reports: list[weft.ErrorInfo] = []
    rt.on_error(reports.append)

    def show(tx: weft.Tx) -> None:
        if tx[a] == 1:
            raise error

    rt.load(weft.effect(id="show")(show))
    rt.idle()
    assert [(report.message, report.where) for report in reports] == [(told, "show")]
    rt.idle()
    rt.set(a, 2)
    rt.idle()
    assert (rt.ran(), len(reports)) == (["show", "show"], 1)


def test_what_a_callback_raises_is_reported_and_neither_the_caller_nor_the_other_sinks_suffer(rt: weft.Runtime) -> None:
    reports: list[weft.ErrorInfo] = []
    seen: list[Any] = []
    rt.on_error(reports.append)
    node = rt.sink(a, lambda value: 1 / (value - 1) if value else None)
    rt.sink(a, seen.append)
    rt.idle()
    rt.set(a, 2)
    rt.idle()
    assert (seen, [(report.code, report.where) for report in reports]) == ([1, 2], [("ZeroDivisionError", node.id)])


def test_the_users_interrupt_in_a_callback_passes_and_the_other_sinks_hear_with_the_next_call(rt: weft.Runtime) -> None:
    def stop(value: Any) -> None:
        raise KeyboardInterrupt

    seen: list[Any] = []
    node = rt.sink(a, stop)
    rt.sink(a, seen.append)
    with pytest.raises(KeyboardInterrupt):
        rt.idle()
    node.cancel()
    rt.idle()
    assert seen == [1]


def test_what_goes_wrong_is_logged_where_nobody_listens(rt: weft.Runtime, caplog: pytest.LogCaptureFixture) -> None:
    def show(tx: weft.Tx) -> None:
        raise ValueError(f"cannot show {tx[a]}")

    rt.load(weft.effect(id="show")(show))
    with caplog.at_level(logging.ERROR, "weft"):
        rt.idle()
        rt.on_error(lambda error: None)
        rt.set(a, 2)
        rt.idle()
    (record,) = caplog.records
    assert record.getMessage().startswith("show: cannot show 1\nTraceback")


def test_an_abort_that_was_swallowed_is_one_all_the_same(rt: weft.Runtime) -> None:
    def give_up(tx: weft.Tx) -> None:
        tx.set(a, 5)
        try:
            tx.abort("sold out")
        except weft.Aborted:
            return

    with pytest.raises(weft.Aborted, match="sold out"):
        rt.transact(give_up)
    with pytest.raises(weft.Aborted, match="sold out"), rt.transaction() as tx:
        give_up(tx)
    assert rt.get(a) == 1


def test_a_payload_is_what_it_was_when_it_was_sent(rt: weft.Runtime) -> None:
    seen: list[Any] = []
    rt.load(weft.handler(s, id="note")(lambda tx, event: seen.append(list(event))))
    payload = [1]
    rt.send(s, payload)
    payload.append(2)
    rt.idle()
    assert seen == [[1]]


@pytest.mark.parametrize("name", LATER)
def test_a_promised_name_that_is_not_there_yet_says_what_to_do_today(name: str) -> None:
    assert not hasattr(weft, name)
    with pytest.raises(weft.WeftError, match=rf"this version has no weft\.{name} yet: .+; .+"):
        getattr(weft, name)


def test_a_watch_or_a_block_that_outlives_the_runtime_says_that_it_is_closed(rt: weft.Runtime) -> None:
    watch, block = rt.watch(a), rt.transaction()
    block.__enter__().set(a, 2)
    rt.close()
    with pytest.raises(weft.Misuse, match="closed"):
        block.__exit__(None, None, None)
    with pytest.raises(weft.Misuse, match="closed"):
        list(watch)


def test_what_a_run_registers_is_refused_if_no_worker_could_import_it_and_that_is_strict() -> None:
    def parent(tx: weft.Tx) -> None:
        tx.register(weft.effect(id="child")(look))
        tx.register(weft.effect(id="closure")(inner))

    def inner(tx: weft.Tx) -> None:
        tx.get(b)

    rt = weft.Runtime(placement="inline", strict=True)
    with pytest.raises(weft.NotImportable):
        rt.transact(parent)
    rt.idle()
    assert rt.ran() == []
    rt.transact(lambda tx: tx.register(weft.effect(id="child")(look)))
    rt.idle()
    assert rt.ran() == ["child"]


def test_a_family_matches_cells_alone() -> None:
    with pytest.raises(weft.WeftError, match="match takes a cell, not 3"):
        weft.family("f", "x").match(3)  # type: ignore[arg-type]


def test_a_sink_hears_what_ran_because_time_has_passed(rt: weft.Runtime) -> None:
    clock = weft.VirtualClock()
    rt = weft.Runtime(placement="inline", clock=clock)
    seen: list[Any] = []
    rt.set(a, 1)

    @weft.computation(output=b, throttle=1.0)
    def copy(tx: weft.Tx) -> Any:
        return tx[a]

    rt.load(copy)
    rt.sink(b, seen.append)
    rt.sink(b, lambda value: rt.set(c, value))
    rt.idle()
    rt.set(a, 2)
    clock.advance(1)
    assert (seen, rt.get(c)) == ([1, 2], 2)
