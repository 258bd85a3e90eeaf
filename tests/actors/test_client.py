"""The public calls of a client: parameters, spaces, documents, gates, asyncio, and what this placement has not."""
from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, assert_type

import pytest
import weft

S, OUT = weft.cell("s", of=int), weft.cell("out", of=int)
CLICK = weft.stream("click", of=int)
TOTALS = weft.family("total", "user", of=int)


@weft.computation(output=OUT, id="c")
def tenfold(tx: weft.Tx) -> int:
    return (tx.get(S) or 0) * 10


@weft.effect(id="e")
def show(tx: weft.Tx) -> None:
    tx.get(OUT)


@weft.handler(CLICK, id="h")
def click(tx: weft.Tx, by: int) -> int:
    tx.set(S, by)
    return by + 1


@pytest.fixture
def clock() -> weft.VirtualClock:
    return weft.VirtualClock()


@pytest.fixture
def rt(clock: weft.VirtualClock) -> Iterator[weft.Runtime]:
    with weft.Runtime(placement="inline", clock=clock) as runtime:
        yield runtime


# Parameters


def test_every_parameter_is_taken_whether_or_not_it_has_a_meaning_inline(tmp_path: Path) -> None:
    with weft.Runtime(
        f"sqlite:{tmp_path}", "inline", "home", weft.VirtualClock(5.0), 2, "weft.examples.correspondence", strict=True, persistence=False, durability="full", lanes="space",
        strict_handlers=True, dead_letter_after=1.0, receipt_ttl=2.0, max_iterations=3, run_budget=4, run_deadline=5.0, job_workers=6, principal="ann",
    ) as rt:  # fmt: skip
        rt.set(S, 1)
        rt.settled()
        assert rt.get(S) == 1
    assert [file.name for file in tmp_path.glob("*.db")] == ["home.db"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"placement": "here"}, {"storage": "disk:"}, {"space": ""}, {"clock": 5}, {"workers": 0}, {"workers": True},
        {"strict": 1},
        {"persistence": None}, {"durability": "high"}, {"lanes": "each"}, {"strict_handlers": "no"}, {"dead_letter_after": -1}, {"receipt_ttl": "1"}, {"max_iterations": 0},
        {"run_budget": 1.5}, {"run_deadline": float("nan")}, {"job_workers": 0}, {"principal": None}, {"app": 5},
    ],
    ids=str,
)  # fmt: skip
def test_a_parameter_that_makes_no_sense_is_refused_with_what_to_do(wrong: dict[str, Any]) -> None:
    with pytest.raises(weft.WeftError, match=r".{20,}"):
        weft.Runtime(**{"placement": "inline", **wrong})


def test_a_runtime_is_a_client_and_says_so_to_the_type_checker(rt: weft.Runtime) -> None:
    client: weft.Client = rt
    rt.set(S, 3)
    assert_type(client.get(S), int | None)
    assert_type(client.get(S, "none"), int | str)
    assert_type(client.pull(S), int | None)
    assert_type(client.pull(S, OUT), tuple[int | None, int | None])
    assert client.pull(S, OUT) == (3, None)


# Spaces


def test_one_module_serves_many_spaces_and_each_handle_finds_its_own_nodes(rt: weft.Runtime) -> None:
    other = rt.in_space("t7")
    rt.load([tenfold, show])
    other.load([tenfold, show])
    rt.set(S, 1)
    other.set(S, 2)
    rt.idle()
    assert (rt.pull(OUT), other.pull(OUT), other.get(weft.cell("out", "main"))) == (10, 20, 10)
    assert (rt.node("c").id, other.node("c").id, other.node(tenfold).id, rt.node("t7:c").id) == ("c", "t7:c", "t7:c", "t7:c")
    assert other.node("c").reads == rt.node("c").reads == ((S, "deep"),)
    assert (rt.plan(S), other.plan(S), rt.plan(weft.cell("s", "t7"))) == (["c", "e"], ["t7:c", "t7:e"], ["t7:c", "t7:e"])
    other.remove("e")
    assert [node["id"] for node in rt.graph()["nodes"]] == ["c", "e", "t7:c"]
    assert isinstance(other, weft.Runtime)


def test_a_node_is_removed_by_handle_by_id_and_by_leaving_its_block(rt: weft.Runtime) -> None:
    removals: list[Callable[[weft.Node], None]] = [weft.Node.cancel, rt.remove, lambda node: rt.remove("e"), lambda node: rt.remove(node.id)]
    for remove in removals:
        remove(rt.register(show))
        assert rt.graph()["nodes"] == []
    with rt.register(show) as node:
        assert node.view().live
    assert rt.graph()["nodes"] == []
    rt.remove("nobody")


# Documents


