"""Stacked optimistic commits and their fates (STO 2.10). C1, C2, ... are commits of one replica, in order; a refused one is refused by the engine."""

from itertools import product

import pytest
from harness.replica_stand import Stand, delivered, entity, gone, patch, whole
from weft.scheduler.errors import ConflictError, SessionError
from weft.scheduler.log import CommitEntry, RevertEntry, RunId
from weft.scheduler.model import CommitId
from weft.scheduler.rejection import Fate
from weft.scheduler.values import freeze
from weft.storage.commit import Accepted, EntityAbsent, OriginCommitted, Rejected, Set
from weft.storage.patch import Append, Increment, Replace, Splice
from weft.storage.proposal import Proposal
from weft.storage.ticket import Committed, Refused, Ticket, Unchanged


def refuse(stand: Stand, *tickets: Ticket) -> None:
    """The engine will refuse these; then everything arrives."""
    stand.link.doomed.update(ticket.id for ticket in tickets)
    stand.link.settle()


def shown(stand: Stand) -> list[object]:
    """The commits in flight are decided one by one; what A shows after each verdict and each frame."""
    values = []
    for _ in stand.replica.pending():
        stand.link.decide()
        stand.link.frame()
        while stand.link.deliver() is not None:
            values.append(stand.value("A"))
    return values


def reverted(stand: Stand) -> list[RevertEntry]:
    return [entry for entry in stand.log.entries if isinstance(entry, RevertEntry)]


def test_STO_140_three_commits_on_one_document_all_accepted() -> None:
    stand = Stand()
    tickets = [stand.stack(whole("A", value)) for value in ("c1", "c2", "c3")]
    assert shown(stand) == ["c3"] * 6
    assert stand.log.kinds() == ["pull", "commit", "commit", "commit"]
    assert all(ticket.settled and ticket.accepted for ticket in tickets)
    assert stand.replica.pending() == ()


def test_STO_142_an_independent_commit_on_another_document_survives() -> None:
    stand = Stand()
    stand.stack(whole("A", "c1"))
    second = stand.stack(whole("A", "c2"))
    third = stand.stack(whole("B", "c3"))
    refuse(stand, second)
    assert (stand.value("A"), stand.value("B")) == ("c1", "c3")
    assert third.accepted
    assert stand.fell(second)


def test_STO_146_dependence_is_transitive_through_what_fell_only() -> None:
    for reads, survives in ((["C"], True), (["B", "C"], False)):
        stand = Stand()
        second = stand.stack(whole("B", "c2"))
        stand.stack(whole("C", "c3"))
        fourth = stand.stack(whole("D", "c4"), reads=reads)
        refuse(stand, second)
        assert stand.value("C") == "c3"
        assert stand.value("D") == ("c4" if survives else None)
        verdict = fourth.verdict
        if survives:
            assert isinstance(verdict, Accepted)
        else:
            assert isinstance(verdict, Rejected)
            assert isinstance(verdict.rejection.error(), ConflictError)
            assert "pending dependency" in verdict.rejection.message
            assert verdict.rejection.fate is Fate.STALE_BASIS


def test_STO_147_a_refused_commit_goes_as_a_whole() -> None:
    stand = Stand({"A": "base", "B": "base"})
    second = stand.stack(whole("A", "c2"), whole("B", "c2"), reads=["B"])
    stand.foreign(whole("B", "winner"))
    stand.link.settle()
    assert stand.fell(second)
    assert (stand.value("A"), stand.value("B")) == ("base", "winner")


def test_STO_148_a_delete_in_the_stack() -> None:
    for reads in (["A"], []):
        stand = Stand({"A": "base"})
        second = stand.stack(gone("A"))
        assert stand.value("A") is None
        third = stand.stack(whole("B", "c3"), reads=reads)
        refuse(stand, second)
        assert stand.value("A") == "base"
        assert stand.value("B") == (None if reads else "c3")
        assert third.accepted is not bool(reads)


