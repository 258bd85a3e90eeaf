"""The desk: one group for what waits, verdicts in order, frames that are cuts, nothing lost when sending fails."""
from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from harness.offices import BACKENDS, Customer, Office, Picture, commit, doc, group_sizes, put, serving
from weft.scheduler.errors import StorageUnavailable
from weft.scheduler.model import CommitId, Entity
from weft.scheduler.values import MISSING, same
from weft.storage.commit import Accepted, Commit, ConfirmedRead, EntityAbsent, Patch, PendingRead, Rejected, Set, Verdict
from weft.storage.link import Delivered, Frame
from weft.storage.patch import Append
from weft.storage.sessions import Session


@pytest.fixture(params=BACKENDS)
def office(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Office]:
    yield from serving(request.param, tmp_path)


class Ear(Picture):
    """A picture that is an outlet itself: a session without a connection between. `deaf` makes sending fail."""

    deaf = False

    def verdict(self, verdict: Verdict) -> None:
        self._hear()
        self.on_verdict(verdict)

    def frame(self, number: int, frame: Frame) -> None:
        self._hear()
        self.on_frame(frame)
        self.session.acknowledge(number)

    def quiet(self, head: int) -> None: ...

    def taken_over(self) -> None: ...

    def _hear(self) -> None:
        if self.deaf:
            raise OSError("nobody listens")

    session: Session


def ear(office: Office, name: str) -> Ear:
    made = Ear()
    made.session, _ = office.desk.open(made, office.now, session=name)
    return made


def send(office: Office, who: Ear, local_seq: int, *operations: Set | Patch, **more: Any) -> Commit:
    made = commit(who.session.key, local_seq, *operations)._replace(**more)
    who.sent[made.id] = made
    office.desk.submit(who.session, made)
    return made


def fetch(office: Office, who: Ear, *ids: str) -> list[Delivered]:
    found = office.desk.fetch(who.session, [doc(id) for id in ids], office.now)
    who.take(found)
    return found


def test_STO_014_the_acknowledgement_names_sequence_branch_and_revisions(office: Office) -> None:
    a = ear(office, "a")
    made = send(office, a, 1, put("1", {"x": 1}))
    office.desk.pump(office.now)
    (verdict,) = a.verdicts
    assert isinstance(verdict, Accepted)
    assert (verdict.seq, verdict.branch, verdict.replayed) == (1, "", False)
    assert [(r.entity, r.branch, r.seq, r.op_index, r.op, r.data) for r in verdict.revisions] == [(doc("1"), "", 1, 0, "set", {"value": {"x": 1}})]
    office.now += 1
    office.desk.pump(office.now)
    (found,) = fetch(office, a, "1")
    assert found == Delivered(doc("1"), 1, made.id, {"value": {"x": 1}})


def test_everything_queued_is_one_group_and_is_answered_in_the_order_of_decision(office: Office) -> None:
    a, b = ear(office, "a"), ear(office, "b")
    groups = group_sizes(office.engine)
    send(office, a, 1, put("x", 1))
    send(office, b, 1, put("y", 1))
    send(office, a, 2, put("x", 2))
    office.desk.pump(office.now)
    assert groups == [3]
    assert [v.seq for v in a.verdicts if isinstance(v, Accepted)] == [1, 3]
    assert [v.seq for v in b.verdicts if isinstance(v, Accepted)] == [2]


def test_a_foreign_change_of_a_watched_document_arrives_in_a_frame_after_the_fan_out_delay(office: Office) -> None:
    a, b = ear(office, "a"), ear(office, "b")
    fetch(office, a, "x")
    made = send(office, b, 1, put("x", 1), put("unwatched", 2))
    assert office.desk.pump(10.0) == 10.005
    assert a.frames == []
    assert office.desk.pump(10.004) == 10.005
    assert office.desk.pump(10.005) is None
    assert a.frames == [Frame("main", 1, (Delivered(doc("x"), 1, made.id, {"value": 1}),), ())]


def test_a_burst_of_commits_is_one_frame_with_the_newest_documents(office: Office) -> None:
    a, b = ear(office, "a"), ear(office, "b")
    fetch(office, a, "x", "y")
    for n in range(1, 5):
        send(office, b, n, put("x" if n % 2 else "y", n))
        office.desk.pump(10.0 + n / 1000)
    office.desk.pump(11.0)
    assert [(frame.head, [(d.entity.id, d.seq) for d in frame.documents]) for frame in a.frames] == [(4, [("x", 3), ("y", 4)])]