def test_documents_are_listed_in_order_by_prefix_by_family_and_page_by_page(rt: weft.Runtime) -> None:
    for name in ("b", "a", "ab", "a/1", "total"):
        rt.set(weft.cell(name), 1)
    for user in ("ann", "bob", "c/d"):
        rt.set(TOTALS(user), 1)
    rt.set(weft.cell("total/x/y"), 1)
    rt.set(weft.cell("gone"), 1)
    rt.delete(weft.cell("gone"))
    rt.set(weft.cell("hidden", scope="session"), 1)
    assert [cell.id for cell in rt.documents()] == ["a", "a/1", "ab", "b", "total", "total/ann", "total/bob", "total/c%2Fd", "total/x/y"]
    assert rt.documents("a") == [weft.cell("a"), weft.cell("a/1"), weft.cell("ab")]
    assert rt.documents(TOTALS) == [TOTALS("ann"), TOTALS("bob"), TOTALS("c/d")]
    assert rt.documents(TOTALS)[0].of is int
    assert rt.documents("a", limit=2) == [weft.cell("a"), weft.cell("a/1")]
    assert rt.documents("a", after=weft.cell("a/1")) == [weft.cell("ab")]
    assert rt.documents("a", after=weft.cell("b")) == []
    assert rt.documents("nothing") == rt.in_space("elsewhere").documents() == []


def test_more_documents_than_a_page_holds_are_listed(rt: weft.Runtime) -> None:
    def write(tx: weft.Tx) -> None:
        for n in range(1200):
            tx.set(weft.cell(f"doc{n:04}"), n)

    rt.transact(write)
    assert len(rt.documents()) == 1000
    assert [cell.id for cell in rt.documents(limit=5000)] == [f"doc{n:04}" for n in range(1200)]


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": True}, {"after": "a"}, {"prefix": 5}], ids=str)
def test_a_listing_that_makes_no_sense_is_refused(rt: weft.Runtime, wrong: dict[str, Any]) -> None:
    with pytest.raises(weft.Misuse):
        rt.documents(**wrong)


# Gates


def test_gates_that_are_set_before_the_node_is_there_wait_for_it(rt: weft.Runtime, clock: weft.VirtualClock) -> None:
    rt.set_debounce("e", 0.5)
    rt.set_throttle("e", 2.0)
    rt.set_auto_debounce("e", False)
    assert (rt.node("e").debounce, rt.node("e").throttle, rt.node("e").status) == (0.5, 2.0, "never-ran")
    node = rt.register(show)
    assert (node.view().debounce, node.view().throttle, node.view().eligible_at) == (0.5, 2.0, 0.5)
    rt.idle()
    assert rt.ran() == []
    clock.advance(0.5)
    assert rt.ran() == ["e"]
    rt.clear_debounce(node)
    rt.clear_throttle(node)
    assert (node.view().debounce, node.view().throttle, node.view().eligible_at) == (None, None, 0.0)


def test_opening_a_gate_early_lets_the_next_tick_find_the_work(rt: weft.Runtime) -> None:
    rt.load([tenfold, show])
    rt.idle()
    rt.set_throttle("e", 30.0)
    rt.set(S, 1)
    rt.idle()
    rt.ran()
    rt.clear_throttle("e")
    rt.idle()
    assert rt.ran() == ["e"]


def test_a_debounce_that_came_by_itself_ends_when_it_is_turned_off(rt: weft.Runtime, clock: weft.VirtualClock) -> None:
    @weft.effect(id="slow")
    def slow(tx: weft.Tx) -> None:
        tx.get(S)
        clock.advance(0.06)

    rt.register(slow)
    for value in range(3):
        rt.idle()
        rt.set(S, value)
    assert rt.node("slow").debounce == 0.1
    rt.set_auto_debounce("slow", False)
    assert rt.node("slow").debounce is None
    rt.idle()
    rt.set(S, 9)
    rt.idle()
    assert rt.node("slow").runs == 5
    assert rt.node("slow").debounce is None


@pytest.mark.parametrize("seconds", [-1, float("inf"), "1", None, True], ids=str)
def test_a_gate_takes_seconds_from_zero(rt: weft.Runtime, seconds: Any) -> None:
    for set_gate in (rt.set_debounce, rt.set_throttle):
        with pytest.raises(weft.Misuse):
            set_gate("e", seconds)


# Writing


def test_what_a_block_sends_and_registers_comes_into_being_with_its_commit(rt: weft.Runtime) -> None:
    rt.load([click])
    with rt.transaction() as tx:
        sent = tx.send(CLICK, 4)
        tx.register(show)
    assert (sent.result(), rt.get(S), rt.node("e").parent) == (5, 4, None)


def test_what_a_block_that_raises_sends_never_was(rt: weft.Runtime) -> None:
    def block() -> None:
        with rt.transaction() as tx:
            tx.send(CLICK, 9)
            tx.set(S, 8)
            raise ValueError("no")

    rt.load([click])
    with pytest.raises(ValueError, match="no"):
        block()
    rt.idle()
    assert (rt.get(S), rt.ran()) == (None, [])


