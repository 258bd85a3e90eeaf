"""Replicas on real engines: transactions in, frames out, through the desk by hand and through the host's thread."""

import queue
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness.replica_model import Mirror
from weft.scheduler.model import Entity
from weft.scheduler.values import Value, same
from weft.storage.connect import Hosts
from weft.storage.desks import Desks
from weft.storage.engine import open_engine
from weft.storage.replica import Replica
from weft.storage.ticket import Answer, Committed, Ticket, Unchanged
from weft.storage.transaction import Transaction
from weft.wire.codec import VALUES

A, B, C = (Entity("main", "space", name) for name in "ABC")
VALUE = ("value",)
WAIT = 30.0


def fail(error: Exception) -> None:
    raise error


@pytest.fixture(params=["memory", "sqlite"])
def desks(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desks]:
    url = "memory:" if request.param == "memory" else f"sqlite:{tmp_path}"
    opened = Desks(lambda space: open_engine(url, space, runtime="test", codec=VALUES), report=fail)
    yield opened
    opened.close()


def edit(replica: Replica, change: Callable[[Transaction], object]) -> Answer:
    transaction = Transaction(replica, "main")
    change(transaction)
    [proposal] = transaction.finish()
    return replica.commit(proposal)


def ticket(answer: Answer) -> Ticket:
    assert isinstance(answer, Committed), answer
    return answer.ticket


def value(replica: Replica, entity: Entity) -> Value:
    document = replica.read(entity).document
    return document["value"] if document else None


def add(transaction: Transaction, entity: Entity, by: int) -> None:
    transaction.set(entity, VALUE, transaction.get(entity, VALUE) + by)


def test_two_replicas_lose_no_increment_whoever_is_stale(desks: Desks) -> None:
    one, two = Replica(desks.connect, 1), Replica(desks.connect, 1)
    edit(one, lambda tx: tx.set(A, VALUE, 0))
    desks.pump()
    assert value(two, A) == 0
    waiting = [(one, ticket(edit(one, lambda tx: add(tx, A, 1)))), (two, ticket(edit(two, lambda tx: add(tx, A, 10))))]
    assert (value(one, A), value(two, A)) == (1, 10)
    desks.pump()
    assert [each.settled for _, each in waiting] == [True, True]
    assert [each.accepted for _, each in waiting] == [True, False]
    assert (value(one, A), value(two, A)) == (1, 1)
    assert ticket(edit(two, lambda tx: add(tx, A, 10)))
    desks.pump()
    assert (value(one, A), value(two, A)) == (11, 11)


def test_a_chain_of_dependent_commits_falls_together_and_the_rest_stays(desks: Desks) -> None:
    one, two = Replica(desks.connect, 1), Replica(desks.connect, 1)
    edit(one, lambda tx: tx.set(A, VALUE, 1))
    desks.pump()
    log = Mirror(1)
    two.journal.subscribe(log)
    value(two, A)
    edit(one, lambda tx: tx.set(A, VALUE, 2))
    first = ticket(edit(two, lambda tx: add(tx, A, 100)))
    second = ticket(edit(two, lambda tx: tx.set(B, VALUE, tx.get(A, VALUE))))
    third = ticket(edit(two, lambda tx: tx.set(C, VALUE, "alone")))
    assert (value(two, A), value(two, B)) == (101, 101)
    desks.pump()
    assert [each.accepted for each in (first, second, third)] == [False, False, True]
    assert [value(two, each) for each in (A, B, C)] == [2, None, "alone"]
    assert log.reverts() == [["A"], ["B"]]
    assert two.pending() == ()


def test_the_same_value_again_is_nothing(desks: Desks) -> None:
    replica = Replica(desks.connect, 1)
    edit(replica, lambda tx: tx.set(A, VALUE, {"foo": "bar"}))
    desks.pump()
    before = replica.version
    assert edit(replica, lambda tx: tx.set(A, VALUE, {"foo": "bar"})) == Unchanged(before)
    assert edit(replica, lambda tx: tx.set(A, ("value", "foo"), "bar")) == Unchanged(before)


def test_two_replicas_converge_through_a_threaded_host(tmp_path: Path) -> None:
    mail: queue.Queue[Callable[[], object]] = queue.Queue()
    hosts = Hosts(lambda space: open_engine(f"sqlite:{tmp_path}", space, runtime="test", codec=VALUES))
    one, two = (Replica(hosts.connector(deliver=mail.put), 1) for _ in range(2))
    mirrors = [Mirror(1), Mirror(1)]
    for replica, mirror in zip((one, two), mirrors, strict=True):
        replica.journal.subscribe(mirror)
        value(replica, A)
    expected = set()
    for number in range(60):
        edit((one, two)[number % 2], lambda tx, number=number: tx.append(A, VALUE, number))  # type: ignore[misc]
        expected.add(number)
        while not mail.empty():
            mail.get_nowait()()
    try:
        while one.pending() or two.pending() or set(value(one, A)) != expected or not same(one.read(A).document, two.read(A).document):
            mail.get(timeout=WAIT)()
    finally:
        hosts.close()
    assert len(value(one, A)) == 60, "each once"
    for replica, mirror in zip((one, two), mirrors, strict=True):
        assert same(mirror.shown[A], replica.read(A).document)
        assert "revert" not in mirror.kinds()