def test_the_committer_is_told_that_its_commit_is_covered_even_by_an_empty_frame_and_gets_no_echo(office: Office) -> None:
    a = ear(office, "a")
    fetch(office, a, "x")
    made = send(office, a, 1, put("x", 1))
    office.desk.pump(0.0)
    office.desk.pump(1.0)
    assert a.frames == [Frame("main", 1, (), (made.id,))]
    assert a.values() == {"x": 1}


def test_a_document_that_was_written_but_never_fetched_comes_with_the_frame_that_covers_it(office: Office) -> None:
    a, b = ear(office, "a"), ear(office, "b")
    send(office, b, 1, put("x", ["b"]))
    send(office, a, 1, Patch(doc("x"), (Append(("value",), ("a",)),)))
    office.desk.pump(0.0)
    office.desk.pump(1.0)
    assert a.values() == {"x": ["b", "a"]}


@pytest.mark.parametrize("kind", ["confirmed", "pending", "written", "required"])
def test_after_a_refused_commit_its_sender_is_given_what_it_wrote_read_and_required_watched_or_not(office: Office, kind: str) -> None:
    """B-111: a read recorded as absent, of a document that the replica never had, must not stay absent."""
    a, b = ear(office, "a"), ear(office, "b")
    send(office, b, 1, put("r", 1), put("w", 1), put("p", 1))
    office.desk.pump(0.0)
    office.desk.pump(1.0)
    stale = ConfirmedRead(doc("r"), ("value",), 0)
    layer = PendingRead(doc("p"), ("value",), 0, (CommitId(a.session.key, 9),))
    parts: dict[str, tuple[dict[str, Any], str]] = {
        "confirmed": ({"confirmed": (stale,)}, "r"), "pending": ({"pending": (layer,)}, "p"),
        "written": ({"confirmed": (stale,)}, "w"), "required": ({"preconditions": (EntityAbsent(doc("p")),)}, "p"),
    }
    more, expected = parts[kind]
    made = send(office, a, 1, put("w", 2), **more)
    office.desk.pump(2.0)
    office.desk.pump(3.0)
    (verdict,) = a.verdicts
    assert isinstance(verdict, Rejected)
    assert verdict.head == 1
    (frame,) = a.frames
    assert frame.decided == (made.id,)
    assert doc(expected) in {document.entity for document in frame.documents}
    assert a.values()[expected] == 1
    send(office, b, 2, put(expected, 5))
    office.desk.pump(4.0)
    office.desk.pump(5.0)
    assert a.values()[expected] == 5, "what was delivered is watched"


def test_a_malformed_commit_is_refused_and_its_sender_still_gets_the_marker(office: Office) -> None:
    a = ear(office, "a")
    made = Commit(CommitId(a.session.key, 1), (put("d", 1),), preconditions=None)  # type: ignore[arg-type]
    office.desk.submit(a.session, made)
    office.desk.pump(0.0)
    office.desk.pump(1.0)
    (verdict,) = a.verdicts
    assert isinstance(verdict, Rejected)
    assert verdict.rejection.name == "ProtocolError"
    assert [frame.decided for frame in a.frames] == [(made.id,)]


def test_what_is_forgotten_is_not_delivered_any_more(office: Office) -> None:
    a, b = ear(office, "a"), ear(office, "b")
    fetch(office, a, "x", "y")
    office.desk.forget(a.session, [doc("x")])
    send(office, b, 1, put("x", 1), put("y", 1))
    office.desk.pump(0.0)
    office.desk.pump(1.0)
    assert [[d.entity.id for d in frame.documents] for frame in a.frames] == [["y"]]


def test_a_fetch_between_commit_and_frame_answers_as_of_the_last_frame(office: Office) -> None:
    """The own append has landed; its frame has not come. An answer that held it would show it twice, once more as the sender's layer."""
    a, b = ear(office, "a"), ear(office, "b")
    send(office, b, 1, put("x", ["b"]))
    office.desk.pump(0.0)
    send(office, a, 1, Patch(doc("x"), (Append(("value",), ("a",)),)))
    office.desk.pump(1.0)
    (found,) = fetch(office, a, "x")
    assert (found.seq, found.document) == (1, {"value": ["b"]})
    office.desk.pump(2.0)
    assert a.values() == {"x": ["b", "a"]}


