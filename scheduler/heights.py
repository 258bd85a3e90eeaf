"""Heights: a number for each node above those of everything it reads from, so that running by height runs writers first (decision 10).

Goals: an edge costs what it moves, and a chain found from its reading end moves one node an edge; cycles cost order inside the cycle and nothing else.
Invariants
- H1 For every edge writer → reader that is not among `back`: writer.height < reader.height.
- H2 Every edge in `back` closes a cycle of edges.
Why that suffices: heights are a topological order of everything but the cycles' closing edges. A new edge that H1 already holds for costs nothing. Otherwise a reader that nobody
reads is raised, or a writer that reads nobody is lowered (heights may be negative), each one step; failing that, what is downstream of the reader and not above the writer is
searched: if the writer is there the edge closes a cycle, else those nodes are raised, in order, each once.
"""
from __future__ import annotations

from heapq import heappop, heappush

from .errors import BrokenInvariant
from .records import Node


class Heights:
    """`moves` counts heights written and nodes searched: the work, for growth tests."""

    def __init__(self) -> None:
        self.back: dict[tuple[Node, Node], None] = {}
        self.lowered: list[Node] = []  # until somebody who queues by height takes them
        self.moved: list[Node] | None = None  # everybody whose height was written, for whoever asks for it
        self.moves = 0

    def connect(self, writer: Node, reader: Node) -> None:
        """An edge has come."""
        if writer.height < reader.height:
            return
        if not reader.downstream:
            reader.height = writer.height + 1
            self.moves += 1
            if self.moved is not None:
                self.moved.append(reader)
        elif not writer.upstream:
            writer.height = reader.height - 1
            self.lowered.append(writer)
            self.moves += 1
            if self.moved is not None:
                self.moved.append(writer)
        elif self._reaches(reader, writer):
            self.back[writer, reader] = None
        else:
            self._raise(reader, writer.height + 1)

    def disconnect(self, writer: Node, reader: Node) -> None:
        """An edge has gone. What closed a cycle through it may be an ordinary edge now."""
        if (writer, reader) in self.back:
            del self.back[writer, reader]
        elif self.back:
            through = [(end, start) for end, start in self.back if start.height <= writer.height and reader.height <= end.height]  # others cannot have led through it
            for closing in through:
                if not self._reaches(closing[1], closing[0]):
                    del self.back[closing]
                    self.connect(*closing)

    def _reaches(self, source: Node, target: Node) -> bool:
        """Is there a way downstream? Nothing above the target can be on it."""
        seen = {source}
        stack = [source]
        while stack:
            node = stack.pop()
            if node is target:
                return True
            self.moves += 1
            for reader in node.downstream:
                if reader not in seen and reader.height <= target.height and (node, reader) not in self.back:
                    seen.add(reader)
                    stack.append(reader)
        return False

    def _raise(self, node: Node, height: int) -> None:
        node.height = height
        queue: list[tuple[int, int, Node]] = [(height, node.ordinal, node)]
        while queue:
            least, _, writer = heappop(queue)
            if least != writer.height:
                continue  # raised further since
            self.moves += 1
            if self.moved is not None:
                self.moved.append(writer)
            for reader in writer.downstream:
                if reader.height <= least and (writer, reader) not in self.back:
                    reader.height = least + 1
                    heappush(queue, (least + 1, reader.ordinal, reader))

    def check(self, nodes: dict[str, Node]) -> None:
        for node in nodes.values():
            for reader in node.downstream:
                if node.height >= reader.height and (node, reader) not in self.back:
                    raise BrokenInvariant(f"H1: {reader.id} reads {node.id} and is not above it")
        for writer, reader in self.back:
            if reader not in writer.downstream or not _leads(reader, writer):
                raise BrokenInvariant(f"H2: {writer.id} → {reader.id} is held to close a cycle, and does not")


def _leads(source: Node, target: Node) -> bool:
    """The definition: is there any way downstream?"""
    seen = {source}
    stack = [source]
    while stack:
        node = stack.pop()
        if node is target:
            return True
        fresh = [reader for reader in node.downstream if reader not in seen]
        seen.update(fresh)
        stack.extend(fresh)
    return False
