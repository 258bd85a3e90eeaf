"""What a run read, in one canonical form (semantics C.1.3; core.md section 16)."""
from __future__ import annotations

import subprocess
import sys

from harness.values import pairs, reads_of
from hypothesis import given, settings
from hypothesis import strategies as st
from weft.scheduler.matching import matches_naive
from weft.scheduler.model import Entity, Read
from weft.scheduler.readset import ReadSet, delta
from weft.scheduler.values import Value

DOC, OTHER = Entity("main", "space", "doc"), Entity("main", "space", "other")
reads = reads_of(st.sampled_from([DOC, OTHER, Entity("main", "user:ann", "doc"), Entity("far", "space", "doc")]))


def deep(*path: str) -> Read:
    return Read(DOC, path, True)


def shallow(*path: str) -> Read:
    return Read(DOC, path, False)


def test_OVL_020_nothing_read_is_nothing() -> None:
    assert ReadSet().reads() == ()
    assert ReadSet([deep("a")]).reads() == (deep("a"),)


def test_OVL_022_a_deep_read_absorbs_the_deep_reads_below_it() -> None:
    assert ReadSet([deep("a", "b", "c", "d"), deep("a", "b"), deep("a", "b", "c"), deep("x", "y")]).reads() == (deep("a", "b"), deep("x", "y"))
    assert ReadSet([deep("a"), deep("ab"), deep("a", "b")]).reads() == (deep("a"), deep("ab"))


def test_shallow_reads_are_kept_apart_and_only_freed_of_duplicates() -> None:
    assert ReadSet([shallow("a"), shallow("a", "b"), shallow("a"), deep("a", "b")]).reads() == (shallow("a"), shallow("a", "b"), deep("a", "b"))
    assert ReadSet([deep("a"), shallow("a"), shallow("a", "b"), deep("a", "b")]).reads() == (shallow("a"), deep("a"), shallow("a", "b"))


def test_OVL_029_reads_under_different_named_instances_are_not_merged_and_name_equal_ones_are() -> None:
    ann, bob = Entity("main", "user:ann", "doc"), Entity("main", "user:bob", "doc")
    assert ReadSet([Read(ann, ("a",)), Read(bob, ("a", "b")), Read(Entity("main", "user:ann", "doc"), ("a", "b"))]).reads() == (Read(ann, ("a",)), Read(bob, ("a", "b")))


def test_the_document_of_each_read_is_named_once() -> None:
    assert ReadSet([deep("a"), Read(OTHER, ()), shallow("b")]).entities() == (DOC, OTHER)


def test_the_delta_names_what_came_and_what_went() -> None:
    old, new = ReadSet([deep("a"), deep("b")]), ReadSet([deep("b"), shallow("a"), deep("c")])
    assert delta(old, new) == ((shallow("a"), deep("c")), (deep("a"),))
    assert delta(old, old) == delta(old, ReadSet([deep("b"), deep("a")])) == ((), ())
    assert delta(ReadSet(), old) == ((deep("a"), deep("b")), ())


def test_a_run_that_read_the_same_keeps_its_read_set() -> None:
    kept = ReadSet([deep("a"), deep("b")])
    assert kept.renewed({deep("b"): 1, deep("a"): 1}) is kept
    assert kept.renewed({deep("a"), deep("a", "x"), deep("b")}) is kept
    assert kept.renewed({deep("a"), deep("c")}).reads() == (deep("a"), deep("c"))
    assert kept.renewed({deep("a"), deep("a", "x")}).reads() == (deep("a"),)
    assert kept.renewed(set()).reads() == ()


def test_the_key_follows_the_content_and_nothing_else() -> None:
    assert ReadSet([deep("a"), deep("b")]).key == ReadSet([deep("b"), deep("a"), deep("a", "c")]).key
    different = [
        ReadSet(),
        ReadSet([deep("a")]),
        ReadSet([shallow("a")]),
        ReadSet([deep("a", "b")]),
        ReadSet([deep("ab")]),
        ReadSet([deep("a"), deep("b")]),
        ReadSet([Read(Entity("main", "space", "doca"), ())]),
        ReadSet([Read(Entity("main", "spaced", "oc"), ("a",))]),
        ReadSet([Read(OTHER, ("a",))]),
    ]
    assert len({found.key for found in different}) == len(different)


def test_the_key_is_the_same_in_another_process() -> None:
    program = "from weft.scheduler.readset import *; from weft.scheduler.model import *; print(ReadSet([Read(Entity('main', 'space', 'doc'), ('ä',), False)]).key.hex())"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip() == ReadSet([shallow("ä")]).key.hex()


@given(st.lists(reads, max_size=12))
def test_the_same_reads_in_any_order_are_one_read_set(given_reads: list[Read]) -> None:
    one, two = ReadSet(given_reads), ReadSet(reversed(given_reads * 2))
    assert one == two
    assert (one.reads(), hash(one), one.key) == (two.reads(), hash(two), two.key)
    assert ReadSet(one).reads() == one.reads() == tuple(sorted(one))
    assert set(one) <= set(given_reads)
    assert {read for read in given_reads if not read.deep} == {read for read in one if not read.deep}


@given(st.lists(reads, max_size=8), st.lists(reads, max_size=8))
def test_the_delta_leads_from_the_old_read_set_to_the_new_one(first: list[Read], second: list[Read]) -> None:
    old, new = ReadSet(first), ReadSet(second)
    added, removed = delta(old, new)
    assert set(removed) <= set(old)
    assert set(added).isdisjoint(old)
    assert (set(old) - set(removed)) | set(added) == set(new)
    assert old.renewed(set(second)) == new


@settings(max_examples=300)
@given(pairs, st.lists(reads_of(st.just(DOC)), min_size=1, max_size=6))
def test_compaction_changes_nothing_about_who_is_hit(pair: tuple[Value, Value], given_reads: list[Read]) -> None:
    def hit(some: list[Read] | ReadSet) -> bool:
        return any(matches_naive(*pair, read.path, read.deep) for read in some)

    assert hit(given_reads) == hit(ReadSet(given_reads))
