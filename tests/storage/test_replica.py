"""The replica: reading, committing, hearing of others; what is told to the engine and what to those who follow the log."""

import pytest
from harness.replica_stand import EPOCH, Stand, delivered, entity, gone, patch, whole
from harness.view import linked
from weft.scheduler.errors import Misuse, NodeFailed, StorageUnavailable
from weft.scheduler.log import NO_STAMP, CommitEntry, Entry, IntegrateEntry, Outcome, PullEntry, ReadAt, ResultEntry, RunId, RunResult, StampOf
from weft.scheduler.model import Change, CommitId, Entity, Read, Version
from weft.scheduler.rejection import Fate, rejection
from weft.scheduler.values import MISSING, freeze, same
from weft.storage.commit import ConfirmedRead, PendingRead, Provenance, Rejected
from weft.storage.patch import AddUnique, Append, Increment, Replace
from weft.storage.proposal import Proposal, Use
from weft.storage.ticket import Committed, Refused, Unchanged
from weft.storage.transaction import Transaction

VALUE = ("value",)


def results(stand: Stand) -> list[RunResult]:
    """Of every run, wherever it rides."""
    found = [entry.result for entry in stand.log.entries if isinstance(entry, (ResultEntry, CommitEntry))]
    return [result for result in found if result is not None]


# reading

def test_the_first_read_loads_the_document_with_one_entry_and_the_next_is_a_look_up() -> None:
    stand = Stand({"A": 1})
    assert stand.value("A") == 1
    first = stand.replica.read(entity("A"))
    assert stand.replica.read(entity("A")) is first
    assert stand.link.fetches == [(entity("A"),)]
    [entry] = stand.log.entries
    assert entry == PullEntry(Version(EPOCH, 1), (Change(entity("A"), (), MISSING, freeze({"value": 1})),), (StampOf(entity("A"), CommitId("other", 1)),))
    assert first.n == 1


def test_a_document_that_does_not_exist_is_loaded_too() -> None:
    stand = Stand()
    seen = stand.replica.read(entity("A"))
    assert seen == (MISSING, 1)
    assert stand.log.entries == [PullEntry(Version(EPOCH, 1), (), (StampOf(entity("A"), None),))]


def test_documents_loaded_together_are_one_question_and_one_entry() -> None:
    stand = Stand({"A": 1, "B": 2})
    stand.pin("A")
    stand.replica.load([entity("A"), entity("B"), entity("C"), entity("B")])
    assert stand.link.fetches == [(entity("A"),), (entity("B"), entity("C"))]
    assert stand.log.kinds() == ["pull", "pull"]


def test_a_forgotten_document_is_loaded_again_and_one_in_flight_is_kept() -> None:
    stand = Stand({"A": 1, "B": 1})
    stand.pin("A")
    stand.stack(whole("B", 2))
    stand.replica.forget([entity("A"), entity("B"), entity("never read")])
    stand.log.forgotten(entity("A"))
    stand.foreign(whole("A", 3))
    stand.link.frame()
    assert stand.link.deliver() is None, "nobody watches it"
    assert (stand.value("A"), stand.value("B")) == (3, 2)
    assert stand.link.fetches == [(entity("A"),), (entity("B"),), (entity("A"),)]


# committing

def test_a_commit_can_be_seen_and_was_heard_before_commit_returns() -> None:
    stand = Stand({"A": {"x": 1, "y": 2}})
    heard: list[Entry] = []
    stand.pin("A")
    stand.replica.journal.subscribe(heard.append)
    answer = stand.commit(patch("A", Replace(("value", "x"), 5)), node="n")
    assert isinstance(answer, Committed)
    [entry] = heard
    assert isinstance(entry, CommitEntry)
    assert entry.changes == (Change(entity("A"), ("value", "x"), 1, 5),)
    assert entry.version == answer.version == stand.replica.version
    assert (entry.id, entry.node) == (CommitId("me", 1), "n")
    assert stand.replica.read(entity("A")) == (freeze({"value": {"x": 5, "y": 2}}), answer.version.n)
    assert stand.replica.pending() == (answer.ticket,)
    assert [commit.id for commit in stand.sent] == [CommitId("me", 1)]


