"""Server-side sessions: identity, tokens, takeover, resuming, expiry."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.offices import BACKENDS, SPACE, Line, Office, commit, doc, opener, put, serving
from weft.scheduler.errors import SessionError
from weft.scheduler.model import CommitId, Entity
from weft.storage.commit import Accepted, Rejected, Set
from weft.storage.dialogue import Ack, Answer, Close, Decided, Documents, Failed, Forget, Open, Opened, Pushed, Request, TakenOver, Transact, Watch
from weft.storage.service import Service
from weft.storage.sessions import CREDIT, Session, session_key


@pytest.fixture(params=BACKENDS)
def office(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Office]:
    yield from serving(request.param, tmp_path)


@pytest.fixture
def other_office(tmp_path: Path, office: Office) -> Iterator[Office]:
    """The same store's other space."""
    engine = opener(office.backend, tmp_path, "other")()
    yield Office(engine, office.backend)
    engine.close()


def ask(line: Line, request: Request) -> list[Answer]:
    """What the desk answers to one request, pumped."""
    line.service.handle(request, line._office.now)
    line._office.desk.pump(line._office.now)
    answers = list(line.down)
    line.down.clear()
    return answers


def opened(line: Line, session: str | None, token: str | None = None) -> Opened:
    (answer,) = ask(line, Open(1, session, token))
    assert isinstance(answer, Opened)
    return answer


def refusal(answers: list[Answer]) -> str:
    (answer,) = answers
    refused = answer.rejection if isinstance(answer, Failed) else answer.verdict.rejection if isinstance(answer, Decided) and isinstance(answer.verdict, Rejected) else None
    assert refused is not None, answer
    assert refused.name == "SessionError"
    return refused.message


def test_STO_032_a_session_key_splits_into_its_exact_quoted_segments() -> None:
    assert session_key("did:key:foo", "session:shared") == "did%3Akey%3Afoo:session%3Ashared"
    assert session_key("a:b", "c") == "a%3Ab:c"
    assert session_key("a", "b:c") == "a:b%3Ac"
    assert session_key("", "s/1 %") == ":s%2F1%20%25"
    with pytest.raises(SessionError, match="encodable"):
        session_key("\ud800", "s")


def test_STO_027_two_principals_with_one_session_id_are_two_sessions(office: Office) -> None:
    keys = [session_key(principal, "shared") for principal in ("alice", "bob")]
    documents = [Entity(SPACE, f"session:{key}", "d") for key in keys]
    verdicts = office.engine.apply([commit(key, 1, Set(entity, {"value": key})) for key, entity in zip(keys, documents, strict=True)])
    assert [(type(verdict), verdict.id) for verdict in verdicts] == [(Accepted, CommitId("alice:shared", 1)), (Accepted, CommitId("bob:shared", 1))]
    assert [office.engine.read(entity).document for entity in documents] == [{"value": "alice:shared"}, {"value": "bob:shared"}]


def test_STO_177_a_valid_token_takes_a_session_over_and_serves_once(office: Office) -> None:
    one, two, eve = Line(office, "p", None), Line(office, "p", None), Line(office, "eve", None)
    first = opened(one, "s")
    second = opened(two, "s", first.token)
    assert list(one.down) == [TakenOver("s")]
    one.down.clear()
    assert (second.resumed, second.session) == (True, "s")
    assert second.token != first.token
    assert "not open on this connection" in refusal(ask(one, Watch(2, "s", (doc("d"),))))
    assert "resume token is no longer valid" in refusal(ask(one, Open(3, "s", first.token)))
    assert "bound to another principal" in refusal(ask(eve, Open(1, "s", second.token)))
    assert "resume token is no longer valid" in refusal(ask(one, Open(4, "s", None)))
    assert isinstance(ask(two, Watch(5, "s", (doc("d"),)))[0], Documents)


