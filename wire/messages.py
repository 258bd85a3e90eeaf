"""The closed table of weft's messages. To add one: declare a NamedTuple, give it the next free code in `TABLE`.

Every message of the run path carries the version it speaks of and settle's token (PROTOCOL rules 2 and 5), and greetings and heartbeats the sender's present state (rule 6).
The ring, the feeds and the edge have files of their own. `Value` fields hold documents or parts of them, MISSING included. Handlers are named after the message: RunWave is
handled by `on_run_wave`.
"""
from __future__ import annotations

from typing import Literal, NamedTuple

from ..scheduler.model import Version
from ..scheduler.values import Value
from .edge import Decided, Declare, Drain, Enter, Entered, News, Question, Rested, Submit, Submitted, Told, Withdraw
from .feeding import Feed, Fetch, Fetched
from .ring import Applied, Changes, CommitRuns, Invalidated, RunWave, Undemand, Wake, Woken
from .table import Message, Table


class Presence(NamedTuple):
    """What an actor is at this moment."""

    status: Literal["starting", "ready", "paused", "stopping"] = "ready"
    version: Version = Version(0, 0)
    fence: int = 0


class Counted(NamedTuple):
    """Messages to or from one peer."""

    actor: str
    messages: int
    bytes: int


class Hello(NamedTuple):
    """The first message to anyone, and after silence: who I am, and how many messages I have sent to this epoch of you. Answered with Ready.

    `window` > 0: I am at the edge and have at most so many messages unhandled; tell me with Credit when you have handled some."""

    presence: Presence
    sent: int
    window: int


class Ready(NamedTuple):
    """The answer to Hello. Only now does the other send its first message. `sent` and `window` as in Hello."""

    presence: Presence
    sent: int
    window: int


class Probe(NamedTuple):
    """Asks any actor for a Heartbeat."""


class Heartbeat(NamedTuple):
    """State and counts: a mailbox's depth is what its senders sent less what it handled."""

    presence: Presence
    sent: tuple[Counted, ...]
    handled: tuple[Counted, ...]


class Failed(NamedTuple):
    """The answer to a question that could not be answered: the error's class name, message and fields (`errors.by_name`)."""

    name: str
    text: str
    fields: Value


class Credit(NamedTuple):
    """To a sender at the edge: so many of your messages have been handled."""

    handled: int


class Fence(NamedTuple):
    """Settle's new token on its way round the ring."""

    token: int
    version: Version


KINDS: dict[int, type[Message]] = {
    1: Hello, 2: Ready, 3: Probe, 4: Heartbeat, 5: Failed, 6: Credit, 7: Fence,
    16: RunWave, 17: CommitRuns, 18: Changes, 19: Invalidated, 20: Feed, 21: Fetch, 22: Fetched, 23: Undemand, 24: Applied, 25: Wake, 26: Woken,
    32: Submit, 33: Submitted, 34: Decided, 35: Declare, 36: Enter, 37: Withdraw, 38: Entered, 39: Drain, 40: Rested, 41: Question, 42: Told, 43: News,
}
TABLE = Table(KINDS)
GREETINGS = frozenset({Hello, Ready})
