"""Time gates: GATE-*, THR and DEB as far as they speak of the gate itself, pitfalls B-14, B-34 to B-39 (semantics C.11)."""
from __future__ import annotations

import pytest
from harness.ledger_core import LedgerCore, deep, reading
from weft.scheduler.gate import Gate
from weft.scheduler.gates import GateConfig, Gates, eligible_at
from weft.scheduler.records import Kind, Node, Status, Surface


def node(kind: Kind = Kind.EFFECT, status: Status = Status.NEVER_RAN) -> Node:
    made = Node("n", kind, "main", Surface(), None, 1, 1)
    made.status = status
    return made


def test_GATE_001_a_hold_placed_before_registration_is_adopted_by_it_and_its_release_makes_the_node_eligible() -> None:
    ledger = LedgerCore(now_is=0)
    gates = ledger.core.gates
    gates.gate_of("e", None).hold_until = 30.0
    held = ledger.effect("e", reading())
    assert eligible_at(held) == 30.0
    assert not ledger.core.idle.runnable(ledger.now)
    gates.gate_of("e", held).hold_until = 0.0
    assert ledger.core.idle.runnable(ledger.now)
    ledger.drain()
    assert ledger.log == ["e"]


def test_GATE_002_shortening_an_armed_debounce_moves_it_earlier_and_lengthening_does_not_move_it() -> None:
    gate = Gate(debounce=10.0)
    gate.arm(0.0)
    gate.set_debounce(2.0, 1.0)
    assert gate.eligible_at == 3.0
    gate.set_debounce(60.0, 1.5)
    assert gate.eligible_at == 3.0
    gate.set_debounce(0.0, 1.5)
    assert (gate.eligible_at, gate.debounce) == (0.0, None)
    gate.arm(2.0)
    assert gate.eligible_at == 0.0


def test_GATE_003_a_clean_node_waits_for_no_debounce() -> None:
    ledger = LedgerCore(s=1)
    restored = ledger.effect("e", reading("s"), gates=GateConfig(debounce=5.0, max_wait=6.0), restored=(deep("s"),))
    assert (restored.status, eligible_at(restored), ledger.core.idle.wake(0.0)) == (Status.CLEAN, 0.0, None)
    ledger.now = 100.0
    ledger.commit(s=2)
    assert eligible_at(restored) == 105.0


@pytest.mark.parametrize(
    ("kind", "runs", "mean", "debounce"),
    [(Kind.EFFECT, 3, 0.05, 0.1), (Kind.EFFECT, 2, 0.05, None), (Kind.EFFECT, 3, 0.049, None), (Kind.EFFECT, 0, 0.0, None), (Kind.COMPUTATION, 3, 0.06, None)],
    ids=["exactly-enough", "too-few-runs", "DEB-016-too-fast", "no-statistics", "DEB-013-a-computation"],
)
def test_GATE_004_a_run_rearms_the_throttle_from_its_end_and_slow_effects_get_a_debounce(kind: Kind, runs: int, mean: float, debounce: float | None) -> None:
    gates, ran = Gates(), node(kind, Status.CLEAN)
    gates.gate_of("n", ran).set_throttle(2.0, None)
    gates.ran(ran, 10.0, runs, mean)
    assert ran.gate is not None
    assert (ran.gate.throttle_ready, ran.gate.debounce, ran.gate.auto_debounced) == (12.0, debounce, debounce is not None)
    assert ran.ended == 10.0


def test_DEB_015_who_opts_out_gets_no_automatic_debounce_and_a_manual_one_stays() -> None:
    gates = Gates()
    out, manual = node(status=Status.CLEAN), node(status=Status.CLEAN)
    gates.adopt(out, GateConfig(auto_debounce=False), 0.0)
    gates.adopt(manual, GateConfig(debounce=3.0), 0.0)
    for ran in (out, manual):
        gates.ran(ran, 1.0, 9, 1.0)
    assert out.gate is not None
    assert manual.gate is not None
    assert (out.gate.debounce, manual.gate.debounce, manual.gate.auto_debounced) == (None, 3.0, False)


def test_GATE_007_asking_arms_nothing_and_an_invalidation_does() -> None:
    gates, asked = Gates(), node(status=Status.CLEAN)
    gates.gate_of("n", asked).set_debounce(1.0, 0.0)
    assert [eligible_at(asked) for _ in range(3)] == [0.0, 0.0, 0.0]
    asked.status = Status.INVALID
    gates.invalidated(asked, 5.0)
    assert eligible_at(asked) == 6.0
    gates.invalidated(asked, 5.5)
    assert eligible_at(asked) == 6.5


