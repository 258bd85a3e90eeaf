"""The overlap queries: never fewer than the matcher finds, on patches exactly what the path rules say, by index, and without a write where nothing changed."""
from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path as Folder

import pytest
from harness.engines import BACKENDS, doc
from harness.ledger import Ledger, ledger
from harness.values import LEAVES, STEPS, paths, values
from hypothesis import given, settings
from hypothesis import strategies as st
from weft.scheduler.changes import diff
from weft.scheduler.errors import HistoryCollected, PatchApplyError, ProtocolError
from weft.scheduler.matching import matches, matches_naive
from weft.scheduler.model import Entity, Path, Read
from weft.scheduler.overlap import write_touches
from weft.scheduler.readers import Readers
from weft.scheduler.readset import ReadSet
from weft.scheduler.values import MISSING, Value, freeze
from weft.storage.commit import Patch, Set
from weft.storage.overlaps import Overlap
from weft.storage.patch import Add, AddUnique, Append, Increment, Move, PatchOp, Remove, RemoveByValue, Replace, Splice, apply
from weft.storage.tables import DELETE, PATCH, SET
from weft.storage.written import is_plain, named_paths, written_paths

A = doc("a")
SMALL = ("SCAN branches", "SCAN horizon", "SCAN CONSTANT ROW")  # tables of a few rows


@pytest.fixture(params=BACKENDS)
def log(request: pytest.FixtureRequest, tmp_path: Folder) -> Iterator[Ledger]:
    with ledger(request.param, tmp_path) as made:
        yield made


def read(*path: str, deep: bool = True, of: Entity = A) -> Read:
    return Read(of, ("value", *path), deep)


def hits(log: Ledger, reads: Sequence[Read], seq: int, branch: str = "") -> list[tuple[int, tuple[Read, ...]]]:
    return [(overlap.seq, overlap.reads) for overlap in log.overlaps.find_overlapping_writes_after(branch, reads, seq)]


def note(log: Ledger, owner: str, *reads: Read, branch: str = "") -> bool:
    with log.engine.transaction():
        return log.overlaps.note_readers(owner, reads, branch)


# random operations, over few words, so that they meet
_values = st.sampled_from([*LEAVES, [1, 2], {"a": 1}, {}, []]).map(freeze)
_below = st.lists(st.sampled_from((*STEPS, "-")), min_size=1, max_size=3).map(tuple)
_some = st.lists(_values, max_size=2).map(tuple)
operations: st.SearchStrategy[PatchOp] = st.one_of(
    st.builds(Replace, _below, _values),
    st.builds(Add, _below, _values),
    st.builds(Remove, _below),
    st.builds(Move, _below, _below),
    st.builds(Splice, paths, st.integers(0, 2), st.integers(0, 2), _some),
    st.builds(Append, _below, _some, st.booleans()),
    st.builds(AddUnique, _below, _some, st.booleans()),
    st.builds(RemoveByValue, _below, _values),
    st.builds(Increment, _below, st.just(1), st.booleans()),
)
_objects = values.filter(lambda value: isinstance(value, dict))


def applied(document: Value, ops: Sequence[PatchOp]) -> tuple[Value, tuple[PatchOp, ...]]:
    """The document after those of the operations that apply, and these."""
    kept: list[PatchOp] = []
    for op in ops:
        try:
            document = apply(document, [op])
        except (PatchApplyError, ProtocolError):
            continue
        kept.append(op)
    return document, tuple(kept)


@settings(max_examples=600, deadline=None)
@given(_objects | st.just(MISSING), st.lists(operations, min_size=1, max_size=4), st.lists(st.tuples(paths, st.booleans()), min_size=1, max_size=8))
def test_what_a_patch_writes_misses_nothing_that_the_matcher_finds(before: Value, ops: list[PatchOp], reads: list[tuple[Path, bool]]) -> None:
    after, kept = applied(before, ops)
    if not kept:
        return
    writes = written_paths(kept, before)
    for path, deep in reads:
        told = any(write_touches(write, path, deep) for write in writes)
        assert told or not matches_naive(before, after, path, deep), (path, deep, writes)
        assert told or not any(matches(change, path, deep) for change in diff(A, before, after))
        if before is not MISSING and is_plain(kept):
            assert told == any(write_touches(write, path, deep) for write in named_paths(kept))
    assert all(any(write == named[: len(write)] for named in named_paths(kept)) for write in writes)


