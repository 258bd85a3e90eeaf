"""The host's thread and what other threads do to it: readers that are taken back, callbacks that end their thread."""
from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from harness.neighbours import WAIT, Inbox
from harness.offices import BACKENDS, commit, doc, opener, put
from weft.scheduler.errors import SessionError, StorageUnavailable, WeftError
from weft.scheduler.model import Entity
from weft.scheduler.values import MISSING
from weft.storage.commit import Accepted, Verdict
from weft.storage.host import Host
from weft.storage.lent import Lent
from weft.storage.link import Delivered, Frame

ENTITY = doc("x")


class Slow:
    """A reader that waits in the middle of a read until it is told to go on."""

    def __init__(self) -> None:
        self.inside, self.go = threading.Event(), threading.Event()
        self.reading = self.closed_while_reading = False

    def read(self, entity: Entity, branch: str = "", at: int | None = None) -> Delivered:
        self.reading = True
        self.inside.set()
        assert self.go.wait(WAIT)
        self.reading = False
        return Delivered(entity, 0, None, MISSING)

    def close(self) -> None:
        self.closed_while_reading = self.reading


def test_a_reader_is_closed_between_two_reads_and_never_inside_one() -> None:
    slow = Slow()
    lent = Lent(slow, "main")
    reader = threading.Thread(target=lent.read, args=(ENTITY,))
    closer = threading.Thread(target=lent.close)
    reader.start()
    assert slow.inside.wait(WAIT)
    closer.start()
    closer.join(0.05)  # it cannot end before the read does
    assert closer.is_alive()
    slow.go.set()
    reader.join(WAIT)
    closer.join(WAIT)
    assert not slow.closed_while_reading
    with pytest.raises(SessionError, match="'main' is closed; connect again"):
        lent.read(ENTITY)


def test_a_store_may_be_closed_while_other_threads_fetch(tmp_path: Path) -> None:
    raised: list[BaseException] = []
    for round in range(10):
        host = Host(opener("sqlite", tmp_path / str(round)))
        fetching = threading.Barrier(4)

        def fetch(host: Host = host, fetching: threading.Barrier = fetching) -> None:
            link = host.connect(Inbox())
            try:
                link.fetch([ENTITY])
                fetching.wait(WAIT)
                while True:
                    link.fetch([doc(str(n)) for n in range(20)])
            except BaseException as error:
                raised.append(error)

        threads = [threading.Thread(target=fetch) for _ in range(3)]
        for thread in threads:
            thread.start()
        fetching.wait(WAIT)
        host.close()
        for thread in threads:
            thread.join(WAIT)
    assert len(raised) == 30
    assert {type(error) for error in raised} <= {SessionError, StorageUnavailable}


class Quits:
    """A receiver that ends the thread it is called in, once the host has more to do."""

    def __init__(self, ready: threading.Event) -> None:
        self.ready = ready

    def on_verdict(self, verdict: Verdict) -> None:
        assert self.ready.wait(WAIT)
        sys.exit(1)

    def on_frame(self, frame: Frame) -> None:
        raise KeyboardInterrupt


def exits(call: Callable[[], None]) -> None:
    sys.exit(2)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_receiver_that_ends_its_thread_does_not_end_the_hosts(backend: str, tmp_path: Path) -> None:
    told: list[Exception] = []
    host = Host(opener(backend, tmp_path), report=told.append)
    ready = threading.Event()
    quitter, inbox = host.connect(Quits(ready)), Inbox()
    link = host.connect(inbox, deliver=inbox.mail.put)
    quitter.send(commit(quitter.session, 1, put("a", 1)))
    made = commit(link.session, 1, put("b", 2))
    inbox.sent[made.id] = made
    link.send(made)
    ready.set()
    inbox.covered(made.id)
    assert isinstance(inbox.verdicts[0], Accepted)
    assert host.call(lambda now: 5) == 5
    host.close()
    assert [type(error) for error in told[:1]] == [SessionError]
    assert "SystemExit was raised in the engine's thread" in str(told[0])


def test_an_owner_that_cannot_be_reached_is_a_lost_connection_and_the_others_are_answered(tmp_path: Path) -> None:
    told: list[Exception] = []
    host = Host(opener("memory", tmp_path), report=told.append)
    gone, inbox = host.connect(Inbox(), deliver=exits), Inbox()
    link = host.connect(inbox, deliver=inbox.mail.put)
    first, second = commit(gone.session, 1, put("a", 1)), commit(link.session, 1, put("b", 2))
    inbox.sent[second.id] = second

    def both(now: float) -> None:  # so that they are one group
        gone.send(first)
        link.send(second)

    host.call(both)
    inbox.covered(second.id)
    with pytest.raises(SessionError, match="was closed, lost or taken over"):
        gone.fetch([ENTITY])
    host.close()
    assert "nothing can be delivered any more: SystemExit" in str(told[0])


def test_a_report_that_fails_does_not_end_the_hosts_thread(tmp_path: Path) -> None:
    def report(error: Exception) -> None:
        raise RuntimeError("no paper")

    host = Host(opener("memory", tmp_path), report=report)
    host.post(exits_job)
    assert host.call(lambda now: "alive") == "alive"
    host.close()


def exits_job(now: float) -> None:
    sys.exit(3)


def test_whoever_asked_is_answered_even_if_the_hosts_thread_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host(opener("memory", tmp_path), report=lambda error: None)
    served = threading.Event()
    answers: list[object] = []

    def ask() -> None:
        try:
            answers.append(host.call(lambda now: "answered"))
        except WeftError as error:
            answers.append(type(error))

    def broken(due: object, desk: object) -> float:
        assert served.wait(WAIT)
        raise RuntimeError("a bug outside of everything that is caught")

    monkeypatch.setattr(threading, "excepthook", lambda args: None)
    monkeypatch.setattr(host, "_timeout", broken)
    host.call(lambda now: None)
    asker = threading.Thread(target=ask)
    asker.start()
    served.set()
    asker.join(WAIT)
    host._thread.join(WAIT)
    assert answers in (["answered"], [SessionError])
    with pytest.raises(SessionError, match="is closed"):
        host.call(lambda now: None)