def test_STO_051_same_replica_race() -> None:
    stand = Stand({"D": 0})
    pinned = stand.pin("D")
    assert isinstance(stand.commit(whole("D", 1), reads=["D"], seen=pinned), Committed)
    second = stand.commit(whole("D", 2), reads=["D"], seen=pinned)
    assert isinstance(second, Refused)
    assert second.rejection.name == "StorageTransactionInconsistent"
    assert second.rejection.fate is Fate.STALE_BASIS
    assert stand.value("D") == 1
    assert isinstance(stand.commit(whole("E", 1)), Committed)
    stale = stand.pin("D")
    answers = [stand.commit(whole("D", 3), reads=["D"]), stand.commit(whole("D", 4), reads=["D"], seen=stale), stand.commit(whole("D", 5), reads=["D"])]
    assert [type(answer) for answer in answers] == [Committed, Refused, Committed]
    assert [commit.id.local_seq for commit in stand.sent] == [1, 2, 3, 4], "what is refused here uses no sequence number"
    stand.link.settle()
    assert stand.engine.read(entity("D")).document["value"] == 5


def test_validation_is_by_value_over_the_whole_document() -> None:
    stand = Stand({"D": {"x": 0, "y": 0}})
    pinned = stand.pin("D")
    there, back = Replace(("value", "y"), 1), Replace(("value", "y"), 0)
    read = Read(entity("D"), ("value", "x"))
    stand.stack(patch("D", there))
    assert isinstance(stand.commit(whole("E", 1), reads=[read], seen=pinned), Refused), "another path of the document has moved"
    stand.stack(patch("D", back))
    assert isinstance(stand.commit(whole("E", 1), reads=[read], seen=pinned), Committed), "it moved and came back"


def test_what_is_only_scheduled_on_is_not_validated() -> None:
    stand = Stand({"D": 0})
    pinned = stand.pin("D")
    stand.stack(whole("D", 1))
    proposal = stand.propose(whole("E", 1), reads=["D"], seen=pinned, use=Use.SCHEDULING, node="n")
    assert isinstance(stand.replica.commit(proposal), Committed)
    assert (stand.sent[-1].confirmed, stand.sent[-1].pending) == ((), ())
    assert results(stand)[-1].moved == (Read(entity("D"), VALUE),)


def test_STO_053_an_identical_write_is_a_no_op() -> None:
    for operation in (whole("A", {"foo": "bar"}), patch("A", Replace(("value", "foo"), "bar")), patch("A", Replace(("value", "foo"), "x"), Replace(("value", "foo"), "bar"))):
        stand = Stand({"A": {"foo": "bar"}})
        before = stand.replica.read(entity("A"))
        answer = stand.commit(operation)
        assert answer == Unchanged(stand.replica.version)
        assert stand.sent == []
        assert stand.log.kinds() == ["pull"]
        assert stand.replica.read(entity("A")) is before
        assert stand.replica.pending() == ()


def test_STO_053_a_proposal_that_writes_nothing_does_not_even_open_storage() -> None:
    stand = Stand()
    assert stand.replica.commit(Proposal(None, {}, {})) == Unchanged(Version(EPOCH, 0))
    assert stand.links == {}
    assert stand.log.entries == []


def test_STO_053_a_no_op_with_a_stale_read_commits() -> None:
    stand = Stand({"A": 0, "B": 0})
    pinned = stand.pin("A", "B")
    stand.stack(whole("A", 1))
    assert isinstance(stand.commit(reads=["A"], seen=pinned), Unchanged)
    assert isinstance(stand.commit(whole("B", 0), reads=["A"], seen=pinned), Unchanged)
    assert isinstance(stand.commit(reads=["A"], elided=[entity("A").at(VALUE)], seen=pinned), Unchanged)


