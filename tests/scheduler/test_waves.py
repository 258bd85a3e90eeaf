"""Waves: what goes to a worker in one message."""
from __future__ import annotations

from harness.ledger_core import Body, LedgerCore, Tx, deep
from harness.twin import Twin
from weft.scheduler.waves import wave


def computing(source: str, output: str) -> Body:
    def body(tx: Tx) -> None:
        tx.set(output, tx.get(source) + 1)

    return body


def reading(source: str) -> Body:
    def body(tx: Tx) -> None:
        tx.get(source)

    return body


class Stage(LedgerCore):
    def __init__(self, **values: int) -> None:
        super().__init__(**values)
        self.core: Twin = Twin(self)
        self.commit(**{name: value + 1 for name, value in values.items()})

    def wave_after(self, **values: int) -> list[str]:
        """The first wave after this change, everything before having run."""
        self.drain()
        self.commit(**values)
        mirror = self.core.mirror
        mirror.begin(self.now)
        return [leave.node.id for leave in wave(mirror, self.now)]


def test_readers_of_one_cell_are_one_wave_in_the_order_of_their_registration() -> None:
    stage = Stage(x=0)
    for number in range(10):
        stage.effect(f"show{number}", reading("x"))
    assert stage.wave_after(x=7) == [f"show{number}" for number in range(10)]


def test_a_wave_ends_where_what_is_read_may_be_written_by_a_member() -> None:
    stage = Stage(x=0)
    stage.computation("a", computing("x", "y"), "y")

    def both(tx: Tx) -> None:
        tx.get("x")
        tx.get("y")

    stage.effect("both", both)
    stage.effect("other", reading("x"))
    assert stage.wave_after(x=7) == ["a", "other"]


def test_what_never_ran_goes_alone() -> None:
    stage = Stage(x=0)
    stage.effect("one", reading("x"))
    stage.effect("two", reading("x"))
    mirror = stage.core.mirror
    mirror.begin(0.0)
    assert [leave.node.id for leave in wave(mirror, 0.0)] == ["one"]


def test_what_is_gated_is_in_no_wave() -> None:
    stage = Stage(x=0)
    for name in ("one", "two", "three"):
        stage.effect(name, reading("x"))
    stage.drain()
    stage.core.gates.gate_of("two", stage.node("two")).set_debounce(1.0, stage.now)
    assert stage.wave_after(x=7) == ["one", "three"]


def test_a_wave_has_at_most_so_many_members_and_the_next_goes_on_behind_them() -> None:
    stage = Stage(x=0)
    for number in range(10):
        stage.effect(f"show{number}", reading("x"))
    stage.drain()
    stage.commit(x=7)
    mirror = stage.core.mirror
    mirror.begin(stage.now)
    sizes = [[leave.node.id for leave in wave(mirror, stage.now, most=4)] for _ in range(3)]
    assert [len(size) for size in sizes] == [4, 4, 2]
    assert [id for size in sizes for id in size] == [f"show{number}" for number in range(10)]


def test_an_observer_is_never_run() -> None:
    stage = Stage(x=0)
    stage.core.observe([deep("x")])
    assert stage.wave_after(x=9) == []
    assert list(stage.core.mirror.news) != []
