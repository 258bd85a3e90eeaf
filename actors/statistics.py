"""How often nodes ran, and how long it took. Bounded: of more than STATISTICS nodes, those that ran least recently are forgotten.

Gates ask for `runs` and `mean` to slow a slow effect down, so resetting what is shown must not change those: a reset moves the point from which it is counted, and no count
goes back (P10). Statistics belong to an id and survive its removal.
"""
from __future__ import annotations

from collections import OrderedDict

from ..scheduler.constants import STATISTICS
from ..scheduler.introspection import Counts


class Tally:
    """Of one node. `generation` is the registration that ran last; `since_runs` and `since_seconds` were the counts at the last reset."""

    __slots__ = ("generation", "last", "runs", "seconds", "since_runs", "since_seconds", "skipped")

    def __init__(self) -> None:
        self.runs = 0
        self.seconds = 0.0
        self.last: float | None = None
        self.skipped = 0
        self.generation = 0
        self.since_runs = 0
        self.since_seconds = 0.0

    def counts(self) -> Counts:
        runs = self.runs - self.since_runs
        return Counts(runs, self.skipped, (self.seconds - self.since_seconds) / runs if runs else 0.0, self.last if runs else None)


class Statistics:
    """`executed` and `skipped` are of all nodes together, and go on counting when one is forgotten."""

    def __init__(self, most: int = STATISTICS) -> None:
        self._most = most
        self._tallies: OrderedDict[str, Tally] = OrderedDict()  # the one that ran last is last
        self.executed = 0
        self.skipped = 0

    def __len__(self) -> int:
        return len(self._tallies)

    def ran(self, id: str, began: float, ended: float) -> Tally:
        tallies = self._tallies
        tally = tallies.get(id)
        if tally is None:
            tally = tallies[id] = Tally()
            if len(tallies) > self._most:
                tallies.popitem(last=False)
        else:
            tallies.move_to_end(id)
        tally.runs += 1
        tally.seconds += ended - began
        tally.last = ended
        self.executed += 1
        return tally

    def skip(self, id: str) -> None:
        """There was work for it, and a gate held it."""
        self.skipped += 1
        tally = self._tallies.get(id)
        if tally is not None:
            tally.skipped += 1

    def counts(self, id: str) -> Counts | None:
        """None: nothing is known of it."""
        tally = self._tallies.get(id)
        return tally.counts() if tally is not None else None

    def reset(self) -> None:
        self.executed = self.skipped = 0
        for tally in self._tallies.values():
            tally.since_runs, tally.since_seconds, tally.skipped = tally.runs, tally.seconds, 0
