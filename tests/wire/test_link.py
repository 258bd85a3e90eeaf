"""An outgoing link: the handshake first, numbers per pair of epochs, bounds at the edge."""

import pytest
from harness.wiring import fence
from weft.scheduler.errors import Busy, Misuse
from weft.wire.codec import Codec
from weft.wire.link import Link
from weft.wire.messages import TABLE, Credit, Failed, Hello, Presence, Ready


class Out:
    """Takes frames down; `room` is how many it still takes."""

    def __init__(self, room: int = 1000) -> None:
        self.frames: list[bytes] = []
        self.room = room

    def send(self, data: bytes) -> bool:
        if len(self.frames) >= self.room:
            return False
        self.frames.append(data)
        return True

    def close(self) -> None: ...


def link(out: Out, bound: int = 0) -> Link:
    return Link("settle", 3, "graph", out, Codec(TABLE), bound)


def sent(out: Out) -> list[tuple[int, int, int, str]]:
    codec = Codec(TABLE)
    return [(frame.sender_epoch, frame.receiver_epoch, frame.seq, type(frame.message).__name__) for frame in map(codec.decode, out.frames)]


def test_nothing_is_sent_before_the_other_is_ready_and_then_all_in_order() -> None:
    out = Out()
    to = link(out)
    to.greet(Presence())
    to.send(fence(1))
    to.send(fence(2))
    assert (sent(out), to.is_ready, to.unhandled) == ([(3, 0, 0, "Hello")], False, 2)
    to.establish(8)
    to.flush()
    assert sent(out)[1:] == [(3, 8, 1, "Fence"), (3, 8, 2, "Fence")]


def test_numbers_start_again_with_a_new_epoch_of_the_other() -> None:
    out = Out()
    to = link(out)
    to.establish(8)
    to.send(fence(1))
    assert (to.establish(8), to.establish(7), to.establish(9)) == (False, False, True)
    to.send(fence(2))
    assert sent(out) == [(3, 8, 1, "Fence"), (3, 9, 1, "Fence")]
    assert (to.seq, to.sent, to.bytes) == (1, 2, sum(map(len, out.frames)))


def test_a_greeting_says_how_much_was_sent() -> None:
    out = Out()
    to = link(out, bound=5)
    to.establish(8)
    to.send(fence(1))
    to.greet(Presence())
    to.welcome(Presence())
    codec = Codec(TABLE)
    assert [codec.decode(data).message for data in out.frames[1:]] == [Hello(Presence(), 1, 5), Ready(Presence(), 1, 5)]


def test_at_the_edge_credit_makes_room() -> None:
    to = link(Out(), bound=2)
    to.establish(1)
    to.send(fence(1))
    to.send(fence(2))
    with pytest.raises(Busy, match="2 is the most"):
        to.send(fence(3))
    to.credit(1)
    to.send(fence(3))
    to.credit(500)
    assert to.unhandled == 0


def test_a_frame_that_found_no_room_takes_no_number() -> None:
    out = Out(room=1)
    to = link(out, bound=10)
    to.establish(1)
    to.send(fence(1))
    with pytest.raises(Busy, match="no room"):
        to.send(fence(2))
    assert (to.seq, to.sent) == (1, 1)


def test_what_cannot_be_sent_is_refused_when_it_is_given_and_takes_nothing_with_it() -> None:
    out = Out()
    to = link(out)
    to.send(fence(1))
    for bad in (fence(2**70), Failed("X", "\ud800", None), Failed("X", "x" * 50_000_000, None), ("no", "message")):
        with pytest.raises(Misuse):
            to.send(bad)
    to.send(fence(2))
    to.establish(8)
    to.flush()
    assert sent(out) == [(3, 8, 1, "Fence"), (3, 8, 2, "Fence")]


def test_a_message_that_was_changed_while_it_waited_is_raised_and_the_others_are_sent() -> None:
    out = Out()
    to = link(out)
    fields: dict[str, object] = {}
    for message in (fence(1), Failed("X", "", fields), fence(2)):
        to.send(message)
    fields["x"] = object()
    to.establish(8)
    with pytest.raises(Misuse):
        to.flush()
    assert sent(out) == [(3, 8, 1, "Fence"), (3, 8, 2, "Fence")]
    to.flush()
    assert len(out.frames) == 2


def test_answers_and_credit_are_not_held_back_by_the_bound_and_take_none_of_it() -> None:
    to = link(Out(), bound=2)
    to.establish(1)
    for number in range(1, 11):
        to.reply(fence(number), -number, 1)
    to.reply(Credit(3))
    assert to.unhandled == 0
    to.send(fence(1))
    to.send(fence(2))
    with pytest.raises(Busy):
        to.send(fence(3))
    to.credit(12)  # the answers, the credit and the first message
    assert to.unhandled == 1


def test_an_answer_that_finds_no_room_waits_and_so_does_what_comes_behind_it() -> None:
    out = Out(room=1)
    to = link(out, bound=5)
    to.establish(8)
    to.send(fence(1))
    to.reply(Failed("X", "", None), -1, 8)
    to.send(fence(2))
    assert (to.is_stuck, to.unhandled, len(out.frames)) == (True, 2, 1)
    out.room = 2
    to.flush()
    assert (to.is_stuck, len(out.frames)) == (True, 2)
    out.room = 9
    to.flush()
    assert (to.is_stuck, to.unhandled) == (False, 2)
    assert sent(out) == [(3, 8, 1, "Fence"), (3, 8, 2, "Failed"), (3, 8, 3, "Fence")]


def test_an_answer_that_waited_goes_to_whoever_asked_and_not_to_a_successor() -> None:
    out = Out()
    to = link(out)
    to.reply(Failed("X", "", None), -1, 8)
    to.send(fence(1))
    to.establish(9)
    to.flush()
    assert sent(out) == [(3, 9, 1, "Fence")]
