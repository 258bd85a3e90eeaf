"""Desks served by hand: two replicas on one engine, and what each hears when it is pumped."""
from __future__ import annotations

import pytest
from weft.scheduler.errors import BrokenInvariant
from weft.scheduler.log import Entry
from weft.scheduler.model import Entity
from weft.scheduler.values import MISSING
from weft.storage.desks import Desks
from weft.storage.engine import open_engine
from weft.storage.link import Frame
from weft.storage.replica import Replica
from weft.storage.transaction import Transaction
from weft.wire.codec import VALUES

X = Entity("main", "space", "x")
VALUE = ("value",)


def desks(errors: list[Exception]) -> Desks:
    return Desks(lambda space: open_engine("memory:", space, runtime="test", codec=VALUES), report=errors.append)


def write(replica: Replica, value: object) -> None:
    transaction = Transaction(replica, "main")
    transaction.set(X, VALUE, value)
    for proposal in transaction.finish():
        replica.commit(proposal)


def shown(replica: Replica) -> object:
    document = replica.read(X).document
    return MISSING if document is MISSING else document["value"]


def test_a_commit_is_seen_at_once_by_its_replica_and_by_the_other_one_after_a_pump() -> None:
    errors: list[Exception] = []
    store = desks(errors)
    here, there = Replica(store.connect, epoch=1), Replica(store.connect, epoch=1)
    heard: list[Entry] = []
    assert shown(there) is MISSING
    there.journal.subscribe(heard.append)
    write(here, 1)
    assert (shown(here), shown(there), len(here.pending())) == (1, MISSING, 1)
    store.pump()
    assert (shown(here), shown(there), len(here.pending())) == (1, 1, 0)
    assert [type(entry).__name__ for entry in heard] == ["IntegrateEntry"]
    store.close()
    assert errors == []


def test_of_two_replicas_that_wrote_over_the_same_read_the_later_one_is_rolled_back() -> None:
    errors: list[Exception] = []
    store = desks(errors)
    here, there = Replica(store.connect, epoch=1), Replica(store.connect, epoch=1)
    for replica, value in ((here, "first"), (there, "second")):
        transaction = Transaction(replica, "main")
        assert transaction.get(X, VALUE) is MISSING
        transaction.set(X, VALUE, value)
        replica.commit(transaction.finish()[0])
    assert (shown(here), shown(there)) == ("first", "second")
    store.pump()
    assert (shown(here), shown(there), there.pending()) == ("first", "first", ())
    store.close()
    assert errors == []


def test_a_receiver_that_fails_is_reported_and_stays_connected(monkeypatch: pytest.MonkeyPatch) -> None:
    errors: list[Exception] = []
    store = desks(errors)
    here, there = Replica(store.connect, epoch=1), Replica(store.connect, epoch=1)
    shown(there)

    def fails(frame: Frame) -> None:
        raise BrokenInvariant("made up")

    with monkeypatch.context() as patch:
        patch.setattr(there, "on_frame", fails)
        write(here, 1)
        store.pump()
    write(here, 2)
    store.pump()
    assert [str(error) for error in errors] == ["made up"]
    assert shown(there) == 2
