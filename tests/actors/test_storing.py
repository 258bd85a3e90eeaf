"""The storage actor and the worker together, over a loopback and over sockets, with settle, graph and a client played by hand."""

import asyncio
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import weft
from harness.half_ring import EPOCH, HalfRing, doc, half_ring, outcomes
from weft.actors.declared import declared_of
from weft.actors.topics import question
from weft.scheduler.model import VALUE, Read, Version
from weft.scheduler.values import MISSING, freeze
from weft.wire.edge import Decided, Enter, News, Submit, Submitted, Told
from weft.wire.feeding import Fetch, Fetched
from weft.wire.messages import Fence, Heartbeat, Probe
from weft.wire.ring import Applied, Awaited, CommitRuns, Finished, UsedRead, Write

PENDING = question("pending", Version(0, 0))
KINDS = ("loopback", "desks", "hosts")
a, b, c, out = weft.cell("a"), weft.cell("b"), weft.cell("c"), weft.cell("out")


@pytest.fixture(params=KINDS)
def ring(request: pytest.FixtureRequest) -> Iterator[HalfRing]:
    with half_ring(request.param) as ring:
        yield ring
        assert ring.reports() == []


def adds_up() -> Any:
    @weft.computation(output=out, id="adds_up")
    def adds_up(tx: weft.Tx) -> int:
        return int(tx.get(a, 0)) + int(tx.get(b, 0))

    return adds_up


# Runs


def test_a_run_reads_documents_it_has_never_seen_and_its_commit_reaches_graph(ring: HalfRing) -> None:
    ring.set(a=3, b=4)
    ring.load(adds_up())
    (result,) = ring.run("adds_up")
    assert outcomes([result]) == ["committed"], result.unusual
    assert (result.node, result.number, result.took >= 0) == ("adds_up", 1, True)
    assert set(result.reads) == {Read(doc("a"), VALUE), Read(doc("b"), VALUE)}
    assert [(change.entity, change.before, change.after) for change in result.changes] == [(doc("out"), MISSING, {"value": 7})]
    assert ring.get("out") == 7


def test_an_undisturbed_run_costs_one_commit_and_one_changes_and_no_feed(ring: HalfRing) -> None:
    ring.set(a=3)
    ring.load(adds_up())
    ring.run("adds_up")
    ring.set(a=4)
    ring.run("adds_up")
    before = len(ring.changes)
    handled = sent(ring)
    fed = len(ring.actors["worker-1"].fed)
    for _ in range(5):
        assert outcomes(ring.run("adds_up")) == ["unchanged"]
    assert len(ring.changes) == before + 5
    assert len(ring.actors["worker-1"].fed) == fed
    if ring.loopback is not None:  # elsewhere the counts are another thread's
        more = {pair: count - handled[pair] for pair, count in sent(ring).items() if count != handled[pair]}
        assert more == {("settle", "worker-1"): 5, ("worker-1", "storage"): 5, ("storage", "graph"): 5}


def sent(ring: HalfRing) -> dict[tuple[str, str], int]:
    return {(name, target): link.seq for name, actor in ring.actors.items() for target, link in actor.links.items() if "client-1" not in (name, target) and link.seq}


def test_own_writes_are_not_fed_back_and_the_next_run_builds_on_them(ring: HalfRing) -> None:
    @weft.computation(id="counts")
    def counts(tx: weft.Tx) -> None:
        tx.set(out, tx.get(out, 0) + 1)

    ring.load(counts)
    for _ in range(4):
        assert outcomes(ring.run("counts")) == ["committed"]
    assert ring.get("out") == 4
    assert ring.actors["worker-1"].fed == []


def test_what_a_client_writes_is_fed_and_seen_by_the_next_wave(ring: HalfRing) -> None:
    ring.set(a=1, b=1)
    ring.load(adds_up())
    ring.run("adds_up")
    for given in (5, 6, 7):
        ring.set(a=given)
        assert [change.after for entry in ring.run("adds_up") for change in entry.changes] == [given + 1]
    assert [feed.stale for feed in ring.actors["worker-1"].fed] == [False] * 3


def test_a_wave_waits_for_its_feed_outside_of_any_handler(ring: HalfRing) -> None:
    ring.set(a=1)
    ring.load(adds_up())
    ring.run("adds_up")
    wave = ring.begin_wave(ring.made("adds_up", "worker-1"), fed=1)
    assert isinstance(ring.ask("worker-1", Probe()), Heartbeat), "the worker answers meanwhile"
    assert not ring.ended(wave)
    ring.set(a=9)
    ring.until(lambda: ring.ended(wave), "the wave")
    assert ring.get("out") == 1, "at the version that the wave named"