def test_operations_that_undo_each_other_are_no_change_and_only_what_is_left_is_sent() -> None:
    stand = Stand({"A": 0, "B": 0})
    stand.stack(whole("A", 1), whole("B", 5), whole("A", 0))
    assert [operation.entity.id for operation in stand.sent[0].operations] == ["B"]
    entry = stand.log.entries[-1]
    assert isinstance(entry, CommitEntry)
    assert entry.changes == (Change(entity("B"), VALUE, 0, 5),)


def test_an_elided_write_whose_ground_has_moved_refuses_what_else_was_to_be_written() -> None:
    stand = Stand({"A": {"x": 0, "y": 0}, "B": 0})
    pinned = stand.pin("A", "B")
    stand.stack(patch("A", Replace(("value", "y"), 1)))
    x, y = entity("A").at(("value", "x")), entity("A").at(("value", "y"))
    assert isinstance(stand.commit(whole("B", 1), elided=[y], seen=pinned), Refused)
    assert isinstance(stand.commit(whole("B", 1), elided=[x], seen=pinned), Committed)


def test_STO_164_two_sets_of_one_document_in_one_commit() -> None:
    stand = Stand()
    ticket = stand.stack(whole("A", "first"), whole("A", "second"))
    assert stand.value("A") == "second"
    entry = stand.log.entries[-1]
    assert isinstance(entry, CommitEntry)
    assert entry.changes == (Change(entity("A"), (), MISSING, freeze({"value": "second"})),)
    stand.link.settle()
    assert ticket.accepted
    assert stand.engine.read(entity("A")).seq == 1
    assert stand.value("A") == "second"


def test_STO_005_several_operations_on_one_document_apply_in_order() -> None:
    stand = Stand({"A": {"n": 1}})
    stand.stack(patch("A", Increment(("value", "n"), 1)), whole("A", {"n": 5}), patch("A", Increment(("value", "n"), 1)), gone("A"))
    assert stand.value("A") is None
    stand.link.settle()
    assert stand.value("A") is None


def test_a_patch_that_never_fitted_is_wrong_and_one_that_no_longer_fits_lost_a_race() -> None:
    stand = Stand({"A": {"n": 1}})
    wrong = stand.commit(patch("A", Replace(("value", "n", "deep"), 1)))
    assert isinstance(wrong, Refused)
    assert wrong.rejection.fate is Fate.TERMINAL
    pinned = stand.pin("A")
    stand.stack(whole("A", False))
    late = stand.commit(patch("A", Replace(("value", "n"), 1)), seen=pinned)
    assert isinstance(late, Refused)
    assert late.rejection.fate is Fate.STALE_BASIS


def test_a_blind_patch_is_taken_whatever_happened_to_the_document() -> None:
    stand = Stand({"A": []})
    pinned = stand.pin("A")
    stand.stack(patch("A", Append(VALUE, (1,))))
    stand.stack(patch("A", Append(VALUE, (2,))))
    assert isinstance(stand.commit(patch("A", Append(VALUE, (3,))), seen=pinned), Committed)
    assert stand.value("A") == [1, 2, 3]


def test_a_leaf_write_shares_everything_else_and_says_only_the_leaf() -> None:
    stand = Stand({"A": {"records": {str(number): {"n": number} for number in range(100)}, "other": {"deep": [1, 2, 3]}}})
    before = stand.replica.read(entity("A")).document["value"]
    stand.stack(patch("A", Replace(("value", "records", "7", "n"), -1)))
    after = stand.replica.read(entity("A")).document["value"]
    assert after["other"] is before["other"]
    assert all(after["records"][key] is record for key, record in before["records"].items() if key != "7")
    entry = stand.log.entries[-1]
    assert isinstance(entry, CommitEntry)
    assert entry.changes == (Change(entity("A"), ("value", "records", "7", "n"), 7, -1),)
    shown = stand.replica.read(entity("A"))
    stand.link.settle()
    assert stand.replica.read(entity("A")) is shown, "folding renders nothing anew"


# what the engine is told

