"""The host: the same desk in a thread of its own. Tests wait on what receivers are told, never on time."""
from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.neighbours import WAIT, Inbox
from harness.offices import BACKENDS, SPACE, Picture, commit, doc, group_sizes, opener, put
from weft.scheduler.errors import NewerSchema, SessionError, StorageUnavailable
from weft.scheduler.log import CommitEntry, Entry, IntegrateEntry, PullEntry
from weft.scheduler.model import CommitId
from weft.scheduler.values import MISSING
from weft.storage.commit import Accepted, ConfirmedRead, Operation, Patch, Rejected, Verdict
from weft.storage.connect import open_hosts
from weft.storage.host import Host
from weft.storage.hostlink import HostLink
from weft.storage.link import Connect, Frame, Link
from weft.storage.pace import Pace
from weft.storage.patch import Append
from weft.storage.replica import Replica
from weft.storage.spaces import Store
from weft.storage.ticket import Committed
from weft.storage.transaction import Transaction
from weft.wire.codec import VALUES


@pytest.fixture(params=BACKENDS)
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Host]:
    made = Host(opener(request.param, tmp_path))
    yield made
    made.close()
    assert not made._thread.is_alive()


def connected(host: Host, principal: str = "") -> tuple[Inbox, HostLink]:
    inbox = Inbox()
    return inbox, host.connect(inbox, principal=principal, deliver=inbox.mail.put)


def send(inbox: Inbox, link: HostLink, local_seq: int, *operations: Operation, **more: Any) -> CommitId:
    made = commit(link.session, local_seq, *operations)._replace(**more)
    inbox.sent[made.id] = made
    link.send(made)
    return made.id


def test_a_link_is_what_the_replica_expects(host: Host) -> None:
    _, link = connected(host)
    seam: Link = link
    assert seam.session.startswith(":")
    assert host.space == SPACE


def test_STO_014_a_commit_is_acknowledged_and_the_document_can_be_fetched(host: Host) -> None:
    inbox, link = connected(host)
    id = send(inbox, link, 1, put("1", 7))
    inbox.covered(id)
    (verdict,) = inbox.verdicts
    assert isinstance(verdict, Accepted)
    assert (verdict.seq, verdict.branch, [(r.entity, r.seq, r.op_index, r.op) for r in verdict.revisions]) == (1, "", [(doc("1"), 1, 0, "set")])
    assert [(found.seq, found.stamp, found.document) for found in link.fetch([doc("1")])] == [(1, id, {"value": 7})]


def test_two_sessions_on_one_engine_see_each_others_commits(host: Host) -> None:
    (a, to_a), (b, to_b) = connected(host), connected(host)
    a.take(to_a.fetch([doc("x")]))
    b.take(to_b.fetch([doc("x")]))
    send(a, to_a, 1, put("x", ["a"]))
    send(b, to_b, 1, Patch(doc("x"), (Append(("value",), ("b",)),)))
    a.until(lambda: len(a.values().get("x", [])) == 2)
    b.until(lambda: len(b.values().get("x", [])) == 2)
    assert a.values() == b.values()
    assert sorted(a.values()["x"]) == ["a", "b"]


def test_what_waits_is_decided_as_one_group(host: Host) -> None:
    """The host's thread is held inside a call while 50 commits are left; then they go in one group, each with its own sequence and verdict."""
    inbox, link = connected(host)
    groups = group_sizes(host.desk().engine)
    entered, release = threading.Event(), threading.Event()

    def hold(now: float) -> None:
        entered.set()
        release.wait(WAIT)

    host.post(hold)
    assert entered.wait(WAIT)
    ids = [send(inbox, link, n, put(f"d{n}", n)) for n in range(1, 51)]
    release.set()
    inbox.covered(*ids)
    assert groups == [50]
    assert [(v.id, v.seq) for v in inbox.verdicts if isinstance(v, Accepted)] == [(id, n) for n, id in enumerate(ids, 1)]


