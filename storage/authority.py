"""What the desk and the host need of an engine, and nothing more: the seam between the commit algorithm and those who serve it."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..scheduler.model import CommitId, Entity
from .commit import Commit, Verdict
from .link import Delivered


class Source(Protocol):
    """Where confirmed documents are read."""

    def read(self, entity: Entity, branch: str = "", at: int | None = None) -> Delivered: ...


class Landing(Protocol):
    """An accepted commit of the log, as far as fan-out needs it."""

    @property
    def seq(self) -> int: ...

    @property
    def id(self) -> CommitId: ...

    @property
    def branch(self) -> str: ...

    @property
    def entities(self) -> tuple[Entity, ...]: ...


class Authority(Source, Protocol):
    """The engine of one space. One thread uses it."""

    @property
    def space(self) -> str: ...

    def apply(self, commits: Sequence[Commit]) -> list[Verdict]: ...

    def head(self) -> int: ...

    def after(self, seq: int) -> Sequence[Landing]: ...

    def poll(self) -> bool: ...

    def close(self) -> None: ...


class Reader(Source, Protocol):
    """Reads committed documents in the thread that asked for it, beside the engine's own."""

    def close(self) -> None: ...


class Readable(Authority, Protocol):
    """An engine that other threads can read."""

    def reader(self) -> Reader: ...


def read_at(source: Source, entity: Entity, cut: int) -> Delivered:
    """The document as of `cut`. The newest is tried first: it nearly always is the one, and the nearest at hand."""
    newest = source.read(entity)
    return newest if newest.seq <= cut else source.read(entity, "", cut)
