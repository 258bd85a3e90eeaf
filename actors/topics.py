"""What is asked about a runtime, and of whom: the words of `Question`, with their arguments and answers as plain values. Both sides import this.

Every question names the version that its caller has seen; whoever is asked answers when it has seen that too (decision 27). A question has {"version": [epoch, n]} and:

    graph    known       {ids}                    the first of these that is registered, or None
             node        {ids}                    a sketch of it (`sketched`), or None
             why         {ids, now, held}         one paragraph, or None; `held` is what settle said of its gates
             plan        {places}                 ids, in order
             picture     {}                       {nodes, edges}
             census      {}                       how many nodes there are, by what they are
             findings    {now, held}              sentences; `held` by id
             judge       {observer}               {failed: [node, message] or None, unclean: [ids]}
             ran         {}                       ids of what ran since the last time
             runs        {}                       [[node, n, [places], [code, message, where, trace] or None, space], ...]
             trace       {kind}, turn {kind, on}  entries of the traces of runs and triggers
             violations  {}                       what nodes did that they should not
             check       {}                       None, or fails
             listen      {}                       news of errors from now on
    settle   held        {ids}                    {node: {eligible_at, debounce, throttle, times, streak, runs, skipped, mean, last}}, stopped}; all with a gate for no ids
             gate        {ids, kind, value, now}  set it (asked by way of gates)
             due         {now}                    when the first of what is gated may run, or None
             resolved    {}                       an idle that something gated would hold is over
             figures     {}                       {executed, skipped, passes, non_settling}
             reset       {}                       count from here on
             break       {ids, on}, step {}, unbreak {}
             trace, turn, check, listen           as graph, of the trace of passes
    storage  pending     {}                       how many commits are not decided
             news        {}                       the newest n, once others were asked for theirs
             settled     {}                       the newest n, as soon as none is pending
             listed      {space, begins, after, limit}   ids, in order
             listen      {}                       news of what a person should know
    worker   listen      {}                       what user code prints

A place is [space, scope, id, [step, ...]] inside the stored document.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..scheduler.cells import Cell
from ..scheduler.errors import ErrorInfo, Misuse
from ..scheduler.introspection import NodeView
from ..scheduler.model import VALUE, Address, Version
from ..scheduler.records import Node
from ..scheduler.values import Value, freeze
from ..storage.place import spoken
from ..wire.edge import Question
from .results import Run


def question(about: str, version: Version, **arguments: Any) -> Question:
    return Question(about, freeze({"version": list(version), **arguments}))


def version_of(question: Question) -> Version:
    """What the caller has seen."""
    epoch, n = question.arguments["version"]
    return Version(epoch, n)


# Places and errors

def placed(address: Address) -> list[Any]:
    return [address.space, address.scope, address.id, list(address.path)]


def address_of(place: Value) -> Address:
    space, scope, id, path = place
    return Address(space, scope, id, tuple(path))


def cell_of(place: Value, here: str) -> Cell[Any]:
    address = address_of(place)
    return spoken(address.entity, address.path or VALUE, here)


def error_of(value: Value) -> ErrorInfo | None:
    return None if value is None else ErrorInfo(*value)


# Nodes

def sketched(node: Node) -> dict[str, Any]:
    """What graph knows of a node."""
    return {
        "id": node.id, "kind": node.kind.value, "materializer": node.materializer, "status": node.status.value, "live": node.live, "live_refs": node.live_refs,
        "provisional": node.provisional, "space": node.space, "causes": [placed(cause) for cause in node.causes],
        "reads": [[placed(read.entity.at(read.path)), "deep" if read.deep else "shallow"] for read in node.reads],
        "outputs": [placed(place) for place in node.surface.outputs], "envelope": [placed(place) for place in node.surface.envelope],
        "parent": node.parent, "children": list(node.children), "dependents": [reader.id for reader in node.downstream if not reader.passive],
        "ordinal": node.ordinal, "attempt": node.attempts, "error": None if node.failed is None else list(node.failed),
    }  # fmt: skip


def node_view(sketch: Mapping[str, Any], held: Mapping[str, Any]) -> NodeView:
    """A node as graph and settle know it."""
    space = sketch["space"]

    def cells(places: Iterable[Value]) -> tuple[Cell[Any], ...]:
        return tuple(cell_of(place, space) for place in places)

    return NodeView(
        id=sketch["id"], kind=sketch["kind"], materializer=sketch["materializer"], status=sketch["status"], live=sketch["live"], live_refs=sketch["live_refs"],
        provisional=sketch["provisional"], causes=cells(sketch["causes"]), reads=tuple((cell_of(place, space), how) for place, how in sketch["reads"]),
        outputs=cells(sketch["outputs"]), envelope=cells(sketch["envelope"]), parent=sketch["parent"], children=tuple(sketch["children"]),
        dependents=tuple(sketch["dependents"]), ordinal=sketch["ordinal"], attempt=sketch["attempt"], error=error_of(sketch["error"]), **_gated(held),
    )  # fmt: skip


def staged_view(id: str, kind: str, held: Mapping[str, Any]) -> NodeView:
    """Of a node that is not registered: what waits for it."""
    return NodeView(id=id, kind="effect" if kind == "effect" else "computation", **(_gated(held) | {"eligible_at": 0.0}))


def _gated(held: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "eligible_at": held.get("eligible_at", 0.0), "debounce": held.get("debounce"), "throttle": held.get("throttle"),
        "runs": held.get("runs", 0), "skipped": held.get("skipped", 0), "mean_seconds": held.get("mean", 0.0), "last_run_at": held.get("last"),
    }  # fmt: skip


def run_of(row: Value, space_of: Mapping[str, str], home: str) -> Run:
    """One line of the run log."""
    node, n, causes, error = row
    here = space_of.get(node, home)
    return Run(node, n, tuple(cell_of(cause, here) for cause in causes), error_of(error))


# News

def spread(error: ErrorInfo) -> Value:
    """An error as news."""
    return freeze(list(error))


def unknown(about: str, whom: str) -> Misuse:
    return Misuse(f"{whom} cannot tell {about!r}; this placement does not have it yet")
