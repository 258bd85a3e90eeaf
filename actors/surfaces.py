"""Does a run write where its node said it would? (seed 000 section 4.3; semantics C.2; P4)

Every position that a commit changes must lie at or below an address of the node's surface. Objects made on the way to one are part of the way.
Effects, materializers and documents of other scopes than "space" are exempt.
"""
from __future__ import annotations

from collections.abc import Iterator

from ..scheduler.changes import diff
from ..scheduler.model import VALUE, Address, Change, Entity, Path
from ..scheduler.overlap import conforms, is_prefix
from ..scheduler.records import Kind, Node
from ..scheduler.values import MISSING, Value
from ..storage.commit import Delete, Operation, Set
from ..storage.patch import apply
from ..storage.proposal import Proposal

_EFFECT = Kind.EFFECT  # asking the enumeration costs as much as the comparison


def strays(node: Node, proposal: Proposal) -> list[Address]:
    """The positions outside of the surface that this run writes. The usual run, which puts a whole value at its one output, is seen at a glance."""
    operations, (outputs, envelope, _) = proposal[3], node.surface
    if not operations or node.kind is _EFFECT or envelope:
        return []
    if len(operations) == 1 and len(outputs) == 1:
        operation, output = operations[0], outputs[0]
        if isinstance(operation, Set) and len(operation[1]) == 1 and output[3] == VALUE and output[:3] == operation[0]:
            return []
    found: dict[Address, None] = {}
    for operation in operations:
        if operation.entity.scope == "space":
            before = proposal.seen[operation.entity].document
            found.update(dict.fromkeys(_outside(operation.entity, before, outcome(operation, before), outputs)))
    return list(found)


def stray_changes(node: Node, changes: tuple[Change, ...]) -> list[Address]:
    """The same from the changes that a run's commit made. The usual run, which changes one position at its one output, is seen at a glance."""
    outputs = node.surface.outputs
    if node.kind is Kind.EFFECT or node.surface.envelope:
        return []
    if len(changes) == 1 and len(outputs) == 1:
        change, output = changes[0], outputs[0]
        if output[:3] == change.entity and change.path[: len(output.path)] == output.path:
            return []
    found: dict[Address, None] = {}
    for change in changes:
        if change.entity.scope == "space":
            found.update(dict.fromkeys(_beyond(change, outputs)))
    return list(found)


def outcome(operation: Operation, before: Value) -> Value:
    """The document that an operation makes of this one."""
    if isinstance(operation, Set):
        return operation.document
    return MISSING if isinstance(operation, Delete) else apply(before, operation.ops)


def _outside(entity: Entity, before: Value, after: Value, surface: tuple[Address, ...]) -> Iterator[Address]:
    for change in diff(entity, before, after):
        yield from _beyond(change, surface)


def _beyond(change: Change, surface: tuple[Address, ...]) -> Iterator[Address]:
    entity = change.entity
    if not conforms(entity.at(change.path), surface):
        here = [place.path for place in surface if place[:3] == entity]
        for path in _ends(change.path, change.before, change.after, here):
            yield entity.at(path)


def _ends(path: Path, before: Value, after: Value, surface: list[Path]) -> Iterator[Path]:
    """Where what came, or went, with this position lies, apart from the surface and the objects on the way to it."""
    if any(is_prefix(place, path) for place in surface):
        return
    inner = after if before is MISSING else before if after is MISSING else None
    if isinstance(inner, dict) and (not path or any(is_prefix(path, place) for place in surface)):
        for key, value in inner.items():
            yield from _ends((*path, key), MISSING, value, surface)
    else:
        yield path
