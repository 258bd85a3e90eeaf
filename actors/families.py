"""Families: specs whose output is a family, found by a document that one of them writes.

A member's id is the family's id and one step for each argument, so a look-up costs the steps of the document's id, however many families there are.
`nodes` asks when somebody reads a document; `claims` splits ids in the same way.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from ..scheduler.cells import Family
from ..scheduler.model import VALUE, Entity
from ..storage.place import spoken
from .specs import NodeSpec


class Found(NamedTuple):
    """The spec of one member, the space in which its node is at home, and the id of the family's spec."""

    member: NodeSpec[..., Any]
    home: str
    family: str


class Families:
    def __init__(self) -> None:
        self._specs: dict[tuple[str, str, int], dict[str, tuple[NodeSpec[..., Any], str]]] = {}  # by space and id of the family and its number of parameters; then by node id
        self.keys: dict[str, tuple[str, str, int]] = {}  # by node id; whoever only asks whether there is any looks here

    def get(self, id: str) -> NodeSpec[..., Any] | None:
        key = self.keys.get(id)
        return None if key is None else self._specs[key][id][0]

    def add(self, id: str, spec: NodeSpec[..., Any], family: Family[Any], home: str) -> None:
        """`id` names the spec in this runtime; the same id again takes the place of what it named."""
        self.remove(id)
        key = self.keys[id] = (family.space or home, family.id, len(family.params))
        self._specs.setdefault(key, {})[id] = (spec, home)

    def remove(self, id: str) -> bool:
        """False: there is none of this name."""
        key = self.keys.pop(id, None)
        if key is None:
            return False
        del self._specs[key][id]
        if not self._specs[key]:
            del self._specs[key]
        return True

    def find(self, entity: Entity) -> Found | None:
        """Who writes this document; of two whose families are one inside the other, the narrower."""
        for prefix, arguments in splits(entity.id) if entity.scope == "space" else ():
            for id, (spec, home) in self._specs.get((entity.space, prefix, arguments), {}).items():
                member = spec.member(spoken(entity, VALUE, home))
                if member is not None:
                    return Found(member, home, id)
        return None


def splits(id: str) -> Iterator[tuple[str, int]]:
    """How the id of a document may be a family's and arguments: the family's id, longest first, and how many arguments follow."""
    steps = id.split("/")
    for length in range(len(steps) - 1, 0, -1):
        if quote(unquote(steps[length]), safe="") != steps[length]:
            return  # no argument is spelled like this
        yield "/".join(steps[:length]), len(steps) - length
