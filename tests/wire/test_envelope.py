"""Epochs and sequence numbers: what is taken, what is refused, and what shows a gap (PROTOCOL C9, C10)."""

import pytest
from weft.scheduler.errors import Undecodable
from weft.wire.envelope import Arrivals, Frame


def frame(seq: int, sender: str = "s", sender_epoch: int = 1, receiver_epoch: int = 5) -> Frame:
    return Frame(sender, sender_epoch, receiver_epoch, seq, 0, None)


def met(epoch: int = 1) -> Arrivals:
    arrivals = Arrivals(5)
    assert arrivals.greet("s", epoch, 0, 0) == 0
    return arrivals


def refused(arrivals: Arrivals, bad: Frame) -> str:
    with pytest.raises(Undecodable) as caught:
        arrivals.accept(bad)
    return caught.value.reason


def test_messages_in_order_show_no_gap() -> None:
    arrivals = met()
    assert [arrivals.accept(frame(n)) for n in (1, 2, 3)] == [0, 0, 0]


def test_a_skipped_number_is_a_gap_and_counting_goes_on_from_there() -> None:
    arrivals = met()
    assert [arrivals.accept(frame(n)) for n in (1, 4, 5)] == [0, 2, 0]
    assert arrivals.known["s"].missing == 2


def test_a_number_that_was_taken_is_refused() -> None:
    arrivals = met()
    arrivals.accept(frame(1))
    assert refused(arrivals, frame(1)) == "repeated"


def test_C10_mail_for_the_predecessor_is_refused() -> None:
    assert refused(met(), frame(1, receiver_epoch=4)) == "stale-receiver"


def test_mail_of_a_replaced_sender_is_refused() -> None:
    arrivals = met(epoch=2)
    assert refused(arrivals, frame(1, sender_epoch=1)) == "stale-sender"
    with pytest.raises(Undecodable, match="was replaced"):
        arrivals.greet("s", 1, 0, 0)


def test_nobody_speaks_before_introducing_himself() -> None:
    assert refused(Arrivals(5), frame(1)) == "unannounced"
    assert refused(met(), frame(1, sender_epoch=2)) == "unannounced"


def test_a_new_epoch_of_the_sender_counts_from_one() -> None:
    arrivals = met()
    arrivals.accept(frame(1))
    arrivals.greet("s", 2, 0, 0)
    assert arrivals.accept(frame(1, sender_epoch=2)) == 0


def test_C9_a_greeting_shows_that_the_last_message_was_lost() -> None:
    arrivals = met()
    arrivals.accept(frame(1))
    assert arrivals.greet("s", 1, 5, 3) == 2
    assert arrivals.accept(frame(4)) == 0


def test_a_greeting_that_claims_fewer_messages_than_came_is_refused() -> None:
    arrivals = met()
    arrivals.accept(frame(1))
    with pytest.raises(Undecodable) as caught:
        arrivals.greet("s", 1, 5, 0)
    assert caught.value.reason == "repeated"


def test_invented_senders_are_bounded() -> None:
    arrivals = Arrivals(5)
    for number in range(Arrivals.MOST):
        arrivals.greet(f"s{number}", 1, 0, 0)
    with pytest.raises(Undecodable, match="one sender too many"):
        arrivals.greet("another", 1, 0, 0)
