"""The reader index: which readers does a change hit, without asking those it does not.

One trie of path steps per document; a node holds the deep and the shallow readers of its path.

Goals: `gather` costs what the change and the readers it hits cost, however many others there are; removing a reader leaves nothing behind.
Invariants
- R1 A reader stands in the tries at exactly the reads registered for it.
- R2 No trie node is without readers and children, no document without a trie, no reader without reads.
Why that suffices: a reader can be hit only at, above or below the changed path of its own document. Above, the walk passes each node once. Below, the two values are walked
beside the trie, by its children or by the values' own keys, whichever are fewer, and only into what differs; the rules are those of `matching`.

Answers come in the order of registration per path, never in hash order, so that a machine's run can be repeated. Owned by the graph, fed with the deltas of read sets.
"""
from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from typing import Generic, TypeVar

from .errors import BrokenInvariant
from .matching import LENGTH, appeared, child, reshaped, tail
from .model import ROOT, Change, Entity, Path, Read, index_of
from .values import Value, is_container, same

R = TypeVar("R", bound=Hashable)


class Readers(Generic[R]):
    __slots__ = ("_reads", "_tries")

    def __init__(self) -> None:
        self._tries: dict[Entity, _Node[R]] = {}  # per document that somebody reads, the root of its trie
        self._reads: dict[R, dict[Read, None]] = {}  # per reader what it stands for, so that removing it needs no search

    def __len__(self) -> int:
        return len(self._reads)

    def __contains__(self, reader: object) -> bool:
        return reader in self._reads

    def __iter__(self) -> Iterator[R]:
        return iter(self._reads)

    def reads_of(self, reader: R) -> tuple[Read, ...]:
        return tuple(self._reads.get(reader, ()))

    def entities(self) -> Collection[Entity]:
        """The documents that somebody reads."""
        return self._tries.keys()

    def add(self, reader: R, reads: Iterable[Read]) -> None:
        """The reader depends on these too."""
        held = self._reads.get(reader)
        if held is None:
            held = {}
        for read in reads:
            if read not in held:
                held[read] = None
                trie = self._tries.get(read.entity)
                if trie is None:
                    trie = self._tries[read.entity] = _Node()
                trie.put(reader, read.path, read.deep)
        if held:
            self._reads[reader] = held

    def remove(self, reader: R) -> None:
        """The reader depends on nothing any more. Removing one that is not there does nothing."""
        for read in self._reads.pop(reader, ()):
            self._take(reader, read)

    def update(self, reader: R, added: Iterable[Read], removed: Iterable[Read]) -> None:
        """The delta of the reader's read set."""
        held = self._reads.get(reader)
        if held is not None:
            for read in removed:
                if read in held:
                    del held[read]
                    self._take(reader, read)
        self.add(reader, added)
        if held is not None and not held:
            del self._reads[reader]

    def readers_of(self, change: Change) -> list[R]:
        """The readers that this change hits, each once."""
        found: dict[R, None] = {}
        self.gather(change, found)
        return list(found)

    def gather(self, change: Change, found: dict[R, None]) -> None:
        """Add the readers that this change hits to `found`: gathered over the records of one commit, each reader is there once."""
        trie = self._tries.get(change.entity)
        if trie is not None:
            trie.gather(change, found)

    def touching(self, entity: Entity, path: Path) -> Iterator[tuple[R, bool]]:
        """The readers to whom a write at this path may matter (semantics C.2), and whether deeply; one with several such reads comes once for each."""
        trie = self._tries.get(entity)
        if trie is not None:
            yield from trie.touching(path)

    def check(self) -> None:
        """Raises BrokenInvariant naming R1 or R2."""
        standing: dict[R, set[Read]] = {}
        for entity, trie in self._tries.items():
            for path, node in trie.walk():
                if not (node.children or node.deep or node.shallow):
                    raise BrokenInvariant(f"R2: the reader index keeps an empty node for {entity} {path}")
                for deep, here in ((True, node.deep), (False, node.shallow)):
                    for reader in here or ():
                        standing.setdefault(reader, set()).add(Read(entity, path, deep))
        if standing != {reader: set(reads) for reader, reads in self._reads.items()}:
            raise BrokenInvariant("R1: the tries of the reader index and its read sets name different reads")

    def _take(self, reader: R, read: Read) -> None:
        trie = self._tries[read.entity]
        trie.take(reader, read.path, read.deep)
        if trie.empty():
            del self._tries[read.entity]


