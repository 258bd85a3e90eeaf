"""Mergeable writes: sent as they are, without a read, until the same transaction does something else there."""
from __future__ import annotations

import pytest
from harness.view import Documents, at, begin, doc, linked
from weft.scheduler.errors import Misuse, NotStorable
from weft.scheduler.model import Path, Read
from weft.scheduler.values import MISSING, Value
from weft.storage.commit import Operation, Patch, Set
from weft.storage.patch import Add, AddUnique, Append, Increment, PatchOp, RemoveByValue, Replace, Splice
from weft.storage.proposal import Use
from weft.storage.transaction import Transaction

D = doc("d")


def finished(tx: Transaction) -> tuple[tuple[Operation, ...], dict[Read, Use]]:
    (proposal,) = tx.finish()
    return proposal.operations, proposal.reads


def patch(*ops: PatchOp) -> tuple[Operation, ...]:
    return (Patch(D, ops),)


def validated(*path: str) -> dict[Read, Use]:
    return {Read(D, at(*path), True): Use.CONFLICT}


def test_each_is_sent_as_it_is_and_reads_nothing() -> None:
    tx = begin(Documents(d={"l": [1], "u": [1, 2], "r": [1, 2, 1], "n": 5}))
    assert tx.append(D, at("l"), 2, 3)
    assert tx.add_unique(D, at("u"), 2, 3)
    assert tx.remove_value(D, at("r"), 1)
    assert tx.increment(D, at("n"), -2)
    operations, reads = finished(tx)
    assert operations == patch(Append(at("l"), (2, 3)), AddUnique(at("u"), (2, 3)), RemoveByValue(at("r"), 1), Increment(at("n"), -2))
    assert reads == {}


def test_the_transaction_sees_what_they_do() -> None:
    tx = begin(Documents(d={"l": [1], "u": [1, 2], "r": [1, 2, 1], "n": 5}))
    tx.append(D, at("l"), 2, 3)
    tx.add_unique(D, at("u"), 2, 3)
    tx.remove_value(D, at("r"), 1, 7)
    tx.increment(D, at("n"), 0.5)
    assert tx.get(D, at()) == {"l": [1, 2, 3], "u": [1, 2, 3], "r": [2], "n": 5.5}


def test_several_of_one_kind_are_one() -> None:
    tx = begin(Documents(d={"l": [], "n": 1, "r": [1, 2]}))
    for value in (1, 2):
        tx.append(D, at("l"), value)
        tx.increment(D, at("n"), value)
        tx.remove_value(D, at("r"), value)
    assert finished(tx)[0] == patch(Append(at("l"), (1, 2)), Increment(at("n"), 3), RemoveByValue(at("r"), 1), RemoveByValue(at("r"), 2))


def test_a_new_key_says_that_it_is_new() -> None:
    tx = begin(Documents(d={}))
    tx.append(D, at("l"), 1)
    tx.append(D, at("l"), 2)
    tx.add_unique(D, at("u"), 1)
    tx.increment(D, at("n"))
    assert finished(tx) == (patch(Append(at("l"), (1, 2), True), AddUnique(at("u"), (1,), True), Increment(at("n"), 1, True)), {})


def test_a_document_that_is_itself_the_list_is_made_by_appending() -> None:
    tx = begin(Documents())
    tx.append(D, at(), 1)
    assert finished(tx) == (patch(Append(at(), (1,), True)), {})


def test_where_not_even_the_object_exists_it_is_a_plain_write_that_is_validated() -> None:
    tx = begin(Documents())
    tx.increment(D, at("tea"), 2)
    tx.increment(D, at("tea"), 1)
    assert tx.get(D, at("tea")) == 3
    operations, reads = finished(tx)
    assert operations == patch(Add(at(), {"tea": 3}))
    assert reads == {Read(D, (), False): Use.CONFLICT}


def test_what_changes_nothing_is_elided() -> None:
    tx = begin(Documents(d={"u": [1], "n": 1, "s": "text"}))
    assert not tx.append(D, at("u"))
    assert not tx.add_unique(D, at("u"), 1)
    assert not tx.remove_value(D, at("u"), 2)
    assert not tx.remove_value(D, at("none"), 2)
    assert not tx.remove_value(D, at("s"), "t")
    assert not tx.increment(D, at("n"), 0)
    (proposal,) = tx.finish()
    assert (proposal.operations, proposal.space) == ((), None)
    assert {address.path for address in proposal.elided} == {at("u"), at("none"), at("s"), at("n")}


def test_a_sum_of_nothing_is_nothing() -> None:
    tx = begin(Documents(d={"n": 1}))
    tx.increment(D, at("n"), 2)
    tx.increment(D, at("n"), -2)
    assert finished(tx)[0] == ()


def test_counting_what_no_count_changes_is_elided() -> None:
    tx = begin(Documents(d={"n": float("nan"), "m": 1e300}))
    tx.increment(D, at("n"))
    tx.increment(D, at("m"))
    (proposal,) = tx.finish()
    assert (proposal.operations, proposal.elided) == ((), (D.at(at("n")), D.at(at("m"))))


