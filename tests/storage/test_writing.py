"""Plain writes of a transaction: which operations they come to, when they are left out, and how lists change their length."""
from __future__ import annotations

import pytest
from harness.view import Documents, at, begin, doc, linked, reads_of
from weft.scheduler.errors import Misuse, NotStorable
from weft.scheduler.model import Path, Read
from weft.scheduler.values import MISSING, Value, freeze
from weft.storage.commit import Delete, Patch, Set
from weft.storage.patch import Add, PatchOp, Remove, Replace, Splice
from weft.storage.proposal import Proposal, Use

D = doc("d")


def ops(proposal: Proposal) -> tuple[PatchOp, ...]:
    """The operations of the one patch that is proposed."""
    (operation,) = proposal.operations
    assert isinstance(operation, Patch)
    return operation.ops


def written(view: Documents, path: Path, value: Value, *, read: Path | None = None) -> tuple[PatchOp, ...]:
    """What a transaction that writes one position of d sends; with `read`, after reading that."""
    tx = begin(view)
    if read is not None:
        tx.get(D, read)
    assert tx.set(D, path, value)
    (proposal,) = tx.finish()
    return ops(proposal)


def test_a_write_of_an_existing_leaf_is_a_replace_and_reads_nothing() -> None:
    tx = begin(Documents(d={"a": {"x": 1}}))
    tx.set(D, at("a", "x"), 2)
    (proposal,) = tx.finish()
    assert ops(proposal) == (Replace(at("a", "x"), 2),)
    assert (proposal.space, proposal.reads, proposal.elided) == ("main", {}, ())


def test_a_new_key_is_an_add_and_a_removed_one_a_remove() -> None:
    assert written(Documents(d={"a": 1}), at("b"), 2) == (Add(at("b"), 2),)
    tx = begin(Documents(d={"a": 1, "b": 2}))
    assert tx.delete(D, at("b"))
    assert ops(tx.finish()[0]) == (Remove(at("b")),)


def test_objects_on_the_way_are_made_at_the_highest_new_position_and_nobody_else_may_have_made_them() -> None:
    tx = begin(Documents(d={"z": 1}))
    tx.set(D, at("a", "b", "c"), 1)
    tx.set(D, at("a", "d"), 2)
    (proposal,) = tx.finish()
    assert ops(proposal) == (Add(at("a"), {"b": {"c": 1}, "d": 2}),)
    assert proposal.reads == {Read(D, at(), False): Use.CONFLICT}


def test_a_position_in_no_document_makes_the_document() -> None:
    tx = begin(Documents())
    tx.set(D, at("a", "b"), 1)
    (proposal,) = tx.finish()
    assert ops(proposal) == (Add(at(), {"a": {"b": 1}}),)
    assert proposal.reads == {Read(D, (), False): Use.CONFLICT}


def test_lists_are_never_made_on_the_way_and_nothing_is_written_below_a_scalar() -> None:
    view = Documents(d={"l": [1], "s": "text", "n": None})
    refusals = ((at("l", 1, "x"), "#/l: a list of 1 has no element '1'"), (at("s", "x"), "#/s: 'text'"), (at("n", "x", "y"), "#/n: None"), (at("l", 5), "#/l: a list of 1"))
    for path, saying in refusals:
        tx = begin(view)
        with pytest.raises(Misuse, match=saying):
            tx.set(D, path, 1)
        (proposal,) = tx.finish()
        assert proposal.operations == ()
        assert reads_of(proposal) != set()  # the run is made again when that changes


def test_a_write_of_the_whole_value_is_a_set_and_its_removal_a_delete() -> None:
    for view in (Documents(), Documents(d={"a": 1})):
        tx = begin(view)
        tx.set(D, at(), {"a": 2})
        assert tx.finish()[0].operations == (Set(D, {"value": {"a": 2}}),)
    tx = begin(Documents(d={"a": 1}))
    assert tx.delete(D, at())
    assert tx.get(D, at("a")) is MISSING
    assert tx.finish()[0].operations == (Delete(D),)


def test_metadata_stays_when_the_value_is_written_or_removed() -> None:
    view = Documents()
    view.put(D, {"value": 1, "label": "x"})
    assert written(view, at(), 2) == (Replace(at(), 2),)
    tx = begin(view)
    tx.delete(D, at())
    assert ops(tx.finish()[0]) == (Remove(at()),)
    view.put(D, {"label": "x"})
    assert written(view, at(), 2) == (Add(at(), 2),)


def test_metadata_is_read_and_written_at_its_own_path() -> None:
    view = Documents(d=1)
    tx = begin(view)
    assert tx.get(D, ("slug",)) is MISSING
    tx.set(D, ("slug",), "tracked")
    assert tx.get(D, ("slug",)) == "tracked"
    (proposal,) = tx.finish()
    assert ops(proposal) == (Add(("slug",), "tracked"),)
    assert proposal.reads == {Read(D, ("slug",), True): Use.BOTH}