class _Node(Generic[R]):
    """One path of one document, with the readers of exactly that path. Empty fields are None: most nodes are leaves with one reader, and there are many."""

    __slots__ = ("children", "deep", "shallow")

    def __init__(self) -> None:
        self.children: dict[str, _Node[R]] | None = None
        self.deep: dict[R, None] | None = None
        self.shallow: dict[R, None] | None = None

    def empty(self) -> bool:
        return self.deep is None and self.shallow is None and self.children is None

    def put(self, reader: R, path: Path, deep: bool) -> None:
        node = self
        for step in path:
            children = node.children
            if children is None:
                children = node.children = {}
            below = children.get(step)
            if below is None:
                below = children[step] = _Node()
            node = below
        if deep:
            if node.deep is None:
                node.deep = {}
            node.deep[reader] = None
        else:
            if node.shallow is None:
                node.shallow = {}
            node.shallow[reader] = None

    def take(self, reader: R, path: Path, deep: bool) -> None:
        """Undo `put`, and prune what is empty then; this node itself may become so."""
        way = [self]
        for step in path:
            way.append((way[-1].children or {})[step])
        node = way.pop()
        readers = (node.deep if deep else node.shallow) or {}
        del readers[reader]
        if not readers and deep:
            node.deep = None
        elif not readers:
            node.shallow = None
        while way and node.empty():
            node = way.pop()
            children = node.children or {}
            del children[path[len(way)]]
            if not children:
                node.children = None

    def gather(self, change: Change, found: dict[R, None]) -> None:
        """Add the readers that the change hits; this is the node of the document's root."""
        _, path, before, after, kept = change
        node = self
        left = len(path)
        for step in path:
            left -= 1
            if node.deep is not None:
                found.update(node.deep)
            if not left and node.shallow is not None and appeared(change):
                found.update(node.shallow)
            below = None if node.children is None else node.children.get(step)
            if below is None:
                return
            node = below
        if node.deep is not None:
            found.update(node.deep)
        if node.shallow is not None and (kept >= 0 or reshaped(before, after)):
            found.update(node.shallow)
        if node.children is not None:
            if kept >= 0:
                _beyond(node.children, before, after, kept, found)
            else:
                _below(node.children, before, after, found)

    def touching(self, path: Path) -> Iterator[tuple[R, bool]]:
        node = self
        for left in range(len(path), 0, -1):
            yield from ((reader, True) for reader in node.deep or ())
            if left == 1:
                yield from ((reader, False) for reader in node.shallow or ())
            below = None if node.children is None else node.children.get(path[-left])
            if below is None:
                return
            node = below
        stack = [node]
        while stack:
            node = stack.pop()
            yield from ((reader, True) for reader in node.deep or ())
            yield from ((reader, False) for reader in node.shallow or ())
            stack.extend(reversed((node.children or {}).values()))

    def walk(self, path: Path = ROOT) -> Iterator[tuple[Path, _Node[R]]]:
        """Every node with its path."""
        yield path, self
        for step, node in (self.children or {}).items():
            yield from node.walk((*path, step))


def _below(children: dict[str, _Node[R]], before: Value, after: Value, found: dict[R, None]) -> None:
    """The readers strictly below a position that holds these two values."""
    held = is_container(before)
    if held != is_container(after):
        _all(children, found)
    elif held:
        if len(children) <= len(before) + len(after):
            for step, node in children.items():
                _visit(node, child(before, step), child(after, step), found)
        else:
            for step in _steps(before, after):
                some = children.get(step)
                if some is not None:
                    _visit(some, child(before, step), child(after, step), found)


def _beyond(children: dict[str, _Node[R]], before: list[Value], after: list[Value], kept: int, found: dict[R, None]) -> None:
    """The readers below an array whose length changed: of its length, and of positions that one side alone has."""
    length = children.get(LENGTH)
    if length is not None:
        _visit(length, kept + len(before), kept + len(after), found)
    longer = max(len(before), len(after))
    if len(children) <= longer:
        for step, node in children.items():
            index = index_of(step)
            if index is not None and index >= kept:
                _visit(node, tail(before, kept, index), tail(after, kept, index), found)
    else:
        for index in range(kept, kept + longer):
            some = children.get(str(index))
            if some is not None:
                _visit(some, tail(before, kept, index), tail(after, kept, index), found)


def _visit(node: _Node[R], before: Value, after: Value, found: dict[R, None]) -> None:
    """The readers at and below a node whose position both sides reach."""
    if before is after:
        return
    if node.deep is not None:
        if same(before, after):
            return
        found.update(node.deep)
    if node.shallow is not None and reshaped(before, after):
        found.update(node.shallow)
    if node.children is not None:
        _below(node.children, before, after, found)


def _all(children: dict[str, _Node[R]], found: dict[R, None]) -> None:
    for node in children.values():
        if node.deep is not None:
            found.update(node.deep)
        if node.shallow is not None:
            found.update(node.shallow)
        if node.children is not None:
            _all(node.children, found)


def _steps(before: Value, after: Value) -> Iterator[str]:
    """Every step that leads somewhere on one side at least, once."""
    if isinstance(before, dict) and isinstance(after, dict):
        yield from before
        yield from (key for key in after if key not in before)
        return
    steps: dict[str, None] = {}
    for value in (before, after):
        steps.update(dict.fromkeys(value) if isinstance(value, dict) else dict.fromkeys([LENGTH, *map(str, range(len(value)))]))
    yield from steps