def test_a_session_that_misses_nothing_moves_to_the_head_without_frames(office: Office) -> None:
    a, b = ear(office, "a"), ear(office, "b")
    send(office, b, 1, put("x", 1))
    office.desk.pump(0.0)
    assert (a.session.cut, a.frames) == (1, [])
    assert [found.seq for found in fetch(office, a, "x")] == [1]


def test_a_frame_that_cannot_be_sent_is_rewound_marker_included_and_comes_when_the_session_is_resumed(office: Office) -> None:
    a, b = ear(office, "a"), ear(office, "b")
    fetch(office, a, "x", "y")
    made = send(office, a, 1, put("y", 1))
    send(office, b, 1, put("x", 1))
    office.desk.pump(0.0)
    a.deaf = True
    office.desk.pump(1.0)
    assert (a.frames, a.session.outlet) == ([], None)
    assert "connection failed" in str(office.reports[-1])
    a.deaf = False
    resumed, again = office.desk.open(a, 2.0, session="a", token=a.session.token)
    assert resumed is a.session
    assert again
    office.desk.pump(2.0)
    assert [(frame.head, [d.entity.id for d in frame.documents], frame.decided) for frame in a.frames] == [(2, ["x"], (made.id,))]
    assert a.values() == {"x": 1, "y": 1}


def test_one_session_that_cannot_be_told_keeps_nothing_from_the_others(office: Office) -> None:
    a, b, c = ear(office, "a"), ear(office, "b"), ear(office, "c")
    fetch(office, a, "x")
    fetch(office, c, "x")
    a.deaf = True
    send(office, a, 1, put("z", 1))
    send(office, b, 1, put("x", 1))
    office.desk.pump(0.0)
    office.desk.pump(1.0)
    assert [type(verdict) for verdict in b.verdicts] == [Accepted]
    assert c.values() == {"x": 1}


