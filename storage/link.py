"""What a replica needs of the engine's side, for one space: the seam between the replica (optimistic) and the host of the engine (authoritative).

- `send` never blocks and never answers; the verdict comes to `on_verdict`, exactly once for each commit sent, in the order in which the commits were decided.
- A frame carries documents as they are confirmed at `head`: foreign changes of watched documents, and, after a refused commit, every document that it wrote or read,
  watched or not, so that its sender can read again before it tries again.
- `decided` names the commits whose consequences are in this frame or an earlier one. An accepted commit stays an overlay until a frame has named it: only then does the
  replica hold every foreign commit that went before it.
- A commit refused with a SessionError is named by no frame: its session is gone, and with it whoever would send one.
- `fetch` answers at once and watches what it answered.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from ..scheduler.model import CommitId, Entity, Stamp
from ..scheduler.values import Value
from .commit import Commit, Verdict


class Delivered(NamedTuple):
    """A confirmed document: MISSING if it does not exist or was deleted; `seq` 0 and no stamp if it never did."""

    entity: Entity
    seq: int
    stamp: Stamp
    document: Value


class Frame(NamedTuple):
    space: str
    head: int
    documents: tuple[Delivered, ...] = ()
    decided: tuple[CommitId, ...] = ()


class Receiver(Protocol):
    """The replica's side of a link."""

    def on_verdict(self, verdict: Verdict) -> None: ...

    def on_frame(self, frame: Frame) -> None: ...


class Settles(Receiver, Protocol):
    """A receiver that also takes commits that were accepted, and a frame that names them all and nothing else, in one call."""

    def on_settled(self, verdicts: Sequence[Verdict]) -> None: ...


class Link(Protocol):
    """The engine's side, as one replica sees it."""

    @property
    def session(self) -> str: ...

    def send(self, commit: Commit) -> None: ...

    def fetch(self, entities: Sequence[Entity], branch: str = "") -> list[Delivered]: ...

    def forget(self, entities: Sequence[Entity]) -> None: ...

    def close(self) -> None: ...


Connect = Callable[[str, Receiver], Link]  # (space, receiver) -> link