def test_GATE_008_opening_any_gate_early_makes_the_node_runnable_at_once() -> None:
    for close, open_ in (
        (lambda gate: setattr(gate, "hold_until", 30.0), lambda gate: setattr(gate, "hold_until", 0.0)),
        (lambda gate: (gate.set_debounce(30.0, 0.0), gate.arm(0.0)), lambda gate: gate.set_debounce(0.0, 0.0)),
        (lambda gate: gate.set_throttle(30.0, 0.0), lambda gate: gate.set_throttle(0.0, 0.0)),
    ):
        ledger = LedgerCore(s=1)
        effect = ledger.effect("e", reading("s"))
        ledger.drain()
        ledger.commit(s=2)
        gate = ledger.core.gates.gate_of("e", effect)
        close(gate)
        assert (ledger.core.idle.runnable(0.0), ledger.core.idle.wake(0.0)) == (False, 30.0)
        open_(gate)
        assert (ledger.core.idle.runnable(0.0), ledger.core.idle.wake(0.0)) == (True, None)
        ledger.drain()
        assert ledger.log == ["e", "e"]


def test_THR_001_and_002_a_throttle_is_staged_before_registration_and_zero_clears_it() -> None:
    gates = Gates()
    assert gates.look("n", None) is None
    gates.gate_of("n", None).set_throttle(0.2, None)
    staged = gates.look("n", None)
    assert staged is not None
    assert staged.throttle == 0.2
    registered = node()
    gates.adopt(registered, GateConfig(), 0.0)
    assert registered.gate is staged
    assert gates.look("n", None) is None
    staged.set_throttle(0.0, None)
    assert staged.plain


def test_THR_003_and_DEB_006_what_registration_says_is_readable() -> None:
    ledger = LedgerCore()
    gate = ledger.computation("c", reading(), gates=GateConfig(0.05, 1.0, 0.2)).gate
    assert gate is not None
    assert (gate.debounce, gate.max_wait, gate.throttle, gate.plain) == (0.05, 1.0, 0.2, False)


def test_DEB_012_a_fresh_node_has_no_gate() -> None:
    assert LedgerCore().effect("e", reading()).gate is None


def test_THR_004_clearing_a_throttle_runs_what_waits() -> None:
    ledger, seen = LedgerCore(s=1), list[int]()
    effect = ledger.effect("e", lambda tx: seen.append(tx.get("s")))
    ledger.drain()
    gate = ledger.core.gates.gate_of("e", effect)
    gate.set_throttle(30.0, effect.ended)
    ledger.commit(s=2)
    ledger.drain()
    assert seen == [1]
    gate.set_throttle(0.0, effect.ended)
    ledger.drain()
    assert seen == [1, 2]


def test_THR_007_and_009_a_throttled_node_stays_invalid_and_makes_no_passes() -> None:
    ledger = LedgerCore(s=1)
    ledger.effect("e", reading("s"), gates=GateConfig(throttle=0.5))
    ledger.idle()
    ledger.commit(s=2)
    passes = len(ledger.ends)
    ledger.drain()
    assert (ledger.node("e").status, ledger.runs("e"), len(ledger.ends) - passes) == (Status.INVALID, 1, 0)
    ledger.advance(0.5)
    assert (ledger.runs("e"), len(ledger.ends) - passes) == (2, 1)


def test_THR_011_a_first_run_is_never_throttled() -> None:
    ledger = LedgerCore()
    ledger.effect("e", reading(), gates=GateConfig(throttle=30.0))
    ledger.drain()
    assert ledger.log == ["e"]


def test_a_throttle_counts_from_the_end_of_the_last_run() -> None:
    ledger = LedgerCore(s=1)

    def slow(tx: object) -> None:
        ledger.now += 2.0

    ledger.effect("e", slow, gates=GateConfig(throttle=1.0))
    ledger.drain()
    assert eligible_at(ledger.node("e")) == 3.0


def test_a_debounce_is_trailing_and_max_wait_ends_it() -> None:
    gate, patient = Gate(debounce=1.0), Gate(debounce=1.0, max_wait=2.5)
    for now in (10.0, 10.9, 11.8, 12.4):
        gate.arm(now)
        patient.arm(now)
    assert (gate.eligible_at, patient.eligible_at) == (13.4, 12.5)
    patient.ran(12.5)
    assert patient.eligible_at == 0.0
    patient.arm(20.0)
    assert patient.eligible_at == 21.0


def test_effects_and_provisional_children_are_debounced_before_their_first_run_and_other_computations_are_not() -> None:
    ledger = LedgerCore(s=1)
    gates = GateConfig(debounce=1.0)
    ledger.effect("e", reading(), gates=gates)
    ledger.effect("p", lambda tx: ledger.computation("k", reading("s"), gates=gates))
    ledger.computation("c", reading("s", into="c"), "c", gates=gates)
    ledger.core.observe([deep("c")])
    ledger.drain()
    assert ledger.log == ["p", "c"]
    ledger.advance(1.0)
    assert ledger.log == ["p", "c", "e", "k"]


def test_backoff_doubles_to_its_cap_however_long_it_lasts() -> None:
    gate, seen = Gate(), []
    for streak in (0, 1, 2, 3, 4, 5_000):
        gate.back_off(0.0, streak)
        seen.append(gate.eligible_at)
    assert seen == [0.25, 0.5, 1.0, 2.0, 2.0, 2.0]


def test_what_was_staged_for_a_node_is_forgotten_with_it() -> None:
    ledger = LedgerCore()
    ledger.effect("e", reading(), gates=GateConfig(debounce=1.0))
    ledger.remove("e")
    assert ledger.effect("e", reading()).gate is None
