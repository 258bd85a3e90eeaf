"""The entries of the log: frozen, plain, and each of one kind."""

import pytest
from weft.scheduler.log import (
    CommitEntry,
    Entry,
    FenceEntry,
    IntegrateEntry,
    Outcome,
    PullEntry,
    RegistrationEntry,
    RemovalEntry,
    ResultEntry,
    RevertEntry,
    RunId,
    RunResult,
    StampOf,
    changes_of,
)
from weft.scheduler.model import Change, CommitId, Entity, Version
from weft.scheduler.rejection import Rejection
from weft.scheduler.values import MISSING

DOC = Entity("main", "space", "a")
ID = CommitId("me", 1)
V = Version(1, 1)
CHANGE = Change(DOC, ("value",), 1, 2)
REFUSED = Rejection("ConflictError", "stale", {})

ENTRIES: list[tuple[str, Entry]] = [
    ("commit", CommitEntry(V, ID, (CHANGE,), "n")),
    ("pull", PullEntry(V, (Change(DOC, (), MISSING, {}),), (StampOf(DOC, ID),))),
    ("integrate", IntegrateEntry(V, (CHANGE,), (StampOf(DOC, ID),))),
    ("revert", RevertEntry(V, ID, ID, REFUSED, (CHANGE,))),
    ("result", ResultEntry(V, RunResult(RunId("n", 1, 4), Outcome.UNCHANGED))),
    ("registration", RegistrationEntry(V, "n", 1)),
    ("removal", RemovalEntry(V, "n", 1)),
    ("fence", FenceEntry(V, 5)),
]


@pytest.mark.parametrize(("kind", "entry"), ENTRIES, ids=[kind for kind, _ in ENTRIES])
def test_an_entry_has_one_kind_one_version_and_does_not_change(kind: str, entry: Entry) -> None:
    assert entry.kind == kind
    assert entry.version == V
    with pytest.raises(AttributeError):
        entry.version = Version(1, 2)  # type: ignore[misc]


def test_only_entries_about_documents_have_changes() -> None:
    assert [kind for kind, entry in ENTRIES if changes_of(entry)] == ["commit", "pull", "integrate", "revert"]


def test_a_commit_stamps_every_document_it_changed_once() -> None:
    other = Entity("main", "space", "b")
    entry = CommitEntry(V, ID, (CHANGE, Change(DOC, ("meta",), MISSING, 1), Change(other, (), MISSING, {})))
    assert entry.stamps == (StampOf(DOC, ID), StampOf(other, ID))


def test_a_run_is_named_by_node_and_number() -> None:
    assert str(RunId("total", 2, 7)) == "total#7"
