"""What a committer holds: one verdict, one settlement, each heard once."""

import pytest
from weft.scheduler.errors import BrokenInvariant
from weft.scheduler.model import CommitId
from weft.storage.commit import Accepted, Verdict
from weft.storage.ticket import Ticket, tell

ID = CommitId("me", 1)
YES = Accepted(ID, 5, "", ())


def test_the_verdict_is_heard_before_the_settlement_and_each_once() -> None:
    ticket = Ticket(ID)
    heard: list[tuple[str, Verdict]] = []
    ticket.on_verdict(lambda verdict: heard.append(("verdict", verdict)))
    ticket.on_settled(lambda verdict: heard.append(("settled", verdict)))
    ticket.decide(YES)
    tell([ticket])
    tell([ticket])
    assert heard == [("verdict", YES)]
    ticket.settle()
    tell([ticket])
    tell([ticket])
    assert heard == [("verdict", YES), ("settled", YES)]


def test_who_asks_late_hears_at_once() -> None:
    ticket = Ticket(ID)
    ticket.decide(YES)
    ticket.settle()
    heard: list[Verdict] = []
    ticket.on_verdict(heard.append)
    ticket.on_settled(heard.append)
    assert heard == [YES, YES]


def test_a_second_verdict_or_settlement_is_a_bug_of_ours() -> None:
    ticket = Ticket(ID)
    with pytest.raises(BrokenInvariant, match="no verdict yet"):
        ticket.settle()
    ticket.decide(YES)
    with pytest.raises(BrokenInvariant, match="second verdict"):
        ticket.decide(YES)
    ticket.settle()
    with pytest.raises(BrokenInvariant, match="did already"):
        ticket.settle()


def test_everybody_hears_whatever_one_of_them_raises() -> None:
    ticket = Ticket(ID)
    heard: list[Verdict] = []

    def broken(verdict: Verdict) -> None:
        raise ValueError("no")

    ticket.on_verdict(broken)
    ticket.on_verdict(heard.append)
    ticket.decide(YES)
    with pytest.raises(ValueError, match="no"):
        tell([ticket])
    assert heard == [YES]
