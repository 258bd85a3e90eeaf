"""An actor that waits for an answer inside a handler: it gets that past everything else, and loses and reorders nothing."""

from collections.abc import Iterator
from typing import Any

import pytest
from harness.wiring import PATIENCE, Scribe, fence, posts, until
from weft.actors.inquiry import Inquirer
from weft.scheduler.errors import ActorDead, WaitTimeout, WeftError
from weft.scheduler.model import Version
from weft.wire.endpoints import Inproc
from weft.wire.feeding import Feed, Fetch, Fetched
from weft.wire.loopback import Loopback
from weft.wire.post import Post


class Asker(Inquirer, Scribe):
    """A Fence lets it ask, with the token as the version; what it hears of the answer stands among what it has seen."""

    within = PATIENCE

    def on_fence(self, message: Any, sender: str) -> None:
        super().on_fence(message, sender)
        if message.token >= 100:
            answer = self.inquire("storage", Fetch(Version(1, message.token - 100), ()), within=self.within)
            self.seen.append(("answer", answer))  # type: ignore[arg-type]
            self.news.put(answer)


def tokens(actor: Scribe) -> list[Any]:
    return [message.token if hasattr(message, "token") else "answer" for _, message in actor.seen]


@pytest.mark.parametrize("seed", range(40))
def test_the_answer_overtakes_and_everything_else_keeps_its_order(seed: int) -> None:
    loopback = Loopback(seed)
    asker, storage, other = Asker.play(loopback, "asker"), Scribe.play(loopback, "storage"), Scribe.play(loopback, "other")
    for token in (101, 2, 3, 104, 5, 6):
        other.tell("asker", fence(token))
    for token in (20, 21, 22):
        storage.tell("asker", fence(token))
    loopback.run()
    heard = tokens(asker)
    assert [token for token in heard if token in (101, 2, 3, 104, 5, 6)] == [101, 2, 3, 104, 5, 6]
    assert [token for token in heard if token in (20, 21, 22)] == [20, 21, 22]
    assert [heard[heard.index(token) + 1] for token in (101, 104)] == ["answer", "answer"], "nothing was handled while it waited"
    assert asker.gaps == []
    assert all(arrival.handled == arrival.taken for arrival in asker.mailbox.arrivals.known.values())


def test_on_a_loopback_where_nobody_will_answer_the_wait_ends() -> None:
    loopback = Loopback()
    asker, other = Asker.play(loopback, "asker"), Scribe.play(loopback, "other")
    other.tell("asker", fence(101))
    loopback.run()
    (answer,) = [message for name, message in asker.seen if name == "answer"]
    assert isinstance(answer, WaitTimeout)


@pytest.fixture
def post() -> Iterator[Post]:
    with posts(Inproc) as post:
        yield post


def test_over_sockets_what_comes_meanwhile_is_handled_afterwards_and_a_stop_too(post: Post) -> None:
    refs = [kind.start(post, name) for kind, name in ((Asker, "asker"), (Scribe, "storage"), (Scribe, "other"))]
    try:
        asker = refs[0]._actor_weakref()
        assert isinstance(asker, Asker)
        other = refs[2].proxy()
        for token in (101, 2, 103, 4):
            other.tell("asker", fence(token)).get()
        until(asker.news, lambda piece: getattr(piece, "token", 0) == 4)
        assert tokens(asker) == [101, "answer", 2, 103, "answer", 4]
        assert asker.gaps == []
    finally:
        for ref in refs:
            ref.stop(timeout=PATIENCE)


def test_a_deadline_and_an_error_end_the_wait(post: Post) -> None:
    refs = [kind.start(post, name) for kind, name in ((Asker, "asker"), (Scribe, "storage"), (Scribe, "other"))]
    try:
        asker = refs[0]._actor_weakref()
        assert isinstance(asker, Asker)
        refs[2].proxy().tell("asker", fence(113)).get()  # the Scribe raises for 13
        assert isinstance(until(asker.news, lambda piece: isinstance(piece, WeftError)), WeftError)
        asker.within = 0.01
        refs[2].proxy().tell("asker", fence(199)).get()  # and leaves 99 open
        assert isinstance(until(asker.news, lambda piece: isinstance(piece, WaitTimeout)), WaitTimeout)
        asker.within = PATIENCE
        refs[2].proxy().tell("asker", fence(105)).get()
        assert isinstance(until(asker.news, lambda piece: isinstance(piece, Fetched)), Fetched)
    finally:
        for ref in refs:
            ref.stop(timeout=PATIENCE)


def test_the_death_of_the_asked_ends_the_wait() -> None:
    loopback = Loopback()
    asker, other = Asker.play(loopback, "asker"), Scribe.play(loopback, "other")
    storage = Scribe.play(loopback, "storage")
    storage.tell("asker", Feed(1, Version(1, 1), (), (), False))
    loopback.run()
    loopback.crash("storage", keep_mail=False)
    other.tell("asker", fence(101))
    successor = Scribe.play(loopback, "storage", 2)
    successor.tell("asker", fence(7))
    loopback.run()
    (answer,) = [message for name, message in asker.seen if name == "answer"]
    assert isinstance(answer, (ActorDead, WaitTimeout, Fetched))
    assert 7 in tokens(asker)
