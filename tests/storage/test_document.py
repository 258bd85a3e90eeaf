"""Documents: operations on them, their records, and the hash that a precondition names."""
from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from harness.operations import thawed
from harness.values import pairs
from harness.view import doc, linked
from hypothesis import given, settings
from weft.scheduler.errors import ProtocolError
from weft.scheduler.model import Change
from weft.scheduler.values import MISSING, Value, freeze, same
from weft.storage.commit import Delete, Patch, Set
from weft.storage.document import checked_document, operate, operate_recording, value_hash
from weft.storage.patch import Add, Replace

D = doc("d")


def test_a_set_replaces_a_patch_changes_and_a_delete_leaves_nothing() -> None:
    document = operate(MISSING, Set(D, {"value": {"a": 1}, "label": "x"}))
    assert document == {"value": {"a": 1}, "label": "x"}
    document = operate(document, Patch(D, (Replace(("value", "a"), 2), Add(("value", "b"), 3))))
    assert document == {"value": {"a": 2, "b": 3}, "label": "x"}
    assert operate(document, Set(D, {"value": 5})) == {"value": 5}
    assert operate(document, Delete(D)) is MISSING
    assert operate(MISSING, Delete(D)) is MISSING
    assert operate(MISSING, Patch(D, (Add(("value", "b"), 3),))) == {"value": {"b": 3}}


def test_STO_002_a_document_with_metadata_and_no_value_is_preserved() -> None:
    assert operate(MISSING, Set(D, {"source": "s"})) == {"source": "s"}


@pytest.mark.parametrize("root", [None, 5, "text", [1], b"x", MISSING, linked("x")])
def test_a_document_root_is_a_plain_object(root: Value) -> None:
    with pytest.raises(ProtocolError, match="stored documents must be plain object roots"):
        operate(MISSING, Set(D, root))


def test_a_document_that_cannot_be_stored_is_refused_with_the_path() -> None:
    with pytest.raises(ProtocolError, match="/value/when"):
        checked_document({"value": {"when": object()}})


def test_what_is_no_operation_is_refused() -> None:
    hostile: Any = ("set", D, {})
    with pytest.raises(ProtocolError, match="no operation"):
        operate(MISSING, hostile)


def test_records_of_set_and_delete_are_the_difference() -> None:
    before = freeze({"value": {"a": 1, "b": {"c": 2}}})
    after, changes = operate_recording(before, Set(D, {"value": {"a": 1, "b": {"c": 3}}}))
    assert changes == [Change(D, ("value", "b", "c"), 2, 3)]
    assert operate_recording(after, Delete(D)) == (MISSING, [Change(D, (), after, MISSING)])
    assert operate_recording(before, Set(D, thawed(before)))[1] == []
    assert operate_recording(MISSING, Delete(D)) == (MISSING, [])


def test_the_hash_is_type_strict_and_blind_to_the_order_of_keys() -> None:
    different: list[Value] = [
        None, True, False, 0, 1, 1.0, 0.0, -0.0, float("nan"), float("inf"), "", "1", b"1", b"", [], {}, [1], ["1"], [[1]], [1, 2], [[1], 2], [1, [2]], {"a": 1}, {"b": 1},
        {"a": {"b": 1}}, {"a": 1, "b": 1}, 2**63, -(2**63), linked("x"), linked("x", "a"), linked("x", space="s"), linked("y"), ["ab", "c"], ["a", "bc"], "l",
    ]  # fmt: skip
    hashes = [value_hash({"value": value}) for value in different]
    assert len(set(hashes)) == len(different)
    assert value_hash({"value": {"a": 1, "b": 2}}) == value_hash({"value": {"b": 2, "a": 1}})
    assert value_hash({"value": 1, "m": 1}) != value_hash({"value": 1})
    assert value_hash(MISSING) is None
    assert value_hash({}) is not None


@settings(max_examples=300, deadline=None)
@given(pairs)
def test_two_documents_hash_alike_iff_they_are_the_same(pair: tuple[Value, Value]) -> None:
    a, b = ({"value": value} if value is not MISSING else {} for value in pair)
    assert (value_hash(a) == value_hash(b)) == same(freeze(a), freeze(b))
    assert value_hash(a) == value_hash(thawed(a))


def test_the_hash_is_the_same_in_every_process() -> None:
    program = "from weft.storage.document import value_hash; print(value_hash({'value': {'b': [1, 1.5, 'x'], 'a': None}}).hex())"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "7"}).stdout.strip()
    mine = value_hash({"value": {"a": None, "b": [1, 1.5, "x"]}})
    assert mine is not None
    assert printed == mine.hex()
