"""Non-settling: how busy the scheduler was over the last seconds, and since when (seed 000 section 7.7; P10).

One window slides: what was busy longer than UNSETTLED_WINDOW, for more than UNSETTLED_RATIO of it and for more than UNSETTLED_BUSY altogether, does not settle. That is said once;
`rested` opens the next episode. A window twice as long starts anew, and half of what was busy is carried over, so that old work fades.
"""
from __future__ import annotations

from typing import NamedTuple

from .constants import UNSETTLED_BUSY, UNSETTLED_RATIO, UNSETTLED_WINDOW


class Unsettling(NamedTuple):
    """Seconds of work in a window of so many seconds."""

    busy: float
    window: float

    @property
    def ratio(self) -> float:
        return self.busy / self.window


class Unsettled:
    """`since` is where the window begins, `busy` the work in it, `flag` whether this episode has been told."""

    def __init__(self) -> None:
        self.since: float | None = None
        self.busy = 0.0
        self.flag = False

    def worked(self, start: float, end: float) -> Unsettling | None:
        """There was work from here to there. What it tells, it tells once an episode."""
        if self.since is None:
            self.since = start
        self.busy += end - start
        window = end - self.since
        found = None
        if not self.flag and window > UNSETTLED_WINDOW and self.busy > UNSETTLED_BUSY and self.busy > UNSETTLED_RATIO * window:
            self.flag = True
            found = Unsettling(self.busy, window)
        if window > 2 * UNSETTLED_WINDOW:
            self.since, self.busy = end, self.busy / 2
        return found

    def rested(self) -> None:
        """Nothing is left to do."""
        self.since, self.busy, self.flag = None, 0.0, False
