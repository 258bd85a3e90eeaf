"""The base actor, on every transport: dispatch, questions, failures that are reported and never stop it, and an end that answers everybody."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.wiring import PATIENCE, Hand, Scribe, fence, posts, running, until
from weft.actors.component import GREET_AGAIN, Component
from weft.actors.reporter import Record
from weft.scheduler.errors import ActorDead, AlreadyBound, Busy, Misuse, WaitTimeout, WeftError
from weft.scheduler.model import Version
from weft.wire.endpoints import Endpoints, Inproc, Ipc
from weft.wire.feeding import Feed, Fetch, Fetched
from weft.wire.loopback import Loopback
from weft.wire.messages import Counted, Fence, Heartbeat, Presence, Probe
from weft.wire.post import Post

STALE = Feed(1, Version(1, 1), (), (), True)


@pytest.fixture(params=["inproc", "ipc"])
def post(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Post]:
    make: dict[str, Callable[[], Endpoints]] = {"inproc": Inproc, "ipc": lambda: Ipc(tmp_path / "run")}
    with posts(make[request.param]) as post:
        yield post


class Started:
    """Scribes that run in threads, and are stopped with the test."""

    def __init__(self, post: Post) -> None:
        self.post = post
        self.refs: list[Any] = []

    def __call__(self, name: str, epoch: int = 1) -> tuple[Any, Scribe]:
        ref = Scribe.start(self.post, name, epoch)
        actor = ref._actor_weakref()
        self.refs.append(ref)
        assert actor is not None
        return ref, actor


@pytest.fixture
def start(post: Post) -> Iterator[Started]:
    started = Started(post)
    yield started
    for ref in started.refs:
        if ref.is_alive():
            ref.stop(timeout=PATIENCE)


def is_a(kind: type) -> Callable[[Any], bool]:
    return lambda piece: isinstance(piece, kind)


def failures(actor: Scribe) -> list[tuple[str, str]]:
    assert isinstance(actor.reporter, Record)
    return [(report.about, str(report.error)) for report in actor.reporter.reports if report.what == "failed"]


def test_a_question_is_answered_over_the_wire(start: Started) -> None:
    start("storage")
    ref, worker = start("worker")
    ref.proxy().put_question("storage", 5).get(timeout=PATIENCE)
    assert until(worker.news, is_a(Fetched)) == Fetched(Version(1, 5), (), ())


def test_an_exception_is_reported_answered_and_survived(start: Started) -> None:
    _, storage = start("storage")
    ref, worker = start("worker")
    ref.proxy().put_question("storage", 13)
    error = until(worker.news, is_a(WeftError))
    assert "unlucky" in str(error)
    assert failures(storage) == [("Fetch", "'unlucky'")]
    ref.proxy().put_question("storage", 6)
    assert until(worker.news, is_a(Fetched)).version.n == 6


def test_an_exception_in_a_one_way_message_does_not_stop_the_actor(start: Started) -> None:
    storage_ref, storage = start("storage")
    ref, worker = start("worker")
    ref.proxy().tell("storage", STALE).get(timeout=PATIENCE)
    ref.proxy().put_question("storage", 7)
    assert until(worker.news, is_a(Fetched)).version.n == 7
    assert storage_ref.is_alive()
    assert failures(storage) == [("Feed", "the feed is stale")]


def test_a_question_left_open_is_answered_when_the_actor_stops(start: Started) -> None:
    storage_ref, storage = start("storage")
    ref, worker = start("worker")
    ref.proxy().put_question("storage", 99).get(timeout=PATIENCE)
    ref.proxy().put_question("storage", 1)
    until(worker.news, is_a(Fetched))  # so the one before has been handled
    storage_ref.stop(timeout=PATIENCE)
    assert isinstance(until(worker.news, is_a(WeftError)), ActorDead)
    assert storage.questions.owed == set()


def test_what_had_arrived_before_the_stop_is_handled_before_it() -> None:
    """storage sits in a handler while twenty messages, and then the stop, arrive behind it."""
    inside, leave = threading.Event(), threading.Event()

    class Slow(Scribe):
        def on_feed(self, message: Feed, sender: str) -> None:
            inside.set()
            assert leave.wait(PATIENCE)

    with posts(Inproc) as post, running(post, "worker") as (worker,):
        ref = Slow.start(post, "storage")
        storage = ref._actor_weakref()
        assert storage is not None
        worker.actor_ref.proxy().tell("storage", STALE).get(timeout=PATIENCE)
        assert inside.wait(PATIENCE)
        for token in range(20):
            worker.actor_ref.proxy().tell("storage", fence(token)).get(timeout=PATIENCE)
        stopping = ref.stop(block=False)
        leave.set()
        assert stopping.get(timeout=PATIENCE) is True
    assert [message.token for _, message in storage.seen if isinstance(message, Fence)] == list(range(20))


def test_an_unanswered_question_ends_at_its_deadline(start: Started) -> None:
    ref, worker = start("worker")
    ref.proxy().put_question("nobody", 1, 0.05)
    assert isinstance(until(worker.news, is_a(WeftError)), WaitTimeout)


def test_a_successor_is_met_and_the_old_questions_end(start: Started) -> None:
    first, _ = start("storage", 1)
    ref, worker = start("worker")
    ref.proxy().put_question("storage", 5)
    until(worker.news, is_a(Fetched))
    first.stop(timeout=PATIENCE)
    second_ref, second = start("storage", 2)
    second_ref.proxy().link("worker")
    until(worker.news, lambda piece: piece == ("met", "storage", 2))
    ref.proxy().put_question("storage", 6)
    assert until(worker.news, is_a(Fetched)).version.n == 6
    assert [message.version.n for _, message in second.seen if isinstance(message, Fetch)] == [6]


def test_messages_wait_for_an_actor_that_comes_later(start: Started) -> None:
    ref, _ = start("settle")
    for token in range(3):
        ref.proxy().tell("graph", fence(token)).get(timeout=PATIENCE)
    _, graph = start("graph")
    assert [until(graph.news, is_a(Fence)).token for _ in range(3)] == [0, 1, 2]


def test_a_second_actor_of_one_name_is_refused(post: Post, start: Started) -> None:
    start("graph")
    with pytest.raises((AlreadyBound, Misuse)):
        Scribe.start(post, "graph", 2)


def test_a_probe_is_answered_with_state_and_counts(start: Started) -> None:
    start("graph")
    ref, settle = start("settle")
    ref.proxy().ask("graph", Probe(), settle.news.put, within=PATIENCE)
    heartbeat = until(settle.news, is_a(Heartbeat))
    assert heartbeat.presence == Presence()
    assert [counted.actor for counted in heartbeat.handled] == ["settle"]


# Without threads


def test_handlers_for_no_message_are_a_mistake_of_the_class() -> None:
    with pytest.raises(Misuse, match="on_fance handles no message"):

        class Typo(Component):
            def on_fance(self, message: Fence, sender: str) -> None: ...


def test_a_message_without_a_handler_is_reported_and_answered() -> None:
    loopback = Loopback()
    plain = Component.play(loopback, "plain", reporter=Record())
    worker = Scribe.play(loopback, "worker")
    worker.put_question("plain", 1)
    loopback.run()
    assert "does not take Fetch" in str(until(worker.news, is_a(WeftError)))
    assert isinstance(plain.reporter, Record)
    assert [report.about for report in plain.reporter.reports] == ["Fetch"]


def test_depth_is_what_was_sent_less_what_was_handled() -> None:
    loopback = Loopback()
    graph, settle = Scribe.play(loopback, "graph"), Scribe.play(loopback, "settle")
    settle.link("graph")
    loopback.run()
    for token in range(4):
        settle.tell("graph", fence(token))
    link, arrival = settle.links["graph"], graph.mailbox.arrivals.known["settle"]
    depths = [link.seq - arrival.done]
    while loopback.step():
        depths.append(link.seq - arrival.done)
    assert depths == [4, 3, 2, 1, 0]
    assert graph.heartbeat().handled == (Counted("settle", 4, link.bytes),)


def test_greetings_are_repeated_until_they_are_answered() -> None:
    now = [0.0]
    loopback = Loopback()
    settle = Scribe.play(loopback, "settle", clock=lambda: now[0])
    settle.tell("graph", fence(1))
    for _ in range(3):
        now[0] += GREET_AGAIN
        settle.tick(now[0])
    assert loopback.under_way("settle", "graph") == 4
    graph = Scribe.play(loopback, "graph")
    loopback.run()
    now[0] += GREET_AGAIN
    settle.tick(now[0])
    assert loopback.waiting == 0
    assert [message for _, message in graph.seen] == [fence(1)]


def test_rule_6_the_greeting_states_the_senders_present_state() -> None:
    class Stateful(Scribe):
        def presence(self) -> Presence:
            return Presence("paused", Version(4, 44), 9)

    loopback = Loopback()
    settle = Scribe.play(loopback, "settle")
    Stateful.play(loopback, "graph").link("settle")
    loopback.run()
    assert ("graph", 1, Presence("paused", Version(4, 44), 9)) in settle.peers


def test_rule_7_only_a_sender_at_the_edge_is_held_back() -> None:
    class Client(Scribe):
        edge_bound = 4

    loopback = Loopback()
    storage = Scribe.play(loopback, "storage")
    client, settle = Client.play(loopback, "client"), Scribe.play(loopback, "settle")
    for actor in (client, settle):
        actor.link("storage")
    loopback.run()
    for token in range(4):
        client.tell("storage", fence(token))
    with pytest.raises(Busy, match="4 is the most"):
        client.tell("storage", fence(4))
    for token in range(1000):
        settle.tell("storage", fence(token))
    loopback.run()
    client.tell("storage", fence(4))
    loopback.run()
    assert [message.token for sender, message in storage.seen if sender == "client" and isinstance(message, Fence)] == [0, 1, 2, 3, 4]
    assert len(storage.seen) == 1005


def test_refused_frames_are_counted_reported_and_survived() -> None:
    loopback = Loopback()
    graph = Scribe.play(loopback, "graph")
    hand = Hand()
    late = Hand(to_epoch=7)
    for data in (b"garbage", hand.frame(fence(0)), hand.hello(), late.frame(fence(1), seq=1), hand.frame(fence(2), seq=1), hand.frame(fence(2), seq=1)):
        loopback.put("hand", "graph", data)
    loopback.run()
    assert dict(graph.mailbox.refused) == {"trailing": 1, "unannounced": 1, "stale-receiver": 1, "repeated": 1}
    assert isinstance(graph.reporter, Record)
    assert sorted(report.about for report in graph.reporter.reports) == ["repeated", "stale-receiver", "trailing", "unannounced"]
    assert [message for _, message in graph.seen] == [fence(2)]


def test_an_answer_that_nobody_asked_for_is_refused() -> None:
    loopback = Loopback()
    graph = Scribe.play(loopback, "graph")
    hand = Hand()
    for data in (hand.hello(), hand.frame(Fetched(Version(1, 1), (), ()), ask=-12)):
        loopback.put("hand", "graph", data)
    loopback.run()
    assert dict(graph.mailbox.refused) == {"unasked": 1}
