"""An event as its handler sees it."""
from __future__ import annotations

from typing import Any, NamedTuple

from ..scheduler.cells import Stream


class Event(NamedTuple):
    """`payload` is what was sent; `sent_at` is the sender's time; the same (space, stream, session, id) is one event."""

    id: str
    stream: Stream[Any]
    payload: Any
    sent_at: float
    session: str