def test_STO_160_reads_are_named_with_the_true_basis_and_every_layer() -> None:
    stand = Stand({"A": {"nested": 0}, "B": 0})
    stand.stack(patch("A", Replace(("value", "nested"), 1)))
    stand.stack(patch("A", Replace(("value", "nested"), 2)))
    layers = (CommitId("me", 1), CommitId("me", 2))
    third = stand.stack(whole("C", 1), reads=[Read(entity("A"), VALUE), Read(entity("A"), ("value", "nested")), "B", "never"])
    commit = stand.sent[-1]
    assert commit.pending == (PendingRead(entity("A"), VALUE, 1, layers),)
    assert commit.confirmed == (ConfirmedRead(entity("B"), VALUE, 1), ConfirmedRead(entity("never"), VALUE, 0))
    stand.link.settle()
    assert third.accepted
    stand.stack(whole("C", 2), reads=["A"])
    assert stand.sent[-1].confirmed == (ConfirmedRead(entity("A"), VALUE, 3),), "folded: the basis is the sequence of the last layer"


def test_STO_052_reads_are_compacted_by_depth_before_they_are_sent() -> None:
    stand = Stand({"A": {"s": {"f": 1}}})
    paths = [VALUE, ("value", "s"), ("value", "s", "f")]
    stand.stack(whole("B", 1), reads=[Read(entity("A"), path) for path in reversed(paths)])
    assert stand.sent[-1].confirmed == (ConfirmedRead(entity("A"), VALUE, 1),)
    stand.stack(whole("B", 2), reads=[Read(entity("A"), VALUE, False), Read(entity("A"), ("value", "s", "f"))])
    assert set(stand.sent[-1].confirmed) == {ConfirmedRead(entity("A"), VALUE, 1, False), ConfirmedRead(entity("A"), ("value", "s", "f"), 1)}


def test_an_accepted_layer_that_no_frame_has_named_is_still_named_as_a_layer() -> None:
    stand = Stand({"A": 0})
    first = stand.stack(whole("A", 1))
    stand.accept(first, 2)
    stand.stack(whole("B", 1), reads=["A"])
    assert stand.sent[-1].pending == (PendingRead(entity("A"), VALUE, 1, (first.id,)),)


def test_reads_of_another_space_are_validated_here_and_not_sent() -> None:
    stand = Stand({"A": 0})
    far = Entity("far", "space", "A")
    read = Read(far, VALUE)
    seen = {far: stand.replica.read(far), entity("A"): stand.replica.read(entity("A"))}
    proposal = Proposal("main", seen, {read: Use.BOTH}, (whole("A", 1),))
    assert isinstance(stand.replica.commit(proposal), Committed)
    assert stand.sent[-1].confirmed == ()
    proposal = Proposal("far", {far: stand.replica.read(far)}, {}, (whole("A", 7)._replace(entity=far),))
    assert isinstance(stand.replica.commit(proposal), Committed)
    again = Proposal("main", seen, {read: Use.BOTH}, (whole("A", 2),))
    assert isinstance(stand.replica.commit(again), Refused)


def test_commit_ids_are_unique_over_spaces_that_share_a_session() -> None:
    stand = Stand({"A": 0})
    far = Entity("far", "space", "A")
    near = stand.stack(whole("A", 1))
    answer = stand.replica.commit(Proposal("far", {far: stand.replica.read(far)}, {}, (whole("A", 7)._replace(entity=far),)))
    assert isinstance(answer, Committed)
    assert near.id != answer.id
    stand.links["far"].settle()
    assert answer.ticket.settled
    assert not near.settled


def test_provenance_travels_with_the_commit() -> None:
    stand = Stand()
    stand.stack(whole("A", 1), node="n")
    assert stand.sent[0].provenance == Provenance("n", 1)


# hearing of others

