"""Entries of the log as they travel: what graph needs comes back as it was, and what it does not need stays behind."""

import pytest
from weft.scheduler.errors import ConflictError, ProtocolError
from weft.scheduler.log import (
    NO_STAMP,
    CommitEntry,
    Entry,
    FenceEntry,
    IntegrateEntry,
    Outcome,
    PullEntry,
    ReadAt,
    RegistrationEntry,
    RemovalEntry,
    ResultEntry,
    RevertEntry,
    RunId,
    RunResult,
    StampOf,
)
from weft.scheduler.model import Change, CommitId, Entity, Read, Version
from weft.scheduler.rejection import rejection
from weft.wire.codec import Codec
from weft.wire.entries import Enrolled, entry_of, logged
from weft.wire.messages import TABLE
from weft.wire.ring import Changes, Declared, Fault, Logged, Unusual

A, B = Entity("main", "space", "a"), Entity("main", "space", "b")
AT = Version(3, 7)
CHANGES = (Change(A, ("value",), 1, 2),)
RUN = RunId("n", 9, 4, 2)
READS = (Read(A, ("value",)), Read(B, ("value", "x"), False))
WHY = rejection(ConflictError("stale", entity="main:a", basis=3, seq=5))
DECLARED = Declared("n", "computation", "main", (A.at(("value",)),), (), (READS[0],), 0.5, None, None, True, "g", False, None)

SAME: list[Entry] = [  # those that lose nothing on the way
    CommitEntry(AT, NO_STAMP, CHANGES, "n", None, RunResult(RUN, Outcome.COMMITTED, READS)),
    CommitEntry(AT, NO_STAMP, CHANGES, "n", "g", RunResult(RUN, Outcome.COMMITTED, READS, moved=READS[:1])),
    CommitEntry(AT, NO_STAMP, CHANGES, None, "g"),
    CommitEntry(AT, NO_STAMP, CHANGES),
    PullEntry(AT, CHANGES, ()),
    IntegrateEntry(AT, CHANGES, ()),
    RevertEntry(AT, NO_STAMP, NO_STAMP, WHY, CHANGES, (), RUN, (RunId("m", 1, 2, 2),)),
    RevertEntry(AT, NO_STAMP, NO_STAMP, WHY, CHANGES),
    ResultEntry(AT, RunResult(RUN, Outcome.UNCHANGED, READS, moved=READS[1:])),
    ResultEntry(AT, RunResult(RUN, Outcome.REFUSED, READS, rejection=WHY)),
    ResultEntry(AT, RunResult(RUN, Outcome.FAILED, READS, rejection=WHY)),
    RegistrationEntry(AT, "n", 9, Enrolled(DECLARED, "parent")),
    RegistrationEntry(AT, "n", 9, Enrolled(DECLARED)),
    RemovalEntry(AT, "n", 9),
    FenceEntry(AT, 5),
]


def travelled(told: Logged) -> Logged:
    codec = Codec(TABLE)
    frame = codec.decode(codec.encode("storage", 1, 1, 1, 0, Changes(2, AT, 1, (told,), (), True)))
    (back,) = frame.message.entries
    assert isinstance(back, Logged)
    return back


@pytest.mark.parametrize("entry", SAME, ids=lambda entry: entry.kind)
def test_an_entry_comes_back_as_it_was(entry: Entry) -> None:
    assert entry_of(travelled(logged(entry)), 3, 2) == entry


def test_stamps_ids_and_positions_stay_behind() -> None:
    commit = CommitEntry(AT, CommitId("me", 3), CHANGES, "n", None, RunResult(RUN, Outcome.COMMITTED, READS, (ReadAt(A, 2, None),), (), (CommitId("me", 1),)))
    assert entry_of(logged(commit), 3, 2) == CommitEntry(AT, NO_STAMP, CHANGES, "n", None, RunResult(RUN, Outcome.COMMITTED, READS))
    pull = PullEntry(AT, CHANGES, (StampOf(A, None),))
    assert entry_of(logged(pull), 3) == PullEntry(AT, CHANGES, ())


def test_an_ordinary_run_has_nothing_unusual_and_says_how_long_it_took() -> None:
    told = logged(SAME[0], 0.25)
    assert (told.unusual, told.took, told.number) == (None, 0.25, 4)


def test_what_went_wrong_travels_beside_the_result() -> None:
    fault = Fault("later", "retry-later", "not now", "n", "")
    told = travelled(logged(SAME[10], 0.5, fault))
    assert told.unusual is not None
    assert (told.unusual.fault, told.unusual.outcome) == (fault, "failed")


NAMELESS, UNDECLARED = Logged(7, "result", None, 0, 0, (), (), (), 0.0, None), Logged(7, "registration", "n", 1, 0, (), (), (), 0.0, Unusual())


@pytest.mark.parametrize("told", [NAMELESS, UNDECLARED], ids=["no node", "no declaration"])
def test_what_storage_never_logs_is_refused(told: Logged) -> None:
    with pytest.raises(ProtocolError):
        entry_of(told, 3)