def test_the_value_and_its_metadata_written_together_are_one_patch() -> None:
    tx = begin(Documents(d=1))
    tx.set(D, at(), 2)
    tx.set(D, ("slug",), "s")
    assert ops(tx.finish()[0]) == (Replace(at(), 2), Add(("slug",), "s"))


def test_a_whole_document_is_written_and_removed_at_the_empty_path() -> None:
    tx = begin(Documents(d=1))
    tx.set(D, (), {"value": 2, "slug": "s"})
    assert tx.finish()[0].operations == (Set(D, {"value": 2, "slug": "s"}),)
    tx = begin(Documents(d=1))
    tx.delete(D, ())
    assert tx.finish()[0].operations == (Delete(D),)
    with pytest.raises(NotStorable, match="a document is an object"):
        begin(Documents()).set(D, (), 5)


def test_a_blind_write_sends_the_whole_value_a_validated_one_what_differs() -> None:
    view = Documents(d={"a": {"x": 1, "y": {"z": 1}, "gone": 0}})
    fresh = {"x": 1, "y": {"z": 2}, "new": 3}
    assert written(view, at("a"), fresh) == (Replace(at("a"), fresh),)
    assert written(view, at("a"), fresh, read=at("a")) == (Remove(at("a", "gone")), Replace(at("a", "y", "z"), 2), Add(at("a", "new"), 3))


def test_several_writes_of_one_position_are_one_operation() -> None:
    tx = begin(Documents(d={"a": 1}))
    tx.set(D, at("a"), 2)
    tx.set(D, at("a"), {"x": 1})
    tx.set(D, at("a", "x"), 3)
    assert ops(tx.finish()[0]) == (Replace(at("a"), {"x": 3}),)


def test_a_document_made_and_removed_in_one_transaction_is_not_sent() -> None:
    tx = begin(Documents())
    tx.set(D, at(), 1)
    tx.delete(D, at())
    (proposal,) = tx.finish()
    assert (proposal.operations, proposal.space) == ((), None)


def test_a_value_that_cannot_be_stored_is_refused_at_the_write_with_its_address() -> None:
    tx = begin(Documents(d={"items": []}))
    with pytest.raises(NotStorable, match=r"main:d#/items/0/tags: a set has no stored form"):
        tx.set(D, at("items"), [{"tags": {1, 2}}])
    with pytest.raises(NotStorable, match=r"main:d#/items: a tuple"):
        tx.append(D, at("items"), (1, 2))
    with pytest.raises(NotStorable, match="main:d: "):
        tx.set(D, at(), object())
    assert tx.finish()[0].operations == ()


def test_a_value_that_would_lie_too_deep_is_refused_at_the_write() -> None:
    deep: Value = 1
    for _ in range(99):
        deep = [deep]
    tx = begin(Documents(d={}))
    tx.set(D, at(), deep)
    with pytest.raises(NotStorable, match="main:d#/a"):
        tx.set(D, at("a"), deep)


def test_STO_053_an_identical_write_is_a_no_op() -> None:
    for path, value in ((at(), {"foo": "bar"}), (at("foo"), "bar")):
        tx = begin(Documents(d={"foo": "bar"}))
        assert tx.set(D, path, value) is False
        (proposal,) = tx.finish()
        assert (proposal.space, proposal.operations) == (None, ())
        assert proposal.elided == (D.at(path),)


def test_READ_011_an_identical_root_and_READ_012_an_identical_leaf_leave_nothing_to_write() -> None:
    tx = begin(Documents(d={"l": [1, {"x": 2}]}))
    assert not tx.set(D, at(), {"l": [1, {"x": 2}]})
    assert not tx.set(D, at("l", 1, "x"), 2)
    assert tx.finish()[0].operations == ()


def test_absent_and_null_true_and_one_are_different_values() -> None:
    tx = begin(Documents(d={"a": 1}))
    assert tx.set(D, at("b"), None)
    assert tx.set(D, at("a"), True)
    assert ops(tx.finish()[0]) == (Add(at("b"), None), Replace(at("a"), True))


def test_READ_013_a_transaction_of_no_op_writes_proposes_nothing_to_validate() -> None:
    tx = begin(Documents(d={"a": 1}))
    tx.get(D, at("a"))
    tx.set(D, at("a"), 1)
    (proposal,) = tx.finish()
    assert (proposal.space, proposal.operations, proposal.preconditions) == (None, (), ())


def test_READ_014_an_element_or_a_length_written_as_it_is_is_unchanged() -> None:
    tx = begin(Documents(d=[1, 2]))
    assert not tx.set(D, at(0), 1)
    assert not tx.set(D, at("length"), 2)
    (proposal,) = tx.finish()
    assert proposal.operations == ()
    assert proposal.elided == (D.at(at(0)), D.at(at("length")))