def test_an_async_node_runs_to_its_end(ring: HalfRing) -> None:
    @weft.computation(output=out, id="slow")
    async def slow(tx: weft.Tx) -> int:
        await asyncio.sleep(0)
        return int(tx.get(a, 0)) + 1

    ring.set(a=1)
    ring.load(slow)
    assert outcomes(ring.run("slow")) == ["committed"]
    assert ring.get("out") == 2


def test_a_node_of_a_module_is_found_by_its_name(ring: HalfRing) -> None:
    scale = weft.computation(id="scale")(times).bind(args={"by": 3, "of": a}, output=out)
    ring.set(a=5)
    declared = declared_of(scale, "scale", "main", None)
    assert declared.spec["fn"] == f"{times.__module__}:times"
    version = ring.ask("storage", Enter((declared,), ())).version
    ring.until(lambda: ring.version >= version)
    assert outcomes(ring.run("scale")) == ["committed"]
    assert ring.get("out") == 15


def times(tx: weft.Tx, by: int, of: "weft.Cell[int]") -> int:
    return tx[of] * by


# As of V (H7)


def test_H7_a_document_that_is_first_read_after_others_wrote_it_is_read_as_of_the_waves_version(ring: HalfRing) -> None:
    """settle: wave at V · client: b = 2 at V+1, while the run is on · the run reads b for the first time."""
    seen: list[Any] = []

    @weft.computation(id="looks")
    def looks(tx: weft.Tx) -> None:
        tx.get(a)
        if not seen:
            asked = ring.begin_to_ask("client-1", "storage", ring.submission(b=2))
            if ring.loopback is None:
                ring.until(lambda: bool(asked), "the client's commit")
        seen.append(tx.get(b))

    ring.set(a=1, b=1)
    ring.load(looks)
    (result,) = ring.run("looks")
    assert seen == [1]
    assert [read.entity.id for read in result.moved] in (["b"], []), "it moved, unless the client was slower than the run"
    if ring.loopback is None:
        assert [read.entity.id for read in result.moved] == ["b"]
    assert ring.get("b") == 2  # asked behind the commit, by the same client
    ring.run("looks")
    assert seen == [1, 2]


@pytest.mark.parametrize("seed", range(60))
def test_H7_in_every_order_a_run_sees_one_state_and_a_writing_run_over_moved_reads_is_refused(seed: int) -> None:
    """The client writes a and b together, always equal; the run reads a, then b for the first time. It must never see two different ones."""
    with half_ring("loopback", seed) as ring:
        seen: list[tuple[Any, Any]] = []

        @weft.computation(id="compares", output=out)
        def compares(tx: weft.Tx) -> int:
            first = tx.get(a)
            if len(seen) < 3:
                ring.begin_to_ask("client-1", "storage", ring.submission(a=len(seen) + 10, b=len(seen) + 10))
            seen.append((first, tx.get(b)))
            return len(seen)

        ring.set(a=1, b=1)
        ring.load(compares)
        for _ in range(8):
            ring.run("compares")
        assert all(one == other for one, other in seen), seen
        assert ring.get("a") == ring.get("b") == 12
        assert ring.get("out") == 8, "the last run was undisturbed"
        assert ring.reports() == []


def test_what_cannot_be_had_as_of_the_version_any_more_refuses_the_run_and_it_is_planned_again(ring: HalfRing) -> None:
    ring.set(a=1)
    ring.load(adds_up())
    old = ring.version
    ring.actors["storage"].keeping.past._most = 1
    for given in range(5):
        ring.set(a=given + 10)
    (result,) = ring.run("adds_up", version=old)
    assert outcomes([result]) == ["refused"]
    assert result.unusual is not None
    assert result.unusual.refusal is not None
    assert result.unusual.refusal.name == "StorageTransactionInconsistent"
    assert outcomes(ring.run("adds_up")) == ["committed"]
    assert ring.get("out") == 14


# Waves (H12)


def members(*names: str) -> list[Any]:
    made = []
    for before, name in zip(("a", *names), names, strict=False):

        def step(tx: weft.Tx, of: Any) -> Any:
            return tx.get(of, 0) + 1

        made.append(weft.computation(id=f"makes_{name}", args={"of": weft.cell(before)}, output=weft.cell(name))(step))
    return made


