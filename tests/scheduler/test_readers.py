"""The reader index against a plain scan over all readers (core.md sections 15 and 17; pitfall B-26)."""
from __future__ import annotations

from typing import Any

import pytest
from harness.values import pairs, reads_of
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from weft.scheduler import readers as module
from weft.scheduler.changes import diff
from weft.scheduler.errors import BrokenInvariant
from weft.scheduler.matching import matches
from weft.scheduler.model import Change, Entity, Read
from weft.scheduler.readers import Readers
from weft.scheduler.values import MISSING, Value, freeze

DOC, OTHER, ELSEWHERE = Entity("main", "space", "doc"), Entity("main", "space", "other"), Entity("main", "user:ann", "doc")
entities = st.sampled_from([DOC, OTHER, ELSEWHERE])


def scan(held: dict[str, set[Read]], change: Change) -> set[str]:
    """The obvious definition: ask every reader."""
    return {reader for reader, reads in held.items() if any(read.entity == change.entity and matches(change, read.path, read.deep) for read in reads)}


class Index(RuleBasedStateMachine):
    """Registrations, deltas and removals in any order; after each step the index answers as the scan does and holds nothing too much."""

    def __init__(self) -> None:
        super().__init__()
        self.index: Readers[str] = Readers()
        self.held: dict[str, set[Read]] = {}

    readers = st.sampled_from(["r", "s", "t", "u"])
    reads = st.lists(reads_of(entities), max_size=5)

    @rule(reader=readers, reads=reads)
    def add(self, reader: str, reads: list[Read]) -> None:
        self.index.add(reader, reads)
        self._keep(reader, self.held.get(reader, set()) | set(reads))

    @rule(reader=readers)
    def remove(self, reader: str) -> None:
        self.index.remove(reader)
        self.held.pop(reader, None)

    @rule(reader=readers, added=reads, removed=reads)
    def update(self, reader: str, added: list[Read], removed: list[Read]) -> None:
        self.index.update(reader, added, removed)
        self._keep(reader, (self.held.get(reader, set()) - set(removed)) | set(added))

    @rule(reader=readers, data=st.data())
    def drop_some(self, reader: str, data: st.DataObject) -> None:
        held = self.held.get(reader)
        if held:
            gone = data.draw(st.lists(st.sampled_from(sorted(held))))
            self.index.update(reader, [], gone)
            self._keep(reader, held - set(gone))

    @rule(pair=pairs, entity=entities)
    def change(self, pair: tuple[Value, Value], entity: Entity) -> None:
        for change in diff(entity, *pair):
            found = self.index.readers_of(change)
            assert len(found) == len(set(found))
            assert set(found) == scan(self.held, change)

    @invariant()
    def holds_exactly_what_was_registered(self) -> None:
        self.index.check()
        assert {reader: set(self.index.reads_of(reader)) for reader in self.index} == self.held
        assert set(self.index.entities()) == {read.entity for reads in self.held.values() for read in reads}

    def _keep(self, reader: str, reads: set[Read]) -> None:
        self.held.pop(reader, None)
        if reads:
            self.held[reader] = reads


TestIndex = Index.TestCase
TestIndex.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)


@settings(max_examples=500)
@given(pairs, st.dictionaries(st.sampled_from(["r", "s", "t", "u", "v"]), st.sets(reads_of(st.just(DOC)), min_size=1, max_size=4)))
def test_the_index_answers_as_a_scan_does_for_every_record_of_a_change(pair: tuple[Value, Value], held: dict[str, set[Read]]) -> None:
    index: Readers[str] = Readers()
    for reader, reads in held.items():
        index.add(reader, reads)
    before, after = pair
    whole = [Change(DOC, (), before, after)] if diff(DOC, before, after) else []
    for change in [*diff(DOC, before, after), *whole]:
        assert set(index.readers_of(change)) == scan(held, change)


def test_B_26_a_read_that_changes_only_its_scope_moves() -> None:
    index: Readers[str] = Readers()
    index.add("r", [Read(DOC, ("a",))])
    index.update("r", [Read(ELSEWHERE, ("a",))], [Read(DOC, ("a",))])
    assert index.readers_of(Change(DOC, ("a",), 1, 2)) == []
    assert index.readers_of(Change(ELSEWHERE, ("a",), 1, 2)) == ["r"]
    assert list(index.entities()) == [ELSEWHERE]


