"""What goes wrong inside an actor stays there: it is reported, whoever asked is told at once, and neither the actor, its neighbours nor its name suffer."""

import logging
import queue
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.wiring import PATIENCE, Hand, Scribe, fence, posts, until
from weft.actors.component import Component
from weft.actors.guard import Guard
from weft.actors.questions import MOST_FIELDS, Questions, failure
from weft.actors.reporter import MOST_TEXT, Log, Record
from weft.scheduler.errors import ActorDead, Misuse, Undecodable, WaitTimeout, WeftError
from weft.scheduler.model import Version
from weft.wire.codec import Codec
from weft.wire.endpoints import Inproc, Ipc
from weft.wire.feeding import Feed, Fetch, Fetched
from weft.wire.loopback import Loopback
from weft.wire.messages import TABLE, Credit, Failed, Fence, Hello, Presence
from weft.wire.post import Post
from weft.wire.table import Message


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Thrower(Scribe):
    """Handles Fence with whatever `act` is."""

    act: Callable[[], Any]

    def on_fence(self, message: Fence, sender: str) -> Any:
        return self.act()


def throw(error: BaseException) -> Callable[[], Any]:
    def act() -> Any:
        raise error

    return act


def reports(actor: Component) -> list[tuple[str, str, str]]:
    assert isinstance(actor.reporter, Record)
    return [(report.what, report.about, type(report.error).__name__) for report in actor.reporter.reports]


def asked(act: Callable[[], Any]) -> tuple[Message | WeftError, Thrower]:
    """What a worker hears when it asks a Thrower, and the Thrower."""
    loopback, outcomes = Loopback(), list[Message | WeftError]()
    storage, worker = Thrower.play(loopback, "storage"), Scribe.play(loopback, "worker")
    storage.act = act
    worker.ask("storage", fence(1), outcomes.append, within=PATIENCE)
    loopback.run()
    assert storage.questions.owed == set()
    (outcome,) = outcomes
    return outcome, storage


@pytest.fixture
def post(tmp_path: Path) -> Iterator[Post]:
    with posts(lambda: Ipc(tmp_path / "run")) as post:
        yield post


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("\ud800"), r"ValueError: \ud800"),
        (ValueError("x" * 50_000_000), f"ValueError: {'x' * MOST_TEXT}… (50000000 characters)"),
        (Mute(), "Mute: (its text cannot be had: RuntimeError)"),
        (SystemExit(3), "SystemExit: 3"),
        (GeneratorExit(), "GeneratorExit: "),
        (Undecodable("a row", reason="text"), "a row"),
    ],
    ids=["surrogate", "50MB", "mute", "exit", "generator-exit", "undecodable"],
)
def test_an_asker_hears_of_any_error_at_once(error: BaseException, told: str) -> None:
    outcome, _ = asked(throw(error))
    assert isinstance(outcome, WeftError)
    assert str(outcome) == told


@pytest.mark.parametrize(
    "answer", ["no message", Failed("X", "\ud800", None), Failed("X", "x" * 50_000_000, None), Failed("X", "", object())], ids=["text", "surrogate", "50MB", "object"]
)
def test_an_answer_that_cannot_be_sent_becomes_an_error_for_the_asker(answer: Any) -> None:
    outcome, storage = asked(lambda: answer)
    assert isinstance(outcome, Misuse)
    assert reports(storage) == [("failed", "Fence", "Misuse")]


def test_a_late_answer_that_cannot_be_sent_becomes_an_error_for_the_asker() -> None:
    loopback = Loopback()
    storage, worker = Scribe.play(loopback, "storage"), Scribe.play(loopback, "worker")
    worker.put_question("storage", 99)
    loopback.run()
    (owed,) = storage.questions.owed
    with pytest.raises(Misuse, match="cannot be sent"):
        storage.answer(owed, Failed("X", "\ud800", None))
    loopback.run()
    assert isinstance(until(worker.news, lambda piece: isinstance(piece, WeftError)), Misuse)
    assert storage.questions.owed == set()


def test_fields_of_an_error_that_cannot_be_sent_are_left_out() -> None:
    class Odd(WeftError):
        told: Any = None

        def fields(self) -> dict[str, Any]:
            return {"x": self.told}

    error = Odd("text")
    for error.told in ("\ud800", object(), "y" * (MOST_FIELDS + 1)):
        assert failure(error) == Failed("Odd", "text", {})
    error.told = 1
    assert failure(error) == Failed("Odd", "text", {"x": 1})


@pytest.mark.parametrize("fields", [None, 5, "text", [1], {"unknown": 1}])
def test_an_error_with_fields_of_any_shape_ends_its_question(fields: Any) -> None:
    outcome, _ = asked(lambda: Failed("ActorDead", "gone", fields))
    assert isinstance(outcome, ActorDead)


