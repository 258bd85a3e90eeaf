"""Documents in which everything that was written can be told from everything else, and what a read sees of one. Sharing no code with storage.

"Was written" is the rule of semantics C.5, not "has another value": a replacement by the same value is a conflict. So every position carries a stamp that no other ever had,
given when it was written, and every container a second one for its shape, given when a key or an element came or went. Then "what the read sees was written" is
"what the read sees differs", and that is compared over whole documents, by C.1:
- deep: the position and all below it; shallow: the position, and of a container its shape; `length` of a list: its shape
- where nothing is: the last position there is on the way; behind the end of a list, the list's shape too, for that is how it is known that nothing is there
- an absent document is a position like any other
An element that moves is written where it comes to lie, even if a second operation moves it back.
C.5 says itself that append, add-unique, remove-by-value and splice write the whole list, and a set or delete the whole document; so they do here.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import Any

from weft.scheduler.model import Path
from weft.storage.commit import Delete, Operation, Set
from weft.storage.patch import Add, AddUnique, Append, Increment, Move, Remove, RemoveByValue, Replace, Splice

ABSENT = object()
_stamps = count(1)


class Refused(Exception):
    """`args[0]` is the name of the error the engine must answer with."""


@dataclass
class Node:
    """`inside`: the children of a container, or a plain value, or ABSENT."""

    inside: Any
    stamp: int = field(default_factory=lambda: next(_stamps))
    shape: int = field(default_factory=lambda: next(_stamps))

    def copy(self) -> Node:
        """The same, stamps and all."""
        if isinstance(self.inside, dict):
            return Node({key: item.copy() for key, item in self.inside.items()}, self.stamp, self.shape)
        if isinstance(self.inside, list):
            return Node([item.copy() for item in self.inside], self.stamp, self.shape)
        return Node(self.inside, self.stamp, self.shape)

    def child(self, step: str) -> Node | None:
        if isinstance(self.inside, dict):
            return self.inside.get(step)
        if isinstance(self.inside, list) and is_index(step) and int(step) < len(self.inside):
            found: Node = self.inside[int(step)]
            return found
        return None

    def reshaped(self) -> None:
        self.shape = next(_stamps)


def fresh(value: Any) -> Node:
    """A value, all of it written now."""
    if isinstance(value, dict):
        return Node({key: fresh(item) for key, item in value.items()})
    if isinstance(value, list):
        return Node([fresh(item) for item in value])
    return Node(value)


def bare(node: Node) -> Any:
    """The value as ordinary dictionaries and lists."""
    if isinstance(node.inside, dict):
        return {key: bare(item) for key, item in node.inside.items()}
    return [bare(item) for item in node.inside] if isinstance(node.inside, list) else node.inside


def is_index(step: str) -> bool:
    return step.isdecimal() and str(int(step)) == step


def seen(node: Node, path: Path, deep: bool) -> Any:
    """What a read of the path depends on."""
    for step in path:
        if isinstance(node.inside, list) and step == "length":
            return ("length", node.shape)
        below = node.child(step)
        if below is None:
            return ("nothing", node.stamp, node.shape if isinstance(node.inside, list) and is_index(step) else 0)
        node = below
    return _whole(node) if deep else (node.stamp, node.shape)


def _whole(node: Node) -> Any:
    inside = node.inside
    below = {key: _whole(item) for key, item in inside.items()} if isinstance(inside, dict) else [_whole(item) for item in inside] if isinstance(inside, list) else None
    return node.stamp, node.shape, below


def written_over(before: Node, after: Node, path: Path, deep: bool) -> bool:
    return bool(seen(before, path, deep) != seen(after, path, deep))


def operated(document: Node, operation: Operation) -> Node:
    """The document after the operation; what was given stays as it is."""
    if isinstance(operation, Set):
        return fresh(operation.document)
    if isinstance(operation, Delete):
        return Node(ABSENT)
    result = Node({}) if document.inside is ABSENT else document.copy()
    for op in operation.ops:
        _patch(result, op)
    return result


def _patch(document: Node, op: Any) -> None:
    if isinstance(op, Replace):
        _put(_reached(document, op.path, make=False), op.path[-1], fresh(op.value))
    elif isinstance(op, Add):
        _insert(document, op.path, fresh(op.value))
    elif isinstance(op, Remove):
        _take(document, op.path)
    elif isinstance(op, Move):
        _insert(document, op.path, fresh(bare(_take(document, op.source))))
    elif isinstance(op, Splice):
        elements = _found(document, op.path)
        if not isinstance(elements, list) or op.index > len(elements):
            raise Refused("ConflictError")
        _rewrite(document, op.path, elements[: op.index] + list(op.add) + elements[op.index + op.remove :])
    elif isinstance(op, RemoveByValue):
        elements = _found(document, op.path)
        if isinstance(elements, list):
            _rewrite(document, op.path, [item for item in elements if item != op.value])
    else:
        _merge(document, op)


def _merge(document: Node, op: Append | AddUnique | Increment) -> None:
    known = _found(document, op.path)
    if isinstance(op, Increment):
        counted = 0 if known is ABSENT else known
        if type(counted) is not int:
            raise Refused("ConflictError")
        result: Any = counted + op.by
    else:
        if known is not ABSENT and not isinstance(known, list):
            raise Refused("ConflictError")
        result = [] if known is ABSENT else known
        for value in op.values:
            if isinstance(op, Append) or value not in result:
                result = [*result, value]
    _rewrite(document, op.path, result)


def _found(document: Node, path: Path) -> Any:
    node: Node | None = document
    for step in path:
        node = None if node is None else node.child(step)
    return ABSENT if node is None else bare(node)


def _rewrite(document: Node, path: Path, value: Any) -> None:
    _put(_reached(document, path, make=True), path[-1], fresh(value))


def _reached(document: Node, path: Path, make: bool) -> Node:
    """What holds the last step."""
    here = document
    for step in path[:-1]:
        below = here.child(step)
        if below is None:
            if not make or not isinstance(here.inside, dict):
                raise Refused("ConflictError")
            below = here.inside[step] = Node({})
            here.reshaped()
        here = below
    if not isinstance(here.inside, dict | list):
        raise Refused("ConflictError")
    return here


def _put(holder: Node, step: str, value: Node) -> None:
    if isinstance(holder.inside, dict):
        if step not in holder.inside:
            holder.reshaped()
        holder.inside[step] = value
    elif holder.child(step) is None:
        raise Refused("ConflictError")
    else:
        holder.inside[int(step)] = value


def _insert(document: Node, path: Path, value: Node) -> None:
    holder, step = _reached(document, path, make=True), path[-1]
    if isinstance(holder.inside, dict):
        _put(holder, step, value)
        return
    if step != "-" and (not is_index(step) or int(step) > len(holder.inside)):
        raise Refused("ConflictError")
    index = len(holder.inside) if step == "-" else int(step)
    holder.inside[index:] = [value, *(fresh(bare(item)) for item in holder.inside[index:])]
    holder.reshaped()


def _take(document: Node, path: Path) -> Node:
    holder, step = _reached(document, path, make=False), path[-1]
    gone = holder.child(step)
    if gone is None:
        raise Refused("ConflictError")
    if isinstance(holder.inside, dict):
        del holder.inside[step]
    else:
        holder.inside[int(step) :] = [fresh(bare(item)) for item in holder.inside[int(step) + 1 :]]
    holder.reshaped()
    return gone
