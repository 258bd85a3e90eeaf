"""The graph: who reads what, who writes what, who is observed, and in which order it runs (seed 000 sections 4.3, 5, 6.2; P4, P6).

- Edges come from registered reads and static outputs alone, and change by the delta of one read set, one registration or one removal. There is no edge from a node to itself.
- Envelopes are no edges: they order and promote, and are looked up when a reader's turn comes.
- Every change of an edge keeps liveness and heights right before the call returns. Who became live, or ceased to be, is in `risen` and `fallen` until `changed` takes it.
Called by registry (a node comes or goes), by runs (a read set is installed) and by settle (who writes what this node declares).
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator

from .errors import BrokenInvariant
from .heights import Heights
from .liveness import Liveness
from .model import Read
from .overlap import write_touches
from .readers import Readers
from .readset import EMPTY, ReadSet, delta
from .records import Node
from .trie import PathIndex


class Graph:
    """`edges` counts edges made and dropped: the work done."""

    def __init__(self) -> None:
        self.readers: Readers[Node] = Readers()
        self.writers: PathIndex[Node] = PathIndex()
        self.envelopes: PathIndex[Node] = PathIndex()
        self.heights = Heights()
        self.liveness = Liveness(lambda: bool(self.heights.back))
        self.edges = 0

    def add(self, node: Node) -> None:
        """A node has registered, or registered again with another surface: its outputs are in the writer map and read by whoever reads there already."""
        for reader in list(node.downstream):
            self._part(reader, node)
        self.writers.put(node, node.surface.outputs)
        self.envelopes.put(node, node.surface.envelope)
        count: dict[Node, int] = {}
        for output in node.surface.outputs:
            for reader, _ in self.readers.touching(output.entity, output.path):
                count[reader] = count.get(reader, 0) + 1
        count.pop(node, None)
        for reader, reads in count.items():
            self._join(reader, node, reads)

    def drop(self, node: Node) -> None:
        """A node has gone. Edges first, then the facets (pitfall B-9), so that nothing is granted to what is leaving."""
        self.read(node, EMPTY)
        for reader in list(node.downstream):
            self._part(reader, node)
        self.writers.take(node)
        self.envelopes.take(node)
        self.liveness.unroot(node, node.roots)

    def read(self, node: Node, reads: ReadSet) -> None:
        """The read set of a node's newest run."""
        if reads is node.reads:
            return
        came, went = delta(node.reads, reads)
        node.reads = reads
        if not came and not went:
            return
        self.readers.update(node, came, went)
        upstream = node.upstream
        change: dict[Node, int] = {}
        for read in came:
            for writer in self.writers_of(read):
                change[writer] = change.get(writer, 0) + 1
        for read in went:
            for writer in self.writers_of(read):
                change[writer] = change.get(writer, 0) - 1
        change.pop(node, None)
        for writer, by in change.items():
            if by > 0 and writer not in upstream:
                self._join(node, writer, by)
            elif by:
                upstream[writer] += by
        for writer in [writer for writer in change if not upstream.get(writer, 1)]:
            self._part(node, writer)

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

    def _join(self, reader: Node, writer: Node, reads: int) -> None:
        self.edges += 1
        self.heights.connect(writer, reader)
        reader.upstream[writer] = reads
        writer.downstream[reader] = None
        self.liveness.connect(reader, writer)

    def _part(self, reader: Node, writer: Node) -> None:
        self.edges += 1
        del reader.upstream[writer]
        del writer.downstream[reader]
        self.heights.disconnect(writer, reader)
        self.liveness.disconnect(reader, writer)

    def check(self, nodes: dict[str, Node]) -> None:
        """Every edge from its definition, and every index."""
        self.readers.check()
        self.writers.check()
        self.envelopes.check()
        for reader in nodes.values():
            expected: dict[Node, int] = {}
            for writer in nodes.values():
                if writer is not reader:
                    touching = sum(
                        1
                        for read in reader.reads
                        for output in writer.surface.outputs
                        if output[:3] == read.entity and write_touches(output.path, read.path, read.deep)
                    )
                    if touching:
                        expected[writer] = touching
            if reader.upstream != expected:
                raise BrokenInvariant(f"E1: the edges into {reader.id} come from {sorted(n.id for n in reader.upstream)} and should from {sorted(n.id for n in expected)}")
            if any(reader not in writer.downstream for writer in reader.upstream) or any(reader not in other.upstream for other in reader.downstream):
                raise BrokenInvariant(f"E2: an edge of {reader.id} is known at one end only")
        self.heights.check(nodes)
        self.liveness.check(nodes.values())
