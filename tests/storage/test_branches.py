"""Branches: reading through them, writing in them, their coming and going (scenarios 2.7, semantics D.7, decisions 15 and 16)."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.engines import BACKENDS, Author, Rig, confirmed, delete, doc, patch, put, replace, rig_on, value
from weft.scheduler.errors import ConflictError, ProtocolError
from weft.scheduler.model import CommitId
from weft.scheduler.values import MISSING
from weft.storage.link import Delivered
from weft.storage.patch import Add, Append, Increment
from weft.storage.tables import Branch

D, X = doc("d"), doc("x")


@pytest.fixture(params=BACKENDS)
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rig]:
    with rig_on(request.param, tmp_path) as made:
        yield made


@pytest.fixture
def own(rig: Rig) -> Author:
    return Author(rig.open())


def test_STO_101_a_branch_is_not_read_before_its_creation(rig: Rig, own: Author) -> None:
    own.commit(put(D, "base"))
    own.engine.fork("feature")
    own.commit(put(D, "later"), branch="feature")
    for engine in (own.engine, rig.open("other")):
        with pytest.raises(ProtocolError, match="seq 0 is out of range for branch feature"):
            engine.read(D, "feature", 0)
        with pytest.raises(ProtocolError, match="seq 3 is out of range for branch feature"):
            engine.read(D, "feature", 3)
        with pytest.raises(ProtocolError, match="seq 0 is out of range for branch feature"):
            engine.reader().read(D, "feature", 0)


def test_STO_103_a_branch_read_at_the_fork_shows_the_inherited_value(rig: Rig, own: Author) -> None:
    own.commit(put(D, "base"))
    own.engine.fork("feature")
    own.commit(put(D, "feature"), branch="feature")
    for engine in (own.engine, rig.open("other")):
        assert engine.read(D, "feature", 1) == Delivered(D, 1, CommitId("s", 1), {"value": "base"})
        assert engine.read(D, "feature") == Delivered(D, 2, CommitId("s", 2), {"value": "feature"})
        assert value(engine, D) == "base"


def test_STO_104_a_historical_read_sees_what_was_reachable_then(rig: Rig, own: Author) -> None:
    own.commit(put(D, ["a"]), put(doc("a"), 1))
    own.commit(patch(D, Append(("value",), ("b",))), put(doc("b"), 2))
    for engine in (own.engine, rig.open("other")):

        def reached(at: int | None, engine: object = engine) -> dict[str, object]:
            return {id: value(engine, doc(id), at=at) for id in value(engine, D, at=at)}  # type: ignore[arg-type]

        assert reached(1) == {"a": 1}
        assert reached(None) == {"a": 1, "b": 2}


def test_sequence_numbers_are_one_for_all_branches(own: Author) -> None:
    own.commit(put(D, 0))
    own.engine.fork("feature")
    assert [own.commit(put(D, n), branch=branch).seq for n, branch in enumerate(("feature", "", "feature", ""))] == [2, 3, 4, 5]
    assert (value(own.engine, D), value(own.engine, D, "feature")) == (3, 2)
    assert [value(own.engine, D, "feature", at) for at in (1, 2, 3, 4, 5)] == [0, 0, 0, 2, 2]


def test_what_the_parent_does_after_the_fork_is_not_seen(rig: Rig, own: Author) -> None:
    own.commit(put(D, 1))
    own.engine.fork("feature")
    own.commit(put(D, 2))
    own.commit(put(X, 1))
    for engine in (own.engine, rig.open("other")):
        assert engine.read(D, "feature") == Delivered(D, 1, CommitId("s", 1), {"value": 1})
        assert engine.read(X, "feature") == Delivered(X, 0, None, MISSING)
        assert (value(engine, D), value(engine, X)) == (2, 1)


def test_a_patch_on_an_inherited_document_starts_from_the_fork_point(rig: Rig, own: Author) -> None:
    own.commit(put(D, {"a": 1, "n": 0}))
    own.commit(patch(D, Increment(("value", "n"), 5)))
    own.engine.fork("feature", at=2)
    own.commit(patch(D, Increment(("value", "n"), 100)))
    own.commit(patch(D, Add(("value", "b"), 2)), branch="feature")
    own.engine.fork("deeper", "feature")
    own.commit(patch(D, Increment(("value", "n"), 1)), branch="deeper")
    for engine in (own.engine, rig.open("other")):
        assert value(engine, D, "feature") == {"a": 1, "n": 5, "b": 2}
        assert value(engine, D, "deeper") == {"a": 1, "n": 6, "b": 2}
        assert value(engine, D, "deeper", 4) == {"a": 1, "n": 5, "b": 2}
        assert value(engine, D) == {"a": 1, "n": 105}


def test_a_fork_from_the_past_shows_the_past(rig: Rig, own: Author) -> None:
    for n in range(4):
        own.commit(put(D, n))
    own.engine.fork("past", at=2)
    assert (value(own.engine, D, "past"), value(rig.open("other"), D, "past")) == (1, 1)
    with pytest.raises(ProtocolError, match="seq 1 is out of range for branch past"):
        own.engine.fork("earlier", "past", at=1)
    with pytest.raises(ProtocolError, match="seq 9 is out of range for branch "):
        own.engine.fork("future", at=9)


def test_deleting_in_a_branch_hides_the_inherited_document_there_only(rig: Rig, own: Author) -> None:
    own.commit(put(D, 1))
    own.engine.fork("feature")
    own.commit(delete(D), branch="feature")
    for engine in (own.engine, rig.open("other")):
        assert engine.read(D, "feature") == Delivered(D, 2, CommitId("s", 2), MISSING)
        assert value(engine, D) == 1


def test_forking_again_is_harmless_and_another_fork_of_that_name_is_not(rig: Rig, own: Author) -> None:
    own.commit(put(D, 1))
    made = own.engine.fork("feature")
    assert made == Branch("feature", "", 1, 1, "active")
    own.commit(put(D, 2), branch="feature")
    assert own.engine.fork("feature") == made._replace(head_seq=2)
    assert rig.open("other").fork("feature", "", 1) == made._replace(head_seq=2)
    for parent, at in (("", 2), ("", 0)):
        with pytest.raises(ProtocolError, match="branch 'feature' exists already"):
            own.engine.fork("feature", parent, at)
    nobody: tuple[Any, ...] = ("nowhere", "\ud800", 5, [])
    for nowhere in nobody:
        with pytest.raises(ProtocolError, match="there is no branch"):
            own.engine.fork("new", nowhere)
        with pytest.raises(ProtocolError, match="there is no branch"):
            own.engine.read(D, nowhere)
    nameless: tuple[Any, ...] = ("", "a\0b", "x" * 2000, "\ud800", None, [])
    for name in nameless:
        with pytest.raises(ProtocolError, match="no name for a branch"):
            own.engine.fork(name)
    assert [branch.name for branch in own.engine.branches()] == ["", "feature"]


def test_a_deleted_branch_can_be_read_and_not_written(rig: Rig, own: Author) -> None:
    own.commit(put(D, 1))
    own.engine.fork("feature")
    own.commit(put(D, 2), branch="feature")
    own.engine.fork("child", "feature")
    own.engine.delete_branch("feature")
    own.engine.delete_branch("feature")
    for engine in (own.engine, rig.open("other")):
        error = Author(engine, "t").refused(put(D, 3), branch="feature")
        assert isinstance(error, ProtocolError)
        assert "branch 'feature' is deleted" in str(error)
        assert (value(engine, D, "feature"), value(engine, D, "child")) == (2, 2)
    own.commit(put(D, 4), branch="child", confirmed=[confirmed(D, "/value", 2)])
    own.engine.fork("grandchild", "feature")
    with pytest.raises(ProtocolError, match="branch 'feature' exists already: deleted"):
        own.engine.fork("feature")
    with pytest.raises(ProtocolError, match="the default branch is not deleted"):
        own.engine.delete_branch("")
    with pytest.raises(ProtocolError, match="there is no branch 'nowhere'"):
        own.engine.delete_branch("nowhere")


def test_reads_are_validated_on_the_branch_they_name(own: Author) -> None:
    own.commit(put(D, 1))
    own.engine.fork("feature")
    own.commit(put(D, 2), branch="feature")
    own.commit(put(X, 1), confirmed=[confirmed(D, "/value", 1)])
    own.commit(put(X, 1), confirmed=[confirmed(D, "/value", 1, branch="")], branch="feature")
    for parts in ({"branch": "feature", "confirmed": [confirmed(D, "/value", 1)]}, {"confirmed": [confirmed(D, "/value", 1, branch="feature")]}):
        error = own.refused(put(X, 2), **parts)
        assert isinstance(error, ConflictError)
        assert str(error).startswith("stale confirmed read")


def test_a_read_below_the_fork_sees_what_the_parent_did_up_to_it(own: Author) -> None:
    own.commit(put(D, {"a": 1, "b": 1}))
    own.commit(replace(D, "/value/a", 2))
    own.engine.fork("feature")
    own.commit(replace(D, "/value/b", 3))
    assert isinstance(own.refused(put(X, 1), branch="feature", confirmed=[confirmed(D, "/value/a", 1)]), ConflictError)
    own.commit(put(X, 1), branch="feature", confirmed=[confirmed(D, "/value/b", 1), confirmed(D, "/value/a", 2)])


def test_two_documents_of_one_id_in_two_branches_have_their_own_snapshots(rig: Rig) -> None:
    own = Author(rig.open(snapshot_interval=2))
    own.commit(put(D, []))
    own.engine.fork("feature")
    for n in range(5):
        own.commit(patch(D, Append(("value",), (n,))))
        own.commit(patch(D, Append(("value",), (-n,))), branch="feature")
    cold = rig.open("other")
    assert (value(cold, D), value(cold, D, "feature")) == ([0, 1, 2, 3, 4], [0, -1, -2, -3, -4])
    assert [len(value(cold, D, "feature", at)) for at in range(1, 12)] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5]


def test_a_chain_of_branches_is_read_to_its_end_and_has_one(rig: Rig, own: Author) -> None:
    own.commit(put(D, []))
    parent = ""
    for n in range(63):
        own.engine.fork(f"b{n}", parent)
        parent = f"b{n}"
        own.commit(patch(D, Append(("value",), (n,))), branch=parent)
    assert value(rig.open("other"), D, parent) == list(range(63))
    with pytest.raises(ProtocolError, match="more than 64 branches away"):
        own.engine.fork("over", parent)