def test_PER_034_the_rules_in_a_table(log: Ledger) -> None:
    log.set("a", {"a": {"x": 1}, "l": [1, 2]})
    reads = [read("a"), read("a", "x"), read("a", "y"), read("a", deep=False), read("l"), read("l", "0"), read("l", deep=False), read("l", "length")]
    table: list[tuple[PatchOp, str]] = [
        (Replace(("value", "a", "x"), 2), "11 1    "),  # a write to a direct child may be a new key: the path rule says so without a look
        (Add(("value", "a", "y"), 1), "1 11    "),
        (Replace(("value", "a"), 5), "1111    "),
        (Append(("value", "l"), (3,)), "    1111"),
        (Replace(("value", "l", "0"), 9), "    111 "),
        (Remove(("value", "l", "0")), "    1111"),
        (Add(("value", "new", "deep"), 1), "        "),
    ]
    for op, row in table:
        seq = log.patch("a", op)
        expected = tuple(read for read, mark in zip(reads, row, strict=True) if mark == "1")
        assert hits(log, reads, seq - 1) == ([(seq, expected)] if expected else []), op


def test_a_set_or_a_delete_overlaps_every_read_of_its_document_and_no_other(log: Ledger) -> None:
    log.set("a", {"x": 1})
    log.set("b", 1)
    reads = [read("x"), read(deep=False), Read(doc("b"), ("value",)), Read(doc("c"), ())]
    one = log.set("a", {"x": 1})
    two = log.delete("a")
    both = log.commit(Patch(doc("b"), (Increment(("value",), 1),)), Set(doc("d"), {"value": 0}))
    assert log.overlaps.find_overlapping_writes_after("", reads, 2) == [
        *(Overlap(one, 0, SET, A, tuple(reads[:2])), Overlap(two, 0, DELETE, A, tuple(reads[:2]))),
        Overlap(both, 0, PATCH, doc("b"), (reads[2],)),
    ]
    assert log.overlaps.find_overlapping_writes_after("", reads, 2, one) == [Overlap(one, 0, SET, A, tuple(reads[:2]))]
    assert hits(log, reads, both) == []


def test_a_patch_that_makes_its_way_touches_who_read_that_nothing_was_there(log: Ledger) -> None:
    log.set("a", {"k": 1})
    made = log.patch("a", Add(("value", "p", "q", "r"), 1))
    assert hits(log, [read("p", "other"), read(deep=False), read("k")], 1) == [(made, (read("p", "other"), read(deep=False)))]
    again = log.patch("a", Add(("value", "p", "q", "s"), 1))
    assert hits(log, [read("p", "other"), read(deep=False), read("k")], made) == []
    assert hits(log, [read("p", "q", deep=False)], made) == [(again, (read("p", "q", deep=False),))]
    gone = log.delete("a")
    born = log.patch("a", Replace(("value",), 1))
    assert [seq for seq, _ in hits(log, [Read(A, ("meta",))], gone - 1)] == [gone, born]
    assert hits(log, [Read(A, ("meta",))], born - 1) == [(born, (Read(A, ("meta",)),))]


def test_reads_of_another_space_and_nonsense_are_refused(log: Ledger) -> None:
    with pytest.raises(ProtocolError, match="that space's engine"):
        hits(log, [Read(Entity("elsewhere", "space", "a"), ())], 0)
    with pytest.raises(ProtocolError):
        hits(log, [], -1)
    with pytest.raises(ProtocolError, match="no branch"):
        hits(log, [], 0, "nowhere")


def test_a_branch_is_asked_about_what_it_shows(log: Ledger) -> None:
    base = log.set("a", {"x": 0, "y": 0})
    log.engine.fork("side")
    log.patch("a", Replace(("value", "x"), 1))
    assert hits(log, [read("x")], base, "side") == []
    own = log.patch("a", Replace(("value", "y"), 1), branch="side")
    assert hits(log, [read("x"), read("y")], base, "side") == [(own, (read("y"),))]
    assert hits(log, [read("x")], 0, "side") == [(base, (read("x"),))]