def test_later_members_of_a_wave_read_what_earlier_ones_wrote(ring: HalfRing) -> None:
    ring.set(a=1)
    ring.load(*members("x", "y", "z"))
    for given in (1, 5):
        ring.set(a=given)
        assert outcomes(ring.run("makes_x", "makes_y", "makes_z"))[-1] == "committed"
        assert [ring.get(name) for name in "xyz"] == [given + 1, given + 2, given + 3]


def test_H12_a_refused_member_pulls_down_those_that_read_what_it_wrote_and_nobody_else(ring: HalfRing) -> None:
    """The first member reads b, which moves before its commit arrives."""
    first_time: list[bool] = []

    @weft.computation(id="first", output=weft.cell("x"))
    def first(tx: weft.Tx) -> int:
        value = int(tx.get(b, 0))
        if not first_time:
            first_time.append(True)
            storage = ring.actors["storage"]
            if ring.loopback is not None:
                storage.keeping.submit("client-1", ring.submission(b=9))
                storage._send()
            else:
                ring.ask("storage", ring.submission(b=9))
        return value

    @weft.computation(id="second", output=weft.cell("y"))
    def second(tx: weft.Tx) -> int:
        return int(tx.get(weft.cell("x"), 0)) + 1

    @weft.computation(id="third", output=weft.cell("z"))
    def third(tx: weft.Tx) -> int:
        return 7

    ring.set(b=1)
    ring.load(first, second, third)
    assert outcomes(ring.run("first", "second", "third")) == ["refused", "refused", "committed"]
    assert [ring.get(name) for name in "xyz"] == [None, None, 7]
    assert outcomes(ring.run("first", "second", "third")) == ["committed", "committed", "unchanged"]
    assert [ring.get(name) for name in "xyz"] == [9, 10, 7]


def test_H12_results_leave_before_a_long_wave_is_over(ring: HalfRing) -> None:
    ring.load(*members("x", "y", "z"))
    ring.actors["worker-1"].flush = 0.0
    wave = ring.begin_wave(*(ring.made(f"makes_{name}", "worker-1") for name in "xyz"))
    ring.until(lambda: ring.ended(wave), "the wave")
    assert [(len(message.entries) > 0, message.last) for message in ring.changes if message.wave == wave] == [(True, False), (True, False), (True, True)]
    assert outcomes(ring.results(wave)) == ["committed"] * 3


# Fences


def test_H10_after_a_removal_the_run_in_flight_writes_nothing(ring: HalfRing) -> None:
    ring.set(a=1)
    ring.load(adds_up())
    run = ring.made("adds_up", "worker-1")
    ring.remove("adds_up")
    ring.set(out=0)
    assert outcomes(ring.run(run)) == ["refused"]
    assert ring.get("out") == 0
    removal = [entry for entry in ring.entries if entry.entry == "removal"]
    assert [(entry.node, entry.generation) for entry in removal] == [("adds_up", run.generation)]


def test_a_run_under_an_older_token_writes_nothing_and_one_under_the_new_token_does(ring: HalfRing) -> None:
    ring.set(a=1)
    ring.load(adds_up())
    ring.send("settle", "storage", Fence(5, ring.version))
    ring.until(lambda: any(entry.entry == "fence" for entry in ring.entries), "the fence")
    assert ring.changes[-1].token == 5
    assert outcomes(ring.run("adds_up")) == ["refused"]
    ring.token = 5
    assert outcomes(ring.run("adds_up")) == ["committed"]


def test_generations_are_the_place_in_the_log_and_the_epoch(ring: HalfRing) -> None:
    ring.load(adds_up())
    (entry,) = [entry for entry in ring.entries if entry.entry == "registration"]
    assert entry.generation == entry.n + (EPOCH << 32)
    assert entry.unusual is not None
    assert entry.unusual.declared is not None
    assert entry.unusual.declared.outputs == (doc("out").at(VALUE),)


# Faults