def test_counting_from_nothing_to_nothing_leaves_a_zero() -> None:
    tx = begin(Documents(d={}))
    tx.increment(D, at("n"), 2)
    tx.increment(D, at("n"), -2)
    assert tx.get(D, at("n")) == 0
    assert finished(tx)[0] == patch(Add(at("n"), 0))


def test_another_kind_at_the_same_place_makes_it_a_validated_write() -> None:
    tx = begin(Documents(d={"l": [1, 2]}))
    tx.append(D, at("l"), 3)
    tx.remove_value(D, at("l"), 1)
    operations, reads = finished(tx)
    assert operations == patch(Replace(at("l", 0), 2), Replace(at("l", 1), 3))
    assert reads == validated("l")


@pytest.mark.parametrize("first", [True, False])
def test_a_write_inside_the_list_makes_it_a_validated_write(first: bool) -> None:
    tx = begin(Documents(d={"l": [1, 2]}))
    if first:
        tx.set(D, at("l", 0), 9)
    tx.append(D, at("l"), 3)
    if not first:
        tx.set(D, at("l", 0), 9)
    assert finished(tx) == (patch(Splice(at("l"), 0, 2, (9, 2, 3))), validated("l"))


def test_a_structural_edit_of_the_list_makes_it_a_validated_write() -> None:
    tx = begin(Documents(d={"l": [1, 2]}))
    tx.append(D, at("l"), 3)
    tx.delete(D, at("l", 0))
    assert finished(tx) == (patch(Replace(at("l", 0), 2), Replace(at("l", 1), 3)), validated("l"))
    tx = begin(Documents(d={"l": [1, 2]}))
    tx.append(D, at("l"), 3)
    tx.set(D, at("l", "length"), 5)
    assert finished(tx) == (patch(Splice(at("l"), 2, 0, (3, None, None))), validated("l"))


def test_a_write_above_takes_it_up_and_stays_blind() -> None:
    tx = begin(Documents(d={"o": {"l": [1]}}))
    tx.append(D, at("o", "l"), 2)
    tx.set(D, at("o"), {"l": [7]})
    tx.append(D, at("o", "l"), 8)
    assert finished(tx) == (patch(Replace(at("o"), {"l": [7, 8]})), {})


def test_a_write_of_the_same_place_takes_it_up_and_stays_blind() -> None:
    tx = begin(Documents(d={"n": 1}))
    tx.increment(D, at("n"), 2)
    tx.set(D, at("n"), 3)
    assert finished(tx) == (patch(Replace(at("n"), 3)), {})


def test_an_explicit_read_of_the_place_is_validated_and_it_stays_mergeable() -> None:
    tx = begin(Documents(d={"l": [1]}))
    tx.append(D, at("l"), 2)
    assert tx.length(D, at("l")) == 2
    assert finished(tx) == (patch(Append(at("l"), (2,))), {Read(D, at("l"), False): Use.BOTH})


def test_an_append_after_the_whole_value_was_set_is_part_of_it() -> None:
    tx = begin(Documents(d=[1]))
    tx.set(D, at(), [5])
    tx.append(D, at(), 6)
    assert finished(tx) == ((Set(D, {"value": [5, 6]}),), {})


def test_links_are_values_among_the_elements() -> None:
    tx = begin(Documents(d=[linked("a"), linked("b")]))
    tx.remove_value(D, at(), linked("a"))
    tx_unique = begin(Documents(d=[linked("a")]))
    assert not tx_unique.add_unique(D, at(), linked("a"))
    assert tx.get(D, at()) == [linked("b")]


@pytest.mark.parametrize(
    ("value", "path", "kind", "saying"),
    [
        ("text", at(), "append", "main:d: 'text' is no list"), ({}, at(), "append", "main:d: {} is no list"), (5, at(), "add_unique", "5 is no list"),
        ("five", at(), "increment", "'five' is no number"), (True, at(), "increment", "True is no number"), ([1], at(3), "increment", "a list of 1"),
        ([1], at(1), "append", "a list of 1"), ([1], at("length"), "increment", "a list of 1"), ("s", at("x"), "append", "'s' is neither"),
    ],
)  # fmt: skip
def test_what_does_not_fit_says_so_and_is_read_so_that_the_run_is_made_again(value: Value, path: Path, kind: str, saying: str) -> None:
    tx = begin(Documents(d=value))
    with pytest.raises(Misuse, match=saying):
        getattr(tx, kind)(D, path, 1)
    operations, reads = finished(tx)
    assert operations == ()
    assert Use.BOTH in reads.values()


def test_increments_are_finite_numbers_whose_result_can_be_stored() -> None:
    tx = begin(Documents(d={"n": 2**64 - 1}))
    for by in (float("nan"), float("inf"), True, "1", None):
        with pytest.raises(Misuse):
            tx.increment(D, at("n"), by)  # type: ignore[arg-type]
    with pytest.raises(NotStorable, match="main:d#/n"):
        tx.increment(D, at("n"))
    assert tx.get(D, at("n")) == 2**64 - 1
    assert tx.get(D, at("m")) is MISSING
