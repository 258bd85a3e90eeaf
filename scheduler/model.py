"""The words of weft: where a value is, what was read, what changed, and when.

- Entity: one document, `(space, scope, id)`. Address: a position in it. Paths are tuples of strings; an array index is its canonical decimal.
- A document is `{value, ...metadata}`, so the path of a cell's value starts with "value".
- Read: an address and a depth. Deep reads depend on the whole subtree, shallow ones on the shape: key set, length, or the value itself if it is no container.
- Version `(epoch, n)`: the position of an entry in storage's one log. Only versions of one epoch have an order that means anything.
- Stamp: the commit id `(session, local sequence)` of the last commit that touched a document; it is the same before and after confirmation and over restarts.
- Change: one position that differs, with what was there before and after (MISSING where nothing was).
All are NamedTuples: they hash and compare in C, and msgpack carries them.
"""
from __future__ import annotations

import re
from typing import Any, NamedTuple, TypeAlias

Value: TypeAlias = Any  # JSON, bytes, Link or MISSING (see `values`); the recursive alias costs the checkers more than it tells the reader
Path: TypeAlias = tuple[str, ...]
ROOT: Path = ()
VALUE: Path = ("value",)  # where a document keeps its cell's value


class Entity(NamedTuple):
    """One document."""

    space: str
    scope: str
    id: str

    def at(self, path: Path = ROOT) -> Address:
        return Address(self.space, self.scope, self.id, path)

    def __str__(self) -> str:
        return f"{self.space}:{self.id}" if self.scope == "space" else f"{self.space}:{self.id}@{self.scope}"


class Address(NamedTuple):
    """A position in a document; the space is resolved (a cell's may still be "here")."""

    space: str
    scope: str
    id: str
    path: Path

    @property
    def entity(self) -> Entity:
        return Entity(self.space, self.scope, self.id)

    def __str__(self) -> str:
        return f"{self.entity}{pointer(self.path)}"


class Read(NamedTuple):
    """What a run depends on."""

    entity: Entity
    path: Path
    deep: bool = True


class CommitId(NamedTuple):
    """Who committed, and their how-manieth commit: the replay key, the name of a layer, and the stamp of a value."""

    session: str
    local_seq: int

    def __str__(self) -> str:
        return f"{self.session}#{self.local_seq}"


Stamp: TypeAlias = CommitId | None  # None: the document never existed


class Version(NamedTuple):
    """A position in the log of one storage epoch."""

    epoch: int
    n: int

    def __str__(self) -> str:
        return f"{self.epoch}.{self.n}"


class Change(NamedTuple):
    """One position of one document that differs.

    `kept` is -1 for a plain change. For an array whose length changed it is the number of positions both sides have; `before` and `after` are then
    the tails beyond them, one of which is empty, and changed positions among the kept ones have records of their own.
    """

    entity: Entity
    path: Path
    before: Value
    after: Value
    kept: int = -1


def pointer(path: Path) -> str:
    """RFC 6901: the path as text."""
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in path)


_BROKEN = re.compile(r"~(?![01])")


def parse_pointer(text: str) -> Path:
    """The inverse of `pointer`. Raises ValueError for a text that `pointer` does not make, so that each path has one text only."""
    if not text:
        return ROOT
    if not text.startswith("/"):
        raise ValueError(f"a pointer starts with '/': {text[:80]!r}")
    if _BROKEN.search(text):
        raise ValueError(f"in a pointer ~ and / inside a step are spelled ~0 and ~1: {text[:80]!r}")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in text[1:].split("/"))


def parent(path: Path) -> Path:
    return path[:-1]


def index_of(step: str) -> int | None:
    """The array index that a step names, or None: canonical decimals only, so "01" and "-1" name nothing."""
    if step.isascii() and step.isdigit() and (step[0] != "0" or len(step) == 1) and len(step) < 16:
        return int(step)
    return None
