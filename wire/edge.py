"""The messages between clients and the ring. Every call is a question, and its answer names the version that covers what the caller has done (PROTOCOL H5)."""
from __future__ import annotations

from typing import Literal, NamedTuple

from ..scheduler.model import Version
from ..scheduler.values import Value
from .ring import Beside, Declared, Refusal, UsedRead, Write


class Submit(NamedTuple):
    """client -> storage: a transaction that read at `version`. `key` is the client's own number for it, under which it hears the verdict. Answered with Submitted."""

    key: int
    version: Version
    reads: tuple[UsedRead, ...]
    writes: tuple[Write, ...]
    group: str | None
    beside: Beside | None


class Submitted(NamedTuple):
    """`pending`: it is applied and a verdict will follow. `refusal`: it was not applied."""

    version: Version
    pending: bool
    refusal: Refusal | None


class Decided(NamedTuple):
    """storage -> client: nothing of this transaction is pending any more."""

    key: int
    version: Version
    refusal: Refusal | None


class Declare(NamedTuple):
    """client -> registry: register these. With `resume`, one that is registered equal already is left alone. Answered with Entered."""

    declared: tuple[Declared, ...]
    resume: bool


class Enter(NamedTuple):
    """registry -> storage, graph -> storage: put these registrations and removals into the log. Answered with Entered."""

    declared: tuple[Declared, ...]
    removed: tuple[str, ...]


class Withdraw(NamedTuple):
    """client -> registry: remove these. One that is not registered is nothing to remove. Answered with Entered."""

    nodes: tuple[str, ...]


class Entered(NamedTuple):
    """In the log, up to `version`."""

    version: Version


class Drain(NamedTuple):
    """client -> settle: say when you have seen `version` and nothing is runnable. `now` moves a clock that others keep. Answered with Rested."""

    version: Version
    now: float | None


class Rested(NamedTuple):
    """Nothing is runnable. `wake`: when the first of what is gated may run; `holds`: the same of what holds idle(gated=True), with its names."""

    version: Version
    wake: float | None
    holds: float | None
    holders: tuple[str, ...]


class Question(NamedTuple):
    """To whoever can tell; for looking. Answered with Told."""

    about: str
    arguments: Value


class Told(NamedTuple):
    value: Value


class News(NamedTuple):
    """To a client that asked for it: an error for `on_error`, what user code printed, an observer whose value may have changed."""

    topic: Literal["error", "console", "observer"]
    version: Version
    value: Value
