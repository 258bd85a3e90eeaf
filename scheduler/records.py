"""A node and all the state that scheduling keeps of it: one record, so that no membership in a set encodes a state (seed 000 section 4.1).

Who writes what: registry the identity and surface; graph the reads, edges, references and height; invalidation status and causes; gates `gate`; settle the fields of the pass.
"""
from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from .errors import ErrorInfo
from .gate import Gate
from .model import Address, Read
from .readset import EMPTY, ReadSet


class Kind(Enum):
    COMPUTATION = "computation"
    EFFECT = "effect"


class Status(Enum):
    NEVER_RAN = "never-ran"
    CLEAN = "clean"
    INVALID = "invalid"


EFFECT, MATERIALIZER, PROVISIONAL = 1, 2, 4  # why a node is live whoever reads it


class Surface(NamedTuple):
    """What a node may write and what it says it reads: fixed for the life of a registration (P4).

    `outputs` are the primary output and the static side-write targets; `envelope` is where a materializer may write besides; `declared` are ordering hints, never subscriptions.
    """

    outputs: tuple[Address, ...] = ()
    envelope: tuple[Address, ...] = ()
    declared: tuple[Read, ...] = ()


class Node:
    """One registration of a node.

    id, kind, surface, space, ordinal, generation, parent, group   what it is; `generation` changes when it is registered again, `ordinal` does not
    spec         what a runtime needs to run it; scheduling never looks inside
    passive      it demands what it reads and is never run: the observer that a pull or an event puts there
    run          number of its last run; 0 if it never ran, and never less than before
    ended        when its last run ended
    reads        the reads of its last run: what the reader index has of it
    causes       changed addresses that made it invalid, with the log position of the last change
    taken        the causes that its last run took, kept in case its commit is refused
    upstream     who writes what it reads, and by how many of its reads; `downstream` the other way
    live_refs    how many distinct live nodes read what it writes
    roots        why it is live besides: EFFECT, MATERIALIZER, PROVISIONAL
    height       above that of everything it reads from, but for edges that close a cycle
    gate         its time gates; None as long as nothing was ever set
    streak, holds, attempts, failed   convergence backoffs in a row; those that held idle(); refused commits in a row; what its last run raised
    pass_runs, seen_in, demanded_in, deferred_in   of the pass: runs, in which pass they were counted, which pass needs it though it is not live, which pass may not run it again,
        in which it let one run first that it found nothing of
    """

    __slots__ = (
        "attempts", "causes", "children", "deferred_in", "demanded_in", "downstream", "ended", "failed", "gate", "gave_way_in", "generation", "group", "height", "holds",
        "id", "kind", "live_refs", "ordinal", "parent", "pass_runs", "passive", "reads", "roots", "run", "seen_in", "space", "spec", "status", "streak", "surface", "taken",
        "upstream",
    )

    def __init__(self, id: str, kind: Kind, space: str, surface: Surface, spec: Any, ordinal: int, generation: int) -> None:
        self.id = id
        self.kind = kind
        self.space = space
        self.surface = surface
        self.spec = spec
        self.ordinal = ordinal
        self.generation = generation
        self.parent: str | None = None
        self.children: dict[str, None] = {}
        self.group: str | None = None
        self.passive = False
        self.run = 0
        self.status = Status.NEVER_RAN
        self.reads: ReadSet = EMPTY
        self.causes: dict[Address, int] = {}
        self.taken: dict[Address, int] = {}
        self.upstream: dict[Node, int] = {}
        self.downstream: dict[Node, None] = {}
        self.live_refs = 0
        self.roots = 0
        self.height = 0
        self.gate: Gate | None = None
        self.streak = 0
        self.holds = 0
        self.attempts = 0
        self.ended: float | None = None
        self.failed: ErrorInfo | None = None
        self.pass_runs = 0
        self.seen_in = 0
        self.demanded_in = 0
        self.deferred_in = 0
        self.gave_way_in = 0

    @property
    def live(self) -> bool:
        return self.live_refs > 0 or self.roots > 0

    @property
    def materializer(self) -> bool:
        return bool(self.surface.envelope)

    @property
    def provisional(self) -> bool:
        return bool(self.roots & PROVISIONAL)

    def __repr__(self) -> str:
        return f"<{self.kind.value} {self.id} {self.status.value}{' live' if self.live else ''}>"