def test_STO_149_what_shows_falls_back_to_the_layer_below() -> None:
    stand = Stand({"A": "base"})
    second, third = stand.stack(whole("A", "c2")), stand.stack(whole("A", "c3"))
    stand.link.doomed.add(second.id)
    assert shown(stand) == ["c3"] * 4, "throughout: a verdict and a frame for each"
    assert third.accepted
    assert stand.fell(second)
    assert [entry.changes for entry in reverted(stand)] == [()], "nothing that can be seen has changed"

    stand = Stand({"A": "base"})
    second, third = stand.stack(whole("A", "c2")), stand.stack(whole("A", "c3"))
    stand.link.doomed.add(third.id)
    assert shown(stand) == ["c3", "c3", "c3", "c2"], "until the frame that names the refused one"
    assert second.accepted
    assert stand.fell(third)


def test_STO_150_one_revert_for_each_commit_the_primary_first() -> None:
    stand = Stand()
    first = stand.stack(whole("A", 1), whole("B", 1))
    stand.stack(whole("C", 2))
    refuse(stand, first)
    assert stand.log.reverts() == [["A", "B"]]

    stand = Stand()
    first = stand.stack(whole("A", 1), whole("B", 1), node="n1")
    second = stand.stack(whole("D", 2), reads=["A"], node="n2")
    third = stand.stack(whole("C", 3), reads=["D"], node="n3")
    refuse(stand, first)
    assert stand.log.reverts() == [["A", "B"], ["D"], ["C"]]
    assert [(entry.id, entry.primary) for entry in reverted(stand)] == [(first.id, first.id), (second.id, first.id), (third.id, first.id)]
    assert [entry.run for entry in reverted(stand)] == [RunId("n1", run=1), RunId("n2", run=1), RunId("n3", run=1)]


def test_STO_151_dependence_is_by_read_not_by_written_path() -> None:
    for reads, left in ((["A"], {"left": 0, "right": 0}), ([], {"left": 0, "right": 2})):
        stand = Stand({"A": {"left": 0, "right": 0}})
        second = stand.stack(patch("A", Replace(("value", "left"), 1)))
        third = stand.stack(patch("A", Replace(("value", "right"), 2)), reads=reads)
        assert stand.value("A") == {"left": 1, "right": 2}
        refuse(stand, second)
        assert stand.value("A") == left
        assert third.accepted is not bool(reads)


def test_STO_154_a_patch_that_read_nothing_is_not_pulled_down() -> None:
    stand = Stand({"A": {"count": 0}})
    first = stand.stack(whole("A", {"count": 1}), whole("B", 1))
    blind = stand.stack(patch("A", Replace(("value", "count"), 5)))
    stand.link.doomed.add(first.id)
    stand.link.decide()
    stand.link.frame()
    while stand.link.deliver() is not None:
        pass
    assert stand.fell(first)
    assert not blind.settled
    assert (stand.value("A"), stand.value("B")) == ({"count": 5}, None)
    stand.link.settle()
    assert blind.accepted
    assert stand.value("A") == {"count": 5}
    assert stand.engine.read(entity("A")).document["value"] == {"count": 5}


def test_STO_155_a_late_verdict_after_a_local_cascade_is_swallowed() -> None:
    for accept in (False, True):
        stand = Stand()
        first, second = stand.stack(whole("A", 1)), stand.stack(whole("D", 2), reads=["A"])
        settled: list[object] = []
        second.on_settled(settled.append)
        stand.reject(first)
        stand.frame(first)
        assert (len(settled), stand.log.reverts()) == (1, [["A"], ["D"]])
        entries = len(stand.log.entries)
        if accept:
            stand.accept(second, 9)
        else:
            stand.reject(second)
        stand.frame(second)
        assert len(settled) == 1
        assert len(stand.log.entries) == entries, "no new entry"
        assert stand.value("D") is None
        assert len(stand.warnings) == accept


def test_STO_156_a_reset_fells_what_rests_on_layers_and_leaves_the_rest_to_its_verdict() -> None:
    stand = Stand({"A": 0})
    first, second = stand.stack(whole("A", 1)), stand.stack(whole("B", 2), reads=["A"])
    told: list[object] = []
    second.on_settled(told.append)
    stand.replica.reset("main")
    stand.replica.reset("main")
    verdict = stand.fell(second)
    assert isinstance(verdict, Rejected)
    assert "memory replica reset" in verdict.rejection.message
    assert len(told) == 1
    assert not first.settled
    assert (stand.value("A"), stand.value("B")) == (1, None)
    stand.link.doomed.add(second.id)
    stand.link.settle()
    assert first.accepted
    assert first.settled
    assert len(told) == 1
    assert stand.value("A") == 1
    assert stand.warnings == []