def test_an_engine_that_fails_as_a_whole_answers_every_commit_of_the_group_with_the_reason(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = ear(office, "a"), ear(office, "b")

    def fail(commits: object) -> list[Verdict]:
        raise StorageUnavailable("the disk is gone")

    with monkeypatch.context() as patch:
        patch.setattr(office.engine, "apply", fail)
        send(office, a, 1, put("x", 1))
        send(office, b, 1, put("x", 1))
        office.desk.pump(0.0)
    assert [v.rejection.name for who in (a, b) for v in who.verdicts if isinstance(v, Rejected)] == ["StorageUnavailable", "StorageUnavailable"]
    send(office, a, 2, put("x", 2))
    office.desk.pump(1.0)
    assert isinstance(a.verdicts[-1], Accepted)


def test_commits_of_another_process_between_two_of_ours_are_delivered_with_them(office: Office) -> None:
    a, b = ear(office, "a"), ear(office, "b")
    fetch(office, a, "x", "y")
    foreign = commit("q:other", 1, put("x", "foreign"))
    assert isinstance(office.engine.apply([foreign])[0], Accepted)
    send(office, b, 1, put("y", 1))
    office.desk.pump(0.0)
    office.desk.pump(1.0)
    assert [(frame.head, [(d.entity.id, d.stamp) for d in frame.documents]) for frame in a.frames] == [(2, [("x", foreign.id), ("y", CommitId(b.session.key, 1))])]


def test_a_commit_on_a_branch_is_covered_by_a_marker_and_changes_nothing_that_is_watched(office: Office) -> None:
    a, b = ear(office, "a"), ear(office, "b")
    send(office, b, 1, put("x", 1))
    office.desk.pump(0.0)
    office.engine.fork("feature")
    fetch(office, a, "x")
    made = send(office, b, 2, put("x", 2), branch="feature")
    office.desk.pump(1.0)
    office.desk.pump(2.0)
    assert a.frames == []
    assert b.frames[-1].decided == (CommitId(b.session.key, 1), made.id)
    (found,) = office.desk.fetch(a.session, [doc("x")], 2.0, "feature")
    assert found.document == {"value": 2}
    assert a.session.watched == {doc("x")}


class Simulation:
    """Three customers over lines that drop, messages moved one at a time in a seeded order. A frame handled must leave its customer at exactly the engine's state of that head."""

    ids = ("p", "q", "r", "s")

    def __init__(self, office: Office, seed: int) -> None:
        self.office, self.random = office, random.Random(seed)
        self.customers = [office.customer(name) for name in "abc"]
        self.ends: dict[CommitId, list[Verdict]] = {}
        for customer in self.customers:
            customer.picture.after_frame = partial(self.check, customer)

    def check(self, customer: Customer, frame: Frame) -> None:
        head = frame.head
        for entity in customer.client._interests.watched:
            held = customer.picture.held.get(entity)
            if held is not None:
                truth = self.office.engine.read(entity, "", head)
                assert same(held.document, truth.document), f"{customer.client.id} at {head} holds {held}, the engine {truth}"
                assert (held.seq, held.stamp) == (truth.seq, truth.stamp)

    def step(self) -> None:
        customer = self.random.choice(self.customers)
        kind = self.random.choices(["write", "up", "down", "pump", "watch", "forget", "drop", "tick"], [10, 20, 20, 12, 3, 1, 1, 6])[0]
        getattr(self, kind)(customer)

    def write(self, customer: Customer) -> None:
        entity = doc(self.random.choice(self.ids))
        word = self.random.randrange(100)
        made = customer.commit(put(entity.id, [word]) if self.random.random() < 0.3 else Patch(entity, (Append(("value",), (word,)),)))
        held = customer.picture.held.get(doc(self.random.choice(self.ids)))
        if held is not None and self.random.random() < 0.5:
            made = made._replace(confirmed=(ConfirmedRead(held.entity, ("value",), held.seq),))
        customer.picture.sent[made.id] = made
        self.ends[made.id] = []
        customer.client.transact(made, self.ends[made.id].append)

    def up(self, customer: Customer) -> None:
        customer.up()

    def down(self, customer: Customer) -> None:
        customer.down()

    def pump(self, customer: Customer) -> None:
        self.office.now += self.random.choice([0.0, 0.001, 0.004, 0.006])
        self.office.desk.pump(self.office.now)

    def watch(self, customer: Customer) -> None:
        customer.watch(self.random.choice(self.ids))

    def forget(self, customer: Customer) -> None:
        entity = doc(self.random.choice(self.ids))
        customer.client.forget([entity])
        customer.picture.held.pop(entity, None)

    def drop(self, customer: Customer) -> None:
        customer.drop()
        if self.random.random() < 0.1:
            self.office.now += 31.0

    def tick(self, customer: Customer) -> None:
        self.office.now += 0.01
        customer.client.tick(self.office.now)


def converges(office: Office, seed: int) -> None:
    """The replaying line of a failure: `converges(office, seed)`."""
    simulation = Simulation(office, seed)
    for _ in range(500):
        simulation.step()
    for customer in simulation.customers:
        for id in simulation.ids:
            customer.watch(id)
    office.settle()
    assert {id: len(ends) for id, ends in simulation.ends.items()} == dict.fromkeys(simulation.ends, 1), f"seed {seed}"
    truth: dict[Entity, object] = {doc(id): office.engine.read(doc(id)).document for id in simulation.ids}
    for customer in simulation.customers:
        held = {entity: held.document for entity, held in customer.picture.held.items()}
        assert same({e.id: v for e, v in held.items() if v is not MISSING}, {e.id: v for e, v in truth.items() if v is not MISSING}), f"seed {seed}"
    accepted = [id for id, (end,) in simulation.ends.items() if isinstance(end, Accepted)]
    assert sorted(landing.id for landing in office.engine.after(0)) == sorted(accepted), f"seed {seed}"


@pytest.mark.parametrize("seed", range(12))
def test_whatever_drops_every_commit_is_answered_once_and_every_session_converges(office: Office, seed: int) -> None:
    converges(office, seed)


@pytest.mark.soak
def test_whatever_drops_every_session_converges_over_a_thousand_seeds(tmp_path: Path) -> None:
    for seed in range(12, 1012):
        for office in serving(BACKENDS[seed % 2], tmp_path / str(seed)):
            converges(office, seed)
