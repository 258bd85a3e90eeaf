"""Is a computation idempotent? How two runs of one node are compared (seed 000 section 4.2; decision 24; pitfall B-119).

A computation may be run any number of times, so running it again on what it left behind must write nothing new. Rules:
- Writes are compared position by position, by value; a write of what is there already is no write.
- Of a second run only the positions that it wrote itself count: what only the first one wrote (it made something that was missing) is no contradiction.
- Two runs can be held against each other only if they read the same: somebody else's write in between explains any difference.
Called by whoever runs the nodes; nothing here runs anything.
"""
from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from .values import MISSING, Value, same

K = TypeVar("K", bound=Hashable)


class Trial(NamedTuple, Generic[K]):
    """One run: the values that it read and wrote, by position."""

    reads: Mapping[K, Value]
    writes: Mapping[K, Value]


class Contradiction(NamedTuple, Generic[K]):
    """Two runs, by their place in the sequence, that read the same and wrote otherwise, and where."""

    first: int
    second: int
    keys: tuple[K, ...]


def differing(previous: Mapping[K, Value], latest: Mapping[K, Value], *, latest_only: bool = False) -> tuple[K, ...]:
    """The positions that differ, those of the latest first. With `latest_only`, positions that only the previous one has do not count."""
    found = [key for key, value in latest.items() if key not in previous or not same(previous[key], value)]
    if not latest_only:
        found += [key for key in previous if key not in latest]
    return tuple(found)


def contradiction(trials: Sequence[Trial[K]]) -> Contradiction[K] | None:
    """The first pair that read the same and wrote otherwise."""
    for second, later in enumerate(trials):
        for first, earlier in enumerate(trials[:second]):
            if not differing(earlier.reads, later.reads):
                keys = differing(earlier.writes, later.writes)
                if keys:
                    return Contradiction(first, second, keys)
    return None


def broken(left: Mapping[K, Value], again: Mapping[K, Value]) -> tuple[K, ...]:
    """Where a second run writes something else than the first one left behind. `left` has what is there now at each position that the second run wrote."""
    return differing({key: left.get(key, MISSING) for key in again}, again, latest_only=True)
