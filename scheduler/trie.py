"""Things at paths of documents, found by overlap: the static writer map, and the envelopes of materializers (semantics C.2).

One trie of path steps per document. A look-up passes the nodes above the path, and below it as far as the read's depth reaches, so it does not depend on what lies beside it.
Answers come in the order above-before-below and by insertion, never in hash order.
"""
from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

from .errors import BrokenInvariant
from .model import Address, Entity, Path

T = TypeVar("T", bound=Hashable)


class PathIndex(Generic[T]):
    __slots__ = ("_places", "_tries")

    def __init__(self) -> None:
        self._tries: dict[Entity, _Step[T]] = {}
        self._places: dict[T, tuple[Address, ...]] = {}

    def __contains__(self, thing: object) -> bool:
        return thing in self._places

    def __len__(self) -> int:
        return len(self._places)

    def put(self, thing: T, places: tuple[Address, ...]) -> None:
        """The thing is at these places and no others."""
        self.take(thing)
        if not places:
            return
        self._places[thing] = places
        for place in places:
            step = self._tries.get(place.entity)
            if step is None:
                step = self._tries[place.entity] = _Step()
            step.at(place.path).here[thing] = None

    def take(self, thing: T) -> None:
        """The thing is nowhere any more."""
        for place in self._places.pop(thing, ()):
            trie = self._tries.get(place.entity)
            if trie is not None and trie.take(thing, place.path):
                del self._tries[place.entity]

    def touching(self, entity: Entity, path: Path, deep: bool = True) -> Iterator[T]:
        """Everything whose place may matter to a read of this path: at or above it, and below it as far as the read sees. A thing with several places may come more than once."""
        step = self._tries.get(entity)
        if step is None:
            return
        yield from step.here
        for name in path:
            step = step.below.get(name)
            if step is None:
                return
            yield from step.here
        if deep:
            yield from step.all_below()
        else:
            for child in step.below.values():
                yield from child.here

    def check(self) -> None:
        """Raises BrokenInvariant if the tries and the places differ, or a trie keeps an empty step."""
        standing: dict[T, set[Address]] = {}
        for entity, trie in self._tries.items():
            for path, step in trie.walk():
                if not step.here and not step.below:
                    raise BrokenInvariant(f"R2: the path index keeps an empty step for {entity} {path}")
                for thing in step.here:
                    standing.setdefault(thing, set()).add(entity.at(path))
        if standing != {thing: set(places) for thing, places in self._places.items()}:
            raise BrokenInvariant("R1: the tries of the path index and its places differ")


class _Step(Generic[T]):
    __slots__ = ("below", "here")

    def __init__(self) -> None:
        self.here: dict[T, None] = {}
        self.below: dict[str, _Step[T]] = {}

    def at(self, path: Path) -> _Step[T]:
        step = self
        for name in path:
            below = step.below.get(name)
            if below is None:
                below = step.below[name] = _Step()
            step = below
        return step

    def take(self, thing: T, path: Path) -> bool:
        """True if nothing is left here or below."""
        way = [self]
        for name in path:
            below = way[-1].below.get(name)
            if below is None:
                return False
            way.append(below)
        way[-1].here.pop(thing, None)
        for depth in range(len(path), 0, -1):
            if way[depth].here or way[depth].below:
                return False
            del way[depth - 1].below[path[depth - 1]]
        return not self.here and not self.below

    def all_below(self) -> Iterator[T]:
        stack = list(reversed(self.below.values()))
        while stack:
            step = stack.pop()
            yield from step.here
            stack.extend(reversed(step.below.values()))

    def walk(self) -> Iterator[tuple[Path, _Step[T]]]:
        stack: list[tuple[Path, _Step[T]]] = [((), self)]
        while stack:
            path, step = stack.pop()
            yield path, step
            stack.extend(((*path, name), below) for name, below in step.below.items())
