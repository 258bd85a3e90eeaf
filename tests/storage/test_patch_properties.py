"""What holds for every patch: records say what a comparison of the documents says, touched paths cover every change, nothing that was given changes."""
from __future__ import annotations

import random

from harness.operations import drawn, positions, thawed
from harness.replica_model import applied
from harness.values import STEPS, values
from harness.view import doc
from hypothesis import given, settings
from hypothesis import strategies as st
from weft.scheduler.changes import diff
from weft.scheduler.errors import PatchApplyError, ProtocolError
from weft.scheduler.matching import matches, matches_naive
from weft.scheduler.model import Path
from weft.scheduler.overlap import overlaps
from weft.scheduler.values import MISSING, ReadOnlyList, Value, freeze, same
from weft.storage.conflicts import operation_touches
from weft.storage.patch import Append, PatchOp, Remove, Replace, Splice, apply, apply_recording, touched

D = doc("d")
bases = st.builds(lambda value, meta: freeze({"value": value, **meta}), values, st.dictionaries(st.sampled_from(("m", "n")), values, max_size=1))
seeds = st.integers(0, 2**32)


def patch_for(document: Value, seed: int, *, indexed: bool) -> tuple[list[PatchOp], Value]:
    """Up to four operations that apply one after another."""
    chance = random.Random(seed)
    ops: list[PatchOp] = []
    for _ in range(chance.randint(1, 4)):
        op = drawn(document, chance, indexed=indexed)
        try:
            document = apply(document, [op])
        except (PatchApplyError, ProtocolError):
            continue
        ops.append(op)
    return ops, document


def readers(*documents: Value) -> set[Path]:
    found: set[Path] = set()
    for document in documents:
        for path, _ in positions(document):
            found.add(path)
            found.update((*path, step) for step in STEPS)
            found.add((*path, "a", "b"))
    return found


@settings(max_examples=300, deadline=None)
@given(bases, seeds)
def test_the_records_of_a_patch_match_the_readers_that_a_comparison_matches(base: Value, seed: int) -> None:
    ops, after = patch_for(base, seed, indexed=True)
    result, changes = apply_recording(D, base, ops)
    assert same(result, after)
    for path in readers(base, after):
        for deep in (True, False):
            assert any(matches(change, path, deep) for change in changes) == matches_naive(base, after, path, deep), (path, deep, ops)


@settings(max_examples=300, deadline=None)
@given(bases, seeds)
def test_the_records_of_a_patch_lead_from_the_one_document_to_the_other(base: Value, seed: int) -> None:
    ops, after = patch_for(base, seed, indexed=True)
    document = thawed(base)
    for change in apply_recording(D, base, ops)[1]:
        document = applied(document, change)
    assert same(document, after)


@settings(max_examples=300, deadline=None)
@given(bases, seeds)
def test_one_application_of_several_operations_is_several_applications_of_one(base: Value, seed: int) -> None:
    before = thawed(base)
    ops, after = patch_for(base, seed, indexed=True)
    assert same(apply(base, ops), after)
    assert same(base, before)


@settings(max_examples=300, deadline=None)
@given(bases, seeds)
def test_every_change_is_overlapped_by_a_touched_path(base: Value, seed: int) -> None:
    ops, after = patch_for(base, seed, indexed=False)
    paths = [touch.path for touch in touched(ops)]
    for change in diff(D, base, after):
        assert any(overlaps(change.path, path) for path in paths), (change, ops)


@settings(max_examples=300, deadline=None)
@given(bases, seeds)
def test_whatever_value_a_reader_sees_changed_its_deep_read_is_touched(base: Value, seed: int) -> None:
    ops, after = patch_for(base, seed, indexed=False)
    for path in readers(base, after):
        if matches_naive(base, after, path, True):
            assert operation_touches("patch", tuple(ops), path, True), (path, ops)


def test_a_patch_on_no_document_is_one_record_at_the_root() -> None:
    after, changes = apply_recording(D, MISSING, [Append(("value",), (1,))])
    assert [(change.path, change.before, change.after) for change in changes] == [((), MISSING, after)]


def test_leaf_edits_and_a_splice_of_one_list_are_recorded_side_by_side() -> None:
    base = freeze({"value": [{"n": n} for n in range(50)]})
    ops: list[PatchOp] = [Replace(("value", "3", "n"), -3), Splice(("value",), 48, 1, ("x", "y")), Replace(("value", "47", "n"), -47)]
    after, changes = apply_recording(D, base, ops)
    assert sorted(change.path for change in changes) == [("value",), ("value", "3", "n"), ("value", "47", "n"), ("value", "48"), ("value", "49")]
    assert [list(change.after) for change in changes if change.kept == 50] == [[freeze({"n": 49})]]
    assert same(after["value"][48:], ReadOnlyList(["x", "y", freeze({"n": 49})]))


def test_many_elements_that_move_are_one_record_of_the_list() -> None:
    base = freeze({"value": [{"n": n} for n in range(50)]})
    ops: list[PatchOp] = [Replace(("value", "0", "n"), -1), Remove(("value", "1"))]
    after, changes = apply_recording(D, base, ops)
    assert [(change.path, change.kept) for change in changes] == [(("value",), -1)]
    assert same(applied(thawed(base), changes[0]), after)