def test_where_history_was_collected_the_answer_is_no_guess(log: Ledger) -> None:
    log.set("still", 0)
    log.set("a", {"x": 0, "y": 0})
    log.patch("a", Replace(("value", "y"), 1))
    log.patch("a", Replace(("value", "y"), 2))
    log.engine.collect(4)
    with pytest.raises(HistoryCollected, match="cannot be told") as caught:
        hits(log, [read("x")], 2)
    assert caught.value.horizon == 4
    assert hits(log, [Read(doc("still"), ())], 1) == []
    assert hits(log, [read("x")], 4) == []
    log.patch("a", Replace(("value", "x"), 1))
    assert hits(log, [read("x"), read("y")], 4) == [(5, (read("x"),))]


@pytest.mark.parametrize("seed", range(5))
def test_the_log_is_asked_what_the_matcher_would_have_said(log: Ledger, seed: int) -> None:
    """A history of random patches, sets and deletes; after every one, the reads it hits must be told, and for a plain patch exactly those of the path rules."""
    chance = random.Random(seed)
    words = ("a", "b", "0", "1")
    def path(size: int) -> Path:
        return ("value", *(chance.choice(words) for _ in range(chance.randint(0, size))))
    def value() -> Value:
        return freeze(chance.choice([1, 2, "t", [], {}, [1, {"a": 2}], {"a": {"b": 1}, "0": [1]}]))
    log.set("a", {"a": {"b": 1}, "b": [1, 2, {"a": 1}]})
    reads = list(dict.fromkeys(Read(A, path(3), chance.random() < 0.6) for _ in range(30)))
    for _ in range(60):
        before, seq = log.engine.read(A).document, log.engine.head()
        made: list[PatchOp] = [Replace(path(3), value()), Add(path(3), value()), Remove(path(3)), Append(path(2), (value(),)), Move(path(2), path(2))]
        after, ops = applied(before, chance.sample(made, chance.randint(1, 3)))
        if chance.random() < 0.1:
            log.delete("a")
            ops, after = (), MISSING
        elif not ops or chance.random() < 0.1:
            log.set("a", after := value())
            ops, after = (), freeze({"value": after})
        else:
            log.patch("a", *ops)
        found = log.overlaps.find_overlapping_writes_after("", reads, seq)
        told = set(found[0].reads) if found else set()
        assert len(found) <= 1
        assert told >= {read for read in reads if matches_naive(before, after, read.path, read.deep)}
        assert told == {read for read in reads if not ops or any(write_touches(write, read.path, read.deep) for write in written_paths(ops, before))}
    whole = log.overlaps.find_overlapping_writes_after("", reads, 1)
    assert whole == [overlap for seq in range(1, log.engine.head()) for overlap in log.overlaps.find_overlapping_writes_after("", reads, seq, seq + 1)]


@pytest.mark.parametrize("seed", range(5))
def test_the_readers_of_a_write_are_those_of_the_path_rules_and_never_fewer_than_the_index_finds(log: Ledger, seed: int) -> None:
    chance = random.Random(seed)
    words = ("a", "b", "a/b", "~", "0", "", "a\uffff", "\u00e9")
    def path(size: int) -> Path:
        return tuple(chance.choice(words) for _ in range(chance.randint(0, size)))
    entities = (A, doc("b"), doc("a", "user"), Entity("elsewhere", "space", "a"))
    sets = {f"n{n}": [Read(chance.choice(entities), path(3), chance.random() < 0.6) for _ in range(chance.randint(0, 4))] for n in range(40)}
    trie: Readers[str] = Readers()
    for owner, reads in sets.items():
        assert note(log, owner, *[Read(A, ("first",))])
        note(log, owner, *reads)
        trie.add(owner, reads)
    for _ in range(80):
        of, writes = chance.choice(entities), [path(4) for _ in range(chance.randint(1, 3))]
        expected = sorted(owner for owner, reads in sets.items() if any(read.entity == of and write_touches(write, read.path, read.deep) for read in reads for write in writes))
        assert log.overlaps.find_readers_for_write(of, writes) == expected
        for before, after in ((MISSING, 1), (freeze({"a": 1}), {"a": 2, "b": 1}), (freeze([1]), [1, 2]), (1, 2)):
            for change in diff(of, before, freeze(after), writes[0]):
                assert set(trie.readers_of(change)) <= set(log.overlaps.find_readers_for_write(of, [change.path]))


