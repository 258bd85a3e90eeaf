"""Patch operations: what they do to a document (STO-110 ... STO-122), what they refuse, and what they share."""
from __future__ import annotations

from typing import Any, cast

import pytest
from harness.view import doc, linked
from weft.scheduler.errors import PatchApplyError, ProtocolError
from weft.scheduler.model import ROOT, Change, Path, parent, parse_pointer, pointer
from weft.scheduler.overlap import overlaps
from weft.scheduler.values import MISSING, ReadOnlyDict, ReadOnlyList, Value, freeze, same
from weft.storage.patch import Add, AddUnique, Append, Increment, Move, PatchOp, Remove, RemoveByValue, Replace, Splice, Touch, apply, apply_recording, touched

NAN, INF = float("nan"), float("inf")


def p(text: str) -> Path:
    return parse_pointer(text)


def check(before: Value, op: PatchOp | list[PatchOp], after: Value) -> None:
    """The operations lead from one document to the other, and the one they start from stays as it was."""
    base = before if before is MISSING else freeze(before)
    kept = base if base is MISSING else freeze(thawed(base))
    result = apply(base, op if isinstance(op, list) else [op])
    assert same(result, freeze(after)), result
    assert same(base, kept)
    assert freeze(result) is result


def thawed(value: Value) -> Any:
    if isinstance(value, dict):
        return {key: thawed(item) for key, item in value.items()}
    return [thawed(item) for item in value] if isinstance(value, list) else value


def refused(before: Value, op: Any, kind: type[Exception] = PatchApplyError, saying: str | None = None) -> None:
    with pytest.raises(kind, match=saying):
        apply(freeze(before), [op])


def test_STO_049_path_primitives() -> None:
    path = ("value", "nested/key", "tilde~value", "0")
    assert pointer(path) == "/value/nested~1key/tilde~0value/0"
    assert parse_pointer(pointer(path)) == path
    assert parent(()) == ()
    assert parent(("value", "items", "0")) == ("value", "items")
    assert overlaps(("value",), ("value", "items", "0"))
    assert overlaps(path, path)
    assert not overlaps(("value", "items", "0"), ("value", "items", "1"))


def test_STO_110_mixed_operations() -> None:
    check(
        {"profile": {"name": "Alice"}, "tags": ["one"]},
        [Replace(p("/profile/name"), "Bob"), Add(p("/profile/title"), "Dr"), Splice(p("/tags"), 1, 0, ("two", "three"))],
        {"profile": {"name": "Bob", "title": "Dr"}, "tags": ["one", "two", "three"]},
    )


def test_replace_needs_its_parents_takes_a_new_key_and_only_an_existing_index() -> None:
    check({"a": {"x": 1}}, Replace(p("/a/x"), 2), {"a": {"x": 2}})
    check({"a": {}}, Replace(p("/a/x"), 2), {"a": {"x": 2}})
    check({"l": [1, 2]}, Replace(p("/l/1"), 3), {"l": [1, 3]})
    check({"a": 1}, Replace(ROOT, {"value": 1}), {"value": 1})
    refused({}, Replace(p("/a/x"), 1), saying="missing path at /a/x")
    for index in ("2", "-", "01", "-1", "x", "length", "99999999999999999999"):
        refused({"l": [1, 2]}, Replace(("l", index), 3), saying="missing path")


def test_add_makes_objects_on_the_way_and_never_elements() -> None:
    check({}, Add(p("/a/b/c"), 1), {"a": {"b": {"c": 1}}})
    check({"a": {"b": 1}}, Add(p("/a/b"), 2), {"a": {"b": 2}})
    check({"l": [1, 2]}, Add(p("/l/1"), 9), {"l": [1, 9, 2]})
    check({"l": [1, 2]}, Add(p("/l/2"), 9), {"l": [1, 2, 9]})
    check({"l": [1, 2]}, Add(p("/l/-"), 9), {"l": [1, 2, 9]})
    check({"l": [{}]}, Add(p("/l/0/a/b"), 1), {"l": [{"a": {"b": 1}}]})
    for path in ("/l/3", "/l/01", "/l/x", "/l/2/a", "/l/-/a"):
        refused({"l": [1, 2]}, Add(p(path), 9), saying="missing path")


