"""Commits that no check foresaw, or that are made to break one: each costs itself, and never its neighbours."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.engines import BACKENDS, Author, Rig, doc, put, rig_on, value
from weft.scheduler.errors import ProtocolError
from weft.scheduler.model import Address, CommitId
from weft.storage.commit import Accepted, Commit, ConfirmedRead, Patch, PendingRead, Provenance, Rejected, Set
from weft.storage.engine import Engine
from weft.storage.patch import Increment, Splice
from weft.storage.seal import MAX_NAME, MAX_PATH

D, GOOD = doc("d"), doc("good")
HUGE = 10**5000  # more digits than Python turns into text


@pytest.fixture(params=BACKENDS)
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rig]:
    with rig_on(request.param, tmp_path) as made:
        yield made


class Mute:
    """Cannot be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no words")


class Unequal(Provenance):
    __slots__ = ()

    def __ne__(self, other: object) -> bool:
        raise RuntimeError("compared with nothing")


PARTS: dict[str, dict[str, Any]] = {
    "basis": {"confirmed": [ConfirmedRead(D, (), HUGE)]},
    "negative basis": {"confirmed": [ConfirmedRead(D, (), -HUGE)]},
    "run": {"provenance": Provenance("n", HUGE)},
    "layer": {"pending": [PendingRead(D, (), 0, (CommitId("s", HUGE),))]},
    "node": {"provenance": Provenance("n" * (MAX_NAME + 1))},
    "event": {"provenance": Provenance(event="e" * (MAX_NAME + 1))},
    "path": {"confirmed": [ConfirmedRead(D, ("x",) * (MAX_PATH + 1), 0)]},
    "trigger": {"provenance": Provenance("n", 1, (Address("main", "space", "d", Mute()),))},  # type: ignore[arg-type]
    "comparison": {"provenance": Unequal("n")},
    "branch": {"branch": "b" * 100_000},
    "precondition": {"preconditions": [Mute()]},
}


def beside(engine: Engine, commit: Commit) -> Rejected:
    """The refusal of a commit whose neighbours in the group are taken."""
    author = Author(engine, "neighbour")
    before, bad, after = engine.apply([author.draft(put(GOOD, 1)), commit, author.draft(put(GOOD, 2))])
    assert isinstance(before, Accepted)
    assert isinstance(after, Accepted)
    assert isinstance(bad, Rejected)
    assert value(engine, GOOD) == 2
    return bad


@pytest.mark.parametrize("part", PARTS)
def test_a_commit_with_an_impossible_part_is_refused_alone_and_in_few_words(rig: Rig, part: str) -> None:
    engine = rig.open()
    commit = Author(engine).draft(put(D, 1), **PARTS[part])
    bad = beside(engine, commit)
    assert isinstance(bad.rejection.error(), ProtocolError)
    assert len(bad.rejection.message) < 400


MUTE: Any = Mute()
OPERATIONS = [MUTE, Set(D, {"value": MUTE}), Patch(D, (MUTE,)), Patch(D, (Splice(("value",), 0, HUGE, ()),)), Patch(D, (Increment(("n",), HUGE),))]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_that_cannot_be_shown_or_encoded_is_refused_alone(rig: Rig, operation: Any) -> None:
    engine = rig.open()
    bad = beside(engine, Author(engine).draft(operation))
    assert bad.rejection.name in ("ProtocolError", "NotStorable")


def test_a_local_sequence_number_beyond_any_is_refused_alone(rig: Rig) -> None:
    engine = rig.open()
    bad = beside(engine, Commit(CommitId("s", HUGE), (put(D, 1),)))
    assert bad.rejection.name == "ProtocolError"


def test_what_no_check_foresaw_is_refused_by_name_and_leaves_nothing(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = rig.open()
    author = Author(engine)
    author.commit(put(D, 0))
    commit = author.draft(put(D, 1))
    decide = engine._algorithm.decide

    def stumbles(batch: Any, given: Commit) -> Accepted:
        if given is commit:
            raise ZeroDivisionError("a bug")
        return decide(batch, given)

    monkeypatch.setattr(engine._algorithm, "decide", stumbles)
    bad = beside(engine, commit)
    assert (bad.rejection.name, bad.rejection.message) == ("ProtocolError", "the commit cannot be decided: ZeroDivisionError: ZeroDivisionError('a bug')")
    assert value(engine, D) == 0


def test_the_longest_names_are_taken(rig: Rig) -> None:
    engine = rig.open()
    seq = Author(engine).commit(put(D, 1), provenance=Provenance("n" * MAX_NAME, 1, (), "e" * MAX_NAME)).seq
    assert engine.provenance(seq) == Provenance("n" * MAX_NAME, 1, (), "e" * MAX_NAME)
