"""Which nodes there are (seed 000 section 4.4, decisions 6 and 8).

- An ordinal is given once to an id, at its first registration, and kept over removal and registering again: ties are broken by it (pitfall B-27).
- A generation is given to each registration: what a run of an older one brings back is not installed.
- Parent and children are linked by id, so that either may come first. Registering inside a run makes the running node the parent, whoever it was before; restoring keeps it.
- A computation may become an effect, never the other way.
Called by core; owns the records, not what the graph keeps in them.
"""
from __future__ import annotations

from typing import Any

from .errors import BrokenInvariant, Misuse
from .records import Kind, Node, Surface


class Registry:
    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self._ordinals: dict[str, int] = {}
        self._children: dict[str, dict[str, None]] = {}  # by parent, which may not be registered (yet)
        self._next = 0

    def __contains__(self, id: object) -> bool:
        return id in self.nodes

    def get(self, id: str) -> Node | None:
        """The registered node. A record of one that was removed is not found, however long somebody holds it."""
        return self.nodes.get(id)

    def current(self, node: Node, generation: int) -> bool:
        return node.generation == generation and self.nodes.get(node.id) is node

    def register(self, id: str, kind: Kind, space: str, surface: Surface, spec: Any, generation: int, ordinal: int | None = None) -> tuple[Node, bool]:
        """The record, and whether it is new. A known one keeps its ordinal, reads and statistics, and gets a new generation, surface and specification.
        Whoever copies another registry says the `ordinal`."""
        known = self.nodes.get(id)
        if known is not None and known.kind is Kind.EFFECT and kind is Kind.COMPUTATION:
            raise Misuse(f"{id} is an effect and cannot become a computation; remove it first, or give the computation another id")
        if kind is Kind.EFFECT and surface.envelope:
            raise Misuse(f"{id} is an effect, and effects have no envelope: nothing may depend on what they write")
        if known is not None:
            known.kind, known.surface, known.spec, known.generation = kind, _distinct(surface), spec, generation
            return known, False
        if ordinal is not None:
            self._ordinals[id] = ordinal
        else:
            ordinal = self._ordinals.get(id)
        if ordinal is None:
            self._next += 1
            ordinal = self._ordinals[id] = self._next
        node = self.nodes[id] = Node(id, kind, space, _distinct(surface), spec, ordinal, generation)
        node.children = self._children.setdefault(id, {})
        return node, True

    def adopt(self, child: Node, parent: str | None) -> None:
        """`parent` made this node just now; None leaves it with whom it was."""
        if parent is None or parent == child.parent:
            return
        self.orphan(child)
        child.parent = parent
        self._children.setdefault(parent, {})[child.id] = None

    def orphan(self, child: Node) -> None:
        if child.parent is not None:
            siblings = self._children.get(child.parent)
            if siblings is not None:
                siblings.pop(child.id, None)
                if not siblings and child.parent not in self.nodes:
                    del self._children[child.parent]
            child.parent = None

    def remove(self, node: Node, *, forget: bool = False) -> None:
        """The record has gone; `forget` also its ordinal, for members of families that may be many."""
        del self.nodes[node.id]
        self.orphan(node)
        if not self._children.get(node.id):
            self._children.pop(node.id, None)
        if forget:
            self._ordinals.pop(node.id, None)

    def check(self) -> None:
        for id, node in self.nodes.items():
            if id != node.id or self._ordinals.get(id, node.ordinal) != node.ordinal:
                raise BrokenInvariant(f"N1: the record of {id} is {node.id} with ordinal {node.ordinal}")
            if node.parent is not None and id not in self._children.get(node.parent, {}):
                raise BrokenInvariant(f"N2: {id} is not among the children of {node.parent}")
        for parent, children in self._children.items():
            for child in children:
                if child not in self.nodes or self.nodes[child].parent != parent:
                    raise BrokenInvariant(f"N2: {parent} keeps {child}, which is not its child")


def _distinct(surface: Surface) -> Surface:
    outputs, envelope, declared = surface
    return Surface(tuple(dict.fromkeys(outputs)), tuple(dict.fromkeys(envelope)), tuple(dict.fromkeys(declared)))
