"""The client end of a session, against a real desk and engine; where the server must misbehave, against answers made by hand."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness.offices import BACKENDS, SPACE, Office, Picture, commit, doc, put, serving
from weft.scheduler.errors import PreconditionFailedError, ProtocolError, SessionError
from weft.scheduler.model import CommitId
from weft.scheduler.rejection import rejection
from weft.storage.client import SessionClient, reconnect_delay
from weft.storage.commit import Accepted, Commit, ConfirmedRead, EntityAbsent, OriginCommitted, Rejected, Verdict
from weft.storage.dialogue import Decided, Failed, Flags, Open, Opened, Request, Transact


@pytest.fixture(params=BACKENDS)
def office(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Office]:
    yield from serving(request.param, tmp_path)


class Handmade:
    """A server that says what the test says."""

    def __init__(self) -> None:
        self.wire: list[Request] = []
        self.connections = 0
        self.closed = 0
        self.picture = Picture()
        self.client = SessionClient(SPACE, self._dial, self.picture, principal="p", session="s", jitter=lambda: 0.0)
        self.refuses = False

    def _dial(self) -> Handmade:
        if self.refuses:
            raise OSError("nobody there")
        self.connections += 1
        return self

    def send(self, request: Request) -> None:
        self.wire.append(request)

    def close(self) -> None:
        self.closed += 1

    def open(self, session: str = "s", resumed: bool = False) -> None:
        asked = self.wire[-1]
        assert isinstance(asked, Open)
        self.client.heard(Opened(asked.request, session, "token", resumed, 0, Flags()))

    def transacts(self) -> list[int]:
        return [request.commit.id.local_seq for request in self.wire if isinstance(request, Transact)]

    def accept(self, local_seq: int, seq: int) -> None:
        self.client.heard(Decided(Accepted(CommitId(self.client.key, local_seq), seq, "", ())))


def test_STO_029_a_commit_handed_in_twice_while_in_flight_is_one_request_and_both_callers_get_the_result(office: Office) -> None:
    a = office.customer("a")
    office.settle()
    made = a.commit(put("d", 1))
    got: list[tuple[str, Verdict]] = []
    a.client.transact(made, lambda verdict: got.append(("first", verdict)))
    a.client.transact(made, lambda verdict: got.append(("second", verdict)))
    office.settle()
    assert a.transacts() == [1]
    assert a.issued == [made.id]
    assert [who for who, _ in got] == ["first", "second"]
    assert got[0][1] is got[1][1]
    assert a.picture.verdicts == [got[0][1]]


def test_STO_029_other_content_under_a_local_sequence_in_flight_is_refused(office: Office) -> None:
    a = office.customer("a")
    office.settle()
    a.client.transact(commit(a.client.key, 1, put("d", 1)))
    with pytest.raises(ProtocolError, match="commit replay mismatch"):
        a.client.transact(commit(a.client.key, 1, put("d", True)))


def test_STO_092_error_name_and_precondition_survive_the_client_round_trip(office: Office) -> None:
    a = office.customer("a")
    office.settle()
    a.transact(put("r", 1))
    a.transact(preconditions=[OriginCommitted(CommitId(a.client.key, 99))])
    a.transact(put("r", 2), preconditions=[EntityAbsent(doc("r"))])
    office.settle()
    refused = [verdict.rejection.error() for verdict in a.picture.verdicts if isinstance(verdict, Rejected)]
    assert [type(error) for error in refused] == [PreconditionFailedError, PreconditionFailedError]
    assert [error.fields()["precondition"] for error in refused] == ["origin-committed", "receipt-exists"]


def test_STO_097_a_peer_without_a_capability_connects_and_one_of_another_shape_does_not(office: Office) -> None:
    plain = office.customer("plain", flags=Flags(capabilities=frozenset()))
    other = office.customer("other", flags=Flags(shape=2))
    ends: list[Verdict] = []
    other.client.transact(other.commit(put("d", 1)), ends.append)
    office.settle()
    assert plain.client.state == "ready"
    assert other.client.state == "closed"
    assert [verdict.rejection.name for verdict in ends if isinstance(verdict, Rejected)] == ["ProtocolError"]
    assert isinstance(ends[0], Rejected)
    assert "memory flag mismatch" in ends[0].rejection.message


def test_STO_170_an_in_flight_commit_is_replayed_after_reconnect(office: Office) -> None:
    a = office.customer("a")
    office.settle()
    a.transact(put("d", 1))
    while a.up():
        pass
    office.desk.pump(office.now)
    a.drop()
    office.settle()
    assert a.transacts() == [1, 1]
    assert len(a.lines) == 2
    assert [(type(v), v.seq, v.replayed) for v in a.picture.verdicts if isinstance(v, Accepted)] == [(Accepted, 1, True)]
    assert office.engine.head() == 1


@pytest.mark.parametrize("rejected", [False, True])
def test_STO_171_replay_keeps_local_sequence_order(office: Office, rejected: bool) -> None:
    a = office.customer("a")
    office.settle()
    stale = a.commit(put("A", 1))._replace(confirmed=(ConfirmedRead(doc("F"), (), 0),))
    a.picture.sent[stale.id] = stale
    a.client.transact(stale)
    a.transact(put("B", 2))
    assert a.transacts() == [1, 2]
    a.drop()
    if rejected:
        foreign = office.customer("f")
        foreign.client.tick(office.now)
        foreign.transact(put("F", 0))
        for _ in range(4):
            foreign.up()
            office.desk.pump(office.now)
            foreign.down()
    office.settle()
    assert a.transacts() == [1, 2, 1, 2]
    assert [type(verdict) for verdict in a.picture.verdicts] == [Rejected if rejected else Accepted, Accepted]
    assert (office.value("A"), office.value("B")) == (None if rejected else 1, 2)


def test_STO_172_later_commits_are_sent_before_earlier_replies(office: Office) -> None:
    a = office.customer("a")
    office.settle()
    a.transact(put("A", 1))
    a.transact(put("B", 2))
    assert a.transacts() == [1, 2]
    assert a.picture.verdicts == []
    office.settle()
    assert [verdict.seq for verdict in a.picture.verdicts if isinstance(verdict, Accepted)] == [1, 2]


def test_STO_173_a_commit_enqueued_during_restore_waits_and_is_sent_once_and_last(office: Office) -> None:
    a = office.customer("a")
    office.settle()
    a.transact(put("A", 1))
    office.settle()
    a.transact(put("B", 2))
    a.drop()
    office.now += 1
    a.client.tick(office.now)
    a.up()
    a.down()
    assert a.transacts() == [1, 2, 2]
    a.transact(put("C", 3))
    assert a.transacts() == [1, 2, 2]
    office.settle()
    assert a.transacts() == [1, 2, 2, 3]
    assert (office.value("B"), office.value("C")) == (2, 3)
    assert len(a.lines) == 2


def test_STO_175_a_server_that_hands_out_another_session_id_ends_what_was_outstanding() -> None:
    server = Handmade()
    server.client.tick(0.0)
    server.open()
    ends: list[Verdict] = []
    server.client.transact(commit(server.client.key, 1, put("d", 1)), ends.append)
    server.client.lost(0.0)
    server.client.tick(1.0)
    server.open(session="other")
    assert server.transacts() == [1]
    assert [verdict.rejection.name for verdict in ends if isinstance(verdict, Rejected)] == ["SessionError"]
    assert isinstance(ends[0], Rejected)
    assert "session changed" in ends[0].rejection.message
    assert server.picture.verdicts == ends
    assert (server.client.id, server.client.key, server.client.state) == ("other", "p:other", "ready")


def test_STO_182_a_result_is_returned_although_the_client_closes_as_the_reply_arrives() -> None:
    server = Handmade()
    server.client.tick(0.0)
    server.open()
    results: list[Verdict] = []

    def close_at_once(verdict: Verdict) -> None:
        server.client.close()

    server.client.transact(commit(server.client.key, 7, put("d", 1)), close_at_once)
    server.client.transact(server.client._outstanding[7].commit, results.append)
    server.accept(7, 7)
    assert [verdict.seq for verdict in results if isinstance(verdict, Accepted)] == [7]
    assert server.closed == 1


def test_STO_181_a_resumed_session_is_brought_what_it_missed_without_asking_again(office: Office) -> None:
    a, b = office.customer("a"), office.customer("b")
    a.watch("d")
    office.settle()
    a.drop()
    b.transact(put("d", "missed"))
    b.up()
    office.desk.pump(office.now)
    assert a.picture.values() == {}
    office.settle()
    assert a.picture.values() == {"d": "missed"}
    assert a.watches() == 1
    assert (a.client.id, a.opens()) == ("a", 2)


def test_STO_181_an_expired_session_asks_again_and_is_seeded_anew(office: Office) -> None:
    a, b = office.customer("a"), office.customer("b")
    a.watch("d")
    office.settle()
    a.drop()
    b.transact(put("d", "missed"))
    b.up()
    office.desk.pump(office.now)
    office.now += 31.0
    office.desk.pump(office.now)
    office.settle()
    assert a.picture.values() == {"d": "missed"}
    assert a.watches() == 2
    b.transact(put("d", "later"))
    office.settle()
    assert a.picture.values() == {"d": "later"}


def test_a_watch_that_was_never_answered_is_asked_again_after_reconnect(office: Office) -> None:
    a = office.customer("a")
    office.settle()
    a.watch("d")
    a.drop()
    office.settle()
    assert a.watches() == 2
    assert [entity.id for entity in a.picture.held] == ["d"]


def test_reconnecting_backs_off_from_25_ms_doubling_to_30_s_less_up_to_half() -> None:
    assert [reconnect_delay(n, 0.0) for n in range(4)] == [0.025, 0.05, 0.1, 0.2]
    assert reconnect_delay(11, 0.0) == 30.0
    assert reconnect_delay(10_000, 0.0) == 30.0
    assert reconnect_delay(1, 0.5) == pytest.approx(0.0375)


def test_failed_dials_are_repeated_at_growing_intervals_until_one_holds() -> None:
    server = Handmade()
    server.refuses = True
    wakes, now = [], 0.0
    for _ in range(4):
        due = server.client.tick(now)
        assert due is not None
        wakes.append(round(due - now, 6))
        now = due
    assert wakes == [0.025, 0.05, 0.1, 0.2]
    server.refuses = False
    assert server.client.tick(now) is None
    server.open()
    server.client.lost(now)
    assert server.client.tick(now) == now + 0.025, "a session that opened starts again from the first step"


def test_a_send_that_fails_is_a_lost_connection_and_nothing_is_lost_with_it(office: Office) -> None:
    a = office.customer("a")
    office.settle()
    a.line.drop()
    a.transact(put("d", 1))
    office.settle()
    assert len(a.lines) == 2
    assert [type(verdict) for verdict in a.picture.verdicts] == [Accepted]
    assert office.value("d") == 1


def test_closing_tells_every_waiter_once_and_the_receiver_nothing() -> None:
    server = Handmade()
    server.client.tick(0.0)
    server.open()
    ends: list[str] = []
    asked: list[object] = []
    for local_seq in (1, 2):
        server.client.transact(commit(server.client.key, local_seq, put("d", 1)), _note(ends))
    server.client.watch([doc("d")], asked.append)
    server.client.close()
    server.client.close()
    server.accept(1, 1)
    assert ends == ["SessionError", "SessionError"]
    assert len(asked) == 1
    assert server.picture.verdicts == []
    with pytest.raises(SessionError, match="closed"):
        server.client.transact(commit(server.client.key, 3, put("d", 1)))


def _note(ends: list[str]) -> Callable[[Verdict], None]:
    return lambda verdict: ends.append(verdict.rejection.name if isinstance(verdict, Rejected) else "accepted")


def test_a_second_answer_to_one_commit_is_passed_over() -> None:
    server = Handmade()
    server.client.tick(0.0)
    server.open()
    ends: list[str] = []
    server.client.transact(commit(server.client.key, 1, put("d", 1)), _note(ends))
    server.accept(1, 1)
    server.accept(1, 1)
    assert ends == ["accepted"]
    assert len(server.picture.verdicts) == 1


def test_a_refused_open_ends_the_client_with_the_servers_reason() -> None:
    server = Handmade()
    ends: list[str] = []
    server.client.transact(commit(server.client.key, 1, put("d", 1)), _note(ends))
    server.client.tick(0.0)
    asked = server.wire[-1]
    assert isinstance(asked, Open)
    assert asked.outstanding == (1,)
    server.client.heard(Failed(asked.request, rejection(SessionError("bound to another principal"))))
    assert ends == ["SessionError"]
    assert server.client.state == "closed"


def test_the_commit_that_is_sent_again_is_the_object_that_was_sent_first() -> None:
    server = Handmade()
    server.client.tick(0.0)
    server.open()
    made = commit(server.client.key, 1, put("d", 1))
    server.client.transact(made)
    server.client.lost(0.0)
    server.client.tick(1.0)
    server.open(resumed=True)
    sent: list[Commit] = [request.commit for request in server.wire if isinstance(request, Transact)]
    assert [one is made for one in sent] == [True, True]