def test_a_run_that_read_the_same_writes_nothing_and_equal_read_sets_are_kept_once(tmp_path: Folder) -> None:
    with ledger("sqlite", tmp_path) as log:
        connection = log.engine.tables.connection  # type: ignore[attr-defined]

        def rows() -> tuple[int, ...]:
            return tuple(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("read_sets", "reads", "readers"))

        assert note(log, "n", read("x"), read("y"))
        assert rows() == (1, 2, 1)
        known = connection.total_changes
        assert not note(log, "n", read("y"), read("x"), read("x"))
        assert connection.total_changes == known
        assert note(log, "m", read("y"), read("x"))
        assert rows() == (1, 2, 2)
        assert note(log, "n", read("z"))
        assert rows() == (2, 3, 2)
        known = connection.total_changes
        assert note(log, "n", read("x"), read("y"))
        assert rows() == (2, 3, 2)
        assert connection.total_changes == known + 1
        assert not log.overlaps.note_readers("n", ReadSet([read("x"), read("y")]))
        assert connection.total_changes == known + 1


def test_readers_belong_to_their_branch_and_an_owner_is_replaced_as_a_whole(log: Ledger) -> None:
    note(log, "n", read("x"))
    note(log, "n", read("y"), branch="side")
    find = log.overlaps.find_readers_for_write
    assert find(A, [("value", "x")]) == ["n"]
    assert find(A, [("value", "x")], "side") == []
    assert find(A, [("value", "y")], "side") == ["n"]
    note(log, "n", read("z"))
    assert find(A, [("value", "x")]) == []
    assert find(A, [("value", "z", "deeper")]) == ["n"]
    assert note(log, "n")
    assert find(A, [()]) == []
    assert not note(log, "n")


def test_what_is_rolled_back_was_never_noted(log: Ledger) -> None:
    note(log, "n", read("x"))
    log.engine.tables.begin()
    log.overlaps.note_readers("n", [read("y")])
    log.overlaps.note_readers("m", [read("y")])
    log.engine.tables.rollback()
    assert log.overlaps.find_readers_for_write(A, [()]) == ["n"]
    assert log.overlaps.find_readers_for_write(A, [("value", "y")]) == []
    assert note(log, "m", read("y"))
    assert log.overlaps.find_readers_for_write(A, [("value", "y")]) == ["m"]


def test_every_query_goes_by_an_index(tmp_path: Folder) -> None:
    with ledger("sqlite", tmp_path) as log:
        for n in range(50):
            log.set(f"d{n}", {"x": n})
            note(log, f"n{n}", Read(doc(f"d{n}"), ("value", "x")))
        connection, asked = log.engine.tables.connection, list[str]()  # type: ignore[attr-defined]
        connection.set_trace_callback(asked.append)
        assert log.overlaps.find_readers_for_write(doc("d7"), [("value", "x", "deeper"), ("value", "x")]) == ["n7"]
        assert len(hits(log, [Read(doc("d7"), ("value",))], 0)) == 1
        assert log.engine.list(limit=3, after="d3").ids == ("d30", "d31", "d32")
        connection.set_trace_callback(None)
        plans = {statement: [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")] for statement in asked if statement.startswith("SELECT")}
        assert [(step, plan) for plan in plans.values() for step in plan if step.startswith("SCAN") and step not in SMALL] == []
        steps = [step for plan in plans.values() for step in plan]
        for used in ("reads USING PRIMARY KEY (space=? AND scope=? AND id=? AND path", "readers USING COVERING INDEX reader_of_set", "revision_document", "head_key"):
            assert any(used in step for step in steps), (used, steps)
