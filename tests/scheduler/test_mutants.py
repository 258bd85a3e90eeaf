"""The seeded simulation: it passes on the core as it is, and each of eight deliberate faults in the core is caught by it.

A failing seed prints one line that plays it again. `make soak` plays many more seeds.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from harness.core_simulation import simulate
from weft.scheduler.errors import ErrorInfo
from weft.scheduler.graph import Graph
from weft.scheduler.idle import Idle
from weft.scheduler.invalidation import Invalidation
from weft.scheduler.log import RunId, RunResult
from weft.scheduler.model import Change
from weft.scheduler.records import Node
from weft.scheduler.rejection import Fate
from weft.scheduler.runs import Runs
from weft.scheduler.settle import PassEnd, Settle

SEEDS, SOAK = 500, 100_000


def test_random_programs_keep_every_invariant_and_end_where_evaluating_every_live_node_anew_changes_nothing() -> None:
    runs = {"acyclic": 0, "cyclic": 0, "rootless": 0}
    for seed in range(SEEDS):
        done = simulate(seed)
        runs[done.flavour] += len(done.ledger.log)
    assert runs["rootless"] == 0
    assert min(runs["acyclic"], runs["cyclic"]) > 3 * SEEDS


@pytest.mark.soak
@pytest.mark.timeout(3_600)
def test_a_hundred_thousand_random_programs_keep_every_invariant() -> None:
    for seed in range(SEEDS, SEEDS + SOAK):
        simulate(seed)


def test_the_same_seed_makes_the_same_runs() -> None:
    assert [simulate(seed).ledger.log for seed in range(20)] == [simulate(seed).ledger.log for seed in range(20)]


def simulate_all(seeds: int) -> None:
    for seed in range(seeds):
        simulate(seed)


def drop_the_recount_at_registration(patch: pytest.MonkeyPatch) -> None:
    def add(self: Graph, node: Node) -> None:
        self.writers.put(node, node.surface.outputs)
        self.envelopes.put(node, node.surface.envelope)

    patch.setattr(Graph, "add", add)


def suppress_by_id_only(patch: pytest.MonkeyPatch) -> None:
    right = Invalidation.apply

    def apply(self: Invalidation, changes: Iterable[Change], n: int, source: RunId | None = None, group: str | None = None) -> None:
        for change in changes:
            found: dict[Node, None] = {}
            self._graph.readers.gather(change, found)
            own = next((node for node in found if source is not None and node.id == source.node), None)
            right(self, [change], n, source._replace(generation=own.generation) if own is not None and source is not None else source, group)

    patch.setattr(Invalidation, "apply", apply)


def forget_to_restore_causes(patch: pytest.MonkeyPatch) -> None:
    right = Runs._retry

    def retry(self: Runs, node: Node, fate: Fate, error: ErrorInfo) -> None:
        node.taken = {}
        right(self, node, fate, error)

    patch.setattr(Runs, "_retry", retry)


def keep_causes_on_what_is_no_longer_read(patch: pytest.MonkeyPatch) -> None:
    right = Invalidation.settle

    def settle(self: Invalidation, node: Node, result: RunResult, n: int) -> None:
        at = {read.entity: read.n for read in result.at}
        kept = {cause: when for cause, when in node.causes.items() if when > at.get(cause.entity, 0)}
        right(self, node, result, n)
        for cause, when in kept.items():
            self.mark(node, cause, when)

    patch.setattr(Invalidation, "settle", settle)


def skip_the_tick_when_a_dormant_node_becomes_live(patch: pytest.MonkeyPatch) -> None:
    def found(self: Settle, node: Node) -> None:
        pass

    patch.setattr(Settle, "found", found)


def read_the_clock_twice(patch: pytest.MonkeyPatch) -> None:
    right = Idle.wake

    def wake(self: Idle, now: float) -> float | None:
        return right(self, now + 0.15)

    patch.setattr(Idle, "wake", wake)


def expire_provisional_demand_too_early(patch: pytest.MonkeyPatch) -> None:
    right = Settle.end

    def end(self: Settle, now: float) -> PassEnd:
        for node in list(self.provisional):
            del self.provisional[node]
            self._graph.undemand(node)
        return right(self, now)

    patch.setattr(Settle, "end", end)


def forget_to_expire_provisional_demand(patch: pytest.MonkeyPatch) -> None:
    right = Settle.end

    def end(self: Settle, now: float) -> PassEnd:
        kept, self.provisional = self.provisional, {}
        ended = right(self, now)
        self.provisional = kept
        return ended

    patch.setattr(Settle, "end", end)


@pytest.mark.parametrize(
    ("fault", "caught_as"),
    [
        (drop_the_recount_at_registration, "E1|L1"),
        (suppress_by_id_only, "I8|should be"),
        (forget_to_restore_causes, "I8"),
        (keep_causes_on_what_is_no_longer_read, "I8|should be clean"),
        (skip_the_tick_when_a_dormant_node_becomes_live, "S1|I1"),
        (read_the_clock_twice, "I1"),
        (expire_provisional_demand_too_early, "they never ran"),
        (forget_to_expire_provisional_demand, "its provisional demand has not ended"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_fault_in_the_core_is_caught(fault: Callable[[pytest.MonkeyPatch], None], caught_as: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)
    with pytest.raises(AssertionError, match=rf"^seed \d+: .*({caught_as})[\s\S]*\nreplay: cd tests && "):
        simulate_all(SEEDS)
