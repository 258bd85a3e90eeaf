"""What must hold for a commit beside its reads (scenarios 2.6, decision 15)."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.engines import BACKENDS, Author, Rig, accepted, confirmed, delete, doc, patch, put, replace, rig_on, value
from weft.scheduler.errors import ConflictError, PreconditionFailedError, ProtocolError
from weft.scheduler.model import CommitId, Entity
from weft.scheduler.values import MISSING, freeze
from weft.storage.commit import Accepted, EntityAbsent, OriginCommitted, ValueHash
from weft.storage.document import value_hash
from weft.storage.patch import Add

R, X = doc("receipt"), doc("x")


@pytest.fixture(params=BACKENDS)
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rig]:
    with rig_on(request.param, tmp_path) as made:
        yield made


@pytest.fixture
def own(rig: Rig) -> Author:
    return Author(rig.open())


def origin(local: int, session: str = "s") -> list[OriginCommitted]:
    return [OriginCommitted(CommitId(session, local))]


def exists(error: Exception) -> bool:
    assert isinstance(error, PreconditionFailedError)
    return error.precondition == "receipt-exists"


def test_STO_081_a_rejected_origin_is_not_committed(own: Author) -> None:
    own.commit(put(R, 0), local=100)
    own.refused(put(X, 1), confirmed=[confirmed(R, "/value", 0)], local=1)
    error = own.refused(put(X, 2), preconditions=origin(1), local=2)
    assert isinstance(error, PreconditionFailedError)
    assert str(error).startswith("origin commit not committed")
    assert error.precondition == "origin-committed"
    assert own.engine.read(X).document is MISSING


def test_an_origin_may_be_of_another_session_and_of_the_same_group(own: Author) -> None:
    other = Author(own.engine, "other")
    first, second = own.engine.apply([own.draft(put(X, 1)), other.draft(put(R, 1), preconditions=origin(1))])
    assert isinstance(first, Accepted)
    assert isinstance(second, Accepted)
    assert isinstance(other.refused(put(R, 2), preconditions=origin(2)), PreconditionFailedError)


def test_STO_084_an_existing_id_rejects_the_whole_commit(own: Author) -> None:
    own.commit(put(R, 1))
    assert exists(own.refused(put(R, 2), put(X, 1), preconditions=[EntityAbsent(R)]))
    assert (value(own.engine, R), own.engine.read(X).document) == (1, MISSING)


def test_STO_085_a_plain_set_still_overwrites_a_receipt(own: Author) -> None:
    own.commit(put(R, 1), preconditions=[EntityAbsent(R)])
    assert own.commit(put(R, 2)).seq == 2
    assert value(own.engine, R) == 2


def test_STO_086_a_tombstone_counts_as_existing(rig: Rig, own: Author) -> None:
    own.commit(put(R, 1))
    own.commit(delete(R))
    assert own.engine.read(R).document is MISSING
    assert exists(own.refused(put(R, 2), preconditions=[EntityAbsent(R)]))
    assert exists(Author(rig.open("other"), "t").refused(put(R, 2), preconditions=[EntityAbsent(R)]))


def test_a_document_that_has_only_patches_counts_as_existing(own: Author) -> None:
    own.commit(patch(R, Add(("value",), 1)))
    assert exists(own.refused(put(R, 2), preconditions=[EntityAbsent(R)]))


def test_an_inherited_document_counts_as_existing_and_one_born_after_the_fork_does_not(rig: Rig, own: Author) -> None:
    own.commit(put(R, 1))
    own.commit(delete(R))
    own.engine.fork("feature")
    own.engine.fork("deeper", "feature")
    own.commit(put(X, 1))
    own.engine.fork("late")
    for branch in ("feature", "deeper"):
        assert exists(own.refused(put(R, 2), preconditions=[EntityAbsent(R)], branch=branch))
        own.commit(put(X, 2), preconditions=[EntityAbsent(X)], branch=branch)
    assert exists(own.refused(put(X, 2), preconditions=[EntityAbsent(X)], branch="late"))
    cold = Author(rig.open("other"), "t")
    assert exists(cold.refused(put(R, 2), preconditions=[EntityAbsent(R)], branch="deeper"))


def test_one_of_two_receipts_in_a_group_wins(own: Author) -> None:
    other = Author(own.engine, "other")
    first, second = own.engine.apply([own.draft(put(R, 1), preconditions=[EntityAbsent(R)]), other.draft(put(R, 2), preconditions=[EntityAbsent(R)])])
    assert isinstance(first, Accepted)
    assert not isinstance(second, Accepted)
    assert exists(second.rejection.error())
    assert value(own.engine, R) == 1


def test_STO_088_a_precondition_alone_on_an_existing_id_is_refused(own: Author) -> None:
    own.commit(put(R, 1))
    assert exists(own.refused(preconditions=[EntityAbsent(R)]))


def test_STO_089_a_precondition_alone_with_a_valid_origin_is_recorded(own: Author) -> None:
    own.commit(put(R, 1))
    verdict = own.commit(preconditions=origin(1))
    assert (verdict.seq, verdict.revisions) == (2, ())
    assert own.commit(put(X, 1), preconditions=origin(2)).seq == 3


def test_STO_090_a_precondition_alone_with_an_unknown_origin_is_refused(own: Author) -> None:
    error = own.refused(preconditions=origin(99))
    assert isinstance(error, PreconditionFailedError)
    assert error.precondition == "origin-committed"


@pytest.mark.parametrize(
    "preconditions",
    [
        *(None, "origin-committed", {"kind": 42}, (None,), ("origin-committed",), ({"kind": 42},), (42,)),
        *((OriginCommitted(local),) for local in ("1", 1.5, None, 1, ("s", 1), CommitId("s", "1"), CommitId("s", 1.5), CommitId(None, 1))),  # type: ignore[arg-type]
        *((ValueHash(R, hash),) for hash in (42, "abc")),  # type: ignore[arg-type]
        *((EntityAbsent(entity),) for entity in ("receipt", None, ("main", "space", "x"), Entity("elsewhere", "space", "x"))),  # type: ignore[arg-type]
    ],
)
def test_STO_091_malformed_preconditions_are_refused(own: Author, preconditions: object) -> None:
    commit = own.draft(put(X, 1))._replace(preconditions=preconditions)  # type: ignore[arg-type]
    (verdict,) = own.engine.apply([commit])
    assert not isinstance(verdict, Accepted)
    assert isinstance(verdict.rejection.error(), ProtocolError)
    assert (own.engine.head(), own.engine.read(X).document) == (0, MISSING)


def test_STO_094_a_null_hash_pins_absence(own: Author) -> None:
    own.commit(preconditions=[ValueHash(R, None)])
    own.commit(put(R, 1))
    assert isinstance(own.refused(put(X, 1), preconditions=[ValueHash(R, None)]), ConflictError)
    own.commit(delete(R))
    assert own.commit(put(X, 1), preconditions=[ValueHash(R, None)]).seq == 4


def test_a_value_hash_pins_the_document_whatever_its_history(own: Author) -> None:
    document = freeze({"value": {"a": 1, "b": [True, None]}, "meta": "m"})
    own.commit(put(R, {"a": 1}))
    own.commit(replace(R, "/value", {"b": [True, None], "a": 1}), patch(R, Add(("meta",), "m")))
    pin = [ValueHash(R, value_hash(document))]
    own.commit(put(X, 1), preconditions=pin)
    own.commit(replace(R, "/value/a", 2))
    error = own.refused(put(X, 2), preconditions=pin)
    assert isinstance(error, ConflictError)
    assert (error.entity, error.seq) == ("main:receipt", 4)
    own.commit(replace(R, "/value/a", 1))
    own.commit(put(X, 3), preconditions=pin)


def test_preconditions_are_checked_before_reads(own: Author) -> None:
    own.commit(put(R, 1))
    stale = [confirmed(R, "/value", 0)]
    assert exists(own.refused(put(X, 1), preconditions=[EntityAbsent(R)], confirmed=stale))
    assert isinstance(own.refused(put(X, 1), confirmed=stale), ConflictError)


def test_a_replayed_receipt_survives_a_restart(rig: Rig, own: Author) -> None:
    commit = own.draft(put(R, 1), preconditions=[EntityAbsent(R)])
    first = accepted(own.engine, commit)
    assert accepted(rig.open("other"), commit) == first._replace(replayed=True)