def test_a_refused_commit_is_followed_by_what_its_sender_must_read_again(host: Host) -> None:
    (a, to_a), (b, to_b) = connected(host), connected(host)
    b.covered(send(b, to_b, 1, put("x", "theirs")))
    id = send(a, to_a, 1, put("y", 1), confirmed=(ConfirmedRead(doc("x"), ("value",), 0),))
    a.covered(id)
    (verdict,) = a.verdicts
    assert isinstance(verdict, Rejected)
    assert verdict.rejection.name == "ConflictError"
    assert a.values() == {"x": "theirs"}


def test_a_receiver_may_fetch_inside_a_callback_and_a_caller_under_the_receivers_lock(host: Host) -> None:
    """A replica with one lock: its thread fetches while it holds the lock, the host's thread waits for the lock in a callback. Nobody may wait for the other."""
    lock, inside, fetched = threading.Lock(), threading.Event(), threading.Event()

    class Locked(Picture):
        link: HostLink

        def on_verdict(self, verdict: Verdict) -> None:
            inside.set()
            with lock:
                super().on_verdict(verdict)
                self.take(self.link.fetch([doc("x")]))

        def on_frame(self, frame: Frame) -> None:
            with lock:
                super().on_frame(frame)
            fetched.set()

    replica = Locked()
    replica.link = host.connect(replica)
    with lock:
        made = commit(replica.link.session, 1, put("x", 1))
        replica.sent[made.id] = made
        replica.link.send(made)
        assert inside.wait(WAIT)
        assert replica.link.fetch([doc("other")])[0].seq == 0
    assert fetched.wait(WAIT)
    assert replica.values() == {"x": 1}


def test_a_fetch_answers_as_of_the_last_frame_that_was_handled_not_the_last_that_was_sent(host: Host) -> None:
    """The frame that covers the own append lies in the mailbox. A fetch before it is handled must not hold the append: the layer is still there."""
    inbox, link = connected(host)
    inbox.covered(send(inbox, link, 1, put("x", ["base"])))
    link.forget([doc("x")])
    inbox.held.clear()
    other, to_other = connected(host)
    id = send(inbox, link, 2, Patch(doc("x"), (Append(("value",), ("own",)),)))
    other.covered(send(other, to_other, 1, put("later", 1)))
    host.call(lambda now: host.desk().pump(now + 1.0))
    other.covered(send(other, to_other, 2, put("later", 2)))  # nothing is staged then, so the session is found quiet beyond the frame that waits
    (found,) = link.fetch([doc("x")])
    assert found.document == {"value": ["base"]}
    inbox.take([found])
    inbox.covered(id)
    assert inbox.values()["x"] == ["base", "own"]
    assert link.fetch([doc("x")])[0].document == {"value": ["base", "own"]}


def test_a_forgotten_document_does_not_come_back_with_a_frame_on_its_way(host: Host) -> None:
    (a, to_a), (b, to_b) = connected(host), connected(host)
    a.take(to_a.fetch([doc("x"), doc("y")]))
    b.covered(send(b, to_b, 1, put("x", 1), put("y", 1)))
    host.call(lambda now: host.desk().pump(now + 1.0))
    to_a.forget([doc("x")])
    del a.held[doc("x")]
    a.until(lambda: bool(a.frames))
    assert [[d.entity.id for d in frame.documents] for frame in a.frames] == [["y"]]
    host.call(lambda now: None)
    a.take(to_a.fetch([doc("x")]))
    b.covered(send(b, to_b, 2, put("x", 2)))
    a.until(lambda: a.values()["x"] == 2)


def test_a_session_is_resumed_with_its_token_and_the_link_before_is_refused(host: Host) -> None:
    inbox = Inbox()
    first = host.connect(inbox, principal="p", session="s", deliver=inbox.mail.put)
    with pytest.raises(SessionError, match="token"):
        host.connect(Inbox(), principal="p", session="s")
    with pytest.raises(SessionError, match="bound to another principal"):
        host.connect(Inbox(), principal="q", session="s", token=first.token)
    second = host.connect(Inbox(), principal="p", session="s", token=first.token)
    assert second.session == first.session == "p:s"
    with pytest.raises(SessionError, match="not open on this connection"):
        first.send(commit(first.session, 1, put("x", 1)))
    with pytest.raises(SessionError, match="not open on this connection"):
        first.fetch([doc("x")])


