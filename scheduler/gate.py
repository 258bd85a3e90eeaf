"""The time gates of one node (semantics C.11): one number decides, `eligible_at`; policies only move its inputs.

- Nothing here reads a clock, and asking changes nothing: a debounce is armed by an invalidation, never by a query.
- A debounce is pure trailing: each invalidation starts the full delay again, up to `max_wait` after the first one.
- A throttle counts from the end of the last run; a node that never ran is not throttled.
"""
from __future__ import annotations

from .constants import BACKOFF_BASE, BACKOFF_MAX


class Gate:
    __slots__ = ("auto", "auto_debounced", "backoff_until", "debounce", "debounce_ready", "hold_until", "max_wait", "throttle", "throttle_ready", "waiting_since")

    def __init__(self, debounce: float | None = None, max_wait: float | None = None, throttle: float | None = None, auto: bool = True) -> None:
        self.debounce = debounce or None
        self.max_wait = max_wait
        self.throttle = throttle or None
        self.auto = auto
        self.auto_debounced = False
        self.debounce_ready = 0.0  # 0: not armed
        self.waiting_since = 0.0
        self.throttle_ready = 0.0
        self.backoff_until = 0.0
        self.hold_until = 0.0

    @property
    def eligible_at(self) -> float:
        latest = self.debounce_ready  # spelled out: it is asked at every turn, and `max` of four costs three times as much
        if self.throttle_ready > latest:
            latest = self.throttle_ready
        if self.backoff_until > latest:
            latest = self.backoff_until
        return self.hold_until if self.hold_until > latest else latest

    @property
    def plain(self) -> bool:
        """Configured with nothing and waiting for nothing: as good as no gate."""
        return self.debounce is None and self.throttle is None and self.auto and not self.eligible_at

    def arm(self, now: float) -> None:
        """An invalidation: the debounce starts again."""
        if self.debounce is None:
            return
        if not self.debounce_ready:
            self.waiting_since = now
        ready = _instant(now + self.debounce)
        if self.max_wait is not None:
            ready = min(ready, _instant(self.waiting_since + self.max_wait))
        self.debounce_ready = ready

    def ran(self, ended: float) -> None:
        self.debounce_ready = 0.0
        self.hold_until = 0.0
        if self.throttle is not None:
            self.throttle_ready = _instant(ended + self.throttle)

    def set_debounce(self, seconds: float, now: float) -> None:
        """A shorter one than what remains of an armed one shortens it; a longer one waits for the next invalidation; none opens the gate."""
        if seconds <= 0:
            self.debounce, self.debounce_ready, self.auto_debounced = None, 0.0, False
            return
        self.debounce, self.auto_debounced = seconds, False
        if self.debounce_ready:
            self.debounce_ready = min(self.debounce_ready, _instant(now + seconds))

    def set_throttle(self, seconds: float, last_ended: float | None) -> None:
        if seconds <= 0:
            self.throttle, self.throttle_ready = None, 0.0
            return
        self.throttle = seconds
        self.throttle_ready = 0.0 if last_ended is None else _instant(last_ended + seconds)

    def back_off(self, now: float, streak: int) -> None:
        """The longer it fails to converge, the rarer it is tried."""
        self.backoff_until = _instant(now + min(BACKOFF_BASE * 2 ** min(streak, 30), BACKOFF_MAX))  # the exponent is bounded because a streak is not


def _instant(seconds: float) -> float:
    """To the nanosecond, as clocks are: a tenth of a second is over after 30, 30, 30 and 10 milliseconds, however floats add up."""
    return round(seconds, 9)
