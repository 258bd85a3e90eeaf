"""The engine's rules again, over plain dictionaries: slow, obvious, sharing no code with storage.

The model keeps the accepted commits and nothing else. A document is the fold of the operations on it; a read is stale if a later operation overlaps it; a branch is its
parent's history up to the fork, then its own.
"""
from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

from weft.scheduler.model import CommitId, Entity, Path
from weft.storage.commit import Commit, Delete, EntityAbsent, Operation, OriginCommitted, Patch, Set
from weft.storage.patch import Add, Append, Increment, Remove, Replace

ABSENT = object()


class Line(NamedTuple):
    """One accepted operation."""

    seq: int
    id: CommitId
    operation: Operation


class Refused(Exception):
    """`args[0]` is the name of the error the engine must answer with."""


class Model:
    def __init__(self) -> None:
        self.head = 0
        self.accepted: dict[CommitId, tuple[int, Commit]] = {}
        self.lines: dict[str, list[Line]] = {"": []}
        self.forks: dict[str, tuple[str, int]] = {}

    def fork(self, name: str, parent: str) -> None:
        self.forks[name] = (parent, self.head)
        self.lines[name] = []

    def history(self, branch: str) -> list[Line]:
        if branch not in self.forks:
            return list(self.lines[branch])
        parent, fork_seq = self.forks[branch]
        return [line for line in self.history(parent) if line.seq <= fork_seq] + self.lines[branch]

    def document(self, entity: Entity, branch: str = "") -> Any:
        found: Any = ABSENT
        for line in self.history(branch):
            if line.operation.entity == entity:
                found = folded(found, line.operation)
        return found

    def decide(self, commit: Commit) -> int:
        """The sequence number the commit gets, or Refused."""
        before = self.accepted.get(commit.id)
        if before is not None:
            if before[1] != commit:
                raise Refused("ProtocolError")
            return before[0]
        if not commit.operations and not commit.preconditions:
            raise Refused("ProtocolError")
        self._preconditions(commit)
        self._reads(commit)
        documents: dict[Entity, Any] = {}
        for operation in commit.operations:
            base = documents[operation.entity] if operation.entity in documents else self.document(operation.entity, commit.branch)
            documents[operation.entity] = folded(base, operation)
        self.head += 1
        self.accepted[commit.id] = (self.head, commit)
        self.lines[commit.branch] += [Line(self.head, commit.id, operation) for operation in commit.operations]
        return self.head

    def _preconditions(self, commit: Commit) -> None:
        for condition in commit.preconditions:
            if isinstance(condition, OriginCommitted):
                if condition.origin not in self.accepted:
                    raise Refused("PreconditionFailedError")
            elif isinstance(condition, EntityAbsent) and any(line.operation.entity == condition.entity for line in self.history(commit.branch)):
                raise Refused("PreconditionFailedError")

    def _reads(self, commit: Commit) -> None:
        for read in commit.confirmed:
            if read.basis > self.head:
                raise Refused("ProtocolError")
            if any(line.seq > read.basis and hits(line.operation, read.entity, read.path, read.deep) for line in self.history(commit.branch)):
                raise Refused("ConflictError")
        for pending in commit.pending:
            if any(layer not in self.accepted for layer in pending.layers):
                raise Refused("ConflictError")
            for line in self.history(commit.branch):
                if line.seq > pending.basis and line.id not in pending.layers and hits(line.operation, pending.entity, pending.path, pending.deep):
                    raise Refused("ConflictError")


def folded(document: Any, operation: Operation) -> Any:
    if isinstance(operation, Set):
        return copy.deepcopy(plain(operation.document))
    if isinstance(operation, Delete):
        return ABSENT
    result = {} if document is ABSENT else copy.deepcopy(document)
    for op in operation.ops:
        patched(result, op)
    return result


def patched(document: Any, op: Any) -> None:
    spine, last = op.path[:-1], op.path[-1]
    here = document
    for step in spine:
        if not isinstance(here, dict) or (step not in here and isinstance(op, Replace | Remove)):
            raise Refused("ConflictError")
        here = here.setdefault(step, {})
    if not isinstance(here, dict):
        raise Refused("ConflictError")
    if isinstance(op, Replace | Add):
        here[last] = plain(op.value)
    elif isinstance(op, Remove):
        if last not in here:
            raise Refused("ConflictError")
        del here[last]
    elif isinstance(op, Append):
        if not isinstance(here.setdefault(last, []), list):
            raise Refused("ConflictError")
        here[last] += [plain(value) for value in op.values]
    elif isinstance(op, Increment):
        if not isinstance(here.setdefault(last, 0), int):
            raise Refused("ConflictError")
        here[last] += op.by
    else:
        raise TypeError(f"the model does not know {op!r}")


def hits(operation: Operation, entity: Entity, path: Path, deep: bool) -> bool:
    if operation.entity != entity:
        return False
    return not isinstance(operation, Patch) or any(touches(touched, path, deep) for op in operation.ops for touched in touched_by(op, deep))


def touched_by(op: Any, deep: bool) -> Iterator[Path]:
    yield op.path
    if not deep and (isinstance(op, Add | Remove) or getattr(op, "creates", False)):
        yield op.path[:-1]


def touches(touched: Path, path: Path, deep: bool) -> bool:
    above = path[: len(touched)] == touched
    return above or (deep and touched[: len(path)] == path)


def plain(value: Any) -> Any:
    """The value as ordinary dictionaries and lists."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value
