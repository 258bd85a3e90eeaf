"""The optimistic transaction: what it sees, which spaces it writes, when it is over. Reads are in test_reading, writes in test_writing and test_merging."""
from __future__ import annotations

import pytest
from harness.view import Documents, at, begin, doc
from weft.scheduler.errors import Aborted, Misuse, SecondSpace
from weft.scheduler.model import CommitId, Read
from weft.scheduler.values import MISSING
from weft.storage.commit import EntityAbsent, OriginCommitted, Provenance
from weft.storage.proposal import Use
from weft.storage.transaction import Transaction

D = doc("d")


def test_a_document_is_pinned_at_its_first_touch() -> None:
    view = Documents(d={"a": 1, "b": 1})
    tx = begin(view)
    assert tx.get(D, at("a")) == 1
    view.put(D, {"value": {"a": 2, "b": 2}})
    assert (tx.get(D, at("a")), tx.get(D, at("b"))) == (1, 1)
    (proposal,) = tx.finish()
    assert proposal.seen[D].document == {"value": {"a": 1, "b": 1}}
    assert view.read_count == 1


def test_own_writes_are_visible_to_later_reads_and_to_nobody_else() -> None:
    view = Documents(d={"a": 1})
    tx = begin(view)
    tx.set(D, at("a"), 2)
    tx.set(D, at("new", "deep"), [1])
    assert tx.get(D, at()) == {"a": 2, "new": {"deep": [1]}}
    assert view.value("d") == {"a": 1}


def test_what_was_read_does_not_change_under_later_writes() -> None:
    tx = begin(Documents(d={"l": [1], "o": {"x": 1}}))
    tx.set(D, at("l", 0), 2)
    before = tx.get(D, at())
    tx.set(D, at("l", 0), 3)
    tx.append(D, at("l"), 4)
    tx.set(D, at("o", "x"), 2)
    assert before == {"l": [2], "o": {"x": 1}}
    assert tx.get(D, at()) == {"l": [3, 4], "o": {"x": 2}}


def test_a_read_of_what_the_transaction_has_written_is_no_dependency_but_the_document_is_pinned() -> None:
    tx = begin(Documents(d={"a": {"x": 1}, "b": 1}))
    tx.set(D, at("a"), {"x": 5})
    assert tx.get(D, at("a", "x")) == 5
    assert tx.keys(D, at("a")) == ["x"]
    (proposal,) = tx.finish()
    assert proposal.reads == {}
    assert D in proposal.seen


def test_a_read_above_what_the_transaction_has_written_is_a_dependency() -> None:
    tx = begin(Documents(d={"a": 1, "b": 1}))
    tx.set(D, at("a"), 2)
    assert tx.get(D, at()) == {"a": 2, "b": 1}
    (proposal,) = tx.finish()
    assert proposal.reads == {Read(D, at(), True): Use.BOTH}


def test_STO_200_a_second_space_is_refused_at_the_write() -> None:
    tx = begin(Documents())
    tx.set(doc("a", "A"), at(), 1)
    with pytest.raises(SecondSpace, match=r"'A'.*'B'"):
        tx.set(doc("b", "B"), at(), 1)
    assert tx.get(doc("b", "B"), at()) is MISSING
    (proposal,) = tx.finish()
    assert [operation.entity.space for operation in proposal.operations] == ["A"]


def test_a_write_without_effect_claims_no_space() -> None:
    view = Documents()
    view.put(doc("b", "B"), {"value": 1})
    tx = begin(view)
    tx.set(doc("a", "A"), at(), 1)
    assert tx.set(doc("b", "B"), at(), 1) is False
    assert tx.finish()[0].space == "A"


def test_STO_201_opt_in_multi_space_write_gives_children_first_and_home_last() -> None:
    view = Documents(home=0)
    tx = begin(view, multi_space=True)
    assert tx.get(doc("other", "C"), at()) is MISSING
    tx.get(doc("a", "A"), at("x"))
    tx.set(doc("home"), at(), 1)
    tx.set(doc("b", "B"), at(), 2)
    tx.set(doc("a", "A"), at(), 3)
    assert (tx.get(doc("a", "A"), at()), tx.get(doc("b", "B"), at())) == (3, 2)
    proposals = tx.finish()
    assert [proposal.space for proposal in proposals] == ["B", "A", "main"]
    assert [{entity.space for entity in proposal.seen} for proposal in proposals] == [{"B"}, {"A"}, {"main", "C"}]
    assert [set(proposal.reads) for proposal in proposals] == [set(), {Read(doc("a", "A"), at("x"), True)}, {Read(doc("other", "C"), at(), True)}]
    view.commit(proposals)
    assert [view.read(entity).document for entity in (doc("home"), doc("b", "B"), doc("a", "A"))] == [{"value": 1}, {"value": 2}, {"value": 3}]