def test_a_reset_shows_what_was_missed() -> None:
    stand = Stand({"A": 0})
    assert stand.value("A") == 0
    stand.foreign(whole("A", 1))
    stand.replica.reset("main")
    assert stand.value("A") == 1
    assert stand.log.kinds() == ["pull", "integrate"]


def test_STO_157_a_rejection_that_arrives_before_the_winning_update() -> None:
    stand = Stand({"A": "v1"})
    mine = stand.stack(whole("A", "v1mine"), reads=["A"])
    reads_again: list[object] = []
    mine.on_settled(lambda verdict: reads_again.append(stand.value("A")))
    stand.reject(mine)
    assert not mine.settled
    assert stand.value("A") == "v1mine"
    assert stand.log.reverts() == []
    stand.frame(mine, documents=[delivered("A", 2, "v2winner")], head=2)
    verdict = stand.fell(mine)
    assert isinstance(verdict, Rejected)
    assert verdict.rejection.name == "ConflictError"
    assert stand.value("A") == "v2winner"
    [revert] = reverted(stand)
    assert [(change.before, change.after) for change in revert.changes] == [("v1mine", "v2winner")]
    assert [stamp.stamp for stamp in revert.stamps] == [CommitId("other", 2)]
    assert "integrate" not in stand.log.kinds()
    assert reads_again == ["v2winner"], "who tries again reads repaired state"


def test_STO_163_interleaved_stale_patches_of_one_document_keep_each_others_fields() -> None:
    stand = Stand({"A": {"category": "support", "templates": [1], "label": "Support"}})
    stand.stack(patch("A", Replace(("value", "category"), "all")))
    stand.stack(patch("A", Replace(("value", "templates", "0"), 2), Splice(("value", "templates"), 1, 0, (3, 4, 5, 6))))
    stand.stack(patch("A", Replace(("value", "label"), "All")))
    expected = {"category": "all", "templates": [2, 3, 4, 5, 6], "label": "All"}
    assert stand.value("A") == expected
    stand.link.settle()
    assert stand.value("A") == expected
    assert stand.engine.read(entity("A")).document["value"] == expected
    assert "revert" not in stand.log.kinds()


def test_STO_161_an_accepted_commit_stays_an_overlay_until_a_frame_names_it() -> None:
    stand = Stand({"A": ["a"], "B": 0})
    first = stand.stack(patch("A", Append(("value",), ("X",))))
    stand.stack(patch("A", Append(("value",), ("Y",))))
    stand.accept(first, 2)
    assert first.accepted
    assert not first.settled
    assert stand.value("A") == ["a", "X", "Y"]
    frame = [delivered("A", 2, ["a", "X"], first.id)]
    stand.frame(first, documents=frame)
    stand.frame(first, documents=frame)
    assert first.settled
    assert stand.value("A") == ["a", "X", "Y"]
    assert stand.log.kinds() == ["pull", "commit", "commit"]


def test_a_frame_that_names_a_commit_waits_for_its_verdict_and_later_frames_wait_behind_it() -> None:
    stand = Stand({"A": 0, "B": 0})
    stand.pin("A", "B")
    first = stand.stack(patch("A", Increment(("value",), 1)))
    stand.frame(first, documents=[delivered("A", 4, 11, first.id)])
    stand.frame(documents=[delivered("B", 5, 5)])
    assert (stand.value("A"), stand.value("B")) == (1, 0), "neither twice the increment nor B before A"
    stand.accept(first, 4)
    assert (stand.value("A"), stand.value("B")) == (11, 5)
    assert first.settled


def test_every_fate_of_three_stacked_commits_shows_what_survives() -> None:
    """All eight fates of three blind appends, in one frame and in three."""
    for fates, together in product(product((True, False), repeat=3), (True, False)):
        stand = Stand({"A": []})
        tickets = [stand.stack(patch("A", Append(("value",), (number,)))) for number in range(3)]
        stand.link.doomed.update(ticket.id for ticket, fate in zip(tickets, fates, strict=True) if not fate)
        for _ in tickets:
            stand.link.decide()
            if not together:
                stand.link.frame()
        stand.link.settle()
        survivors = [number for number, fate in enumerate(fates) if fate]
        assert stand.value("A") == survivors
        assert [ticket.accepted for ticket in tickets] == list(fates)
        assert all(ticket.settled for ticket in tickets)


