"""Bare graphs for tests of the machines below the core: nodes by name, edges made by hand or by reads and outputs."""
from __future__ import annotations

from harness.ledger_core import deep, place
from weft.scheduler.graph import Graph
from weft.scheduler.heights import Heights
from weft.scheduler.liveness import Liveness
from weft.scheduler.readset import ReadSet
from weft.scheduler.records import Kind, Node, Surface


def bare(number: int, outputs: tuple[str, ...] = (), kind: Kind = Kind.COMPUTATION) -> Node:
    return Node(f"n{number}", kind, "main", Surface(tuple(place(output) for output in outputs)), None, number + 1, 1)


class Weave:
    """Edges by hand, with heights and liveness kept as the graph keeps them."""

    def __init__(self, size: int = 0) -> None:
        self.nodes = [bare(number) for number in range(size)]
        self.heights = Heights()
        self.liveness = Liveness(lambda: bool(self.heights.back))

    def __getitem__(self, number: int) -> Node:
        return self.nodes[number]

    def join(self, reader: Node, writer: Node) -> None:
        self.heights.connect(writer, reader)
        reader.upstream[writer] = 1
        writer.downstream[reader] = None
        self.liveness.connect(reader, writer)

    def part(self, reader: Node, writer: Node) -> None:
        del reader.upstream[writer]
        del writer.downstream[reader]
        self.heights.disconnect(writer, reader)
        self.liveness.disconnect(reader, writer)

    def check(self) -> None:
        self.heights.check({node.id: node for node in self.nodes})
        self.liveness.check(self.nodes)

    def refs(self, *numbers: int) -> list[int]:
        return [self.nodes[number].live_refs for number in numbers]


class Cloth:
    """A graph whose node i writes the document `d{i}`."""

    def __init__(self, size: int = 0) -> None:
        self.graph = Graph()
        self.nodes: dict[str, Node] = {}
        for _ in range(size):
            self.add()

    def __getitem__(self, number: int) -> Node:
        return self.nodes[f"n{number}"]

    def add(self, *outputs: str) -> Node:
        number = len(self.nodes)
        node = bare(number, outputs or (f"d{number}",))
        self.nodes[node.id] = node
        self.graph.add(node)
        return node

    def read(self, number: int, *documents: str) -> None:
        self.graph.read(self[number], ReadSet(deep(document) for document in documents))

    def check(self) -> None:
        self.graph.check(self.nodes)