def test_a_foreign_change_is_integrated_with_its_stamp() -> None:
    stand = Stand({"A": {"x": 1, "y": 1}})
    stand.pin("A")
    stand.foreign(patch("A", Replace(("value", "x"), 2)))
    stand.link.settle()
    assert stand.value("A") == {"x": 2, "y": 1}
    entry = stand.log.entries[-1]
    assert entry == IntegrateEntry(Version(EPOCH, 2), (Change(entity("A"), ("value", "x"), 1, 2),), (StampOf(entity("A"), CommitId("other", 2)),))


def test_a_foreign_change_under_a_layer_that_hides_it_says_nothing_until_it_can_be_seen() -> None:
    """B-108."""
    stand = Stand({"A": 0})
    mine = stand.stack(whole("A", "mine"))
    stand.frame(documents=[delivered("A", 2, "theirs")])
    assert stand.value("A") == "mine"
    assert stand.log.kinds() == ["pull", "commit"]
    stand.reject(mine)
    stand.frame(mine)
    assert stand.value("A") == "theirs"
    assert [(change.before, change.after) for entry in stand.log.entries[-1:] for change in getattr(entry, "changes", ())] == [("mine", "theirs")]


def test_patches_apply_again_over_a_newer_base() -> None:
    stand = Stand({"A": {"n": 0, "m": 0}})
    stand.stack(patch("A", Increment(("value", "n"), 1)))
    stand.foreign(patch("A", Replace(("value", "n"), 10), Replace(("value", "m"), 5)))
    stand.link.frame()
    stand.link.deliver()
    assert stand.value("A") == {"n": 11, "m": 5}
    stand.link.settle()
    assert stand.value("A") == {"n": 11, "m": 5}
    assert same(stand.engine.read(entity("A")).document, stand.replica.read(entity("A")).document)


def test_a_patch_that_no_longer_applies_is_passed_over_until_the_engine_refuses_it() -> None:
    """B-110, decision 17."""
    stand = Stand({"A": {"n": 0}})
    mine = stand.stack(patch("A", Replace(("value", "n", ), 1)))
    stand.foreign(whole("A", False))
    stand.link.frame()
    stand.link.deliver()
    assert stand.value("A") is False
    assert not mine.settled
    stand.link.settle()
    verdict = stand.fell(mine)
    assert isinstance(verdict, Rejected)
    assert verdict.rejection.fate is Fate.STALE_BASIS
    assert stand.value("A") is False


def test_confirmed_state_never_moves_back_whatever_arrives_late() -> None:
    """B-109."""
    stand = Stand({"A": 0})
    stand.pin("A")
    stand.frame(documents=[delivered("A", 5, "new")])
    stand.frame(documents=[delivered("A", 4, "old")])
    stand.frame(documents=[delivered("A", 5, "again")])
    assert stand.value("A") == "new"
    assert stand.log.kinds() == ["pull", "integrate"]


def test_a_foreign_commit_that_changes_no_value_says_nothing_and_makes_no_retry_stale() -> None:
    """PROTOCOL H3: the worker's cached basis would stay old for ever; storage takes the present one."""
    stand = Stand({"A": {"n": 1}})
    pinned = stand.pin("A")
    stand.foreign(whole("A", {"n": 1}))
    stand.link.settle()
    assert stand.log.kinds() == ["pull"]
    ticket = stand.stack(whole("B", 1), reads=["A"])
    assert stand.sent[-1].confirmed == (ConfirmedRead(entity("A"), VALUE, 2),)
    answer = stand.commit(whole("C", 1), reads=["A"], seen=pinned)
    assert isinstance(answer, Committed)
    stand.link.settle()
    assert ticket.accepted
    assert answer.ticket.accepted


def test_STO_050_a_read_reached_through_a_link_conflicts_on_its_target() -> None:
    stand = Stand({"A": {"isAdmin": linked("B", "isAdmin")}, "B": {"isAdmin": True}})
    stand.pin("A", "B")
    stand.foreign(whole("B", {"isAdmin": False}))
    tx = Transaction(stand.replica, "main")
    assert tx.get(entity("A"), ("value", "isAdmin")) is True
    tx.set(entity("C"), VALUE, "for admins")
    (proposal,) = tx.finish()
    answer = stand.replica.commit(proposal)
    assert isinstance(answer, Committed)
    stand.link.settle()
    verdict = stand.fell(answer.ticket)
    assert isinstance(verdict, Rejected)
    assert verdict.rejection.name == "ConflictError"
    assert stand.engine.read(entity("C")).seq == 0
    assert stand.value("C") is None
    assert stand.value("B") == {"isAdmin": False}


