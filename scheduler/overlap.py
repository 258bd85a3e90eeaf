"""Paths against paths: what may touch what, before any value is looked at (semantics C.2).

- Two paths overlap iff one is a prefix of the other, step by step: "123" is no prefix of "1234".
- Graph edges, envelopes, promotion and the engine's patch conflicts are decided here; which readers a change really invalidates is decided in `matching`.
- Lexicographic order puts a path directly before everything below it, so compaction is one sort and one scan.
"""
from __future__ import annotations

from collections.abc import Iterable

from .model import Address, Path


def is_prefix(path: Path, of: Path) -> bool:
    """`of` is `path` or lies below it."""
    return of[: len(path)] == path


def overlaps(a: Path, b: Path) -> bool:
    """One is a prefix of the other; equal paths are."""
    return a[: len(b)] == b[: len(a)]


def write_touches(write: Path, read: Path, deep: bool) -> bool:
    """May a write at one path matter to a read of another? A shallow read sees the position itself, everything above it, and which direct children there are."""
    return write[: len(read)] == read[: len(write)] and (deep or len(write) <= len(read) + 1)


def compact(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The paths in order, without those that lie below another one."""
    kept: list[Path] = []
    for path in sorted(paths):
        if not kept or not is_prefix(kept[-1], path):
            kept.append(path)
    return tuple(kept)


def conforms(write: Address, surface: Iterable[Address]) -> bool:
    """A written position lies inside a declared output surface: at or below one of its addresses, in the same document."""
    entity = write[:3]
    return any(place[:3] == entity and is_prefix(place.path, write.path) for place in surface)
