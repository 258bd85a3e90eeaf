"""Garbage collection: history before the horizon goes, what is and what ever was stays, and nothing is guessed."""
from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.engines import BACKENDS, Author, confirmed, doc, put, replace
from harness.ledger import Ledger, ledger
from weft.scheduler.errors import ConflictError, HistoryCollected, PreconditionFailedError, ProtocolError
from weft.scheduler.model import CommitId, Read
from weft.scheduler.values import MISSING
from weft.storage import collection
from weft.storage.commit import Accepted, Commit, EntityAbsent, Patch, Set
from weft.storage.patch import Append, Increment, Replace
from weft.storage.tables import DELETE, PATCH, SET


@pytest.fixture(params=BACKENDS)
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    with ledger(request.param, tmp_path) as made:
        yield made


def test_old_revisions_go_and_every_later_state_stays_readable(log: Ledger) -> None:
    log.set("a", 0)
    for _ in range(9):
        log.patch("a", Increment(("value",), 1))
    done = log.engine.collect(6)
    assert (done.horizon, done.documents, done.revisions, done.refused) == (6, 1, 5, ())
    assert log.revisions("a") == [(6, SET), (7, PATCH), (8, PATCH), (9, PATCH), (10, PATCH)]
    assert [log.value("a", at=seq) for seq in range(6, 11)] == [5, 6, 7, 8, 9]


def test_a_read_before_the_horizon_is_refused_by_name(log: Ledger) -> None:
    for value in range(5):
        log.set("a", value)
    log.engine.collect(3)
    reader = log.engine.reader()
    for read in (log.engine.read, reader.read):
        for seq in (0, 1, 2):
            with pytest.raises(HistoryCollected, match="was collected; ask for 3 or later") as caught:
                read(doc("a"), "", seq)
            assert caught.value.horizon == 3
        assert read(doc("a"), "", 3).document == {"value": 2}
    reader.close()
    with pytest.raises(HistoryCollected):
        log.engine.fork("side", at=2)
    assert log.engine.fork("side", at=3).fork_seq == 3


def test_entity_absent_still_fails_for_what_was_collected(log: Ledger) -> None:
    log.set("receipt", 1)
    log.delete("receipt")
    for value in range(3):
        log.set("other", value)
    log.engine.collect(5)
    assert log.revisions("receipt") == [(2, DELETE)]
    head = log.engine.tables.head("", doc("receipt"))
    assert head is not None
    assert (head.born, head.op) == (1, DELETE)
    assert isinstance(log.author.refused(put(doc("receipt"), 2), preconditions=(EntityAbsent(doc("receipt")),)), PreconditionFailedError)
    assert log.value("receipt") is MISSING
    assert not log.engine.exists(doc("receipt"))


def test_STO_021_a_commit_whose_revisions_were_collected_replays(log: Ledger) -> None:
    first = Commit(CommitId("t", 1), (Set(doc("a"), {"value": 1}),), preconditions=(EntityAbsent(doc("a")),))
    (taken,) = log.engine.apply([first])
    for value in range(4):
        log.set("a", value)
    log.engine.collect(5)
    (again,) = log.engine.apply([first])
    assert isinstance(taken, Accepted)
    assert again == taken._replace(replayed=True)
    assert log.engine.head() == 5


def test_collecting_the_newest_state_keeps_it_and_the_head_says_what_the_log_says(log: Ledger) -> None:
    log.set("a", [0])
    for value in range(1, 4):
        log.patch("a", Append(("value",), (value,)))
    log.engine.collect(4)
    head = log.engine.tables.head("", doc("a"))
    assert log.revisions("a") == [(4, SET)]
    assert head is not None
    assert (head.seq, head.op, head.patches, head.born) == (4, SET, 0, 1)
    assert log.value("a") == [0, 1, 2, 3]
    log.patch("a", Append(("value",), (4,)))
    assert log.value("a") == [0, 1, 2, 3, 4]
    assert log.engine.reader().read(doc("a")).document == {"value": [0, 1, 2, 3, 4]}


def test_a_confirmed_read_from_before_the_horizon_conflicts_with_what_was_collected(log: Ledger) -> None:
    log.set("a", {"x": 0, "y": 0})
    log.patch("a", Replace(("value", "x"), 1))
    log.patch("a", Replace(("value", "y"), 1))
    log.engine.collect(3)
    error = log.author.refused(put(doc("b"), 0), confirmed=(confirmed(doc("a"), "/value/x", 1),))
    assert isinstance(error, ConflictError)
    log.author.commit(put(doc("b"), 0), confirmed=(confirmed(doc("a"), "/value/x", 3),))


def test_a_pending_read_does_not_step_over_what_was_collected_under_its_own_layer(log: Ledger) -> None:
    """own set (1), foreign patch of x (2), own patch of y (3); a read of x with basis 1 names 3, and 2 is collected."""
    log.set("a", {"x": 0, "y": 0})
    Author(log.engine, "other").commit(replace(doc("a"), "/value/x", 1))
    log.patch("a", Replace(("value", "y"), 1))
    read = log.author.pending(doc("a"), "/value/x", 2, basis=1)
    assert isinstance(log.author.refused(put(doc("b"), 0), pending=(read,)), ConflictError)
    log.engine.collect(3)
    assert log.revisions("a") == [(3, SET)]
    assert isinstance(log.author.refused(put(doc("b"), 0), pending=(read,)), ConflictError)


def test_what_a_branch_inherits_is_not_collected(log: Ledger) -> None:
    for value in range(4):
        log.set("a", value)
    log.engine.fork("side", at=2)
    log.engine.delete_branch("side")
    log.engine.fork("live", at=3)
    log.patch("a", Replace(("value",), 9), branch="live")
    log.set("a", 5)
    log.engine.collect(log.engine.head())
    assert (log.value("a"), log.value("a", "side"), log.value("a", "live")) == (5, 1, 9)
    assert log.revisions("a") == [(2, SET), (3, SET), (4, SET), (6, SET)]


