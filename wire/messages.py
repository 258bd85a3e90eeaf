"""The closed table of weft's messages. To add one: declare a NamedTuple, give it the next free code in `TABLE`.

Every message of the run path carries the version it speaks of and settle's token (PROTOCOL rules 2 and 5), and greetings and heartbeats the sender's present state (rule 6).
`Value` fields hold documents or parts of them, MISSING included. Handlers are named after the message: RunWave is handled by `on_run_wave`.
"""
from __future__ import annotations

from typing import Literal, NamedTuple

from ..scheduler.model import Address, Change, CommitId, Entity, Path, Version
from ..scheduler.values import Value
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


class SeenRead(NamedTuple):
    """A read of a run, and the log position at which the document was read."""

    entity: Entity
    path: Path
    deep: bool
    n: int


class Run(NamedTuple):
    """One member of a wave. `function` is module:qualname; `arguments` are bound."""

    node: str
    generation: int
    number: int
    function: str
    arguments: Value
    triggers: tuple[Address, ...]


class RunWave(NamedTuple):
    """settle -> worker: run these, one after another, at this version."""

    token: int
    version: Version
    runs: tuple[Run, ...]


class Write(NamedTuple):
    """One operation of a run: `op` names it, `value` is its operand."""

    entity: Entity
    op: str
    path: Path
    value: Value


class Finished(NamedTuple):
    """What one run did. A run is atomic: reads, writes, children, removals and sends travel together."""

    node: str
    generation: int
    number: int
    commit: CommitId
    reads: tuple[SeenRead, ...]
    writes: tuple[Write, ...]
    children: tuple[Value, ...]
    removals: tuple[str, ...]
    sends: tuple[Value, ...]
    error: Failed | None


class CommitRuns(NamedTuple):
    """worker -> storage: the runs of a wave that are done, in order. `last`: no more of this wave will follow."""

    token: int
    version: Version
    finished: tuple[Finished, ...]
    last: bool


class Logged(NamedTuple):
    """One entry of storage's log. `moved` are reads whose value changed between the read and the commit."""

    version: Version
    entry: Literal["commit", "pull", "integrate", "revert", "result", "registration", "removal", "fence"]
    node: str | None
    generation: int
    number: int
    reads: tuple[SeenRead, ...]
    changes: tuple[Change, ...]
    moved: tuple[Address, ...]


class Changes(NamedTuple):
    """storage -> graph: entries of the log, in order."""

    token: int
    version: Version
    entries: tuple[Logged, ...]
    last: bool


class Cause(NamedTuple):
    """Why a node is invalid."""

    node: str
    address: Address
    version: Version


class Edge(NamedTuple):
    writer: str
    reader: str
    present: bool


class Liveness(NamedTuple):
    node: str
    live: bool


class Invalidated(NamedTuple):
    """graph -> settle: everything up to `version` has been applied. Sent for every version, also when it invalidates nothing."""

    token: int
    version: Version
    causes: tuple[Cause, ...]
    edges: tuple[Edge, ...]
    liveness: tuple[Liveness, ...]
    finished: tuple[str, ...]
    last: bool


class Fed(NamedTuple):
    """A document as storage holds it at a version; MISSING if there is none."""

    entity: Entity
    n: int
    document: Value


class Feed(NamedTuple):
    """storage -> worker: documents that you hold have become this. `stale`: too many to list; everything you hold is old."""

    version: Version
    documents: tuple[Fed, ...]
    stale: bool


class Fetch(NamedTuple):
    """worker -> storage, the one question of the run path: documents at a version."""

    version: Version
    entities: tuple[Entity, ...]


class Fetched(NamedTuple):
    """The answer to Fetch. `moved`: these cannot be had as of that version any more."""

    version: Version
    documents: tuple[Fed, ...]
    moved: tuple[Entity, ...]


KINDS: dict[int, type[Message]] = {
    1: Hello, 2: Ready, 3: Probe, 4: Heartbeat, 5: Failed, 6: Credit, 7: Fence,
    16: RunWave, 17: CommitRuns, 18: Changes, 19: Invalidated, 20: Feed, 21: Fetch, 22: Fetched,
}
TABLE = Table(KINDS)
GREETINGS = frozenset({Hello, Ready})
