"""Where an actor says what went wrong: exceptions of handlers, refused frames, gaps. Nothing is swallowed, and nothing floods the log."""
from __future__ import annotations

import logging
import threading
from collections import Counter
from typing import NamedTuple, Protocol

from ..scheduler.errors import Undecodable

MOST_TEXT = 10_000  # characters of an error's text that are passed on: enough for a page, too few to fill a log or a frame


def wording(error: BaseException) -> str:
    """An error's text, whatever its class does: it can be written and sent, and is cut if it is long."""
    text = _text(error)
    if len(text) > MOST_TEXT:
        text = f"{text[:MOST_TEXT]}… ({len(text)} characters)"
    return text.encode("utf-8", "backslashreplace").decode()


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException as second:  # whatever it is, it says nothing about what went wrong first
        return f"(its text cannot be had: {type(second).__name__})"


class Report(NamedTuple):
    """`what` is failed, refused or gap; `about` the message kind, the reason word, or the sender."""

    actor: str
    what: str
    about: str
    error: BaseException | None
    times: int = 1


class Reporter(Protocol):
    """Any thread may call it."""

    def failed(self, actor: str, kind: str, error: BaseException) -> None: ...

    def refused(self, actor: str, error: Undecodable) -> None: ...

    def gap(self, actor: str, sender: str, missing: int) -> None: ...


class Log:
    """To Python's logging. Refusals are logged at the 1st, 10th, 100th … of an actor and reason: whoever sends garbage must not fill the disk."""

    def __init__(self) -> None:
        self._logger = logging.getLogger("weft.actors")
        self._seen: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def failed(self, actor: str, kind: str, error: BaseException) -> None:
        text = wording(error)
        shown = error if text == _text(error) else Exception(text).with_traceback(error.__traceback__)  # a log that cannot be written would say nothing
        self._logger.error("%s: handling %s failed: %s", actor, kind, text, exc_info=shown)

    def refused(self, actor: str, error: Undecodable) -> None:
        with self._lock:
            self._seen[actor, error.reason] += 1
            seen = self._seen[actor, error.reason]
        if str(seen).strip("0") == "1":
            self._logger.warning("%s: frame refused (%s, %d so far): %s", actor, error.reason, seen, error)

    def gap(self, actor: str, sender: str, missing: int) -> None:
        self._logger.warning("%s: %d messages of %s never came", actor, missing, sender)


class Record:
    """In memory, for tests and for looking: the latest reports, oldest first."""

    MOST = 1000

    def __init__(self) -> None:
        self.reports: list[Report] = []

    def failed(self, actor: str, kind: str, error: BaseException) -> None:
        self._add(Report(actor, "failed", kind, error))

    def refused(self, actor: str, error: Undecodable) -> None:
        self._add(Report(actor, "refused", error.reason, error))

    def gap(self, actor: str, sender: str, missing: int) -> None:
        self._add(Report(actor, "gap", sender, None, missing))

    def _add(self, report: Report) -> None:
        self.reports.append(report)
        if len(self.reports) > self.MOST:
            del self.reports[: -self.MOST]
