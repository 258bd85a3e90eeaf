"""A process beside the test's on one SQLite store, and the receiver that both use."""
from __future__ import annotations

import queue
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from weft.scheduler.model import CommitId
from weft.storage.commit import Patch, Rejected
from weft.storage.hints import Hints
from weft.storage.host import Host
from weft.storage.pace import Pace
from weft.storage.patch import Append

from .offices import SPACE, Picture, commit, doc, opener

WAIT = 30.0  # seconds until a test that hangs fails


class Inbox(Picture):
    """A picture with a mailbox: callbacks are posted, and run when its thread takes them."""

    def __init__(self) -> None:
        super().__init__()
        self.mail: queue.Queue[Callable[[], None]] = queue.Queue()

    def until(self, done: Callable[[], bool]) -> None:
        while not done():
            self.mail.get(timeout=WAIT)()

    def covered(self, *ids: CommitId) -> None:
        """Until frames have named these commits."""
        self.until(lambda: set(ids) <= {id for frame in self.frames for id in frame.decided})

    def listed(self, id: str, length: int) -> None:
        """Until the list in this document is so long."""
        self.until(lambda: len(self.values().get(id, [])) >= length)


def neighbour(folder: Path, runtime: str, pace: Pace, hints: bool) -> Host:
    return Host(opener("sqlite", folder, SPACE, runtime), pace=pace, hints=(lambda: Hints(folder, SPACE, runtime)) if hints else None)


def live(folder: Path, hints: bool, pipe: Connection) -> None:
    """The other process. Told a word it appends it and says whether that was taken; told a number it waits until the list is that long and says what it sees."""
    host = neighbour(folder, "other", Pace(), hints)
    inbox = Inbox()
    link = host.connect(inbox, deliver=inbox.mail.put)
    inbox.take(link.fetch([doc("x")]))
    pipe.send("ready")
    words = 0
    while (told := pipe.recv()) != "stop":
        if isinstance(told, int):
            inbox.listed("x", told)
            pipe.send(list(inbox.values()["x"]))
            continue
        words += 1
        made = commit(link.session, words, Patch(doc("x"), (Append(("value",), (told,), True),)))
        inbox.sent[made.id] = made
        link.send(made)
        while len(inbox.verdicts) < words:
            inbox.mail.get(timeout=WAIT)()
        pipe.send(not isinstance(inbox.verdicts[-1], Rejected))
    host.close()
    pipe.send("bye")
