"""Transactions of two replicas on one engine that start from the same state: which of them get along, and that nothing is lost where they do not."""
from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from harness.view import at, doc
from weft.scheduler.values import Value
from weft.storage.desks import Desks
from weft.storage.engine import open_engine
from weft.storage.replica import Replica
from weft.storage.ticket import Committed
from weft.storage.transaction import Transaction
from weft.wire.codec import VALUES

D = doc("d")
Change = Callable[[Transaction], object]


def fail(error: Exception) -> None:
    raise error


@pytest.fixture
def desks() -> Iterator[Desks]:
    opened = Desks(lambda space: open_engine("memory:", space, runtime="test", codec=VALUES), report=fail)
    yield opened
    opened.close()


def commit(replica: Replica, change: Change) -> Committed:
    tx = Transaction(replica, "main")
    change(tx)
    (proposal,) = tx.finish()
    answer = replica.commit(proposal)
    assert isinstance(answer, Committed), answer
    return answer


def together(desks: Desks, start: Value, first: Change, second: Change) -> tuple[list[bool], Value]:
    """Both change the document that holds `start` (None: there is none) without having heard of each other; whether each was accepted, and what is stored then."""
    one, two = Replica(desks.connect, 1), Replica(desks.connect, 1)
    if start is not None:
        commit(one, lambda tx: tx.set(D, at(), start))
        desks.pump()
    one.read(D)
    two.read(D)
    answers = [commit(one, first), commit(two, second)]
    desks.pump()
    documents = [replica.read(D).document for replica in (one, two)]
    assert documents[0] == documents[1]
    return [bool(answer.ticket.accepted) for answer in answers], documents[0]["value"]


@pytest.mark.parametrize(
    ("start", "first", "second", "after"),
    [
        ({"l": [0]}, lambda tx: tx.append(D, at("l"), 1), lambda tx: tx.append(D, at("l"), 2), {"l": [0, 1, 2]}),
        (None, lambda tx: tx.append(D, at(), 1), lambda tx: tx.append(D, at(), 2), [1, 2]),
        ({}, lambda tx: tx.append(D, at("l"), 1), lambda tx: tx.append(D, at("l"), 2), {"l": [1, 2]}),
        ({"n": 1}, lambda tx: tx.increment(D, at("n"), 2), lambda tx: tx.increment(D, at("n"), 3), {"n": 6}),
        ({}, lambda tx: tx.set(D, at("ann"), 1), lambda tx: tx.set(D, at("bob"), 2), {"ann": 1, "bob": 2}),
        ({"l": [{"x": 1}, {"x": 2}]}, lambda tx: tx.set(D, at("l", 0, "x"), 7), lambda tx: tx.set(D, at("l", 1, "x"), 8), {"l": [{"x": 7}, {"x": 8}]}),
        ({"a": 1, "b": 1}, lambda tx: tx.set(D, at("a"), 2), lambda tx: tx.set(D, at("b"), tx.get(D, at("b")) + 1), {"a": 2, "b": 2}),
        ({"a": 1}, lambda tx: tx.set(D, at("a"), 2), lambda tx: tx.set(D, at("a"), 3), {"a": 3}),
    ],
    ids=["appends", "appends that make the document", "appends that make the list", "counts", "new keys", "elements", "another leaf read", "blind writes of one leaf"],
)
def test_what_does_not_depend_on_the_other_gets_along(desks: Desks, start: Value, first: Change, second: Change, after: Value) -> None:
    assert together(desks, start, first, second) == ([True, True], after)


@pytest.mark.parametrize(
    ("start", "first", "second", "after"),
    [
        ({"n": 1}, lambda tx: tx.increment(D, at("n")), lambda tx: tx.set(D, at("m"), tx.get(D, at("n"))), {"n": 2}),
        ({}, lambda tx: tx.set(D, at("a", "x"), 1), lambda tx: tx.set(D, at("a", "y"), 2), {"a": {"x": 1}}),
        (None, lambda tx: tx.increment(D, at("tea")), lambda tx: tx.increment(D, at("pot")), {"tea": 1}),
        ({"l": [1, 2]}, lambda tx: tx.append(D, at("l"), 3), lambda tx: tx.delete(D, at("l", 0)), {"l": [1, 2, 3]}),
        ({"l": [1]}, lambda tx: tx.set(D, at("l", 1), 2), lambda tx: tx.set(D, at("l", 1), 3), {"l": [1, 2]}),
        ({}, lambda tx: tx.append(D, at("l"), 1), lambda tx: tx.set(D, at("n"), len(tx.keys(D, at()))), {"l": [1]}),
        ({"a": {"x": 1}}, lambda tx: tx.set(D, at("a"), False), lambda tx: tx.set(D, at("a", "x"), 2), {"a": False}),
    ],
    ids=["a read", "objects made on the way", "the document made on the way", "a shifted list", "a grown list", "keys read and a key made by appending", "a parent that is gone"],
)
def test_what_depends_on_what_the_other_changed_is_refused(desks: Desks, start: Value, first: Change, second: Change, after: Value) -> None:
    assert together(desks, start, first, second) == ([True, False], after)
