"""Clocks: the virtual one stands still, stops where somebody waits, and never runs backwards; the real one does not either."""

from collections.abc import Callable

import pytest
import weft
from weft.actors.clock import RealClock, Sleeper, VirtualClock


class Alarm:
    """Waits for times, one after the other, and notes when it was woken."""

    def __init__(self, clock: VirtualClock, *times: float, then: Callable[[], object] = lambda: None) -> None:
        self.clock, self.times, self.then = clock, list(times), then
        self.woken: list[float] = []
        clock.attach(self)

    def due(self) -> float | None:
        return min(self.times, default=None)

    def wake(self) -> None:
        self.woken.append(self.clock.now())
        self.times = [at for at in self.times if at > self.clock.now()]
        self.then()


def test_a_virtual_clock_stands_still_until_it_is_moved() -> None:
    clock = VirtualClock()
    assert [clock.now(), clock.now()] == [0.0, 0.0]
    clock.advance(1.5)
    clock.advance(0)
    assert clock.now() == 1.5
    assert (VirtualClock(100).now(), VirtualClock().autojump, VirtualClock(0.0, False).autojump) == (100.0, True, False)


@pytest.mark.parametrize("seconds", [-1, -1e-9, float("nan"), float("inf"), "1", None, True])
def test_time_moves_forward_by_a_finite_number_of_seconds_only(seconds: float) -> None:
    clock = VirtualClock(5)
    with pytest.raises(weft.Misuse, match="advance takes a finite number of seconds from 0: time does not run backwards, not "):
        clock.advance(seconds)
    assert clock.now() == 5


@pytest.mark.parametrize("start", [float("nan"), float("-inf"), "0", False])
def test_a_clock_starts_at_a_finite_time(start: float) -> None:
    with pytest.raises(weft.Misuse, match="start takes a finite number of seconds, not "):
        VirtualClock(start)


def test_autojump_is_yes_or_no() -> None:
    with pytest.raises(weft.Misuse, match=r"autojump=1\) is neither True nor False"):
        VirtualClock(autojump=1)  # type: ignore[arg-type]


def test_the_clock_stops_at_every_time_somebody_waits_for() -> None:
    clock = VirtualClock()
    alarm = Alarm(clock, 3.0, 1.0, 7.0)
    clock.advance(5.0)
    assert (alarm.woken, clock.now()) == ([1.0, 3.0], 5.0)
    clock.advance(2.0)
    assert (alarm.woken, clock.now()) == ([1.0, 3.0, 7.0], 7.0)


def test_what_a_wake_arms_is_woken_on_the_same_way() -> None:
    clock = VirtualClock()
    alarm = Alarm(clock, 1.0)
    alarm.then = lambda: alarm.times.append(clock.now() + 2.0)
    clock.advance(6.0)
    assert (alarm.woken, clock.now(), alarm.due()) == ([1.0, 3.0, 5.0], 6.0, 7.0)


def test_those_who_wait_for_one_time_are_woken_in_the_order_in_which_they_came() -> None:
    clock = VirtualClock()
    heard: list[str] = []
    alarms = [Alarm(clock, *times, then=lambda name=name: heard.append(name)) for name, times in (("a", (2.0,)), ("b", (1.0, 2.0)), ("c", (2.0,)))]  # type: ignore[misc]
    clock.advance(2.0)
    assert (heard, [alarm.woken for alarm in alarms]) == (["b", "a", "b", "c"], [[2.0], [1.0, 2.0], [2.0]])


def test_what_was_overdue_is_woken_at_the_present_and_not_in_the_past() -> None:
    clock = VirtualClock(10)
    alarm = Alarm(clock, 4.0)
    clock.advance(0)
    assert (alarm.woken, clock.now()) == ([10.0], 10.0)


def test_moving_to_a_time_arrives_exactly_there() -> None:
    clock = VirtualClock(0.1)
    target = 0.1 + 0.7
    clock.advance_to(target)
    clock.advance_to(0.5)
    assert clock.now() == target


def test_time_that_passes_inside_a_run_wakes_nobody_who_is_busy() -> None:
    """alarm: due 1, still due when it was woken (busy) → not asked again on this way; the clock arrives all the same."""
    clock = VirtualClock()

    class Busy(Alarm):
        def wake(self) -> None:
            self.woken.append(self.clock.now())

    busy, free = Busy(clock, 1.0), Alarm(clock, 2.0)
    clock.advance(3.0)
    assert (busy.woken, free.woken, clock.now()) == ([1.0], [2.0], 3.0)
    clock.advance(0.5)
    assert busy.woken == [1.0, 3.0]


def test_a_run_that_takes_time_while_the_clock_moves_is_not_undone() -> None:
    clock = VirtualClock()
    alarm = Alarm(clock, 1.0, then=lambda: clock.advance(10.0))
    clock.advance(2.0)
    assert (alarm.woken, clock.now()) == ([1.0], 11.0)


def test_who_is_detached_is_not_woken_even_on_the_way() -> None:
    clock = VirtualClock()
    second: list[Sleeper] = []
    first = Alarm(clock, 1.0, then=lambda: clock.detach(second[0]))
    gone = Alarm(clock, 1.0)
    second.append(gone)
    clock.attach(first)  # a second time changes nothing
    clock.advance(1.0)
    clock.detach(gone)
    assert (first.woken, gone.woken) == ([1.0], [])


def test_work_that_schedules_itself_for_ever_is_named_instead_of_hanging() -> None:
    clock = VirtualClock()
    alarm = Alarm(clock, 1.0)
    alarm.then = lambda: alarm.times.append(clock.now() + 1e-9)
    with pytest.raises(weft.Stuck, match=r"the clock does not get past 1\.0000\d+: <.*Alarm object at .*> is due again and again, 10000 times by now"):
        clock.advance(2.0)


def test_a_timer_that_ticks_for_a_long_time_is_no_such_work() -> None:
    clock = VirtualClock()
    alarm = Alarm(clock, 1.0)
    alarm.then = lambda: alarm.times.append(clock.now() + 1.0)
    clock.advance(12_000.0)
    assert len(alarm.woken) == 12_000


def test_a_wake_that_fails_stops_the_clock_where_it_failed() -> None:
    clock = VirtualClock()
    Alarm(clock, 1.0, then=[].pop)
    with pytest.raises(IndexError):
        clock.advance(5.0)
    assert clock.now() == 1.0


def test_the_real_clock_shows_wall_seconds_and_ignores_that_the_wall_clock_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    wall, passed = [1_700_000_000.0], [50.0]
    monkeypatch.setattr("weft.actors.clock.time.time", lambda: wall[0])
    monkeypatch.setattr("weft.actors.clock.time.monotonic", lambda: passed[0])
    clock = RealClock()
    shown = [clock.now()]
    wall[0] -= 3600.0  # somebody sets the machine's clock back
    passed[0] += 2.0
    shown.append(clock.now())
    assert shown == [1_700_000_000.0, 1_700_000_002.0]