def test_STO_203_a_space_that_cannot_commit_gives_an_error_and_leaves_nothing_pending() -> None:
    stand = Stand({"A": 0})
    far = entity("B", "far")
    tx = Transaction(stand.replica, "main", multi_space=True)
    tx.set(entity("A"), VALUE, 1)
    tx.set(far, VALUE, 2)
    stand.links["far"].closed = StorageUnavailable("read-only")
    first, second = tx.finish()
    assert (first.space, second.space, tx.open) == ("far", "main", False)
    answer = stand.replica.commit(first)
    assert isinstance(answer, Committed)
    verdict = stand.fell(answer.ticket)
    assert isinstance(verdict, Rejected)
    assert (verdict.rejection.name, verdict.rejection.message) == ("StorageUnavailable", "read-only")
    assert stand.replica.read(far).document is MISSING
    assert stand.replica.pending() == ()


def test_STO_165_a_retry_with_a_fresh_basis() -> None:
    stand = Stand({"A": 0})
    stand.pin("A")
    stand.foreign(whole("A", 1))
    first = stand.stack(whole("A", "stale"), reads=["A"])
    stand.link.settle()
    assert stand.fell(first)
    again = stand.stack(whole("A", "retry"), reads=["A"])
    assert stand.sent[-1].confirmed == (ConfirmedRead(entity("A"), VALUE, 2),)
    stand.link.settle()
    assert again.accepted
    assert stand.value("A") == "retry"


def test_two_replicas_on_one_engine_converge() -> None:
    one = Stand({"A": []})
    two = Stand(session="you", engine=one.engine)
    one.pin("A")
    two.pin("A")
    for number in range(4):
        (one, two)[number % 2].stack(patch("A", AddUnique(VALUE, (number,))))
    for _ in range(2):
        one.link.settle()
        two.link.settle()
    assert one.value("A") == two.value("A") == one.engine.read(entity("A")).document["value"]
    assert sorted(one.value("A")) == [0, 1, 2, 3]


# runs

def test_a_run_that_writes_nothing_is_an_entry_with_its_reads() -> None:
    stand = Stand({"A": 0})
    answer = stand.commit(reads=["A"], node="n")
    assert isinstance(answer, Unchanged)
    assert answer.version == Version(EPOCH, 2)
    assert stand.log.entries[-1] == ResultEntry(
        Version(EPOCH, 2), RunResult(RunId("n", run=1), Outcome.UNCHANGED, (Read(entity("A"), VALUE),), (ReadAt(entity("A"), 1, CommitId("other", 1)),))
    )
    assert stand.sent == []


def test_a_run_that_writes_carries_its_result_in_the_entry_of_its_commit() -> None:
    stand = Stand({"A": 0})
    layer = stand.stack(whole("A", 1))
    stand.stack(whole("B", 1), reads=["A"], node="n")
    [result] = results(stand)
    assert result == RunResult(RunId("n", run=1), Outcome.COMMITTED, (Read(entity("A"), VALUE),), (ReadAt(entity("A"), 2, layer.id),))


def test_a_read_that_moved_before_the_run_ended_is_named() -> None:
    """PROTOCOL H4: y changes after the run read it and before its result is here; only storage can know."""
    stand = Stand({"y": {"x": 0, "other": 0}})
    pinned = stand.pin("y")
    stand.stack(patch("y", Replace(("value", "x"), 1)))
    moved, still = Read(entity("y"), ("value", "x")), Read(entity("y"), ("value", "other"))
    stand.commit(reads=[moved, still], seen=pinned, node="n")
    [result] = results(stand)
    assert result.moved == (moved,)
    assert result.at == (ReadAt(entity("y"), 1, NO_STAMP),)
    stand.commit(reads=[still], seen=pinned, node="m")
    assert results(stand)[-1].moved == ()
    assert results(stand)[-1].at == (ReadAt(entity("y"), 2, CommitId("me", 1)),), "found equal: position and stamp are the present ones"


