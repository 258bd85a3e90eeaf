"""Looking at the scheduler: views of nodes, what would run, the graph as data (seed 000 section 12; P10).

Everything here reads records, graph and gates and changes nothing. What it gives away is frozen: values that hold for the moment they were asked for.
`speak` turns a position into the cell that a program whose home is the given space would write; whoever runs the nodes knows how.
Called by whoever answers a client's questions; why a node ran, in words, is `explanation`.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from .cells import Cell
from .errors import ErrorInfo
from .gate import Gate
from .gates import eligible_at
from .graph import Graph
from .model import Address
from .records import Kind, Node, Status

Speak: TypeAlias = Callable[[Address, str], Cell[Any]]


class Counts(NamedTuple):
    """What statistics have of one node. `skipped`: how often there was work for it and a gate held it."""

    runs: int = 0
    skipped: int = 0
    mean: float = 0.0
    last: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeView:
    """A node as it is at this moment.

    `live_refs` are the live nodes that read it; `provisional` it runs once because a live node has just made it; `causes` the changed cells that made it invalid;
    `eligible_at` when its gates let it run, 0 if they always do; `reads` what its last run depends on; `dependents` who reads what it writes; `attempt` how many of its commits
    in a row were refused; `error` what its last run raised.
    """

    id: str
    kind: Literal["computation", "effect"]
    materializer: bool = False
    status: Literal["never-ran", "clean", "invalid"] = "never-ran"
    live: bool = False
    live_refs: int = 0
    provisional: bool = False
    causes: tuple[Cell[Any], ...] = ()
    eligible_at: float = 0.0
    debounce: float | None = None
    throttle: float | None = None
    reads: tuple[tuple[Cell[Any], Literal["deep", "shallow"]], ...] = ()
    outputs: tuple[Cell[Any], ...] = ()
    envelope: tuple[Cell[Any], ...] = ()
    parent: str | None = None
    children: tuple[str, ...] = ()
    dependents: tuple[str, ...] = ()
    ordinal: int = 0
    runs: int = 0
    skipped: int = 0
    mean_seconds: float = 0.0
    last_run_at: float | None = None
    attempt: int = 0
    error: ErrorInfo | None = None
    quarantined: bool = False


def view(node: Node, counts: Counts, speak: Speak) -> NodeView:
    def cells(addresses: Iterable[Address]) -> tuple[Cell[Any], ...]:
        return tuple(speak(address, node.space) for address in addresses)

    debounce, throttle = _delays(node.gate)
    return NodeView(
        id=node.id, kind=node.kind.value, materializer=node.materializer, status=node.status.value, live=node.live, live_refs=node.live_refs, provisional=node.provisional,
        causes=cells(node.causes), eligible_at=eligible_at(node), debounce=debounce, throttle=throttle,
        reads=tuple((speak(read.entity.at(read.path), node.space), "deep" if read.deep else "shallow") for read in node.reads),
        outputs=cells(node.surface.outputs), envelope=cells(node.surface.envelope), parent=node.parent, children=tuple(node.children),
        dependents=tuple(reader.id for reader in node.downstream if not reader.passive), ordinal=node.ordinal, runs=counts.runs, skipped=counts.skipped,
        mean_seconds=counts.mean, last_run_at=counts.last, attempt=node.attempts, error=node.failed,
    )  # fmt: skip


def staged_view(id: str, kind: Literal["computation", "effect"], gate: Gate | None, counts: Counts) -> NodeView:
    """Of a node that is not registered: what waits for it, and what is remembered of it."""
    debounce, throttle = _delays(gate)
    return NodeView(
        id=id, kind=kind, debounce=debounce, throttle=throttle,
        runs=counts.runs, skipped=counts.skipped, mean_seconds=counts.mean, last_run_at=counts.last,
    )  # fmt: skip


def plan(graph: Graph, addresses: Iterable[Address]) -> list[Node]:
    """The live nodes that would run if all of these changed, and if all that ran changed what it writes: in the order of a pass that settles in one go."""
    reached: dict[Node, None] = {}
    for address in addresses:
        reached.update((reader, None) for reader, _ in graph.readers.touching(address.entity, address.path))
    queue = [node for node in reached if node.live]
    found = dict.fromkeys(queue)
    for node in queue:
        below = dict(node.downstream)
        for place in node.surface.envelope:
            below.update((reader, None) for reader, _ in graph.readers.touching(place.entity, place.path) if reader is not node)
        for reader in below:
            if reader.live and reader not in found:
                found[reader] = None
                queue.append(reader)
    return sorted((node for node in found if not node.passive), key=lambda node: (node.height, node.ordinal))


def picture(nodes: Iterable[Node], graph: Graph, speak: Speak) -> dict[str, Any]:
    """The graph as plain data: nodes, and edges from writer to reader ("data"), from materializer to those who read its envelope ("envelope"), from parent to child ("parent")."""
    shown = [node for node in nodes if not node.passive]
    edges: list[dict[str, str]] = []
    for node in shown:
        edges += [_edge(node.id, reader.id, "data") for reader in node.downstream if not reader.passive]
        inside = dict.fromkeys(reader for place in node.surface.envelope for reader, _ in graph.readers.touching(place.entity, place.path))
        edges += [_edge(node.id, reader.id, "envelope") for reader in inside if reader is not node and not reader.passive]
        edges += [_edge(node.id, child, "parent") for child in node.children]
    return {"nodes": [_sketch(node, speak) for node in shown], "edges": edges}


class Census(NamedTuple):
    """How many nodes there are, by what they are. `pending`: live and not clean."""

    computations: int
    effects: int
    materializers: int
    live: int
    invalid: int
    pending: int


def census(nodes: Iterable[Node]) -> Census:
    shown = [node for node in nodes if not node.passive]
    return Census(
        sum(node.kind is Kind.COMPUTATION for node in shown),
        sum(node.kind is Kind.EFFECT for node in shown),
        sum(node.materializer for node in shown),
        sum(node.live for node in shown),
        sum(node.status is Status.INVALID for node in shown),
        sum(node.live and node.status is not Status.CLEAN for node in shown),
    )


def _delays(gate: Gate | None) -> tuple[float | None, float | None]:
    return (None, None) if gate is None else (gate.debounce, gate.throttle)


def _edge(source: str, target: str, kind: str) -> dict[str, str]:
    return {"from": source, "to": target, "kind": kind}


def _sketch(node: Node, speak: Speak) -> dict[str, Any]:
    return {
        "id": node.id,
        "kind": node.kind.value,
        "materializer": node.materializer,
        "status": node.status.value,
        "live": node.live,
        "height": node.height,
        "ordinal": node.ordinal,
        "parent": node.parent,
        "reads": [str(speak(read.entity.at(read.path), node.space)) for read in node.reads],
        "outputs": [str(speak(place, node.space)) for place in node.surface.outputs],
        "envelope": [str(speak(place, node.space)) for place in node.surface.envelope],
        "error": node.failed.message if node.failed is not None else None,
    }
