"""Where an actor's errors stop: whatever is raised inside is reported and goes no further, sys.exit() included, which would else end every actor of the process.

A KeyboardInterrupt of the main thread is the user's, and passes: an actor is in that thread only on a loopback. Used by `Component`.
"""
from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .reporter import Reporter


class Guard:
    """One actor's way to its reporter."""

    def __init__(self, actor: str, reporter: Reporter) -> None:
        self._actor = actor
        self._reporter = reporter

    def failed(self, what: str, error: BaseException) -> None:
        """Report what was caught; `what` was being handled or done."""
        if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
            raise error
        self._reporter.failed(self._actor, what, error)

    @contextmanager
    def on(self, what: str) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self.failed(what, error)