def test_STO_201_with_one_space_written_it_is_a_normal_commit() -> None:
    tx = begin(Documents(), multi_space=True)
    tx.get(doc("home"), at())
    tx.set(doc("a", "A"), at(), 1)
    (proposal,) = tx.finish()
    assert proposal.space == "A"
    assert set(proposal.reads) == {Read(doc("home"), at(), True)}


def test_a_precondition_claims_its_space_and_is_sent_without_any_write() -> None:
    tx = begin(Documents())
    tx.require(EntityAbsent(doc("receipt", "A")))
    with pytest.raises(SecondSpace):
        tx.set(D, at(), 1)
    (proposal,) = tx.finish()
    assert (proposal.space, proposal.preconditions, proposal.operations) == ("A", (EntityAbsent(doc("receipt", "A")),), ())


def test_an_origin_is_required_of_the_home_space() -> None:
    tx = begin(Documents())
    tx.require(OriginCommitted(CommitId("s", 1)))
    assert tx.finish()[0].space == "main"


def test_provenance_and_group_travel_with_the_proposal() -> None:
    tx = Transaction(Documents(), "main", provenance=Provenance(node="n", run=3), group="editor")
    tx.set(D, at(), 1)
    (proposal,) = tx.finish()
    assert (proposal.provenance, proposal.group) == (Provenance(node="n", run=3), "editor")


def test_a_retry_mints_the_same_ids_and_another_event_others() -> None:
    def minted(seed: str) -> list[str]:
        tx = begin(Documents(), seed=seed)
        return [tx.new("order").id, tx.new("order").id, tx.new("line").id]

    assert minted("event-1") == minted("event-1")
    assert len({*minted("event-1"), *minted("event-2")}) == 6
    assert minted("event-1")[0].startswith("order/")
    with pytest.raises(Misuse, match="no event and no node"):
        begin(Documents(), seed="").new("order")


def test_an_abort_drops_the_writes_and_keeps_the_reads_even_if_it_is_swallowed() -> None:
    tx = begin(Documents(d={"a": 1}))
    tx.get(D, at("a"))
    tx.set(D, at("a"), 2)
    with pytest.raises(Aborted, match="enough"):
        tx.abort("enough")
    for use in (lambda: tx.get(D, at("a")), lambda: tx.set(D, at("a"), 3), lambda: tx.abort("again"), lambda: tx.new("x")):
        with pytest.raises(Aborted, match="enough"):
            use()
    assert not tx.open
    (proposal,) = tx.finish()
    assert (proposal.space, proposal.operations, proposal.reads) == (None, (), {Read(D, at("a"), True): Use.BOTH})
    assert D in proposal.seen


def test_a_failed_transaction_proposes_its_reads_and_nothing_else() -> None:
    tx = begin(Documents(d={"a": 1}))
    tx.get(D, at("a"))
    tx.set(D, at("b"), 2)
    tx.require(EntityAbsent(D))
    (proposal,) = tx.finish(failed=True)
    assert (proposal.space, proposal.operations, proposal.preconditions, proposal.elided) == (None, (), (), ())
    assert set(proposal.reads) == {Read(D, at("a"), True)}


def test_STO_203_whatever_happens_to_its_commits_a_finished_transaction_is_over() -> None:
    tx = begin(Documents(d=1))
    assert tx.open
    tx.get(D, at())
    tx.finish()
    assert not tx.open
    for use in (
        lambda: tx.get(D, at()), lambda: tx.set(D, at(), 1), lambda: tx.delete(D, at()), lambda: tx.append(D, at(), 1), lambda: tx.increment(D, at()), lambda: tx.keys(D, at()),
        lambda: tx.resolve(D, at()), lambda: tx.track(D, at()), lambda: tx.new("x"), lambda: tx.require(EntityAbsent(D)), lambda: tx.abort("late"), lambda: tx.finish(),
    ):  # fmt: skip
        with pytest.raises(Misuse, match="finished"):
            use()
