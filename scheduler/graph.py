"""The graph: who reads what, who writes what, who is observed, and in which order it runs (seed 000 sections 4.3, 5, 6.2; P4, P6).

- Edges come from registered reads and static outputs alone, and change by the delta of one read set, one registration or one removal. There is no edge from a node to itself.
- Envelopes are no edges: they order and promote, and are looked up when a reader's turn comes.
- Every change of an edge keeps liveness and heights right before the call returns. Who became live, or ceased to be, is in `risen` and `fallen` until `changed` takes it.
Called by registry (a node comes or goes), by runs (a read set is installed) and by settle (who writes what this node declares).
"""
from __future__ import annotations

from .errors import BrokenInvariant
from .heights import Heights
from .liveness import Liveness
from .overlap import write_touches
from .readers import Readers
from .readset import EMPTY, ReadSet, delta
from .records import PROVISIONAL, Node
from .ways import Ways


class Graph(Ways):
    """`edges` counts edges made and dropped: the work done. `told`, if there is one, takes each of them: writer, reader, whether it is there now."""

    def __init__(self) -> None:
        super().__init__()
        self.readers: Readers[Node] = Readers()
        self.heights = Heights()
        self.liveness = Liveness(lambda: bool(self.heights.back))
        self.edges = 0
        self.told: list[tuple[Node, Node, bool]] | None = None

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

    def undemand(self, node: Node) -> None:
        self.liveness.unroot(node, PROVISIONAL)

    def _join(self, reader: Node, writer: Node, reads: int) -> None:
        self.edges += 1
        self.heights.connect(writer, reader)
        reader.upstream[writer] = reads
        writer.downstream[reader] = None
        self.liveness.connect(reader, writer)
        if self.told is not None:
            self.told.append((writer, reader, True))

    def _part(self, reader: Node, writer: Node) -> None:
        self.edges += 1
        del reader.upstream[writer]
        del writer.downstream[reader]
        self.heights.disconnect(writer, reader)
        self.liveness.disconnect(reader, writer)
        if self.told is not None:
            self.told.append((writer, reader, False))

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
