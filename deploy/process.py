"""One start of one child, as the root sees it: its pid, what it says, how it ended. Forked from a server that has the actors' modules loaded, which takes 10 ms (DESIGN section 3).

The fork server is `multiprocessing`'s own. The root's program is a package's `__main__`, which `multiprocessing` does not run again in its children. Called by `tree`.
"""
from __future__ import annotations

import multiprocessing
import multiprocessing.forkserver
import multiprocessing.resource_tracker
import multiprocessing.util
import signal
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from ..scheduler.errors import WeftError, by_name
from ..wire.codec import VALUES
from .entry import HOSTING, begin
from .lifeline import Lifeline
from .specification import Start, encoded

MOST_SAID = 1_000_000  # bytes; what a child says is a sentence


class Process:
    """Started at once. `control` becomes readable when it speaks, `sentinel` when it has ended."""

    def __init__(self, start: Start, lifeline: Lifeline) -> None:
        self.start = start
        self.child = start.child
        self.control, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("forkserver")
        self._process = context.Process(target=begin, args=(encoded(start), theirs, lifeline.end), name=start.child.name)
        try:
            self._process.start()
        finally:
            theirs.close()
        self.pid = self._process.pid or 0
        self.sentinel = self._process.sentinel

    def said(self) -> WeftError | None:
        """Reads what it said: None if it is ready, or why it is not. EOFError if it ended instead."""
        found: Any = VALUES.decode(self.control.recv_bytes(MOST_SAID))
        if "failed" not in found:
            return None
        name, text, fields = found["failed"]
        return by_name(name, text, dict(fields))

    def ask_to_stop(self) -> None:
        try:
            self.control.send_bytes(b"stop")
        except OSError:
            return  # it has ended

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> str:
        """Waits until it is gone and reaped; says of what it ended."""
        self._process.join()
        self.control.close()
        cause = cause_of(self._process.exitcode)
        self._process.close()
        return cause


def cause_of(code: int | None) -> str:
    if code is not None and code < 0:
        try:
            return f"was killed by {signal.Signals(-code).name}"
        except ValueError:
            return f"was killed by signal {-code}"
    return "ended by itself" if not code else f"ended with exit code {code}"


def preload(modules: Iterable[str]) -> None:
    """What the fork server loads before the first child."""
    multiprocessing.get_context("forkserver").set_forkserver_preload([HOSTING, *modules])


def end_fork_server() -> None:
    """Its end is waited for, and its socket's folder removed, so that nothing is left when the root ends; by themselves both would go a moment later."""
    for server in (multiprocessing.forkserver._forkserver, multiprocessing.resource_tracker._resource_tracker):
        stop = getattr(server, "_stop", None)
        if stop is not None:
            with suppress(FileNotFoundError):  # whoever removed the folder meant it
                stop()
    multiprocessing.util._run_finalizers()  # type: ignore[attr-defined]
