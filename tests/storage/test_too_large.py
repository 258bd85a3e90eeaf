"""Patches that would make a document larger than can be stored whole are refused where they are written, with the path."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.engines import BACKENDS, Author, Rig, delete, doc, patch, put, replace, rig_on, value
from weft.scheduler.errors import NotStorable, PatchApplyError, ProtocolError, TooLarge
from weft.scheduler.model import Path as Steps
from weft.scheduler.rejection import Fate, rejection
from weft.scheduler.values import MAX_ITEMS, MAX_WEIGHT, freeze, weight
from weft.storage import algorithm
from weft.storage.engine import Engine
from weft.storage.patch import Add, AddUnique, Append, Increment, Move, PatchOp, Remove, Replace, Splice, apply
from weft.wire.codec import VALUES

D = doc("d")
FULL = {"list": [0] * MAX_ITEMS, "object": {str(n): 0 for n in range(MAX_ITEMS)}, "few": [1, 2]}


@pytest.fixture(params=BACKENDS)
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rig]:
    with rig_on(request.param, tmp_path) as made:
        yield made


GROWING: list[tuple[PatchOp, str]] = [
    (Append(("list",), (1,)), "/list"),
    (AddUnique(("list",), (1,)), "/list"),
    (Add(("list", "-"), 1), "/list"),
    (Add(("list", "5"), 1), "/list"),
    (Splice(("list",), 3, 1, (1, 2)), "/list"),
    (Splice(("list",), MAX_ITEMS, 5, (1,)), "/list"),
    (Add(("object", "new"), 1), "/object"),
    (Replace(("object", "new"), 1), "/object"),
    (Add(("object", "new", "below"), 1), "/object/new/below"),
    (Increment(("object", "new"), 1), "/object"),
    (Append(("object", "new"), (1,), True), "/object"),
    (Move(("few",), ("object", "few")), "/object"),
]


@pytest.mark.parametrize(("op", "where"), GROWING)
def test_no_operation_puts_one_item_too_many_into_a_list_or_an_object(op: PatchOp, where: str) -> None:
    with pytest.raises(TooLarge, match=f"^{where}: more than {MAX_ITEMS} items in one object or array"):
        apply(freeze(FULL), (op,))


FITTING: list[PatchOp] = [
    Splice(("list",), 3, 1, (1,)),
    Splice(("list",), 3, 5, (1, 2)),
    Replace(("list", "0"), 1),
    Replace(("object", "7"), 1),
    Add(("object", "7"), 1),
    Increment(("object", "7"), 1),
    AddUnique(("list",), (0,)),
    Append(("few",), (3,)),
]


@pytest.mark.parametrize("op", FITTING)
def test_what_is_full_can_still_be_changed(op: PatchOp) -> None:
    VALUES.encode(apply(freeze(FULL), (op,)))
    VALUES.encode(apply(freeze(FULL), (Remove(("list", "0")), Append(("list",), (1,)), Remove(("object", "0")), Add(("object", "new"), 1))))


def test_more_values_than_a_list_holds_are_refused_in_one_operation_too() -> None:
    with pytest.raises(ProtocolError, match=f"/new: {MAX_ITEMS + 1} values at once"):
        apply(freeze({}), (Append(("new",), (0,) * (MAX_ITEMS + 1), True),))


def test_the_error_is_one_of_a_value_and_of_a_patch_and_no_retry_helps() -> None:
    error = TooLarge("too much")
    assert isinstance(error, NotStorable)
    assert isinstance(error, PatchApplyError)
    assert rejection(error).fate is Fate.TERMINAL
    assert type(rejection(error).error()) is TooLarge


def test_a_patch_beyond_the_limit_is_refused_by_the_engine_and_collection_goes_on(rig: Rig) -> None:
    engine = rig.open()
    author = Author(engine)
    author.commit(put(D, [0] * MAX_ITEMS))
    error = author.refused(patch(D, Append(("value",), (1,))))
    assert isinstance(error, TooLarge)
    assert f"a patch of {D} cannot be stored: /value: more than {MAX_ITEMS} items" in str(error)
    author.commit(patch(D, Remove(("value", "0")), Append(("value",), (1,))))
    assert len(value(engine, D)) == MAX_ITEMS
    assert engine.collect(engine.head()).refused == ()
    assert len(value(rig.open("cold"), D)) == MAX_ITEMS


BLOCK = [0] * 100_000


def fill(author: Author) -> None:
    author.commit(put(D, {str(n): BLOCK for n in range(9)}))


def test_a_document_that_is_too_much_in_all_is_refused_with_the_path(rig: Rig) -> None:
    engine = rig.open()
    author = Author(engine)
    fill(author)
    error = author.refused(patch(D, Add(("value", "more"), BLOCK)))
    assert isinstance(error, TooLarge)
    assert f"/value/more: with this patch {D} is too much for one document" in str(error)
    author.commit(patch(D, Add(("value", "more"), BLOCK[:50_000])))
    assert isinstance(author.refused(patch(D, Append(("value", "more"), tuple(BLOCK[:60_000])))), TooLarge)
    author.commit(patch(D, Remove(("value", "0"))))
    author.commit(patch(D, Append(("value", "more"), tuple(BLOCK[:60_000]))))
    assert weight(engine.read(D).document) <= MAX_WEIGHT
    VALUES.encode(engine.read(D).document)


def test_what_a_refused_commit_would_have_left_is_not_taken_for_what_the_document_weighs(rig: Rig) -> None:
    engine = rig.open()
    author = Author(engine)
    fill(author)
    small = author.draft(replace(D, "/value", 0), patch(doc("absent"), Remove(("value", "x"))))  # refused after its first operation was weighed
    large = author.draft(put(D, {str(n): BLOCK for n in range(9)}, more=1))
    over = author.draft(patch(D, Add(("value", "more"), BLOCK)))
    verdicts = engine.apply([small, large, over])
    assert [type(verdict).__name__ for verdict in verdicts] == ["Rejected", "Accepted", "Rejected"]
    author.commit(delete(D))


def test_a_large_document_is_weighed_once_and_not_at_every_patch(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = rig.open()
    author = Author(engine)
    author.commit(put(D, {str(n): BLOCK for n in range(3)}, leaf=0))
    weighed: list[int] = []

    def counted(document: object) -> int:
        weighed.append(weight(document))
        return weighed[-1]

    monkeypatch.setattr(algorithm, "weight", counted)
    for n in range(50):
        author.commit(replace(D, "/leaf", n + 1))
    assert len(weighed) == 1


def at(engine: Engine, path: Steps) -> object:
    found = engine.read(D).document
    for step in path:
        found = found[step]
    return found


def test_one_document_that_cannot_be_written_whole_does_not_stop_a_collection(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = rig.open()
    author = Author(engine)
    for entity in (D, doc("e")):
        author.commit(put(entity, [0]))
        author.commit(patch(entity, Append(("value",), (1,))))
    encode = VALUES.encode

    def refuse(document: object) -> bytes:
        if document == {"value": [0, 1]} and not refused:
            refused.append(document)
            raise NotStorable("too much")
        return encode(document)

    refused: list[object] = []
    monkeypatch.setattr(engine.codec, "encode", refuse)
    collected = engine.collect(engine.head())
    assert (collected.documents, collected.refused) == (1, (f"{D}: too much",))
    assert at(engine, ("value",)) == [0, 1]