def test_a_callback_that_writes_is_followed_and_one_that_only_listens_is_not_waited_for(rt: weft.Runtime) -> None:
    seen: list[int | None] = []

    def follow(value: int | None) -> None:
        seen.append(value)
        if value is not None and value < 30:
            rt.set(S, value // 10 + 1)

    rt.load([tenfold])
    rt.sink(OUT, follow)
    rt.set(S, 1)
    rt.idle()
    assert seen == [10, 20, 30] or seen == [None, 10, 20, 30]


# asyncio


def test_the_waiting_methods_can_be_awaited(rt: weft.Runtime) -> None:
    async def later(tx: weft.Tx) -> int:
        await asyncio.sleep(0)
        return (tx.get(S) or 0) + 1

    slow = weft.cell("slow", of=int)

    async def main() -> list[Any]:
        aio = rt.aio
        rt.load([tenfold, show, click, weft.computation(later, output=slow, id="later")])
        await aio.set(S, 1)
        assert_type(await aio.pull(OUT), int | None)
        found: list[Any] = [await aio.get(S), await aio.get(weft.cell("none"), 7), await aio.pull(OUT), await aio.pull(OUT, slow)]
        sent = await aio.send(CLICK, 2, "one")
        found += [await sent.result(), (await sent.wait()).status, sent.id, rt.get(sent.receipt["status"])]
        found.append((await aio.transact(lambda tx: tx[S])).value)
        await aio.delete(S)
        await aio.idle()
        await aio.settled()
        async with aio.watch(OUT) as watch:
            async for update in watch:
                found.append(update.value)
                if update.value == 0:
                    await aio.set(S, 5)
        return found

    assert asyncio.run(main()) == [1, 7, 10, (10, 2), 3, "handled", "one", "handled", 2, 0, 50]


# Handlers


def another(tx: weft.Tx, by: int) -> int:
    return -by


def test_a_second_handler_of_a_stream_takes_the_place_of_the_first_and_is_refused_if_strict(rt: weft.Runtime) -> None:
    heard: list[weft.ErrorInfo] = []
    rt.on_error(heard.append)
    second = weft.handler(CLICK, id="second")(another)
    rt.load([click])
    rt.load([second])
    assert (rt.send(CLICK, 4).result(), [error.code for error in heard]) == (-4, ["replaced"])
    with weft.Runtime(placement="inline", strict=True) as strict:
        strict.load([weft.handler(CLICK, id="first")(another)])
        with pytest.raises(weft.Misuse, match="click is handled by first, and a stream has one handler"):
            strict.load([second])


# What is not here


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("start", (None,)), ("resume", ("p",)), ("stop", ("p",)), ("branch", ("b",)), ("on_branch", ("b",)), ("retry_dead_letter", ("1",)), ("discard_dead_letter", ("1",)),
        ("mailbox", ("settle",)), ("pause", ("settle",)), ("step_actor", ("settle", 2)), ("unpause", ("settle",)), ("kill", ("settle",)),
    ],
)  # fmt: skip
def test_a_member_that_this_placement_has_not_says_so_and_what_to_do(rt: weft.Runtime, name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(weft.Misuse, match=rf"^{name}: a runtime with placement='inline' has none of this; .{{20,}}"):
        getattr(rt, name)(*arguments)
    assert (rt.actors(), rt.dead_letters()) == ([], [])


def test_a_closed_runtime_says_so_and_there_is_nothing_to_wait_for(rt: weft.Runtime) -> None:
    node = rt.register(show)
    rt.close()
    rt.close()
    rt.idle()
    rt.settled()
    rt.drain()
    node.cancel()
    for call in (lambda: rt.get(S), lambda: rt.register(show), lambda: rt.documents(), lambda: rt.set_debounce("e", 1.0), lambda: rt.check_idempotency(True)):
        with pytest.raises(weft.Misuse, match="closed"):
            call()
    assert rt.node("e").id == "e", "one may still look"


@pytest.mark.parametrize(
    "call",
    [
        lambda rt: rt.get(S), lambda rt: rt.set(S, 1), lambda rt: rt.pull(S), lambda rt: rt.idle(), lambda rt: rt.send(CLICK, 1), lambda rt: rt.register(show),
        lambda rt: rt.documents(),
        lambda rt: rt.check_idempotency(True), lambda rt: rt.step(), lambda rt: rt.set_throttle("e", 1.0), lambda rt: rt.close(),
    ],
)  # fmt: skip
def test_a_run_does_not_call_the_runtime(rt: weft.Runtime, call: Any) -> None:
    raised: list[BaseException] = []

    @weft.effect(id="inner")
    def inner(tx: weft.Tx) -> None:
        try:
            call(rt)
        except weft.InsideRun as error:
            raised.append(error)

    rt.register(inner)
    rt.idle()
    assert len(raised) == 1


@pytest.mark.parametrize("placement", ["inline", "embedded"])
def test_of_two_transactions_that_count_up_from_one_value_the_second_is_made_again(placement: Any) -> None:
    a = weft.cell("a", of=int)
    with weft.Runtime(placement=placement) as rt:
        rt.set(a, 0)
        with rt.transaction() as one, rt.transaction() as other:
            for tx in (one, other):
                tx.set(a, tx[a] + 1)
        assert (other.commit.wait(5).status, one.commit.wait(5).status, rt.get(a)) == ("confirmed", "rejected", 1)