def test_remove_needs_what_it_removes() -> None:
    check({"a": {"x": 1, "y": 2}}, Remove(p("/a/x")), {"a": {"y": 2}})
    check({"l": [1, 2, 3]}, Remove(p("/l/1")), {"l": [1, 3]})
    check({"a": None}, Remove(p("/a")), {})
    refused({"a": {}}, Remove(p("/a/x")), saying="missing path at /a/x")
    refused({"l": [1]}, Remove(p("/l/1")), saying="missing path")
    refused({"a": 5}, Remove(p("/a/x")), saying="not traversable")
    refused({"a": 1}, Remove(ROOT), ProtocolError)


def test_move_takes_out_and_puts_in() -> None:
    check({"a": {"x": 1}, "b": {}}, Move(p("/a/x"), p("/b/c/y")), {"a": {}, "b": {"c": {"y": 1}}})
    check({"l": ["a", "b", "c"]}, Move(p("/l/0"), p("/l/2")), {"l": ["b", "c", "a"]})
    check({"a": 1}, Move(p("/a"), p("/a")), {"a": 1})
    refused({"a": 1}, Move(p("/b"), p("/c")), saying="missing path at /b")
    refused({"a": {"b": {}}}, Move(p("/a"), p("/a/b/c")), ProtocolError, "into what it moves")
    refused({"a": 1}, Move(ROOT, p("/a")), ProtocolError)
    refused({"a": 1}, Move(p("/a"), ROOT), ProtocolError)


def test_a_moved_value_lies_no_deeper_than_a_document_may_be() -> None:
    deep = freeze({"x": {"x": {}}})
    way = ("a",) * 97
    apply(freeze({"v": deep, "a": {}}), [Move(p("/v"), way)])
    refused({"v": deep}, Move(p("/v"), (*way, "a")), saying="levels deep")
    grown: list[PatchOp] = [Add(p("/v"), {}), Move(p("/v"), p("/w")), Add(p("/w/x/x"), {}), Move(p("/w"), (*way, "a"))]
    with pytest.raises(PatchApplyError, match="levels deep"):  # it has grown since it was first moved
        apply(freeze({}), grown)


def test_splice_replaces_a_stretch_of_a_list() -> None:
    check({"l": [1, 2, 3]}, Splice(p("/l"), 1, 1, (7, 8)), {"l": [1, 7, 8, 3]})
    check({"l": [1]}, Splice(p("/l"), 1, 5, (2,)), {"l": [1, 2]})
    refused({"l": [1]}, Splice(p("/l"), 2, 0, (2,)), saying="a splice at 2 of a list of 1")
    refused({"l": {}}, Splice(p("/l"), 0, 0, (2,)), saying="needs a list")
    refused({}, Splice(p("/l"), 0, 0, (2,)), saying="missing path")
    for index, gone in ((-1, 0), (0, -1), (True, 0), (0, False), (1.0, 0), ("0", 0)):
        refused({"l": [1]}, Splice(p("/l"), index, gone, ()), ProtocolError, "/l: a splice at")  # type: ignore[arg-type]


def test_STO_115_non_traversable_parent() -> None:
    refused({"a": {"b": 5}}, Replace(p("/a/b/c"), 1), saying="path is not traversable at /a/b/c")
    refused({"a": 5}, Add(p("/a/b/c"), 1), saying="path is not traversable at /a/b/c")
    refused({"a": None}, Add(p("/a/b"), 1), saying="path is not traversable at /a/b")
    refused({"a": linked("x")}, Add(p("/a/b"), 1), saying="path is not traversable at /a/b")


def test_STO_118_append() -> None:
    check({"value": ["a", "b"]}, Append(p("/value"), ("c",)), {"value": ["a", "b", "c"]})
    check({"value": ["a"]}, [Append(p("/value"), ("b",)), Append(p("/value"), ("c",))], {"value": ["a", "b", "c"]})
    check({}, Append(p("/value"), ("x",)), {"value": ["x"]})
    check({"value": {}}, Append(p("/value/items"), (1, 2)), {"value": {"items": [1, 2]}})
    refused({"value": "text"}, Append(p("/value"), ("c",)), saying="/value: append needs a list")
    refused({"value": {}}, Append(p("/value"), ("c",)), saying="/value: append needs a list")
    refused({"value": [1]}, Append(p("/value/1"), ("c",)), saying="missing path")


