"""The mailbox as pykka's inbox: local messages keep their place, alarms go off, a closed mailbox fails what is put into it."""

import math
from collections.abc import Iterator
from typing import Any

import pykka
import pytest
from harness.wiring import PATIENCE, Hand, fence
from pykka._envelope import Envelope
from weft.scheduler.errors import Undecodable
from weft.wire.endpoints import Inproc
from weft.wire.mail import Tick
from weft.wire.mailbox import Mailbox
from weft.wire.messages import TABLE, Hello
from weft.wire.post import Post
from weft.wire.sockets import Outlet, Sockets


class Desk:
    """A mailbox and somebody who writes to it."""

    def __init__(self, post: Post) -> None:
        self.now = 0.0
        self.errors: list[Undecodable] = []
        self.mailbox = Mailbox("graph", 1, TABLE, self.errors.append, post.is_known, lambda: self.now)
        post.open(self.mailbox)
        self.outlet: Outlet = post.connect("hand", "graph")
        self.hand = Hand()
        self.outlet.send(self.hand.hello())

    def close(self) -> None:
        self.outlet.close()
        self.mailbox.close()


@pytest.fixture
def desk() -> Iterator[Desk]:
    sockets = Sockets()
    desk = Desk(Post(sockets, Inproc()))
    yield desk
    desk.close()
    sockets.close()


def test_frames_come_out_decoded_and_in_order(desk: Desk) -> None:
    for token in range(3):
        desk.outlet.send(desk.hand.frame(fence(token)))
    assert type(desk.mailbox.get().message) is Hello
    assert [desk.mailbox.get().message for _ in range(3)] == [fence(0), fence(1), fence(2)]
    assert desk.mailbox.empty()


def test_a_local_message_comes_after_everything_that_had_arrived(desk: Desk) -> None:
    for token in range(50):
        desk.outlet.send(desk.hand.frame(fence(token)))
    local: Envelope[Any] = Envelope("local")
    desk.mailbox.put(local)
    desk.outlet.send(desk.hand.frame(fence(50)))
    got = [desk.mailbox.get() for _ in range(53)]
    assert got.index(local) >= 51
    assert [item.message.token for item in got if hasattr(item.message, "token")] == list(range(51))


def test_bad_frames_are_skipped_counted_and_reported(desk: Desk) -> None:
    for data in (b"\xc1", b"", b"\x93\x01\x02\x03", desk.hand.frame(fence(7))):
        desk.outlet.send(data)
    assert type(desk.mailbox.get().message) is Hello
    assert desk.mailbox.get().message == fence(7)
    assert dict(desk.mailbox.refused) == {"malformed": 1, "truncated": 1, "envelope": 1}
    assert [error.reason for error in desk.errors] == ["malformed", "truncated", "envelope"]


def test_counts_say_what_was_taken_and_what_is_done(desk: Desk) -> None:
    sizes = [len(data) for data in (desk.hand.frame(fence(token)) for token in range(2)) if desk.outlet.send(data)]
    desk.mailbox.get()
    arrival = desk.mailbox.arrivals.known["hand"]
    desk.mailbox.get()
    assert (arrival.taken, arrival.handled) == (1, 0)
    assert desk.mailbox.current is not None
    assert desk.mailbox.current.message == fence(0)
    desk.now = 2.5
    desk.mailbox.get()
    assert (arrival.taken, arrival.handled, arrival.bytes) == (2, 1, sum(sizes))
    handling = desk.mailbox.kinds[type(fence(0))]
    assert (handling.times, handling.seconds) == (1, 2.5)


def test_the_alarm_goes_off_whether_or_not_mail_comes(desk: Desk) -> None:
    desk.mailbox.get()
    desk.mailbox.set_alarm(5.0, 0.0)
    desk.outlet.send(desk.hand.frame(fence(1)))
    assert desk.mailbox.get().message == fence(1)
    desk.now = 6.0
    assert type(desk.mailbox.get()) is Tick
    assert desk.mailbox.alarm == math.inf


def test_a_closed_mailbox_fails_the_question_that_is_put_into_it(desk: Desk) -> None:
    desk.mailbox.close()
    future: pykka.ThreadingFuture[Any] = pykka.ThreadingFuture()
    desk.mailbox.put(Envelope("late", reply_to=future))
    with pytest.raises(pykka.ActorDeadError, match="graph has stopped"):
        future.get(timeout=PATIENCE)


def test_what_remains_is_handed_over_and_local_messages_stay(desk: Desk) -> None:
    desk.outlet.send(desk.hand.frame(fence(1), ask=4))
    local: Envelope[Any] = Envelope("local")
    desk.mailbox.put(local)
    left = list(desk.mailbox.remains())
    assert [(frame.ask, type(frame.message).__name__) for frame in left] == [(0, "Hello"), (4, "Fence")]
    desk.mailbox.close()
    assert desk.mailbox.get() is local
    assert desk.mailbox.empty()