def test_a_fall_without_repair_still_shows_the_confirmed_state() -> None:
    """The frame names both and carries no document: C2 is folded over what C1 left behind."""
    stand = Stand({"A": ["base"]})
    first, second = (stand.stack(patch("A", Append(("value",), (name,)))) for name in ("c1", "c2"))
    stand.reject(first)
    stand.accept(second, 2)
    stand.frame(first, second)
    assert stand.value("A") == ["base", "c2"]


def test_nothing_new_may_rest_on_a_commit_that_is_being_taken_back() -> None:
    """B-106: between the refusal and its repair."""
    stand = Stand({"A": 0, "B": 0})
    first = stand.stack(whole("A", 1))
    second = stand.stack(whole("B", 1), reads=["A"])
    stand.reject(first)
    for read, doomed in (("A", first), ("B", second)):
        answer = stand.commit(whole("C", 1), reads=[read])
        assert isinstance(answer, Refused)
        assert answer.rejection.name == "StorageTransactionInconsistent"
        assert answer.rejection.fate is Fate.STALE_BASIS
        assert answer.after == (doomed.id,)
    blind = stand.stack(whole("A", 2))
    stand.frame(first)
    assert (stand.value("A"), stand.value("B"), stand.value("C")) == (2, 0, None)
    assert not blind.settled


def test_committers_hear_of_a_fall_only_after_the_log_has() -> None:
    """PROTOCOL H8."""
    stand = Stand()
    first, second = stand.stack(whole("A", 1)), stand.stack(whole("B", 2), reads=["A"])
    order: list[str] = []
    stand.replica.journal.subscribe(lambda entry: order.append(entry.kind))
    first.on_verdict(lambda verdict: order.append("verdict of 1"))
    first.on_settled(lambda verdict: order.append("1"))
    second.on_settled(lambda verdict: order.append("2"))
    refuse(stand, first)
    assert order == ["verdict of 1", "revert", "revert", "1", "2"]


def test_a_committer_may_try_again_from_its_settlement() -> None:
    stand = Stand({"A": 0})
    first = stand.stack(patch("A", Increment(("value",), 1)), reads=["A"])
    again: list[Ticket] = []
    first.on_settled(lambda verdict: again.append(stand.stack(patch("A", Increment(("value",), 1)), reads=["A"])))
    stand.foreign(whole("A", 10))
    stand.link.settle()
    assert stand.value("A") == 11
    stand.link.settle()
    assert [ticket.accepted for ticket in again] == [True]
    assert stand.engine.read(entity("A")).document["value"] == 11


def test_a_run_elided_against_a_layer_is_named_when_that_layer_falls() -> None:
    """PROTOCOL H9: A#1 writes 5, A#2 computes 5 and is elided, A#1 is refused."""
    for elided_by_the_transaction in (True, False):
        stand = Stand({"out": 0})
        first = stand.stack(whole("out", 5), node="A")
        answer = stand.commit(elided=[entity("out").at(("value",))], node="A") if elided_by_the_transaction else stand.commit(whole("out", 5), node="A")
        assert isinstance(answer, Unchanged)
        assert stand.log.kinds() == ["pull", "commit", "result"]
        refuse(stand, first)
        [revert] = reverted(stand)
        assert revert.leaning == (RunId("A", run=1),)
        assert stand.value("out") == 0


def test_a_run_elided_against_a_layer_is_forgotten_when_that_layer_is_confirmed() -> None:
    stand = Stand({"out": 0})
    stand.stack(whole("out", 5), node="A")
    stand.commit(whole("out", 5), node="A")
    stand.link.settle()
    stand.stack(whole("out", 6))
    refuse(stand, *stand.replica.pending())
    assert [entry.leaning for entry in reverted(stand)] == [()]


