"""An outgoing link: the handshake first, numbers per pair of epochs, bounds at the edge."""

import pytest
from harness.wiring import fence
from weft.scheduler.errors import Busy
from weft.wire.codec import Codec
from weft.wire.link import Link
from weft.wire.messages import TABLE, Hello, Presence, Ready


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
