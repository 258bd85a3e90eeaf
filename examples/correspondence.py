"""Two actors and their mail: the demo's last chapter. Each mailbox is a ZeroMQ socket in a folder of its own; one actor asks, the other answers, and a stranger sends rubbish."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from time import perf_counter
from typing import Any

from weft.actors.component import Component
from weft.actors.reporter import Record
from weft.scheduler.errors import Misuse, WeftError
from weft.wire.endpoints import Ipc
from weft.wire.messages import Heartbeat, Probe
from weft.wire.post import Post
from weft.wire.sockets import Sockets
from weft.wire.table import Message

QUESTIONS = 1000
RUBBISH = (b"", b"not msgpack at all", b"\xc1" * 40, b"\x91" * 10_000)  # empty, text, a byte that msgpack never uses, lists in lists ten thousand deep
PATIENCE = 10.0  # seconds for one question; only a broken machine needs them


class Witness(Component):
    """Answers Probe with a Heartbeat, as every actor does."""


class Inquirer(Component):
    """Asks the witness one question after the other, and says how long they took."""

    def __init__(self, *arguments: Any, done: Future[tuple[float, Heartbeat]], **rest: Any) -> None:
        super().__init__(*arguments, **rest)
        self._done = done
        self._left = QUESTIONS
        self._began = 0.0

    def begin(self) -> None:
        self.ask("witness", Probe(), self._first, within=PATIENCE)

    def _first(self, answer: Message | WeftError) -> None:
        """The greeting is over; from here on it is mail alone."""
        self._began = perf_counter()
        self._heard(answer)

    def _heard(self, answer: Message | WeftError) -> None:
        if not isinstance(answer, Heartbeat):
            self._done.set_exception(answer if isinstance(answer, WeftError) else RuntimeError(f"{answer} is no answer"))
        elif self._left:
            self._left -= 1
            self.ask("witness", Probe(), self._heard, within=PATIENCE)
        else:
            self._done.set_result((perf_counter() - self._began, answer))


def check_room(folder: Path) -> None:
    """Whether sockets can be made there; known before the story begins, and not in its middle."""
    try:
        Ipc(folder / "run").address("inquirer")
    except Misuse:
        raise Misuse(f"the temporary folder {folder.parent} has too long a path for sockets; set TMPDIR to a shorter one, such as /tmp") from None


def correspond(folder: Path) -> Iterator[str]:
    yield "5. Two actors and their mail"
    sockets, record = Sockets(), Record()
    endpoints = Ipc(folder / "run")
    done: Future[tuple[float, Heartbeat]] = Future()
    witness = Witness.start(Post(sockets, endpoints), "witness", reporter=record)
    stranger = sockets.outlet(endpoints.address("witness"))
    for frame in RUBBISH:
        stranger.send(frame)
    inquirer = Inquirer.start(Post(sockets, endpoints), "inquirer", reporter=record, done=done)
    try:
        seconds, heartbeat = done.result(timeout=2 * PATIENCE)
    finally:
        inquirer.stop()
        witness.stop()
        stranger.close()
        sockets.close()
    refused = Counter(report.about for report in record.reports if report.what == "refused")
    (handled,) = [count.messages for count in heartbeat.handled if count.actor == "inquirer"]
    yield f"   {QUESTIONS} questions and answers over ipc: {seconds / QUESTIONS * 1e6:.0f} µs each, there and back. The witness has counted {handled} before the last."
    counted = ", ".join(f"{times} {reason}" for reason, times in sorted(refused.items()))
    yield f"   A stranger sent it {len(RUBBISH)} frames of rubbish. Refused and counted: {counted}. It lived on."
