"""The messages of the ring: settle -> worker -> storage -> graph -> settle (DESIGN section 3).

Every one carries the version it speaks of, settle's token and the number of the wave (PROTOCOL rules 2 and 5). What is rare stands in a record of its own that is None
otherwise, so that an ordinary run costs little.
"""
from __future__ import annotations

from typing import Literal, NamedTuple

from ..scheduler.model import Address, Change, Entity, Path, Read, Version
from ..scheduler.rows import Done, Edge, Row
from ..scheduler.values import Value


class Run(NamedTuple):
    """One member of a wave. `attempt` counts refused commits in a row. `gives_way`: it ends if it reads nothing where a node that never ran will write.
    `demanded`: what it makes is demanded as it is itself. `spec` is told once to each worker, None afterwards."""

    node: str
    generation: int
    number: int
    attempt: int
    gives_way: bool
    demanded: bool
    spec: Value
    triggers: tuple[Address, ...]


class Awaited(NamedTuple):
    """An output of a node that never ran and is about to, or, not `pending`, no longer."""

    address: Address
    pending: bool


class RunWave(NamedTuple):
    """settle -> worker: run these, one after another, at this version. `fed` is the last Feed that the worker must have applied to be there; `wave` counts waves."""

    token: int
    version: Version
    fed: int
    wave: int
    now: float
    runs: tuple[Run, ...]
    awaited: tuple[Awaited, ...]


class UsedRead(NamedTuple):
    """A read of a run; `use` says what for: 1 scheduling, 2 conflict, 3 both."""

    entity: Entity
    path: Path
    deep: bool
    use: int


class Write(NamedTuple):
    """One document that a run wrote: set to `value`, given that value alone (`plain`), deleted, or patched by the operations listed in `value` as they are stored."""

    entity: Entity
    op: Literal["set", "plain", "patch", "delete"]
    value: Value


class Own(NamedTuple):
    """A document that a run saw as an earlier member of its wave left it."""

    entity: Entity
    member: int


class Declared(NamedTuple):
    """A registration as it travels. Reads of an observer are its `declared` ones. `spec` is for whoever runs it; scheduling does not look inside."""

    node: str
    kind: Literal["computation", "effect", "observer", "family"]
    space: str
    outputs: tuple[Address, ...]
    envelope: tuple[Address, ...]
    declared: tuple[Read, ...]
    debounce: float | None
    max_wait: float | None
    throttle: float | None
    auto_debounce: bool
    group: str | None
    demanded: bool
    spec: Value


class Beside(NamedTuple):
    """What few runs do besides reading and writing. A run is atomic: all of it travels with its commit."""

    own: tuple[Own, ...] = ()
    elided: tuple[Address, ...] = ()
    preconditions: tuple[Value, ...] = ()
    children: tuple[Declared, ...] = ()
    removals: tuple[str, ...] = ()
    sends: tuple[Value, ...] = ()
    touched: tuple[Entity, ...] = ()
    event: str | None = None


class Fault(NamedTuple):
    """What became of a run that did not end well: it raised, asked to be run `later`, or met nothing where somebody will write (`unready`)."""

    kind: Literal["failed", "later", "unready"]
    code: str
    message: str
    where: str
    trace: str


class Finished(NamedTuple):
    """What one run did, in `took` seconds."""

    node: str
    generation: int
    number: int
    reads: tuple[UsedRead, ...]
    writes: tuple[Write, ...]
    triggers: tuple[Address, ...]
    group: str | None
    took: float
    beside: Beside | None
    fault: Fault | None


class CommitRuns(NamedTuple):
    """worker -> storage: the runs of a wave that are done, in order. `last`: no more of this wave will follow."""

    token: int
    version: Version
    wave: int
    finished: tuple[Finished, ...]
    last: bool


class Refusal(NamedTuple):
    """Why a commit was refused: an error by name (`errors.by_name`)."""

    name: str
    message: str
    fields: Value


class Leaning(NamedTuple):
    """A run that has to be looked at again."""

    node: str
    generation: int
    number: int


class Unusual(NamedTuple):
    """What few entries have."""

    outcome: Literal["committed", "unchanged", "refused", "failed"] = "committed"
    group: str | None = None
    parent: str | None = None
    token: int = 0
    refusal: Refusal | None = None
    leaning: tuple[Leaning, ...] = ()
    declared: Declared | None = None
    fault: Fault | None = None


class Logged(NamedTuple):
    """One entry of storage's log, as graph needs it. `moved` are reads whose value changed between the read and the commit; all others are as of this entry."""

    n: int
    entry: Literal["commit", "pull", "integrate", "revert", "result", "registration", "removal", "fence"]
    node: str | None
    generation: int
    number: int
    reads: tuple[Read, ...]
    changes: tuple[Change, ...]
    moved: tuple[Read, ...]
    took: float
    unusual: Unusual | None


class Served(NamedTuple):
    """The number of the last Feed sent to a worker."""

    worker: str
    fed: int


class Changes(NamedTuple):
    """storage -> graph: entries of the log, in order, up to `version`. `wave` and `last` tell of the wave whose runs are among them."""

    token: int
    version: Version
    wave: int
    entries: tuple[Logged, ...]
    served: tuple[Served, ...]
    last: bool


class Applied(NamedTuple):
    """graph -> storage: everything up to `version` has been applied here. Storage keeps entries until then, and lets clients commit only so far ahead of it (PROTOCOL H2)."""

    version: Version


class Born(NamedTuple):
    """A registration, with what graph gave it."""

    generation: int
    ordinal: int
    parent: str | None
    declared: Declared


class Reads(NamedTuple):
    """The read set of a node."""

    node: str
    reads: tuple[Read, ...]


class Structure(NamedTuple):
    """What changed of the graph itself: rare in a steady state. `reads` are told while there are materializers, which they order."""

    born: tuple[Born, ...] = ()
    gone: tuple[str, ...] = ()
    edges: tuple[Edge, ...] = ()
    reads: tuple[Reads, ...] = ()


class Invalidated(NamedTuple):
    """graph -> settle: everything up to `version` has been applied. Sent for every version, also when it invalidates nothing.
    `owed`: registrations that graph has asked for and not yet seen."""

    token: int
    version: Version
    wave: int
    rows: tuple[Row, ...]
    done: tuple[Done, ...]
    structure: Structure | None
    served: tuple[Served, ...]
    owed: int
    last: bool


class Undemand(NamedTuple):
    """settle -> graph: the pass that bounded the provisional demand of these is over. Answered by an Invalidated."""

    token: int
    nodes: tuple[str, ...]


class Wake(NamedTuple):
    """settle -> gates: the first of what is gated may run at this time; infinity, if nothing is. The last one said holds."""

    at: float


class Woken(NamedTuple):
    """gates -> settle: it is that late."""

    at: float
