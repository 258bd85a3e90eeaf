"""Demand (seed 000 section 5, decision 9): who is observed.

Goals: `live_refs` and `live` are right after every change of an edge or a root, and a change costs what becomes or ceases to be live.
Invariants
- L1 `live_refs` of a writer is the number of distinct live nodes that read it, whether or not it is a root itself.
- L2 A node is live iff it is a root (effect, materializer, provisional demand) or some live node reads it, by a way that starts at a root.
Granting is incremental: a node that becomes live gives one reference to each of its writers, and only a writer that becomes live passes it on; cycles end there.
Withdrawing is so too: a node without references falls and takes one from each of its writers. Where there are cycles, a reference may come from a cycle that lives on nothing else:
then a way downstream to a root is looked for, and if there is none, everything that was met on the search falls together. What falls owes nothing to what stays.
`derive` is the definition, slow and obvious; tests hold every state against it. All walks are iterative.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable

from .errors import BrokenInvariant
from .records import Node


class Liveness:
    """`risen` and `fallen` collect who became live and who ceased to be, until the graph takes them. `writes` counts updates of `live_refs` and nodes searched: the work done."""

    def __init__(self, cyclic: Callable[[], bool]) -> None:
        self._cyclic = cyclic
        self.risen: list[Node] = []
        self.fallen: list[Node] = []
        self.writes = 0

    def connect(self, reader: Node, writer: Node) -> None:
        """A new edge: the first read of `reader` that overlaps what `writer` writes."""
        if reader.live:
            self._give(writer)

    def disconnect(self, reader: Node, writer: Node) -> None:
        """The edge has gone; `reader` is live or not as it was."""
        if not reader.live:
            return
        self.writes += 1
        writer.live_refs -= 1
        if not writer.roots:
            self._lost(writer)

    def root(self, node: Node, reason: int) -> None:
        """`node` is demanded for this reason from now on."""
        was = node.live
        node.roots |= reason
        if not was:
            self._grant(node)

    def unroot(self, node: Node, reason: int) -> None:
        """The reason has gone. References that remain may come from a cycle that lived on it alone."""
        if node.roots & reason:
            node.roots &= ~reason
            if not node.roots:
                self._lost(node)

    def _give(self, writer: Node) -> None:
        was = writer.live
        writer.live_refs += 1
        self.writes += 1
        if not was:
            self._grant(writer)

    def _grant(self, node: Node) -> None:
        """`node` has just become live."""
        risen = [node]
        for reader in risen:
            for writer in reader.upstream:
                was = writer.live
                writer.live_refs += 1
                self.writes += 1
                if not was:
                    risen.append(writer)
        self.risen += risen

    def _lost(self, node: Node) -> None:
        """`node` has lost a reference or its last root, and no root is left."""
        held: set[Node] = set()
        gone: set[Node] = set()
        doubtful = [node]
        for suspect in doubtful:
            if suspect in gone:
                continue
            falling = self._unfounded(suspect, held, gone) if suspect.live_refs else [suspect]
            gone.update(falling)
            self.fallen += falling
            for reader in falling:
                for writer in reader.upstream:
                    writer.live_refs -= 1
                    self.writes += 1
                    if not writer.roots and writer not in gone:
                        doubtful.append(writer)

    def _unfounded(self, suspect: Node, held: set[Node], gone: set[Node]) -> list[Node]:
        """The nodes that live on each other and on no root, `suspect` among them; none if a way leads from it to a root.

        `held` collects who is known to have such a way. Those in `gone` have fallen, though not all that they had is taken from them yet.
        """
        if not self._cyclic() or suspect in held:
            return []
        seen = {suspect: None}
        way = [(suspect, iter(suspect.downstream))]
        while way:
            node, readers = way[-1]
            if node.roots or node in held:
                held.update(node for node, _ in way)
                return []
            for reader in readers:
                if reader.live and reader not in seen and reader not in gone:
                    self.writes += 1
                    seen[reader] = None
                    way.append((reader, iter(reader.downstream)))
                    break
            else:
                way.pop()
        return list(seen)

    def check(self, nodes: Iterable[Node]) -> None:
        for node, refs in derive(nodes).items():
            if node.live_refs != refs:
                raise BrokenInvariant(f"L1: {node.id} counts {node.live_refs} live readers and has {refs}")


def derive(nodes: Iterable[Node]) -> dict[Node, int]:
    """The definition: references counted from the roots up, from nothing."""
    refs = dict.fromkeys(nodes, 0)
    reached = [node for node in refs if node.roots]
    seen = set(reached)
    for reader in reached:
        for writer in reader.upstream:
            refs[writer] += 1
            if writer not in seen:
                seen.add(writer)
                reached.append(writer)
    return refs