def test_sys_exit_in_a_handler_stops_nobody(post: Post) -> None:
    refs = [Thrower.start(post, name) for name in ("bystander", "storage")] + [Scribe.start(post, "worker")]
    _, storage, worker = [ref._actor_weakref() for ref in refs]
    assert isinstance(storage, Thrower)
    assert worker is not None
    storage.act = lambda: sys.exit(3)
    news: queue.SimpleQueue[Any] = queue.SimpleQueue()
    worker.actor_ref.proxy().ask("storage", fence(1), news.put, within=PATIENCE).get(timeout=PATIENCE)
    assert str(news.get(timeout=PATIENCE)) == "SystemExit: 3"
    assert [ref.is_alive() for ref in refs] == [True, True, True]
    assert reports(storage) == [("failed", "Fence", "SystemExit")]
    for ref in refs:
        ref.stop(timeout=PATIENCE)


def test_the_users_interrupt_passes_and_an_actors_does_not() -> None:
    """On a loopback handlers run in the main thread, where Ctrl-C arrives."""
    loopback = Loopback()
    storage, worker = Thrower.play(loopback, "storage"), Scribe.play(loopback, "worker")
    storage.act = throw(KeyboardInterrupt())
    worker.tell("storage", fence(1))
    with pytest.raises(KeyboardInterrupt):
        loopback.run()
    assert reports(storage) == []


def test_junk_that_is_put_in_locally_is_reported_or_told_to_whoever_asks(post: Post) -> None:
    ref = Scribe.start(post, "storage")
    actor = ref._actor_weakref()
    assert actor is not None
    ref.tell({"junk": 1})
    with pytest.raises(Misuse, match="storage takes messages from the wire only"):
        ref.ask("junk", timeout=PATIENCE)
    assert ref.is_alive()
    assert reports(actor) == [("failed", "dict", "Misuse")]
    ref.stop(timeout=PATIENCE)


def test_sys_exit_in_a_local_call_is_told_to_the_caller(post: Post) -> None:
    class Leaver(Scribe):
        def leave(self) -> None:
            sys.exit(4)

    ref = Leaver.start(post, "storage")
    with pytest.raises(WeftError, match="SystemExit: 4"):
        ref.proxy().leave().get(timeout=PATIENCE)
    assert ref.is_alive()
    ref.stop(timeout=PATIENCE)


def test_an_actor_that_pykka_gives_up_gives_its_name_back(post: Post) -> None:
    class Broken(Record):
        def failed(self, actor: str, kind: str, error: BaseException) -> None:
            raise RuntimeError("the reporter itself is broken")

    ref = Scribe.start(post, "storage", reporter=Broken())
    ref.tell("junk")
    ref.actor_stopped.wait(PATIENCE)
    ref.stop(timeout=PATIENCE)
    Scribe.start(_patient(post), "storage", 2).stop(timeout=PATIENCE)


def _patient(post: Post) -> Any:
    """Opens a mailbox as soon as its name is free: pykka calls an actor stopped before its hooks have run."""

    class Patient:
        connect, is_known = staticmethod(post.connect), staticmethod(post.is_known)

        @staticmethod
        def open(mailbox: Any) -> None:
            for _ in range(100_000):
                try:
                    return post.open(mailbox)
                except WeftError:
                    continue
            raise AssertionError("the name is still locked")

    return Patient()


@pytest.mark.parametrize("error", [RuntimeError("no"), SystemExit(2)])
def test_an_actor_that_cannot_begin_stops_and_gives_its_name_back(post: Post, error: BaseException) -> None:
    class Unable(Scribe):
        def begin(self) -> None:
            raise error

    record = Record()
    ref = Unable.start(post, "storage", reporter=record)
    assert ref.actor_stopped.wait(PATIENCE)
    assert [(report.about, report.error) for report in record.reports] == [("begin", error)]
    Scribe.start(_patient(post), "storage", 2).stop(timeout=PATIENCE)


# Questions


def raising(outcomes: list[Any]) -> Callable[[Any], None]:
    def then(outcome: Any) -> None:
        outcomes.append("raised")
        sys.exit(1)

    return then


def questions(outcomes: list[Any]) -> tuple[Questions, Record]:
    record = Record()
    asking = Questions(Guard("worker", record).failed)
    for then in (raising(outcomes), outcomes.append, raising(outcomes), outcomes.append):
        asking.ask("storage", "Fetch", then, 1.0)
    return asking, record


@pytest.mark.parametrize(
    ("end", "kind"),
    [(lambda asking: asking.expire(2.0), WaitTimeout), (lambda asking: asking.bury("storage"), ActorDead), (lambda asking: asking.close("worker"), ActorDead)],
    ids=["deadline", "replaced", "stopped"],
)
def test_every_question_ends_whatever_another_makes_of_its_end(end: Callable[[Questions], None], kind: type) -> None:
    outcomes: list[Any] = []
    asking, record = questions(outcomes)
    end(asking)
    assert [outcome if outcome == "raised" else type(outcome) for outcome in outcomes] == ["raised", kind, "raised", kind]
    assert [(report.about, type(report.error)) for report in record.reports] == [("Fetch", SystemExit)] * 2