def test_the_log_still_names_every_document_that_changed_since(log: Ledger) -> None:
    for value in range(3):
        log.set("a", value)
        log.set("b", value)
    log.engine.collect(5)
    for seq in range(6):
        assert {written for landed in log.engine.after(seq) for written in landed.entities} == ({doc("a"), doc("b")} if seq < 5 else {doc("b")})
    assert [landed.seq for landed in log.engine.after(0)] == [1, 2, 3, 4, 5, 6]


def test_collecting_again_finishes_and_changes_nothing_and_the_horizon_never_moves_back(log: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "BATCH", 2)
    for round in range(3):
        for id in "abcde":
            log.set(id, round)
    assert log.engine.collect(12)[:3] == (12, 5, 7)
    assert log.engine.collect(12)[:3] == (12, 0, 0)
    assert log.engine.collect(1)[:3] == (12, 0, 0)
    with pytest.raises(HistoryCollected):
        log.engine.read(doc("a"), at=11)


@pytest.mark.parametrize("horizon", [-1, 2, True, "1", None])
def test_a_horizon_is_a_place_in_the_log(log: Ledger, horizon: object) -> None:
    log.set("a", 0)
    with pytest.raises(ProtocolError, match="a sequence number from 0 to 1"):
        log.engine.collect(horizon)  # type: ignore[arg-type]


def test_STO_015_a_document_with_a_corrupt_row_is_left_alone_and_named(log: Ledger) -> None:
    for value in range(3):
        log.set("bad", value)
        log.set("good", value)
    log.rig.alter_revision(5, op="strange")
    done = log.engine.collect(6)
    assert done[:3] == (6, 1, 2)
    assert len(done.refused) == 1
    assert "unexpected stored revision op" in done.refused[0]
    assert "bad" in done.refused[0]
    assert [seq for seq, _ in log.revisions("bad")] == [1, 3, 5]


def test_a_collection_that_is_undone_leaves_everything(log: Ledger) -> None:
    for value in range(3):
        log.set("a", value)
    tables = log.engine.tables
    head = tables.head("", doc("a"))
    assert head is not None
    row = list(tables.revisions(head.number, 0, 3))[-1]
    tables.begin()
    tables.set_horizon(3)
    assert tables.rebase(row) == 2
    tables.rollback()
    assert tables.horizon() == 0
    assert [log.value("a", at=seq) for seq in (1, 2, 3)] == [0, 1, 2]


def test_read_sets_that_nobody_has_go(log: Ledger) -> None:
    log.set("a", 0)
    with log.engine.transaction():
        log.overlaps.note_readers("n", [Read(doc("a"), ("value",))])
        log.overlaps.note_readers("m", [Read(doc("a"), ("value",))])
        log.overlaps.note_readers("n", [Read(doc("b"), ("value",))])
        log.overlaps.note_readers("n", [])
    assert log.engine.collect(0).read_sets == 1
    assert log.overlaps.find_readers_for_write(doc("a"), [()]) == ["m"]
    assert log.overlaps.find_readers_for_write(doc("b"), [()]) == []


@pytest.mark.parametrize("seed", range(6))
def test_nothing_at_or_after_the_horizon_can_tell_that_anything_was_collected(log: Ledger, seed: int) -> None:
    chance = random.Random(seed)
    branches = [""]
    for _ in range(80):
        branch, id = chance.choice(branches), chance.choice("abc")
        kind = chance.random()
        if kind < 0.06:
            log.engine.fork(f"b{len(branches)}", branch)
            branches.append(f"b{len(branches)}")
        elif kind < 0.3 or log.value(id, branch) is MISSING:
            log.set(id, {"n": 0}, branch=branch)
        elif kind < 0.4:
            log.delete(id, branch)
        else:
            log.commit(*(Patch(doc(id), (Increment(("value", "n"), 1),)) for _ in range(chance.randint(1, 2))), branch=branch)
    head = log.engine.head()
    horizon = chance.randint(1, head)
    def states() -> dict[tuple[str, str, int], object]:
        forks = {branch.name: branch.fork_seq for branch in log.engine.branches()}
        return {(id, name, seq): log.engine.read(doc(id), name, seq) for id in "abc" for name, fork in forks.items() for seq in range(max(horizon, fork), head + 1)}
    before = states()
    log.engine.collect(horizon)
    assert states() == before
    assert log.engine.collect(horizon).revisions == 0
    log.engine.collect(head)
    newest = {(id, name): log.engine.read(doc(id), name) for id in "abc" for name in branches}
    assert newest == {(id, name): before[id, name, head] for id in "abc" for name in branches}


def test_another_engine_sees_the_horizon(log: Ledger) -> None:
    other = log.rig.open("other")
    for value in range(4):
        log.set("a", value)
    other.poll()
    log.engine.collect(3)
    with pytest.raises(HistoryCollected):
        other.read(doc("a"), at=2)
    with pytest.raises(HistoryCollected):
        other.fork("side", at=1)
    assert other.read(doc("a")).document == {"value": 3}


def test_an_engine_whose_state_was_collected_by_another_catches_up(log: Ledger) -> None:
    log.set("a", 0)
    log.set("b", 0)
    other = log.rig.open("other")
    for value in range(1, 4):
        log.set("a", value)
    assert (other.head(), other.read(doc("a")).document) == (2, {"value": 0})
    log.engine.collect(5)
    assert other.read(doc("b")).document == {"value": 0}
    assert (other.head(), other.read(doc("a")).document, other.poll()) == (5, {"value": 3}, True)