def test_STO_178_session_ids_are_per_space_and_per_connection(office: Office, other_office: Office) -> None:
    here, there = Line(office, "p", None), Line(other_office, "p", None)
    assert not opened(here, "fixed").resumed
    assert not opened(there, "fixed").resumed
    stranger = Line(office, "p", None)
    key = session_key("p", "fixed")
    uses: list[Request] = [Watch(1, "fixed", (doc("d"),)), Transact("fixed", commit(key, 1, put("d", 1))), Forget(2, "fixed", (doc("d"),)), Ack("fixed", 1), Close("fixed")]
    for use in uses:
        assert "Session is not open on this connection" in refusal(ask(stranger, use))
    assert office.engine.head() == 0


def test_STO_183_garbage_is_answered_with_an_error_and_the_connection_lives_on(office: Office) -> None:
    line = Line(office, "p", None)
    line.service.handle(b"\xc1garbage", 0.0)
    answer = line.down.popleft()
    assert isinstance(answer, Failed)
    assert answer.rejection.name == "ProtocolError"
    assert opened(line, "s").session == "s"


def test_STO_183_what_is_no_commit_is_refused_and_its_neighbours_are_decided(office: Office) -> None:
    bad, good = Line(office, "p", None), Line(office, "q", None)
    opened(bad, "s")
    opened(good, "t")
    good.service.handle(Transact("t", commit("q:t", 1, put("d", 1))), 0.0)
    for nothing in (None, "commit", commit("p:s", 1)._replace(id=("p:s", 1))):  # type: ignore[arg-type]
        bad.service.handle(Transact("s", nothing), 0.0)  # type: ignore[arg-type]
        answer = bad.down.popleft()
        assert isinstance(answer, Failed)
        assert answer.rejection.name == "ProtocolError"
    office.desk.pump(0.0)
    (decided,) = good.down
    assert isinstance(decided, Decided)
    assert isinstance(decided.verdict, Accepted)


def test_a_session_without_an_id_is_given_one_and_ids_differ(office: Office) -> None:
    line = Line(office, "p", None)
    one, two = opened(line, None), opened(line, None)
    assert one.session != two.session


def test_a_lost_session_is_resumable_until_its_time_is_over_and_new_after_it(office: Office) -> None:
    first = Line(office, "p", None)
    token = opened(first, "s").token
    first.drop()
    office.now = 29.9
    second = Line(office, "p", None)
    resumed = opened(second, "s", token)
    assert resumed.resumed
    second.drop()
    office.now += 30.0
    assert not opened(Line(office, "p", None), "s", resumed.token).resumed


@pytest.mark.parametrize("expired", [False, True])
def test_a_token_whose_successor_was_lost_with_its_connection_serves_again(office: Office, expired: bool) -> None:
    """Open is answered, and the answer is lost: the client knows only the token that it showed."""
    first = Line(office, "p", None)
    token = opened(first, "s").token
    ask(first, Watch(2, "s", (doc("d"),)))
    first.drop()
    office.now += 31.0 if expired else 1.0
    second = Line(office, "p", None)
    lost = opened(second, "s", token)
    assert lost.resumed is not expired
    second.drop()
    third = Line(office, "p", None)
    found = opened(third, "s", token)
    assert found.resumed
    ask(third, Watch(2, "s", (doc("d"),)))
    third.drop()
    assert "no longer valid" in refusal(ask(Line(office, "p", None), Open(1, "s", token))), "the new one has arrived: it was used"


def test_a_first_answer_that_was_lost_leaves_a_session_that_needs_no_token(office: Office) -> None:
    first = Line(office, "p", None)
    opened(first, "s")
    first.drop()
    assert opened(Line(office, "p", None), "s").resumed


def test_a_connected_session_does_not_expire(office: Office) -> None:
    line = Line(office, "p", None)
    opened(line, "s")
    office.now = 1e6
    assert isinstance(ask(line, Watch(1, "s", (doc("d"),)))[0], Documents)


