"""Bounded memories of what was used last.

Two generations: what is used is in the young one; when that is full it becomes the old one, and what was old and unused is forgotten. So a look-up costs a dictionary's, a
whole group goes in at once, and what is used at least once a generation stays.
"""
from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
D = TypeVar("D")


class Recent(Generic[K, V]):
    """Holds at most `room` entries, give or take one group of them."""

    __slots__ = ("_half", "_old", "_young")

    def __init__(self, room: int) -> None:
        self._half = max(room // 2, 1)
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}

    def __len__(self) -> int:
        return len(self._young.keys() | self._old.keys())

    def __contains__(self, key: K) -> bool:
        return key in self._young or key in self._old

    def get(self, key: K, default: D) -> V | D:
        if key in self._young:
            return self._young[key]
        if key in self._old:
            value = self._old.pop(key)
            self.put(key, value)
            return value
        return default

    def put(self, key: K, value: V) -> None:
        self._young[key] = value
        if len(self._young) > self._half:
            self._age()

    def update(self, entries: Mapping[K, V]) -> None:
        self._young.update(entries)
        if len(self._young) > self._half:
            self._age()

    def drop(self, key: K) -> None:
        self._young.pop(key, None)
        self._old.pop(key, None)

    def drop_all(self, keys: Collection[K]) -> None:
        for held in (self._young, self._old):
            if held:
                forget = held.pop
                for key in keys:
                    forget(key, None)

    def clear(self) -> None:
        self._young, self._old = {}, {}

    def _age(self) -> None:
        self._young, self._old = {}, self._young


class Weighed(Generic[K, V]):
    """Holds entries of at most `room` together, by the cost that is given with each; the newest is held whatever it costs."""

    __slots__ = ("_half", "_old", "_spent", "_young")

    def __init__(self, room: int) -> None:
        self._half = max(room // 2, 1)
        self._spent = 0  # by the young
        self._young: dict[K, tuple[V, int]] = {}
        self._old: dict[K, tuple[V, int]] = {}

    def __len__(self) -> int:
        return len(self._young.keys() | self._old.keys())

    def __contains__(self, key: K) -> bool:
        return key in self._young or key in self._old

    def get(self, key: K, default: D) -> V | D:
        if key in self._young:
            return self._young[key][0]
        if key in self._old:
            value, cost = self._old.pop(key)
            self.put(key, value, cost)
            return value
        return default

    def put(self, key: K, value: V, cost: int) -> None:
        young = self._young
        if key in young:
            self._spent -= young[key][1]
        elif self._spent + cost > self._half and young:
            self._old = young
            self._young = young = {}
            self._spent = 0
        young[key] = (value, cost)
        self._spent += cost
        self._old.pop(key, None)

    def drop(self, key: K) -> None:
        if key in self._young:
            self._spent -= self._young.pop(key)[1]
        self._old.pop(key, None)

    def drop_all(self, keys: Iterable[K]) -> None:
        if self._young or self._old:
            for key in keys:
                self.drop(key)

    def clear(self) -> None:
        self._young, self._old, self._spent = {}, {}, 0