def test_STO_119_add_unique() -> None:
    check({"value": ["a", "b"]}, AddUnique(p("/value"), ("b", "c", "c")), {"value": ["a", "b", "c"]})
    check({"value": ["a"]}, AddUnique(p("/value"), ("a",)), {"value": ["a"]})
    check({}, AddUnique(p("/value"), ("x", "x")), {"value": ["x"]})
    check({"value": [{"id": 1}]}, AddUnique(p("/value"), ({"id": 1}, {"id": 2})), {"value": [{"id": 1}, {"id": 2}]})
    check({"value": [b"one"]}, AddUnique(p("/value"), (b"one", b"two")), {"value": [b"one", b"two"]})
    check({"value": [NAN]}, AddUnique(p("/value"), (NAN,)), {"value": [NAN]})
    check({"value": [-0.0]}, AddUnique(p("/value"), (0.0,)), {"value": [-0.0, 0.0]})
    check({"value": [1]}, AddUnique(p("/value"), (True, 1.0)), {"value": [1, True, 1.0]})
    refused({"value": 5}, AddUnique(p("/value"), (1,)), saying="add-unique needs a list")


def test_STO_120_increment() -> None:
    check({"count": 5}, Increment(p("/count"), 3), {"count": 8})
    check({"count": 0}, [Increment(p("/count"), 1), Increment(p("/count"), 1)], {"count": 2})
    check({}, Increment(p("/count"), 4), {"count": 4})
    check({"value": {}}, Increment(p("/value/n"), -2), {"value": {"n": -2}})
    check({"scores": [10, 20, 30]}, Increment(p("/scores/1"), 5), {"scores": [10, 25, 30]})
    check({"count": 1}, Increment(p("/count"), 0.5), {"count": 1.5})
    refused({"count": "five"}, Increment(p("/count"), 1), saying="/count: increment needs a number")
    refused({"count": True}, Increment(p("/count"), 1), saying="/count: increment needs a number")
    refused({"scores": [1]}, Increment(p("/scores/1"), 1), saying="missing path")
    refused({"count": 2**64 - 1}, Increment(p("/count"), 1), saying="/count")
    for by in (0, 0.0, -0.0, NAN, INF, -INF, True, "1", None, 2**70):
        refused({"count": 5}, Increment(p("/count"), by), ProtocolError, "/count")  # type: ignore[arg-type]
    refused({"count": 5}, Increment(ROOT, 1), ProtocolError)


def test_STO_121_remove_by_value() -> None:
    one, other = linked("one"), linked("other")
    check({"l": ["a", "b", "a", "c"]}, RemoveByValue(p("/l"), "a"), {"l": ["b", "c"]})
    check({"l": [one, other]}, RemoveByValue(p("/l"), linked("one")), {"l": [other]})
    check({"l": [b"1", b"2"]}, RemoveByValue(p("/l"), b"1"), {"l": [b"2"]})
    check({"l": [NAN, 1]}, RemoveByValue(p("/l"), NAN), {"l": [1]})
    check({"l": [-0.0, 0.0]}, RemoveByValue(p("/l"), 0.0), {"l": [-0.0]})
    check({"l": ["a", "b"]}, RemoveByValue(p("/l"), "z"), {"l": ["a", "b"]})
    check({}, RemoveByValue(p("/l"), "a"), {})
    check({"items": [["a"]]}, RemoveByValue(p("/items/5/inner"), "a"), {"items": [["a"]]})
    check({"l": "aa"}, RemoveByValue(p("/l"), "a"), {"l": "aa"})


def test_STO_122_document_level_replay() -> None:
    check(MISSING, Add(p("/value"), {"count": 1}), {"value": {"count": 1}})
    refused({"value": {"count": 1}}, Replace(ROOT, 5), ProtocolError, "patched root is not an entity document")
    refused({"value": {"count": 1}}, Add(ROOT, [1]), ProtocolError, "patched root is not an entity document")


def test_a_patch_is_all_or_nothing() -> None:
    base = freeze({"a": {"x": 1}, "l": [1]})
    with pytest.raises(PatchApplyError):
        apply(base, [Replace(p("/a/x"), 2), Append(p("/l"), (2,)), Remove(p("/none"))])
    assert same(base, freeze({"a": {"x": 1}, "l": [1]}))


