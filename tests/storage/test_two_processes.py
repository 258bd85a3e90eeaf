"""Two processes on one SQLite store (decision 35): the log is polled, a hint shortens the wait, foreign commits arrive in frames."""
from __future__ import annotations

import multiprocessing
import os
import socket
import stat
from pathlib import Path

import pytest
from harness.neighbours import WAIT, Inbox, live, neighbour
from harness.offices import commit, doc, put
from weft.storage.commit import ConfirmedRead, Patch, Rejected
from weft.storage.hints import FOLDER, Hints
from weft.storage.pace import Pace
from weft.storage.patch import Append


class Other:
    """Drives the other process through a pipe."""

    def __init__(self, folder: Path, hints: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=live, args=(folder, hints, theirs))
        self.process.start()
        theirs.close()
        assert self.hear() == "ready"

    def hear(self) -> object:
        assert self.pipe.poll(WAIT), "the other process says nothing"
        return self.pipe.recv()

    def ask(self, told: object) -> object:
        self.pipe.send(told)
        return self.hear()

    def stop(self) -> None:
        assert self.ask("stop") == "bye"
        self.process.join(WAIT)
        assert self.process.exitcode == 0


@pytest.mark.parametrize("way", ["hint", "poll"])
def test_commits_of_another_process_arrive_in_frames_both_ways(tmp_path: Path, way: str) -> None:
    """By hint alone: this process polls once in an hour. By polling alone: no sockets."""
    hints = way == "hint"
    host = neighbour(tmp_path, "this", Pace(3600.0, 3600.0) if hints else Pace(), hints)
    inbox = Inbox()
    link = host.connect(inbox, deliver=inbox.mail.put)
    inbox.take(link.fetch([doc("x")]))
    host.call(lambda now: None)  # the first look is over
    other = Other(tmp_path, hints)
    assert other.ask("theirs") is True
    inbox.until(lambda: inbox.values().get("x") == ["theirs"])
    (frame,) = inbox.frames
    assert (frame.head, frame.decided, [d.entity for d in frame.documents]) == (1, (), [doc("x")])
    made = commit(link.session, 1, Patch(doc("x"), (Append(("value",), ("mine",)),)))
    inbox.sent[made.id] = made
    link.send(made)
    assert other.ask(2) == ["theirs", "mine"]
    inbox.until(lambda: inbox.values()["x"] == ["theirs", "mine"])
    other.stop()
    host.close()


def test_two_processes_that_append_at_the_same_time_lose_nothing_and_agree(tmp_path: Path) -> None:
    host = neighbour(tmp_path, "this", Pace(), True)
    inbox = Inbox()
    link = host.connect(inbox, deliver=inbox.mail.put)
    inbox.take(link.fetch([doc("x")]))
    other = Other(tmp_path, True)
    for n in range(1, 31):
        other.pipe.send(f"t{n}")
        made = commit(link.session, n, Patch(doc("x"), (Append(("value",), (f"m{n}",), True),)))
        inbox.sent[made.id] = made
        link.send(made)
    assert [other.hear() for _ in range(30)] == [True] * 30
    theirs = other.ask(60)
    inbox.until(lambda: len(inbox.values().get("x", [])) == 60)
    assert inbox.values()["x"] == theirs
    assert [value for value in inbox.values()["x"] if value[0] == "m"] == [f"m{n}" for n in range(1, 31)]
    other.stop()
    host.close()


def test_a_commit_refused_for_another_processs_sake_is_followed_by_what_that_process_wrote(tmp_path: Path) -> None:
    """The refusal is decided against a commit that this process has not looked for yet: it polls once in an hour, and there is no hint."""
    host = neighbour(tmp_path, "this", Pace(3600.0, 3600.0), False)
    inbox = Inbox()
    link = host.connect(inbox, deliver=inbox.mail.put)
    inbox.take(link.fetch([doc("x")]))
    host.call(lambda now: None)
    other = Other(tmp_path, False)
    assert other.ask("theirs") is True
    made = commit(link.session, 1, put("y", 1))._replace(confirmed=(ConfirmedRead(doc("x"), ("value",), 0),))
    inbox.sent[made.id] = made
    link.send(made)
    inbox.covered(made.id)
    (verdict,) = inbox.verdicts
    assert isinstance(verdict, Rejected)
    assert (verdict.rejection.name, verdict.head) == ("ConflictError", 1)
    assert inbox.values() == {"x": ["theirs"]}
    other.stop()
    host.close()


def test_the_hint_sockets_live_in_a_private_folder_and_go_with_their_hosts(tmp_path: Path) -> None:
    one, two = Hints(tmp_path, "main", "1"), Hints(tmp_path, "main", "2")
    elsewhere = Hints(tmp_path, "other", "3")
    assert stat.S_IMODE((tmp_path / FOLDER).stat().st_mode) == 0o700
    one.ring()
    assert (one.heard(), two.heard(), two.heard(), elsewhere.heard()) == (False, True, False, False)
    for hints in (one, two, elsewhere):
        hints.close()
        hints.close()
    assert os.listdir(tmp_path / FOLDER) == []


def test_the_socket_of_a_dead_process_is_cleared_away_by_whoever_meets_it(tmp_path: Path) -> None:
    living = Hints(tmp_path, "main", "living")
    dead = Hints(tmp_path, "main", "dead")
    assert dead.socket is not None
    dead.socket.close()
    living.ring()
    assert len(os.listdir(tmp_path / FOLDER)) == 1
    living.close()


def test_hints_that_cannot_be_made_leave_polling_to_do_the_work(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("in the way")
    hints = Hints(tmp_path, "main", "1")
    hints.ring()
    assert (hints.socket, hints.heard()) == (None, False)
    hints.close()


def test_a_store_in_a_deep_folder_still_has_hints(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100) / ("e" * 100)
    deep.mkdir(parents=True)
    one, two = Hints(deep, "main", "1"), Hints(deep, "main", "2")
    assert isinstance(one.socket, socket.socket)
    one.ring()
    assert two.heard()
    one.close()
    two.close()


def test_looks_become_seldom_while_nothing_is_found_and_frequent_again_when_something_is() -> None:
    pace = Pace(0.02, 0.5)
    found = []
    for outcome in (False, False, False, False, False, False, True, False):
        pace.looked(0.0, outcome)
        found.append(round(pace.due, 3))
    assert found == [0.04, 0.08, 0.16, 0.32, 0.5, 0.5, 0.02, 0.04]