def test_a_commit_with_an_elided_write_falls_with_the_layer_it_was_equal_to_here_and_in_the_engine() -> None:
    stand = Stand({"out": 0})
    first = stand.stack(whole("out", 5))
    second = stand.stack(whole("out", 5), whole("B", 7))
    assert [operation.entity.id for operation in stand.sent[1].operations] == ["B"]
    assert stand.sent[1].pending == (), "for the cascade only: it is no read that another write could make stale"
    assert stand.sent[1].preconditions == (OriginCommitted(first.id),)
    refuse(stand, first)
    assert stand.fell(second)
    assert (stand.value("out"), stand.value("B")) == (0, None)
    assert stand.engine.read(entity("B")).seq == 0
    assert stand.warnings == []


def test_a_foreign_commit_between_does_not_refuse_a_commit_with_an_elided_write() -> None:
    stand = Stand({"out": 0})
    stand.stack(whole("out", 5))
    second = stand.stack(whole("out", 5), whole("B", 7))
    stand.link.decide()
    stand.foreign(whole("out", 6))
    stand.link.settle()
    assert second.accepted
    assert (stand.value("out"), stand.value("B")) == (6, 7)


def test_a_commit_that_only_required_something_is_answered_and_named_too() -> None:
    stand = Stand({"R": 1})
    ticket = stand.stack(require=[EntityAbsent(entity("R"))], node="h")
    assert [entry.changes for entry in stand.log.entries if isinstance(entry, CommitEntry)] == [()]
    stand.link.settle()
    verdict = stand.fell(ticket)
    assert isinstance(verdict, Rejected)
    assert verdict.rejection.fate is Fate.PERMANENT
    [revert] = reverted(stand)
    assert (revert.run, revert.changes, revert.rejection) == (RunId("h", run=1), (), verdict.rejection)


def test_a_session_that_ended_settles_its_commits_at_the_verdict() -> None:
    """No frame will come any more."""
    stand = Stand({"A": 0})
    first = stand.stack(whole("A", 1))
    second = stand.stack(whole("B", 2), reads=["A"])
    stand.reject(first, SessionError("taken over"))
    assert stand.fell(first)
    assert stand.fell(second)
    assert (stand.value("A"), stand.value("B")) == (0, None)
    stand.reject(second, SessionError("taken over"))
    assert stand.replica.pending() == ()


@pytest.mark.parametrize("error", [SessionError("closed"), OSError("no such pipe")], ids=lambda error: type(error).__name__)
def test_a_commit_that_the_link_does_not_take_is_refused_at_once_and_leaves_no_trace(error: Exception) -> None:
    stand = Stand({"A": 0})
    stand.pin("A")
    stand.link.closed = error
    ticket = stand.stack(whole("A", 1))
    verdict = stand.fell(ticket)
    assert isinstance(verdict, Rejected)
    assert verdict.rejection.name == type(error).__name__
    assert stand.value("A") == 0
    assert stand.log.kinds() == ["pull", "commit", "revert"]


def test_verdicts_and_frames_about_what_is_not_in_flight_are_ignored() -> None:
    stand = Stand({"A": 0})
    stand.pin("A")
    stranger = Ticket(CommitId("me", 99))
    stand.accept(stranger, 5)
    stand.reject(stranger)
    stand.frame(stranger, documents=[delivered("unknown", 9, 1)])
    ticket = stand.stack(whole("A", 1))
    stand.accept(ticket, 2)
    stand.accept(ticket, 3)
    stand.reject(ticket)
    stand.frame(ticket)
    assert ticket.accepted
    assert stand.value("A") == 1
    assert stand.log.kinds() == ["pull", "commit"]
    assert stand.warnings == []


def test_a_write_left_out_in_another_space_leans_on_the_layers_there() -> None:
    """The other space's engine knows nothing of them, so the commit stands; the run is named when they fall."""
    stand = Stand({"A": 0})
    far = entity("out", "far")
    answer = stand.replica.commit(Proposal("far", {far: stand.replica.read(far)}, {}, (Set(far, freeze({"value": 5})),)))
    assert isinstance(answer, Committed)
    mine = stand.stack(whole("A", 1), elided=[far.at(("value",))], node="n")
    assert stand.sent[0].preconditions == ()
    stand.links["far"].doomed.add(answer.id)
    stand.links["far"].settle()
    [revert] = reverted(stand)
    assert (revert.id, revert.leaning) == (answer.id, (RunId("n", run=1),))
    stand.link.settle()
    assert mine.accepted
    assert stand.value("A") == 1