def test_a_node_that_raises_exits_or_asks_to_run_later_has_a_result_with_its_reads_and_nothing_written(ring: HalfRing) -> None:
    def bad(tx: weft.Tx, how: str) -> int:
        tx.set(c, 99)
        tx.get(a)
        if how == "raise":
            raise ValueError("no")
        if how == "exit":
            sys.exit(3)
        raise weft.RetryLater("not now")

    ring.set(a=1)
    ring.load(*(weft.computation(id=how, args={"how": how})(bad) for how in ("raise", "exit", "later")), adds_up())
    results = ring.run("raise", "exit", "later", "adds_up")
    assert outcomes(results) == ["failed", "failed", "failed", "committed"]
    faults = [entry.unusual.fault for entry in results[:3] if entry.unusual is not None]
    assert [(fault.kind, fault.code, fault.message, fault.where) for fault in faults if fault is not None] == [
        ("failed", "ValueError", "no", "raise"), ("failed", "SystemExit", "3", "exit"), ("later", "retry-later", "not now", "later"),
    ]  # fmt: skip
    assert all(entry.reads == (Read(doc("a"), VALUE),) for entry in results[:3])
    assert ring.get("c") is None


def test_what_cannot_be_imported_fails_its_run_with_a_sentence_and_the_others_go_on(ring: HalfRing) -> None:
    good = declared_of(adds_up(), "adds_up", "main", ring.functions)
    spec = {**good.spec, "fn": "no_such_module:fn", "kind": "computation"}
    bad = good._replace(node="bad", spec=freeze(spec))
    version = ring.ask("storage", Enter((bad, good), ())).version
    ring.until(lambda: ring.version >= version)
    results = ring.run("bad", "adds_up")
    assert outcomes(results) == ["failed", "committed"]
    assert results[0].unusual is not None
    assert results[0].unusual.fault is not None
    assert (results[0].unusual.fault.code, "no_such_module" in results[0].unusual.fault.message) == ("not-importable", True)


def test_a_node_that_gives_way_ends_where_it_reads_nothing_and_somebody_is_about_to_write(ring: HalfRing) -> None:
    seen: list[Any] = []

    @weft.effect(id="shows")
    def shows(tx: weft.Tx) -> None:
        seen.append(tx.get(out))

    ring.load(shows)
    place = doc("out").at(VALUE)
    (result,) = ring.run(ring.made("shows", "worker-1", gives_way=True), awaited=(Awaited(place, True),))
    assert result.unusual is not None
    assert result.unusual.fault is not None
    assert (result.unusual.fault.kind, seen) == ("unready", [])
    ring.run(ring.made("shows", "worker-1", gives_way=True), awaited=(Awaited(place, False),))
    assert seen == [None]


def test_what_a_run_registers_stands_right_behind_its_commit_and_not_at_all_if_it_is_refused(ring: HalfRing) -> None:
    child = adds_up()

    @weft.computation(id="parent", output=c)
    def parent(tx: weft.Tx) -> int:
        tx.register(child)
        return int(tx.get(a, 0))

    ring.load(parent)
    run = ring.made("parent", "worker-1")
    assert outcomes(ring.run(run)) == ["committed"]
    at = next(index for index, entry in enumerate(ring.entries) if entry.entry == "commit" and entry.node == "parent")
    born = ring.entries[at + 1]
    assert (born.entry, born.node, born.unusual is not None and born.unusual.parent) == ("registration", "adds_up", "parent")
    assert outcomes(ring.run("adds_up")) == ["committed"]
    count = len([entry for entry in ring.entries if entry.entry == "registration"])
    ring.load(parent)
    assert outcomes(ring.run(run._replace(number=99))) == ["refused"], "the generation before"
    assert len([entry for entry in ring.entries if entry.entry == "registration"]) == count + 1


# Clients


def test_a_client_hears_that_its_commit_is_applied_and_then_the_verdict(ring: HalfRing) -> None:
    answer = ring.set(a=1)
    assert answer.pending
    ring.until(lambda: any(isinstance(heard, Decided) for heard in ring.actors["client-1"].heard), "the verdict")
    (verdict,) = [heard for heard in ring.actors["client-1"].heard if isinstance(heard, Decided)]
    assert (verdict.key, verdict.refusal) == (1, None)
    assert ring.ask("storage", PENDING) == Told(0)


def test_a_transaction_whose_reads_have_moved_is_refused_and_one_that_writes_nothing_is_not_pending(ring: HalfRing) -> None:
    ring.set(a=1)
    old = ring.version
    ring.set(a=2)
    read = (UsedRead(doc("a"), VALUE, True, 3),)
    answer = ring.ask("storage", Submit(7, old, read, (Write(doc("b"), "plain", 1),), None, None))
    assert isinstance(answer, Submitted)
    assert (answer.pending, answer.refusal is not None and answer.refusal.name) == (False, "StorageTransactionInconsistent")
    assert ring.ask("storage", Submit(8, ring.version, read, (), None, None))[1:] == (False, None)
    assert ring.get("b") is None


