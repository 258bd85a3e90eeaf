"""How often the host looks whether another process has committed: often while it does, seldom while it does not."""
from __future__ import annotations

POLL_INTERVAL = 0.02  # what a person takes for "at once", at fifty cheap looks a second
POLL_SLOWEST = 0.5  # what a quiet store may cost in latency when no hint comes


class Pace:
    """Doubles from `fastest` to `slowest` while looks find nothing."""

    def __init__(self, fastest: float = POLL_INTERVAL, slowest: float = POLL_SLOWEST) -> None:
        self._fastest, self._slowest = fastest, max(fastest, slowest)
        self._interval = fastest
        self.due = 0.0

    def looked(self, now: float, found: bool) -> None:
        self._interval = self._fastest if found else min(self._interval * 2, self._slowest)
        self.due = now + self._interval
