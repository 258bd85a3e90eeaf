"""A put replaces the value of a document and nothing else: what others have said about the document meanwhile stays."""
from __future__ import annotations

from pathlib import Path

import pytest
import weft
from harness.view import Documents
from weft.scheduler.model import CommitId, Entity
from weft.scheduler.values import freeze
from weft.storage.commit import Accepted, Commit, Delete, Operation, Patch, Put, Rejected, Set
from weft.storage.direct import Direct
from weft.storage.document import operate
from weft.storage.engine import Engine, open_engine
from weft.storage.patch import Replace
from weft.storage.transaction import Transaction
from weft.wire.codec import VALUES

DOC = Entity("main", "space", "doc")
VALUE = ("value",)
STORES = ["memory:", "sqlite"]


@pytest.fixture(params=STORES)
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory:" if request.param == "memory:" else f"sqlite:{tmp_path}/store"


def engine(storage: str) -> Engine:
    return open_engine(storage, "main", runtime="test", codec=VALUES)


def put(value: object) -> Put:
    return Put(DOC, freeze({"value": value}))


def commit(n: int, *operations: Operation) -> Commit:
    return Commit(CommitId("p:s", n), operations)


def test_metadata_that_another_session_added_meanwhile_survives_a_blind_write(tmp_path: Path) -> None:
    """
    one   set(doc, 1) ............................. set(doc, 2), with the document of before in hand
    two   ............. get(doc); set(doc.meta, …)
    """
    doc = weft.cell("doc")
    with weft.Runtime(f"sqlite:{tmp_path}", placement="inline") as one, weft.Runtime(f"sqlite:{tmp_path}", placement="inline") as two:
        one.set(doc, 1).wait()
        assert two.get(doc) == 1
        two.set(doc.meta["slug"], "first").wait()
        one.set(doc, 2).wait()
        one.settled()
        two.settled()
    with weft.Runtime(f"sqlite:{tmp_path}", placement="inline") as later:
        assert (later.get(doc), later.get(doc.meta["slug"])) == (2, "first")


@pytest.mark.parametrize(
    ("before", "op", "after"),
    [
        ((), "set", {"value": 2}),
        ((Set(DOC, freeze({"value": 1})),), "set", {"value": 2}),
        ((Set(DOC, freeze({"value": 1, "slug": "s"})),), "patch", {"value": 2, "slug": "s"}),
        ((Set(DOC, freeze({"slug": "s"})),), "patch", {"value": 2, "slug": "s"}),
        ((Set(DOC, freeze({"value": 1, "slug": "s"})), Delete(DOC)), "set", {"value": 2}),
        ((Set(DOC, freeze({"value": 1})), Patch(DOC, (Replace(("slug",), "s"),))), "patch", {"value": 2, "slug": "s"}),
    ],
    ids=["absent", "a-value", "metadata", "metadata-alone", "deleted", "patched"],
)
def test_a_put_is_stored_as_a_set_where_there_is_nothing_but_a_value_and_else_as_a_patch(storage: str, before: tuple[Operation, ...], op: str, after: object) -> None:
    of = engine(storage)
    for n, operation in enumerate(before, 1):
        assert isinstance(of.apply([commit(n, operation)])[0], Accepted)
    (verdict,) = of.apply([commit(9, put(2))])
    assert isinstance(verdict, Accepted)
    assert [revision.op for revision in verdict.revisions] == [op]
    assert of.read(DOC).document == after
    (again,) = of.apply([commit(9, put(2))])
    assert again == verdict._replace(replayed=True)
    (other,) = of.apply([commit(9, Set(DOC, freeze({"value": 2})))])
    assert isinstance(other, Rejected)
    of.close()


def test_operations_of_one_commit_see_each_other(storage: str) -> None:
    of = engine(storage)
    (verdict,) = of.apply([commit(1, Set(DOC, freeze({"value": 1, "slug": "s"})), put(2), Delete(DOC), put(3))])
    assert isinstance(verdict, Accepted)
    assert [revision.op for revision in verdict.revisions] == ["set", "patch", "delete", "set"]
    (again,) = of.apply([commit(1, Set(DOC, freeze({"value": 1, "slug": "s"})), put(2), Delete(DOC), put(3))])
    assert again == verdict._replace(replayed=True)
    assert of.read(DOC).document == {"value": 3}
    of.close()


def test_a_put_of_more_than_a_value_is_refused() -> None:
    (verdict,) = engine("memory:").apply([commit(1, Put(DOC, freeze({"value": 1, "slug": "s"})))])
    assert isinstance(verdict, Rejected)
    assert verdict.rejection.name == "ProtocolError"


def test_an_optimistic_layer_shows_the_same() -> None:
    assert operate(freeze({"value": 1, "slug": "s"}), put(2)) == {"value": 2, "slug": "s"}
    assert operate(freeze({"slug": "s"}), put(2)) == {"value": 2, "slug": "s"}
    assert operate(weft.MISSING, put(2)) == {"value": 2}
    assert operate(freeze({"value": 1}), put(2)) == {"value": 2}


@pytest.mark.parametrize("value", [7, "text", {"rows": ["x" * 50] * 100}], ids=["number", "text", "large"])
def test_it_takes_the_shorter_way_as_a_set_does_and_leaves_it_where_there_is_metadata(value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    ways: list[bool] = []
    take = Direct.take

    def noted(self: Direct, *args: object) -> object:
        verdicts = take(self, *args)  # type: ignore[arg-type]
        ways.append(verdicts is not None)
        return verdicts

    monkeypatch.setattr(Direct, "take", noted)
    of, other = engine("memory:"), {"value": "other"}
    of.take([commit(1, put(value))])  # a document that never was
    of.take([commit(2, Put(DOC, freeze(other))), commit(3, put(value))])
    of.take([commit(4, Put(DOC, freeze(other)))])
    of.take([commit(5, put(value))])
    of.take([commit(6, Set(DOC, freeze({"value": value, "slug": "s"})))])
    of.take([commit(7, Put(DOC, freeze(other)))])
    assert ways == [False, True, True, True, True, False]
    assert of.read(DOC).document == {"value": "other", "slug": "s"}


def test_what_was_only_about_to_be_written_is_not_remembered() -> None:
    """A group that the shorter way gives up in the end leaves no trace, though sequence numbers were thought of."""
    of, large = engine("memory:"), freeze({"value": ["x" * 100] * 20})
    rich = freeze({"value": ["x" * 100] * 20, "slug": "s"})
    of.take([commit(1, Set(DOC, large))])
    of.take([commit(2, Put(DOC, large)), commit(3, Delete(Entity("main", "space", "other")))])
    of.take([commit(4, Set(DOC, rich))])
    of.take([commit(5, Put(DOC, large))])
    assert of.read(DOC).document == rich


@pytest.mark.parametrize(("known", "path", "kind"), [({}, VALUE, Put), ({"doc": 1}, VALUE, Put), ({"doc": 1}, (), Set)], ids=["absent", "value", "whole-document"])
def test_a_transaction_puts_a_value_and_sets_a_whole_document(known: dict[str, int], path: tuple[str, ...], kind: type[Set]) -> None:
    transaction = Transaction(Documents(**known), "main")
    transaction.set(DOC, path, 2 if path else {"value": 2})
    (proposal,) = transaction.finish()
    assert [(type(operation), operation) for operation in proposal.operations] == [(kind, (DOC, {"value": 2}))]