def test_a_receiver_that_raises_is_reported_and_keeps_its_link(tmp_path: Path) -> None:
    reports: list[Exception] = []
    host = Host(opener("memory", tmp_path), report=reports.append)

    class Broken(Inbox):
        def on_verdict(self, verdict: Verdict) -> None:
            super().on_verdict(verdict)
            raise ZeroDivisionError("a bug of the receiver")

    inbox = Broken()
    link = host.connect(inbox, deliver=inbox.mail.put)
    inbox.covered(send(inbox, link, 1, put("x", 1)), send(inbox, link, 2, put("x", 2)))
    host.close()
    assert [type(error) for error in reports] == [ZeroDivisionError, ZeroDivisionError]


def test_closing_decides_what_was_sent_and_says_it(host: Host) -> None:
    inbox, link = connected(host)
    ids = [send(inbox, link, n, put("x", n)) for n in range(1, 21)]
    host.close()
    while not inbox.mail.empty():
        inbox.mail.get()()
    assert [v.id for v in inbox.verdicts] == ids
    assert [id for frame in inbox.frames for id in frame.decided] == ids
    with pytest.raises(SessionError, match="closed"):
        link.send(commit(link.session, 99, put("x", 1)))
    host.close()


def test_a_closed_link_hears_nothing_more_and_the_others_go_on(host: Host) -> None:
    (a, to_a), (b, to_b) = connected(host), connected(host)
    a.take(to_a.fetch([doc("x")]))
    to_a.close()
    b.covered(send(b, to_b, 1, put("x", 1)))
    host.call(lambda now: host.desk().pump(now + 1.0))
    assert a.mail.empty()
    with pytest.raises(SessionError):
        to_a.send(commit(to_a.session, 1, put("x", 1)))


def test_an_engine_that_does_not_open_raises_where_the_host_is_made() -> None:
    def refuse() -> object:
        raise NewerSchema("made by a newer version")

    with pytest.raises(NewerSchema):
        Host(refuse)  # type: ignore[arg-type]


