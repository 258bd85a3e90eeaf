"""Actors for the tests of the tree: they count, pass questions on to another process, write down when they begin and end, and can be told to misbehave."""

import os
import queue
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from weft.actors.component import Component
from weft.scheduler.errors import WeftError
from weft.wire.edge import Question, Told
from weft.wire.endpoints import Ipc
from weft.wire.post import Post
from weft.wire.sockets import Sockets

PATIENCE = 20.0  # seconds; only a failing test waits that long


class Leaf(Component):
    """`diary` is a file. `wrong` says what it does at its beginning: raise, or kill its process; or at its end: hang."""

    def __init__(self, *given: Any, diary: str = "", wrong: str = "", target: str = "", **more: Any) -> None:
        super().__init__(*given, **more)
        self._diary, self._wrong, self._target, self._count = diary, wrong, target, 0

    def begin(self) -> None:
        self._note("began")
        if self._wrong == "raise":
            raise RuntimeError("no more of this")
        if self._wrong == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self._wrong == "exit":
            os._exit(7)

    def end(self) -> None:
        self._note("ended")
        if self._wrong == "hang":
            threading.Event().wait()

    def on_question(self, message: Question, sender: str) -> Told | None:
        if message.about == "count":
            self._count += 1
            return Told([self.name, self.epoch, self._count, os.getpid()])
        owed = self.owed
        self.ask(self._target, Question("count", None), lambda answer: self.answer(owed, Told(str(answer)) if isinstance(answer, WeftError) else answer), within=PATIENCE)
        return None

    def _note(self, what: str) -> None:
        if self._diary:
            with open(self._diary, "a") as diary:
                diary.write(f"{self.name} {what}\n")


class Asker(Component):
    """The test itself."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def put(self, target: str, about: str) -> None:
        self.ask(target, Question(about, None), self.answers.put, within=PATIENCE)


@contextmanager
def asking(folder: Path) -> Iterator[Any]:
    """A function that asks an actor of the tree in this folder and gives the answer."""
    sockets = Sockets()
    reference = Asker.start(Post(sockets, Ipc(folder)), "client-test")
    actor = reference._actor_weakref()
    assert actor is not None

    def ask(target: str, about: str = "count", wait: bool = True) -> Any:
        reference.proxy().put(target, about).get()
        if not wait:
            return None
        answer = actor.answers.get(timeout=PATIENCE)
        if isinstance(answer, BaseException):
            raise answer
        return list(answer.value)

    try:
        yield ask
    finally:
        reference.stop(timeout=PATIENCE)
        sockets.close()
