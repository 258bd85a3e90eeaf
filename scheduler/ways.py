"""Who writes where, and the ways that edges make: what the pass asks. Graph is one with indices of readers besides; settle's mirror is one that is told its edges."""
from __future__ import annotations

from collections.abc import Iterable, Iterator

from .model import Read
from .records import Node
from .trie import PathIndex


class Ways:
    def __init__(self) -> None:
        self.writers: PathIndex[Node] = PathIndex()
        self.envelopes: PathIndex[Node] = PathIndex()

    def undemand(self, node: Node) -> None:
        """The provisional demand of this node has ended."""
        raise AssertionError("whoever keeps liveness says what follows")

    def writers_of(self, read: Read) -> Iterator[Node]:
        """Those whose outputs a read may see; one with several such outputs comes once for each."""
        return self.writers.touching(read.entity, read.path, read.deep)

    def promoted_by(self, reads: Iterable[Read]) -> Iterator[Node]:
        """The materializers whose envelope these reads look into."""
        if self.envelopes:
            for read in reads:
                yield from self.envelopes.touching(read.entity, read.path, read.deep)

    def leads(self, source: Node, target: Node) -> bool:
        """Is there a way of edges downstream? Iterative: chains are 20,000 deep (pitfall B-11)."""
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

    def upstream_of(self, nodes: Iterable[Node], *, envelopes: bool = False) -> Iterator[Node]:
        """These and everything they read from, each once, nearest first. With `envelopes`, also the materializers that may write what one of them reads."""
        seen = dict.fromkeys(nodes)
        queue = list(seen)
        for node in queue:
            yield node
            for writer in (*node.upstream, *(self.promoted_by(node.reads) if envelopes else ())):
                if writer not in seen:
                    seen[writer] = None
                    queue.append(writer)
