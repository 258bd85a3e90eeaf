"""The invariants of the specification that can be seen on a running scheduler, each a function over one snapshot (seed 000 section 11).

I1 to I6, I8 and I9 are here; I7, I10 and I11 are about restarts and launched work, and are held where those are. A function raises BrokenInvariant with the number of what does
not hold, and says where. They judge what was recorded: traces are bounded, so they speak of the recent past, and of the present for all that is in the records;
what I4 and I9 need is noted from the first snapshot on.
The structures of the core have checks of their own (`Core.check`); these are about behaviour. Called by `check()` of a runtime, and by simulations after every step.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from .changes import diff
from .errors import BrokenInvariant
from .log import RunId
from .matching import matches
from .model import Address, Entity
from .records import Node, Status
from .values import Value


class Signature(Protocol):
    """What a commit says of its origin (I8)."""

    @property
    def node(self) -> str | None: ...

    @property
    def run(self) -> int: ...

    @property
    def triggers(self) -> tuple[Address, ...]: ...


class Sighting(Protocol):
    """A document as a run saw it."""

    @property
    def document(self) -> Value: ...


class RunRecord(NamedTuple):
    """One run, as it was seen from outside.

    wanted     the node was live, or needed by a live one in this pass, when the run began
    anew       it was the first run of its registration, or another attempt of one that was refused: it needs no cause
    number, iteration   of the pass
    late       nodes that it reads from and that could have run before it
    signed     what its transaction says of its origin
    """

    run: RunId
    causes: tuple[Address, ...]
    wanted: bool
    anew: bool
    number: int
    iteration: int
    late: tuple[str, ...]
    signed: Signature


class Evidence(NamedTuple):
    """What a node's last run saw: the documents, those it wrote itself, and the position of its entry in the log."""

    generation: int
    seen: Mapping[Entity, Sighting]
    wrote: frozenset[Entity]
    n: int


class Handling(NamedTuple):
    """An event that was handled: when it was sent, and what above it was not clean at that moment."""

    id: str
    lane: str
    sent_at: float
    unclean: tuple[str, ...] = ()


class Snapshot(NamedTuple):
    """All that the invariants look at. `shows` gives a document as it is seen now; it is asked only for documents that some run has seen."""

    nodes: Mapping[str, Node]
    runs: Sequence[RunRecord] = ()
    evidence: Mapping[str, Evidence] = {}
    handled: Sequence[Handling] = ()
    shows: Callable[[Entity], Value] = lambda entity: None
    run_budget: int = 0
    max_iterations: int = 0


def live_consistency(snapshot: Snapshot) -> None:
    """I1: what a live, clean node has read is what is there now. Its own writes are its own matter, and a change group asks not to be told."""
    for node in snapshot.nodes.values():
        evidence = snapshot.evidence.get(node.id)
        if evidence is None or evidence.generation != node.generation or not node.live or node.status is not Status.CLEAN or node.group is not None:
            continue
        for read in node.reads:
            sighting = evidence.seen.get(read.entity)
            if sighting is None or read.entity in evidence.wrote:
                continue
            now = snapshot.shows(read.entity)
            if now is not sighting.document and any(matches(change, read.path, read.deep) for change in diff(read.entity, sighting.document, now)):
                raise BrokenInvariant(f"I1: {node.id} is live and clean, and {read.entity.at(read.path)} is not what it read")


def dormancy(snapshot: Snapshot) -> None:
    """I2: nothing runs that nobody demands."""
    for record in snapshot.runs:
        if not record.wanted:
            raise BrokenInvariant(f"I2: {record.run} ran, and nobody demanded it")


def value_gated(snapshot: Snapshot) -> None:
    """I3: a node that has run runs again because something it read has changed, or because its commit was refused."""
    for record in snapshot.runs:
        if not record.anew and not record.causes:
            raise BrokenInvariant(f"I3: {record.run} ran again, and nothing that it read had changed")


def event_order(snapshot: Snapshot) -> None:
    """I4: events are handled in the order in which they were sent, each lane for itself, and on what is up to date."""
    newest: dict[str, float] = {}
    for handling in snapshot.handled:
        if handling.unclean:
            raise BrokenInvariant(f"I4: event {handling.id} was handled while {', '.join(handling.unclean)} above it was not clean")
        if handling.sent_at < newest.get(handling.lane, handling.sent_at):
            raise BrokenInvariant(f"I4: event {handling.id} was handled after one that was sent later")
        newest[handling.lane] = handling.sent_at


def self_stability(snapshot: Snapshot) -> None:
    """I5: what a run has committed does not invalidate its own node."""
    for node in snapshot.nodes.values():
        evidence = snapshot.evidence.get(node.id)
        if evidence is not None and evidence.generation == node.generation:
            for cause, n in node.causes.items():
                if n == evidence.n and cause.entity in evidence.wrote:
                    raise BrokenInvariant(f"I5: {node.id} is invalid because of its own write of {cause}")


def bounded(snapshot: Snapshot) -> None:
    """I6: no node runs more often in one pass than its budget, and no pass has more iterations than it may."""
    runs: Counter[tuple[int, str]] = Counter()
    for record in snapshot.runs:
        runs[record.number, record.run.node] += 1
        if runs[record.number, record.run.node] > snapshot.run_budget:
            raise BrokenInvariant(f"I6: {record.run.node} ran more than {snapshot.run_budget} times in pass {record.number}")
        if record.iteration > snapshot.max_iterations:
            raise BrokenInvariant(f"I6: pass {record.number} has come to iteration {record.iteration} of {snapshot.max_iterations}")


def provenance(snapshot: Snapshot) -> None:
    """I8: the transaction of a run names the node, the run, and what triggered it."""
    for record in snapshot.runs:
        signed = record.signed
        if (signed.node, signed.run) != (record.run.node, record.run.run) or signed.triggers != record.causes:
            raise BrokenInvariant(f"I8: the transaction of {record.run} says that it is {signed.node}#{signed.run} because of {[str(cause) for cause in signed.triggers]}")


def ordering(snapshot: Snapshot) -> None:
    """I9: of two nodes that have to run, the one that writes runs before the one that reads it."""
    for record in snapshot.runs:
        if record.late:
            raise BrokenInvariant(f"I9: {record.run} ran before {', '.join(record.late)}, which it reads from")


INVARIANTS: Mapping[str, Callable[[Snapshot], Any]] = {
    "I1": live_consistency,
    "I2": dormancy,
    "I3": value_gated,
    "I4": event_order,
    "I5": self_stability,
    "I6": bounded,
    "I8": provenance,
    "I9": ordering,
}


def check(snapshot: Snapshot) -> None:
    """All of them; raises with the number of the first that does not hold."""
    for holds in INVARIANTS.values():
        holds(snapshot)