def test_what_is_not_touched_is_the_identical_object() -> None:
    base = freeze({"value": {"items": [{"n": n} for n in range(100)], "other": {"deep": [1]}}, "meta": {"m": 1}})
    after = apply(base, [Replace(p("/value/items/7/n"), -1), Append(p("/value/items"), ({"n": 100},)), Increment(p("/value/items/8/n"), 1)])
    assert after["meta"] is base["meta"]
    assert after["value"]["other"] is base["value"]["other"]
    assert all(after["value"]["items"][n] is base["value"]["items"][n] for n in range(100) if n not in (7, 8))
    assert (type(after), type(after["value"]["items"])) == (ReadOnlyDict, ReadOnlyList)


def test_an_operation_without_effect_gives_the_identical_document() -> None:
    base = freeze({"l": [1, 2]})
    assert apply(base, [RemoveByValue(p("/l"), 3), AddUnique(p("/l"), (1,)), Append(p("/l"), ()), RemoveByValue(p("/none/at/all"), 1)]) is base


def test_operands_stay_as_they_were_when_later_operations_change_what_they_became() -> None:
    operand = freeze({"x": 1, "l": [1]})
    after = apply(freeze({}), [Add(p("/a"), operand), Replace(p("/a/x"), 2), Append(p("/a/l"), (2,))])
    assert same(after, freeze({"a": {"x": 2, "l": [1, 2]}}))
    assert same(operand, freeze({"x": 1, "l": [1]}))


def test_hostile_operations_are_refused_with_a_protocol_error_and_nothing_else() -> None:
    nested: Any = []
    for _ in range(150):
        nested = [nested]
    replace, append, splice, increment, move, remove = (cast(Any, kind) for kind in (Replace, Append, Splice, Increment, Move, Remove))
    hostile: list[Any] = [
        None, "replace", ("replace", ("a",), 1), {}, replace("a", 1), replace(["a"], 1), replace((1,), 1), replace(("\ud800",), 1), replace(None, 1), Add(("a",) * 101, 1),
        replace(("a",), {1: 2}), replace(("a",), (1,)), replace(("a",), {"b": {1, 2}}), replace(("a",), nested), replace(("a",), 2**80), replace(("a",), MISSING),
        append(("a",), [1]), append(("a",), None), AddUnique(("a",), (object(),)), RemoveByValue(("a",), object()), splice(("a",), 0, 0, None), increment(("a",), [1]),
        move("ab", ("a",)), remove(7),
    ]  # fmt: skip
    for op in hostile:
        with pytest.raises(ProtocolError):
            apply(freeze({"a": [1]}), [op])


def test_nothing_gets_deeper_than_a_document_may_be() -> None:
    base = freeze({})
    apply(base, [Add(("a",) * 100, 1)])
    refused(base, Add(("a",) * 100, {}), ProtocolError, "levels deep")
    refused(base, Append(("a",) * 99, ({},)), ProtocolError, "levels deep")


def test_touched_paths() -> None:
    ops: list[PatchOp] = [
        Replace(p("/a"), 1), Add(p("/b/c"), 1), Remove(p("/d")), Move(p("/e"), p("/f")), Splice(p("/g"), 0, 1, ()), Append(p("/h"), (1,)), Append(p("/i"), (1,), True),
        AddUnique(p("/j"), (1,), True), RemoveByValue(p("/k"), 1), Increment(p("/l"), 1), Increment(p("/m"), 1, True),
    ]  # fmt: skip
    assert touched(ops) == (
        Touch(p("/a"), False), Touch(p("/b/c"), True), Touch(p("/d"), True), Touch(p("/e"), True), Touch(p("/f"), True), Touch(p("/g"), False), Touch(p("/h"), False),
        Touch(p("/i"), True), Touch(p("/j"), True), Touch(p("/k"), False), Touch(p("/l"), False), Touch(p("/m"), True),
    )  # fmt: skip


def test_the_record_of_an_append_holds_the_new_elements_and_not_the_old() -> None:
    base = freeze({"value": [{"n": n} for n in range(1000)]})
    _, changes = apply_recording(doc("d"), base, [Append(p("/value"), ("x",))])
    assert changes == [Change(doc("d"), p("/value"), [], ["x"], 1000)]


def test_operations_that_cancel_out_leave_no_record() -> None:
    base = freeze({"value": {"a": 1, "l": [1]}})
    ops: list[PatchOp] = [Increment(p("/value/a"), 1), Increment(p("/value/a"), -1), Append(p("/value/l"), (2,)), Splice(p("/value/l"), 1, 1, ()), Add(p("/x"), 1), Remove(p("/x"))]
    assert apply_recording(doc("d"), base, ops)[1] == []