def test_a_client_fetches_as_of_the_version_of_its_first_fetch_and_is_not_fed(ring: HalfRing) -> None:
    ring.set(a=1, b=1)
    first = ring.ask("storage", Fetch(Version(EPOCH, 0), (doc("a"),)))
    ring.set(a=2, b=2)
    second = ring.ask("storage", Fetch(first.version, (doc("b"), doc("a"))))
    assert isinstance(second, Fetched)
    assert [fed.document["value"] for fed in second.documents] == [1, 1]
    assert second.version == first.version
    ring.set(a=3)
    assert "client-1" not in ring.served


def test_H2_clients_wait_while_they_are_too_far_ahead_of_graph_and_go_on_when_it_has_caught_up() -> None:
    for kind in KINDS:
        with half_ring(kind, lead=3) as ring:
            ring.set(a=0)
            ring.send("graph", "storage", Applied(ring.version))
            ring.ask("storage", PENDING, who="graph")
            answers = [ring.begin_to_ask("client-1", "storage", ring.submission(a=given)) for given in range(1, 7)]
            ring.until(lambda answers=answers: len(answers[2]) == 1, "what is let in")  # type: ignore[misc]
            ring.ask("storage", PENDING, who="client-1")
            assert [len(answer) for answer in answers] == [1, 1, 1, 0, 0, 0]
            ring.until(lambda ring=ring: ring.version == ring.actors["storage"].version, "graph's news")  # type: ignore[misc]
            ring.send("graph", "storage", Applied(ring.version))
            ring.until(lambda answers=answers: all(answers), "the rest")  # type: ignore[misc]
            assert ring.get("a") == 6
            assert ring.reports() == []


def test_entries_are_kept_until_graph_has_applied_them(ring: HalfRing) -> None:
    ring.set(a=1)
    ring.set(a=2)
    journal = ring.actors["storage"].keeping.journal
    kept = journal.after(0)
    assert kept is not None
    assert len(kept) == journal.n
    ring.send("graph", "storage", Applied(ring.version))
    ring.ask("storage", PENDING, who="graph")
    assert journal.after(0) is None


# What is printed


def test_what_a_node_prints_is_told_with_its_name_and_nothing_else_is(capsys: pytest.CaptureFixture[str]) -> None:
    with half_ring("loopback", listener="client-1") as ring:

        @weft.computation(id="talks")
        def talks(tx: weft.Tx) -> None:
            print("one")
            print("two", end="")

        ring.load(talks)
        print("before")
        ring.run("talks")
        print("after")
        ring.actors["worker-1"].end()
    assert [heard.value for heard in ring.actors["client-1"].heard if isinstance(heard, News)] == [{"node": "talks", "line": "one"}, {"node": "talks", "line": "two"}]
    assert capsys.readouterr().out == "before\nafter\n"


# Several workers


@pytest.mark.parametrize("seed", range(20))
def test_two_workers_that_hold_the_same_documents_stay_equal_to_storage(seed: int) -> None:
    with half_ring("loopback", seed, workers=2) as ring:

        @weft.computation(id="counts")
        def counts(tx: weft.Tx) -> None:
            tx.increment(out)
            tx.get(out)
            tx.get(a)

        ring.set(a=0)
        ring.load(counts)
        for given in range(6):
            for worker in ("worker-1", "worker-2"):
                assert outcomes(ring.run("counts", worker=worker)) == ["committed"]
            ring.set(a=given)
        assert ring.get("out") == 12
        assert ring.reports() == []


def test_a_commit_that_makes_no_sense_is_refused_and_the_others_of_its_message_are_not(ring: HalfRing) -> None:
    ring.load(adds_up())
    generation = ring.generation("adds_up")
    bad = Finished("adds_up", generation, 1, (UsedRead(doc("a"), VALUE, True, 9),), (), (), None, 0.1, None, None)
    good = Finished("adds_up", generation, 2, (), (Write(doc("out"), "plain", 5),), (), None, 0.1, None, None)
    ring.send("settle", "storage", CommitRuns(0, ring.version, 77, (bad, good), True))
    ring.until(lambda: ring.ended(77), "the wave")
    assert outcomes(ring.results(77)) == ["refused", "committed"]