def test_B_28_an_added_key_hits_the_container_and_not_its_other_keys() -> None:
    index: Readers[str] = Readers()
    for name, path, deep in (("a.x", ("a", "x"), True), ("a.y", ("a", "y"), True), ("deep a", ("a",), True), ("shallow a", ("a",), False), ("root", (), False)):
        index.add(name, [Read(DOC, path, deep)])
    assert sorted(index.readers_of(Change(DOC, ("a", "y"), MISSING, 1))) == ["a.y", "deep a", "shallow a"]


def test_TRIG_004_one_removal_takes_away_whatever_is_registered_now() -> None:
    index: Readers[str] = Readers()
    index.add("r", [Read(DOC, ("a",)), Read(DOC, ("b",), False)])
    index.update("r", [Read(OTHER, ("c", "d"))], [Read(DOC, ("a",))])
    index.update("r", [Read(DOC, ())], [])
    index.remove("r")
    index.remove("r")
    assert (len(index), "r" in index, list(index.entities()), index._tries, index._reads) == (0, False, [], {}, {})


def test_removing_all_readers_leaves_nothing_behind() -> None:
    index: Readers[int] = Readers()
    for n in range(500):
        index.add(n, [Read(DOC, ("value", str(n % 7), str(n), "x")), Read(DOC, ("value", str(n % 7)), False), Read(Entity("main", "space", str(n)), ())])
    index.check()
    for n in range(0, 500, 2):
        index.remove(n)
        assert index.reads_of(n) == ()
    index.check()
    assert len(index) == 250
    for n in range(1, 500, 2):
        index.remove(n)
    assert (index._tries, index._reads) == ({}, {})


def test_answers_come_in_the_order_of_registration() -> None:
    index: Readers[str] = Readers()
    names = [f"reader {n}" for n in range(50)]
    for name in reversed(names):
        index.add(name, [Read(DOC, ("a",))])
    assert index.readers_of(Change(DOC, ("a",), 1, 2)) == names[::-1]


@pytest.fixture
def visited(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The trie nodes that are compared below a changed position: work is counted, not timed."""
    seen: list[Any] = []
    visit = module._visit

    def counting(node: Any, before: Value, after: Value, found: dict[Any, None]) -> None:
        seen.append(node)
        visit(node, before, after, found)

    monkeypatch.setattr(module, "_visit", counting)
    return seen


def test_a_leaf_write_visits_no_reader_of_another_path(visited: list[Any]) -> None:
    index: Readers[int] = Readers()
    for n in range(10_000):
        index.add(n, [Read(DOC, ("value", "items", str(n), "price"))])
    assert index.readers_of(Change(DOC, ("value", "items", "500", "price"), 1, 2)) == [500]
    assert index.readers_of(Change(DOC, ("value", "items", "500", "name"), 1, 2)) == []
    assert visited == []


def test_a_small_record_above_many_readers_visits_no_more_of_them_than_it_has_keys(visited: list[Any]) -> None:
    index: Readers[int] = Readers()
    for n in range(10_000):
        index.add(n, [Read(DOC, ("value", "l", str(n)))])
    assert index.readers_of(Change(DOC, ("value", "l"), [], freeze(["x"]), 5000)) == [5000]
    assert len(visited) == 1
    visited.clear()
    assert index.readers_of(Change(DOC, ("value", "l"), freeze({"7": 1, "8": 1}), freeze({"7": 2, "8": 1, "9": 1}))) == [7, 9]
    assert len(visited) == 3


def test_check_names_the_invariant_that_is_broken() -> None:
    index: Readers[str] = Readers()
    index.add("r", [Read(DOC, ("a", "b"))])
    trie = index._tries[DOC]
    trie.take("r", ("a", "b"), True)
    with pytest.raises(BrokenInvariant, match="R2"):
        index.check()
    trie.put("r", ("a", "c"), True)
    with pytest.raises(BrokenInvariant, match="R1"):
        index.check()
