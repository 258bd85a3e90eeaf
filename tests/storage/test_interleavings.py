"""Every order of a small history: two sessions, three commits each, each commit a read and, later, a send.

A session reads at the confirmed head, thinks, and sends what it computed. Whatever the order of the twelve steps, the accepted commits must be serial in log order: replayed
one after another, each finds again what it read. A control with the conflict check turned off must be caught by the same test.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

import pytest
from weft.scheduler.model import CommitId, Entity
from weft.scheduler.values import MISSING
from weft.storage import batch
from weft.storage.commit import Accepted, Commit, ConfirmedRead, Operation, Patch, Set
from weft.storage.engine import Engine, open_engine
from weft.storage.patch import Increment, Replace
from weft.wire.codec import VALUES

X, Y = (Entity("main", "space", id) for id in "xy")
N = ("value", "n")
STEPS = 6  # of one session: read, send, three times


class Attempt(NamedTuple):
    """What a commit read, and what it wrote because of that."""

    entity: Entity
    read: int
    basis: int
    operation: Operation


Step = Callable[[int, Entity], Operation]
SCRIPTS: dict[str, tuple[tuple[Entity, Step], tuple[Entity, Step]]] = {
    "write skew": ((X, lambda n, _: Patch(Y, (Replace(N, n + 1),))), (Y, lambda n, _: Patch(X, (Replace(N, n + 1),)))),
    "lost update": ((X, lambda n, _: Patch(X, (Replace(N, n + 1),))), (X, lambda n, _: Patch(X, (Replace(N, n + 10),)))),
    "whole documents": ((X, lambda n, _: Set(X, {"value": {"n": n * 2 + 1}})), (X, lambda n, _: Patch(Y, (Increment(N, n + 1),)))),
}


def orders() -> Iterator[tuple[int, ...]]:
    for first in combinations(range(2 * STEPS), STEPS):
        chosen = set(first)
        yield tuple(0 if step in chosen else 1 for step in range(2 * STEPS))


def value(engine: Engine, entity: Entity) -> tuple[int, int]:
    document: Any = engine.read(entity).document
    return (0 if document is MISSING else document["value"]["n"]), engine.head()


def play(script: tuple[tuple[Entity, Step], tuple[Entity, Step]], order: tuple[int, ...]) -> tuple[Engine, list[Attempt], int]:
    engine = open_engine("memory:", "main", runtime="test", codec=VALUES)
    engine.apply([Commit(CommitId("setup", 1), (Set(X, {"value": {"n": 0}}), Set(Y, {"value": {"n": 0}})))])
    accepted: list[Attempt] = []
    at: list[int] = [0, 0]
    held: list[tuple[int, int]] = [(0, 0), (0, 0)]
    for session in order:
        entity, write = script[session]
        if at[session] % 2 == 0:
            held[session] = value(engine, entity)
        else:
            n, basis = held[session]
            commit = Commit(CommitId(f"s{session}", at[session]), (write(n, entity),), (ConfirmedRead(entity, N, basis),))
            verdict = engine.apply([commit])[0]
            if isinstance(verdict, Accepted):
                accepted.append(Attempt(entity, n, basis, commit.operations[0]))
        at[session] += 1
    return engine, accepted, len(accepted)


def is_serial(accepted: list[Attempt], engine: Engine) -> bool:
    """One after another, in log order, each reads what it claims to have read, and the end is what the engine holds."""
    numbers = {X: 0, Y: 0}
    for attempt in accepted:
        if numbers[attempt.entity] != attempt.read:
            return False
        operation = attempt.operation
        if isinstance(operation, Set):
            document: Any = operation.document
            numbers[operation.entity] = document["value"]["n"]
        elif isinstance(operation, Patch):
            op: Any = operation.ops[0]
            numbers[operation.entity] = int(numbers[operation.entity] + op.by) if isinstance(op, Increment) else op.value
    return all(value(engine, entity)[0] == n for entity, n in numbers.items())


def violations(script: tuple[tuple[Entity, Step], tuple[Entity, Step]]) -> tuple[int, int, int]:
    wrong = refused = total = 0
    for order in orders():
        engine, accepted, count = play(script, order)
        wrong += not is_serial(accepted, engine)
        refused += 6 - count
        total += 1
        engine.close()
    return wrong, refused, total


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_interleaving_of_two_sessions_with_three_commits_is_serial(name: str) -> None:
    wrong, refused, total = violations(SCRIPTS[name])
    assert (wrong, total) == (0, 924)
    assert refused > 0, "no order refused anything: the sessions did not meet"


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_same_search_catches_an_engine_that_forgets_to_look_for_conflicts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "operation_touches", lambda *_: False)
    wrong, refused, _ = violations(SCRIPTS[name])
    assert wrong > 0
    assert refused == 0