def test_end_is_called_and_the_owed_are_answered_whatever_fails_at_the_stop(post: Post) -> None:
    ended: list[str] = []

    class Sore(Scribe):
        def end(self) -> None:
            ended.append(self.name)
            raise RuntimeError("sore")

    ref, worker_ref = Sore.start(post, "storage"), Scribe.start(post, "worker")
    storage, worker = ref._actor_weakref(), worker_ref._actor_weakref()
    assert storage is not None
    assert worker is not None
    ref.proxy().ask("nobody", fence(1), raising([]), within=PATIENCE).get(timeout=PATIENCE)
    worker_ref.proxy().put_question("storage", 99).get(timeout=PATIENCE)
    worker_ref.proxy().put_question("storage", 1)
    until(worker.news, lambda piece: isinstance(piece, Fetched))
    ref.stop(timeout=PATIENCE)
    assert isinstance(until(worker.news, lambda piece: isinstance(piece, WeftError)), ActorDead)
    assert ended == ["storage"]
    assert reports(storage) == [("failed", "Fence", "SystemExit"), ("failed", "end", "RuntimeError")]
    worker_ref.stop(timeout=PATIENCE)


def test_nothing_is_asked_once_an_actor_has_stopped() -> None:
    asking = Questions(Guard("worker", Record()).failed)
    asking.close("worker")
    with pytest.raises(ActorDead, match="worker has stopped"):
        asking.ask("storage", "Fetch", print, 1.0)


def test_every_question_in_a_full_mailbox_is_answered_at_the_stop() -> None:
    """More than two intakes of the mailbox, all behind a message whose handler stops the actor."""
    many = 25_000

    class Leaving(Scribe):
        def on_feed(self, message: Feed, sender: str) -> None:
            news.get(timeout=PATIENCE)  # until all have been sent
            self.stop()

        def on_fetch(self, message: Fetch, sender: str) -> None:
            """Left open."""

    news: queue.SimpleQueue[Any] = queue.SimpleQueue()
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    class Asking(Scribe):
        def flood(self) -> None:
            self.tell("storage", Feed(1, Version(1, 1), (), (), False))
            for _ in range(many):
                self.ask("storage", Fetch(Version(1, 1), ()), answers.put, within=PATIENCE)
            news.put("sent")

    with posts(Inproc) as post:
        Leaving.start(post, "storage")
        ref = Asking.start(post, "worker")
        worker = ref._actor_weakref()
        assert worker is not None
        ref.proxy().link("storage").get(timeout=PATIENCE)
        until(worker.news, lambda piece: piece == ("met", "storage", 1))
        ref.proxy().flood().get(timeout=PATIENCE)
        assert {type(answers.get(timeout=PATIENCE)) for _ in range(many)} == {ActorDead}
        ref.stop(timeout=PATIENCE)


# At the edge


def test_answers_of_an_actor_at_the_edge_are_neither_refused_nor_lost(post: Post) -> None:
    class Edge(Scribe):
        edge_bound = 2

    edge, ring = Edge.start(post, "edge"), Scribe.start(post, "ring")
    actor = ring._actor_weakref()
    assert actor is not None
    for n in range(100, 150):
        ring.proxy().put_question("edge", n)
    assert [until(actor.news, lambda piece: isinstance(piece, Fetched)).version.n for _ in range(50)] == list(range(100, 150))
    for ref in (edge, ring):
        ref.stop(timeout=PATIENCE)


def test_two_actors_at_the_edge_do_not_thank_each_other_for_ever() -> None:
    class Edge(Scribe):
        edge_bound = 2

    loopback = Loopback()
    first, second = Edge.play(loopback, "first"), Edge.play(loopback, "second")
    first.link("second")
    loopback.run()
    for token in range(10):
        first.tell("second", fence(token))
        loopback.run(turns=50)
    assert [message for _, message in second.seen] == [fence(token) for token in range(10)]


# Greetings


def test_a_greeting_that_asks_is_refused_and_nothing_is_owed_for_it() -> None:
    loopback = Loopback()
    graph = Scribe.play(loopback, "graph")
    codec, hand = Codec(TABLE), Hand()
    loopback.put("hand", "graph", hand.hello())
    for number in range(1, 101):
        loopback.put("hand", "graph", codec.encode("hand", 1, 1, 0, number, Hello(Presence(), 0, 0)))
    loopback.put("hand", "graph", codec.encode("hand", 1, 1, 1, 7, Hello(Presence(), 0, 0)))  # as a numbered message, which looks like any other
    loopback.run()
    assert dict(graph.mailbox.refused) == {"envelope": 101}
    assert graph.questions.owed == set()


# The log


@pytest.mark.parametrize("error", [ValueError("\ud800"), ValueError("x" * 1_000_000), Mute()], ids=["surrogate", "long", "mute"])
def test_the_log_takes_any_error(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    try:
        raise error
    except Exception as caught:
        Log().failed("storage", "Fetch", caught)
    text = logging.Formatter().format(caplog.records[-1])
    assert text.startswith("storage: handling Fetch failed: ")
    assert "test_failures.py" in text
    assert len(text.encode()) < 3 * MOST_TEXT


def test_credit_is_a_message_like_any_other_when_it_is_an_answer() -> None:
    assert asked(lambda: Credit(5))[0] == Credit(5)