def test_a_closed_session_is_forgotten_at_once(office: Office) -> None:
    line = Line(office, "p", None)
    token = opened(line, "s").token
    assert ask(line, Close("s")) == []
    assert not opened(line, "s", token).resumed


def test_a_session_sends_only_its_own_commits(office: Office) -> None:
    line = Line(office, "p", None)
    opened(line, "s")
    (answer,) = ask(line, Transact("s", commit("p:other", 1, put("d", 1))))
    assert isinstance(answer, Decided)
    assert isinstance(answer.verdict, Rejected)
    assert answer.verdict.rejection.name == "ProtocolError"
    assert office.engine.head() == 0


def test_a_frame_that_was_sent_and_never_acknowledged_comes_again_after_resuming(office: Office) -> None:
    a, b = office.customer("a"), office.customer("b")
    a.watch("d")
    office.settle()
    b.transact(put("d", 1))
    b.up()
    office.desk.pump(office.now)
    office.now += 0.005
    office.desk.pump(office.now)
    assert [type(answer) for answer in a.line.down] == [Pushed]
    a.drop()
    office.settle()
    assert a.picture.values() == {"d": 1}


def test_frames_that_nobody_acknowledges_stop_at_the_credit_and_coalesce(office: Office) -> None:
    line, writer = Line(office, "p", None), office.customer("w")
    opened(line, "s")
    ask(line, Watch(1, "s", (doc("d"),)))
    office.settle()
    for n in range(CREDIT + 20):
        writer.transact(put("d", n))
        office.settle()
    frames = [answer for answer in line.down if isinstance(answer, Pushed)]
    assert len(frames) == CREDIT
    line.down.clear()
    (last,) = ask(line, Ack("s", frames[-1].number))
    assert isinstance(last, Pushed)
    assert [document.document["value"] for document in last.frame.documents] == [CREDIT + 19]


def test_rewinding_stages_the_lost_in_front_and_drops_what_was_forgotten() -> None:
    session = Session("p", "s", "t", 0)
    session.watched = {doc("a"), doc("b"), doc("c")}
    session.stage([doc("a"), doc("b")], 0.0)
    session.decide(CommitId("p:s", 1), 0.0)
    session.take(5)
    session.stage([doc("c")], 1.0)
    session.decide(CommitId("p:s", 2), 1.0)
    session.forget([doc("b")])
    session.rewind(2.0)
    assert list(session.dirty) == [doc("a"), doc("c")]
    assert session.decided == [CommitId("p:s", 1), CommitId("p:s", 2)]
    assert (session.cut, session.seen, session.unacked) == (0, 0, {})


def test_resumed_frames_wait_until_every_replayed_commit_is_answered(office: Office) -> None:
    """Own commit lands, its answer is lost, a foreign commit lands on top. A frame before the replayed verdict would show the own commit under its own layer."""
    a, b = office.customer("a"), office.customer("b")
    a.watch("d")
    office.settle()
    a.transact(put("d", "mine"))
    a.up()
    office.desk.pump(office.now)
    a.drop()
    b.transact(put("d", "theirs"))
    b.up()
    office.desk.pump(office.now)
    office.now += 1.0
    a.client.tick(office.now)
    a.up()
    office.desk.pump(office.now)
    assert [type(answer) for answer in a.line.down] == [Opened]
    office.settle()
    assert a.picture.order == ["verdict", "frame"]
    assert a.picture.values() == {"d": "theirs"}


def test_mistyped_requests_are_answered_and_the_connection_lives_on(office: Office) -> None:
    said: list[object] = []
    service = Service(office.desk, "", said.append)
    for request in (Open(1, 5), Watch(2, "nobody", None), Ack("nobody", "one"), Forget(3, [], ()), None):  # type: ignore[arg-type]
        service.handle(request, 0.0)
    assert all(isinstance(answer, Failed) for answer in said)
    assert len(said) == 5
    service.handle(Open(4, None), 0.0)
    assert isinstance(said[-1], Opened)