@pytest.mark.parametrize("backend", BACKENDS)
def test_many_threads_on_one_host_converge(backend: str, tmp_path: Path) -> None:
    host = Host(opener(backend, tmp_path))
    inboxes = [connected(host) for _ in range(4)]

    def work(inbox: Inbox, link: HostLink, name: str) -> None:
        inbox.take(link.fetch([doc("x")]))
        inbox.covered(*[send(inbox, link, n, Patch(doc("x"), (Append(("value",), (f"{name}{n}",), True),))) for n in range(1, 26)])

    threads = [threading.Thread(target=work, args=(inbox, link, name)) for (inbox, link), name in zip(inboxes, "abcd", strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    for inbox, _ in inboxes:
        inbox.listed("x", 100)
    host.close()
    values = [inbox.values()["x"] for inbox, _ in inboxes]
    assert all(value == values[0] for value in values)
    assert len(set(values[0])) == 100


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_hosts_of_a_store_are_opened_once_for_each_space_and_closed_together(backend: str, tmp_path: Path) -> None:
    hosts = open_hosts("memory:" if backend == "memory" else f"sqlite:{tmp_path / 'store'}", runtime="test", codec=VALUES)
    one, two = Inbox(), Inbox()
    connect: Connect = hosts.connector(principal="p", deliver=one.mail.put)
    first = connect("main", one)
    second = hosts.connector(deliver=two.mail.put)("main", two)
    hosts.connect("other", Picture())
    assert len(_engine_threads()) == 2
    assert hosts.host("main") is hosts.host("main")
    two.take(second.fetch([doc("x")]))
    first.send(commit(first.session, 1, put("x", 1)))
    two.until(lambda: two.values() == {"x": 1})
    if backend == "sqlite":
        assert (tmp_path / "store").stat().st_mode & 0o777 == 0o700
    hosts.close()
    assert _engine_threads() == []
    with pytest.raises(SessionError, match="closed"):
        hosts.host("main")


def _engine_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "weft-engine"]


def test_two_runtimes_that_share_a_store_of_one_process_see_each_other() -> None:
    store = Store("memory:")
    ones, twos = open_hosts(store, runtime="one", codec=VALUES), open_hosts(store, runtime="two", codec=VALUES)
    one, two = Inbox(), Inbox()
    to_one = ones.connector(deliver=one.mail.put)("main", one)
    to_two = twos.connector(deliver=two.mail.put)("main", two)
    two.take(to_two.fetch([doc("x")]))
    to_one.send(commit(to_one.session, 1, put("x", 1)))
    two.until(lambda: two.values() == {"x": 1})
    ones.close()
    twos.close()


def test_a_store_that_cannot_be_read_is_reported_at_the_pace_of_polling_and_the_host_lives_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reports: queue.Queue[Exception] = queue.Queue()
    host = Host(opener("memory", tmp_path), pace=Pace(0.001, 3600.0), report=reports.put)
    inbox, link = connected(host)

    def fail() -> bool:
        raise StorageUnavailable("the disk is away")

    with monkeypatch.context() as patch:
        patch.setattr(host.desk().engine, "poll", fail)
        link.fetch([doc("x")])
        assert isinstance(reports.get(timeout=WAIT), StorageUnavailable)
    inbox.covered(send(inbox, link, 1, put("x", 1)))
    host.close()


def test_a_named_session_that_was_lost_still_asks_for_its_token(tmp_path: Path) -> None:
    host = Host(opener("memory", tmp_path), report=lambda error: None)

    def dead(call: Callable[[], None]) -> None:
        raise ConnectionError("the actor has died")

    link = host.connect(Picture(), principal="p", session="s", deliver=dead)
    link.send(commit(link.session, 1, put("x", 1)))
    host.call(lambda now: host.desk().pump(now))
    with pytest.raises(SessionError, match="token"):
        host.connect(Picture(), principal="p", session="s")
    assert host.connect(Picture(), principal="p", session="s", token=link.token).session == "p:s"
    host.close()


def test_a_mailbox_that_takes_nothing_any_more_costs_its_own_session_only(tmp_path: Path) -> None:
    reports: list[Exception] = []
    host = Host(opener("memory", tmp_path), report=reports.append)

    def dead(call: Callable[[], None]) -> None:
        raise ConnectionError("the actor has died")

    link = host.connect(Picture(), deliver=dead)
    link.send(commit(link.session, 1, put("x", 1)))
    other, to_other = connected(host)
    other.covered(send(other, to_other, 1, put("y", 1)))
    with pytest.raises(SessionError, match="lost"):
        link.send(commit(link.session, 2, put("x", 2)))
    host.close()
    assert ["the actor has died" in str(error) for error in reports] == [True]


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_replicas_on_one_host_converge_and_what_the_other_commits_is_an_integrate(backend: str, tmp_path: Path) -> None:
    hosts = open_hosts("memory:" if backend == "memory" else f"sqlite:{tmp_path}", runtime="test", codec=VALUES)
    mails: list[queue.Queue[Callable[[], None]]] = [queue.Queue(), queue.Queue()]
    one, two = (Replica(hosts.connector(deliver=mail.put), 1) for mail in mails)
    seen: list[Entry] = []
    two.journal.subscribe(seen.append)
    assert two.read(doc("x")).document is MISSING
    for replica, word in ((one, "a"), (two, "b"), (one, "c")):
        transaction = Transaction(replica, SPACE)
        transaction.append(doc("x"), ("value",), word)
        for proposal in transaction.finish():
            assert isinstance(replica.commit(proposal), Committed)
    for replica, mail in ((one, mails[0]), (two, mails[1])):
        while replica.pending() or len(replica.read(doc("x")).document["value"]) < 3:
            mail.get(timeout=WAIT)()
    hosts.close()
    assert one.read(doc("x")).document == two.read(doc("x")).document
    assert sorted(one.read(doc("x")).document["value"]) == ["a", "b", "c"]
    kinds = [type(entry) for entry in seen]
    assert kinds[:2] == [PullEntry, CommitEntry]
    assert set(kinds[2:]) == {IntegrateEntry}
