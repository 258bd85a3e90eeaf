"""What leaves a run besides data: children, events. Kept until the run's commit is made, and dropped with it (PROTOCOL rule 8)."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from secrets import token_hex
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..scheduler.cells import Cell, Stream
from ..scheduler.errors import Misuse
from ..scheduler.ids import shown
from .sent import Sent

if TYPE_CHECKING:
    from .specs import NodeSpec

T = TypeVar("T")


class Departing(NamedTuple):
    """An event that a run sends; it is in no lane before the run's commit is made."""

    stream: Stream[Any]
    payload: Any
    session: str
    after: float
    sent: Sent


class Departures:
    """Of one run, in the order in which it asked for them. `origin` names the run: ids of events follow from its text, so that a retry sends the same ones.
    Without one, it is a client's, which has no second attempt. Most runs ask for nothing, so nothing is made before it is needed."""

    __slots__ = ("_home", "_origin", "children", "events")

    def __init__(self, origin: object = None, home: str = "") -> None:
        self._origin, self._home = origin, home
        self.children: Sequence[NodeSpec[..., Any]] = ()
        self.events: Sequence[Departing] = ()

    def of(self, origin: object, home: str) -> Departures:
        """This, for another run; only for one that nothing was asked of."""
        self._origin, self._home = origin, home
        return self

    @property
    def any(self) -> bool:
        return bool(self.children or self.events)

    def register(self, spec: NodeSpec[..., Any]) -> None:
        if not hasattr(spec, "unbound"):
            raise Misuse(f"tx.register takes what @weft.computation or @weft.effect made, not {shown(spec)}")
        if spec.unbound:
            raise Misuse(f"{spec.id} still needs its argument {spec.unbound[0]!r}; bind it first: spec.bind(args={{…}})")
        self.children = _added(self.children, spec)

    def send(self, stream: Stream[Any], payload: Any, id: str | None, session: str, after: float) -> Sent:
        if id is None:
            if self._origin is None:
                self._origin = f"client/{token_hex(8)}"
            id = f"{self._origin}/{len(self.events) + 1}"
        sent = Sent.of(id, stream, session, self._home)
        self.events = _added(self.events, Departing(stream, payload, session, after, sent))
        return sent

    def launch(self, pattern: Any, id: str | None, after_commit: bool, args: Mapping[str, Any]) -> Any:
        raise Misuse("this runtime starts no pieces from inside a run; register nodes with tx.register")

    def job(self, fn: Any, args: Mapping[str, Any], into: Cell[Any]) -> Any:
        raise Misuse("this runtime runs no jobs; do the work in the node, or outside of weft")

    def outbox(self, fn: Any, args: Mapping[str, Any]) -> None:
        raise Misuse("this runtime has no outbox; act on what a sink or an effect shows")


class StrictDepartures(Departures):
    """Of a runtime that takes only functions that a worker could import."""

    __slots__ = ()

    def register(self, spec: NodeSpec[..., Any]) -> None:
        super().register(spec)
        spec.importable()


def _added(items: Sequence[T], item: T) -> list[T]:
    if isinstance(items, list):
        items.append(item)
        return items
    return [item]
