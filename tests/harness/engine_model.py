"""The engine's rules again, over plain dictionaries: slow, obvious, sharing no code with storage.

The model keeps the accepted commits and nothing else. A document is the fold of the operations on it; a branch is its parent's history up to the fork, then its own.
A read is stale if a later operation, other than those of the layers it names, hits it. The rule is "was written", not "has another value", and it has two halves:
- what the read sees was written over, told from the whole documents before and after the operation (`stamped`): this is what must never be missed;
- the names of the operation, as semantics C.5 has it, where that says more: a key-set-changing operation touches the shape of its parent and of what lies below that even if
  the key was there, a mergeable one flagged as creating likewise, and one that found nothing to do touches what it names.
The engine is held to exactly this: no less, and no more.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from harness.stamped import ABSENT, Node, Refused, bare, operated, written_over
from weft.scheduler.model import CommitId, Entity, Path
from weft.storage.commit import Commit, EntityAbsent, Operation, OriginCommitted, Patch
from weft.storage.patch import Add, Move, Remove

__all__ = ["ABSENT", "Line", "Model", "Refused", "named", "plain"]


class Line(NamedTuple):
    """One accepted operation."""

    seq: int
    id: CommitId
    operation: Operation


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
        return bare(self._node(entity, branch))

    def hit(self, entity: Entity, path: Path, deep: bool, basis: int, layers: frozenset[CommitId] = frozenset(), branch: str = "") -> bool:
        """Is a read stale?"""
        since = [line for line in self._lines(entity, branch) if line.seq > basis and line.id not in layers]
        return any(named(line.operation, path, deep) for line in since) or self.overwritten(entity, path, deep, basis, layers, branch)

    def overwritten(self, entity: Entity, path: Path, deep: bool, basis: int, layers: frozenset[CommitId] = frozenset(), branch: str = "") -> bool:
        """Was what a read sees written over?"""
        before = Node(ABSENT)
        for line in self._lines(entity, branch):
            after = operated(before, line.operation)
            if line.seq > basis and line.id not in layers and written_over(before, after, path, deep):
                return True
            before = after
        return False

    def _lines(self, entity: Entity, branch: str) -> list[Line]:
        return [line for line in self.history(branch) if line.operation.entity == entity]

    def _node(self, entity: Entity, branch: str) -> Node:
        found = Node(ABSENT)
        for line in self._lines(entity, branch):
            found = operated(found, line.operation)
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
        documents: dict[Entity, Node] = {}
        for operation in commit.operations:
            base = documents[operation.entity] if operation.entity in documents else self._node(operation.entity, commit.branch)
            documents[operation.entity] = operated(base, operation)
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
            if self.hit(read.entity, read.path, read.deep, read.basis, branch=commit.branch):
                raise Refused("ConflictError")
        for pending in commit.pending:
            if any(layer not in self.accepted for layer in pending.layers):
                raise Refused("ConflictError")
            if self.hit(pending.entity, pending.path, pending.deep, pending.basis, frozenset(pending.layers), commit.branch):
                raise Refused("ConflictError")


def named(operation: Operation, path: Path, deep: bool) -> bool:
    """By the names alone, as semantics C.5 has it."""
    return not isinstance(operation, Patch) or any(touches(touched, path, deep) for op in operation.ops for touched in touched_by(op, deep))


def touched_by(op: Any, deep: bool) -> Iterator[Path]:
    for path in (op.source, op.path) if isinstance(op, Move) else (op.path,):
        yield path
        if not deep and (isinstance(op, Add | Remove | Move) or getattr(op, "creates", False)):
            yield path[:-1]


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
