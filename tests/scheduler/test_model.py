"""The words: entities, addresses, pointers, indices."""
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from weft.scheduler.model import ROOT, Address, Change, CommitId, Entity, Path, Read, Version, index_of, parent, parse_pointer, pointer

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(["~", "/", "~0", "~1", "~01", "~/", ""])


@given(st.lists(texts, max_size=5).map(tuple))
def test_a_pointer_reads_back_as_its_path(path: Path) -> None:
    assert parse_pointer(pointer(path)) == path


@given(st.lists(texts, max_size=4).map(tuple), st.lists(texts, max_size=4).map(tuple))
def test_two_paths_have_two_pointers(one: Path, two: Path) -> None:
    assert (pointer(one) == pointer(two)) == (one == two)


def test_pointers_are_those_of_RFC_6901() -> None:
    assert [pointer(path) for path in ((), ("foo", "0"), ("",), ("a/b",), ("m~n",), ("~1",))] == ["", "/foo/0", "/", "/a~1b", "/m~0n", "/~01"]


@pytest.mark.parametrize("text", ["a", "a/b", "/~", "/~2", "/a~", "/~~0", "#/a"])
def test_a_text_that_is_no_pointer_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="pointer"):
        parse_pointer(text)


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        *(("0", 0), ("7", 7), ("10", 10), ("999999999999999", 10**15 - 1)),
        *((step, None) for step in ("", "00", "01", "-1", "+1", "1.0", " 1", "1 ", "a", "1e3", "\u0663", "²", "1_0", "9" * 16, "9" * 5000)),
    ],
)
def test_an_index_is_a_canonical_decimal_and_nothing_else_is(step: str, expected: int | None) -> None:
    assert index_of(step) == expected


@given(st.integers(0, 10**15 - 1))
def test_every_index_reads_back(index: int) -> None:
    assert index_of(str(index)) == index


def test_an_address_is_a_position_in_an_entity() -> None:
    entity = Entity("main", "space", "cart")
    address = entity.at(("value", "a/b"))
    assert address == Address("main", "space", "cart", ("value", "a/b"))
    assert address.entity == entity
    assert entity.at() == Address("main", "space", "cart", ROOT)
    assert (str(entity), str(address), str(Entity("main", "user:ann", "cart"))) == ("main:cart", "main:cart/value/a~1b", "main:cart@user:ann")
    assert parent(address.path) == ("value",)


def test_the_words_are_tuples_that_hash_and_compare_by_what_they_hold() -> None:
    entity = Entity("main", "space", "cart")
    assert Read(entity, ("a",)) == (entity, ("a",), True)
    assert len({Read(entity, ("a",)), Read(entity, ("a",), True), Read(entity, ("a",), False)}) == 2
    assert Change(entity, ("a",), 1, 2) == (entity, ("a",), 1, 2, -1)
    assert (str(CommitId("s", 3)), str(Version(2, 7))) == ("s#3", "2.7")
    assert Version(1, 9) < Version(1, 10)
