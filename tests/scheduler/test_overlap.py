"""Paths against paths (core.md section 16)."""

import pytest
from harness.values import paths
from hypothesis import given
from hypothesis import strategies as st
from weft.scheduler.model import Entity, Path
from weft.scheduler.overlap import compact, conforms, is_prefix, overlaps, write_touches


def at(text: str) -> Path:
    return tuple(text.split("/")) if text else ()


TABLE = [
    ("OVL_001", "a/b/c", "a/b/c", True),
    ("OVL_002", "", "", True),
    ("OVL_003", "a", "a/b/c", True),
    ("OVL_004", "", "a/b/c", True),
    ("OVL_005", "a/b/c", "", True),
    ("OVL_006", "a/b", "c/d", False),
    ("OVL_007", "a/b", "a/c", False),
    ("OVL_008", "a/b/c", "a/b/d", False),
    ("OVL_009", "users/123", "users/456", False),
    ("OVL_010", "users", "users/123/profile/name", True),
    ("OVL_011", "users/123/profile", "users/456", False),
    ("OVL_012", "123", "1234", False),
    ("OVL_013", "user", "users", False),
    ("OVL_014", "User", "user", False),
    ("OVL_015", "users/123", "users", True),
    ("OVL_015_same", "users/123", "users/123", True),
    ("OVL_015_below", "users/123", "users/123/profile", True),
    ("OVL_016", "votes/alice", "votes/bob", False),
]


@pytest.mark.parametrize(("first", "second", "expected"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_two_paths_overlap_iff_one_is_a_prefix_of_the_other(first: str, second: str, expected: bool) -> None:
    assert overlaps(at(first), at(second)) is expected
    assert overlaps(at(second), at(first)) is expected
    assert write_touches(at(first), at(second), True) is expected


def test_OVL_017_a_write_below_touches_a_deep_read() -> None:
    assert write_touches(at("votes/alice"), at("votes"), True)
    assert write_touches(at("votes/alice/at"), at("votes"), True)


def test_OVL_018_a_write_one_level_below_may_touch_a_shallow_read_and_a_deeper_one_does_not() -> None:
    assert write_touches(at("votes/alice"), at("votes"), False)
    assert write_touches(at("votes"), at("votes"), False)
    assert write_touches((), at("votes"), False)
    assert not write_touches(at("votes/alice/at"), at("votes"), False)
    assert not write_touches(at("polls/alice"), at("votes"), False)


@given(paths, paths)
def test_overlap_is_a_prefix_in_one_direction_and_shallow_adds_the_length_rule(write: Path, read: Path) -> None:
    prefix = write == read[: len(write)] or read == write[: len(read)]
    assert overlaps(write, read) is overlaps(read, write) is prefix
    assert is_prefix(write, read) is (write == read[: len(write)])
    assert write_touches(write, read, True) is prefix
    assert write_touches(write, read, False) is (prefix and len(write) <= len(read) + 1)


def test_OVL_020_compaction_of_nothing_and_of_one_path() -> None:
    assert compact([]) == ()
    assert compact([at("a/b")]) == (at("a/b"),)


def test_OVL_021_paths_sort_lexicographically() -> None:
    assert compact([at("b/c"), at("a/z"), at("a/b"), at("c")]) == (at("a/b"), at("a/z"), at("b/c"), at("c"))


def test_OVL_022_a_prefix_absorbs_its_descendants() -> None:
    assert compact([at("a/b/c/d"), at("a/b"), at("a/b/c"), at("x/y")]) == (at("a/b"), at("x/y"))


def test_OVL_024_diverging_suffixes_are_kept() -> None:
    assert compact([at("a/b/c"), at("a/b/d"), at("a/e")]) == (at("a/b/c"), at("a/b/d"), at("a/e"))


def test_OVL_025_numeric_segments_sort_as_strings() -> None:
    assert compact([at("2/b"), at("10/a"), at("1/c")]) == (at("1/c"), at("10/a"), at("2/b"))


@given(st.lists(paths))
def test_compaction_keeps_exactly_the_paths_below_no_other_one(given_paths: list[Path]) -> None:
    kept = compact(given_paths)
    assert list(kept) == sorted(path for path in set(given_paths) if not any(other != path and is_prefix(other, path) for other in given_paths))


def test_a_write_conforms_iff_it_is_at_or_below_a_surface_path_of_the_same_document() -> None:
    doc, other, elsewhere = Entity("main", "space", "doc"), Entity("main", "space", "other"), Entity("main", "user:ann", "doc")
    surface = (doc.at(("value", "out")), other.at(()))
    assert conforms(doc.at(("value", "out")), surface)
    assert conforms(doc.at(("value", "out", "deep", "0")), surface)
    assert conforms(other.at(("value",)), surface)
    assert not conforms(doc.at(("value",)), surface)  # above: it would write beside its output too
    assert not conforms(doc.at(("value", "output")), surface)
    assert not conforms(elsewhere.at(("value", "out")), surface)
    assert not conforms(doc.at(("value",)), ())