def test_a_write_taken_back_counts_as_elided() -> None:
    tx = begin(Documents(d={"a": 1, "b": 1}))
    tx.set(D, at("a"), 2)
    tx.set(D, at("a"), 1)
    tx.set(D, at("b"), 2)
    (proposal,) = tx.finish()
    assert ops(proposal) == (Replace(at("b"), 2),)
    assert proposal.elided == (D.at(at("a")),)


def test_deleting_nothing_is_a_no_op() -> None:
    tx = begin(Documents(d={"l": [1]}))
    assert not tx.delete(D, at("none", "at", "all"))
    assert not tx.delete(D, at("l", 3))
    assert not tx.delete(doc("other"), at())
    assert tx.finish()[0].operations == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([1, 2], [1, 2, 3]), ([1, 2], [1]), ([1, 2, 3], [2, 3]), ([2, 3], [1, 2, 3]), ([1, 3], [1, 2, 3]), ([1, 2, 3], [1, 3]), ([1, 2, 3], [3, 1, 2]), ([1, 2], []), ([], [1]),
        ([1, 1, 1], [1, 1]), ([1], [1, 1, 1]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("read", [True, False])
def test_READ_015_STO_046_a_list_is_restructured_as_a_whole_and_never_by_indexed_adds(before: list[int], after: list[int], read: bool) -> None:
    found = written(Documents(d={"l": before}), at("l"), after, read=at("l") if read else None)
    if len(before) != len(after) or not read:
        assert [op.path for op in found] == [at("l")]
        assert isinstance(found[0], Splice if read else Replace)
    else:
        assert all(isinstance(op, Replace) for op in found)  # positions in place


def test_READ_015_an_edit_in_place_stays_leaf_precise() -> None:
    view = Documents(d={"l": [{"x": 1}, {"x": 2}]})
    assert written(view, at("l", 1, "x"), 3) == (Replace(at("l", 1, "x"), 3),)
    assert written(view, at("l"), [{"x": 1}, {"x": 3}], read=at("l")) == (Replace(at("l", 1, "x"), 3),)


def test_the_index_behind_the_end_grows_a_list_by_a_splice_that_is_validated() -> None:
    tx = begin(Documents(d={"l": [1, 2]}))
    tx.set(D, at("l", 2), 3)
    (proposal,) = tx.finish()
    assert ops(proposal) == (Splice(at("l"), 2, 0, (3,)),)
    assert proposal.reads == {Read(D, at("l"), True): Use.CONFLICT}


def test_removing_elements_is_a_splice_that_is_validated() -> None:
    tx = begin(Documents(d={"l": ["a", "b", "c", "d"]}))
    tx.delete(D, at("l", 1))
    tx.delete(D, at("l", 1))
    (proposal,) = tx.finish()
    assert ops(proposal) == (Splice(at("l"), 1, 2, ()),)
    assert proposal.reads == {Read(D, at("l"), True): Use.CONFLICT}


def test_a_read_of_what_was_edited_depends_on_what_it_was_edited_from() -> None:
    tx = begin(Documents(d={"l": ["a", "b"]}))
    tx.delete(D, at("l", 0))
    assert tx.get(D, at("l")) == ["b"]
    assert tx.finish()[0].reads == {Read(D, at("l"), True): Use.BOTH}


def test_READ_007_length_is_written_as_a_splice() -> None:
    assert written(Documents(d=[1, 2]), at("length"), 3, read=("slug",)) == (Splice(at(), 2, 0, (None,)),)
    assert written(Documents(d={"l": [1, 2, 3]}), at("l", "length"), 1) == (Splice(at("l"), 1, 2, ()),)
    tx = begin(Documents(d={"l": [1]}))
    for length in (-1, True, 1.0, "1", None, 2**40):
        with pytest.raises(Misuse, match="is no length"):
            tx.set(D, at("l", "length"), length)
    with pytest.raises(Misuse, match="always has a length"):
        tx.delete(D, at("l", "length"))


def test_a_length_that_cannot_be_written_was_read_because_in_an_object_it_could() -> None:
    for gone in (True, False):
        tx = begin(Documents(d={"l": [1]}))
        with pytest.raises(Misuse):
            tx.delete(D, at("l", "length")) if gone else tx.set(D, at("l", "length"), "long")
        (proposal,) = tx.finish()
        assert proposal.reads == {Read(D, at("l"), False): Use.BOTH}


def test_length_is_a_key_like_any_other_in_an_object() -> None:
    assert written(Documents(d={"length": 1}), at("length"), "long") == (Replace(at("length"), "long"),)


def test_a_link_is_a_value() -> None:
    tx = begin(Documents(d={"to": 1}))
    tx.set(D, at("to"), linked("x", "a"))
    assert ops(tx.finish()[0]) == (Replace(at("to"), linked("x", "a")),)
    assert freeze(linked("x")) == linked("x")