def test_a_refused_run_is_an_entry_with_the_reason() -> None:
    stand = Stand({"A": 0})
    pinned = stand.pin("A")
    stand.stack(whole("A", 1))
    answer = stand.commit(whole("B", 1), reads=["A"], seen=pinned, node="n")
    assert isinstance(answer, Refused)
    [result] = results(stand)
    assert (result.outcome, result.rejection, result.moved) == (Outcome.REFUSED, answer.rejection, (Read(entity("A"), VALUE),))
    assert stand.log.entries[-1].version == answer.version


def test_a_failed_run_keeps_its_reads_and_drops_its_writes() -> None:
    stand = Stand({"A": 0})
    why = rejection(NodeFailed("boom", "n"))
    stand.replica.failed(stand.propose(whole("B", 1), reads=["A"], node="n"), RunId("n", 0, 3), why)
    [result] = results(stand)
    assert (result.outcome, result.reads, result.rejection) == (Outcome.FAILED, (Read(entity("A"), VALUE),), why)
    assert stand.value("B") is None


def test_registrations_removals_and_fences_are_entries_of_the_same_log() -> None:
    stand = Stand()
    versions = [stand.replica.register("n", 1, {"kind": "effect"}), stand.replica.fence(4), stand.replica.remove("n", 1)]
    assert versions == [Version(EPOCH, 1), Version(EPOCH, 2), Version(EPOCH, 3)]
    assert stand.log.kinds() == ["registration", "fence", "removal"]


def test_what_a_removed_generation_still_sends_is_refused() -> None:
    """PROTOCOL H10."""
    stand = Stand({"out": 0})
    stand.replica.remove("n", 2)
    for generation, taken in ((1, False), (2, False), (3, True)):
        answer = stand.commit(whole("out", generation), run=RunId("n", generation, 1))
        assert isinstance(answer, Committed) is taken
        assert stand.value("out") == (generation if taken else 0)
    assert [result.outcome for result in results(stand)] == [Outcome.REFUSED, Outcome.REFUSED, Outcome.COMMITTED]


def test_runs_under_another_token_than_the_newest_are_refused() -> None:
    """PROTOCOL rule 5 and C3: also by a storage that has not heard the token yet."""
    stand = Stand({"out": 0})
    early = stand.commit(whole("out", 1), run=RunId("n", token=2))
    assert isinstance(early, Refused)
    assert early.rejection.fate is Fate.TERMINAL
    stand.replica.fence(2)
    assert isinstance(stand.commit(whole("out", 2), run=RunId("n", token=2)), Committed)
    stand.replica.fence(3)
    assert isinstance(stand.commit(whole("out", 3), run=RunId("n", token=2)), Refused)
    with pytest.raises(Misuse, match="must be higher"):
        stand.replica.fence(3)


def test_a_commit_made_while_the_log_is_delivered_leaves_after_the_one_it_heard_of() -> None:
    stand = Stand({"A": 0, "B": 0})
    stand.pin("A", "B")

    def echo(entry: Entry) -> None:
        if isinstance(entry, CommitEntry) and entry.id.local_seq == 1:
            stand.stack(whole("B", 1), reads=["A"])

    stand.replica.journal.subscribe(echo)
    stand.stack(whole("A", 1))
    assert [commit.id.local_seq for commit in stand.sent] == [1, 2]
    assert stand.log.kinds() == ["pull", "pull", "commit", "commit"]


def test_closing_closes_every_link() -> None:
    stand = Stand({"A": 0})
    stand.pin("A")
    stand.replica.close()
    assert stand.link.closed is not None
