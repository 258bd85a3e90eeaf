"""The log of one space: what a commit leaves, how documents are read from it, now and as they were (scenarios 2.1 to 2.3)."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from harness.engines import BACKENDS, Author, Rig, accepted, confirmed, delete, doc, patch, put, refused, replace, rig_on, value
from weft.scheduler.errors import ConflictError, CorruptRow, NotStorable, ProtocolError
from weft.scheduler.model import Address, CommitId, Entity
from weft.scheduler.values import MISSING, freeze, same
from weft.storage.commit import Accepted, Commit, Delete, EntityAbsent, Operation, Patch, Provenance, Revision, Set
from weft.storage.engine import Landed
from weft.storage.link import Delivered
from weft.storage.patch import Add, AddUnique, Append, Increment, Move, Remove, RemoveByValue, Replace, Splice

D = doc()


@pytest.fixture(params=BACKENDS)
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rig]:
    with rig_on(request.param, tmp_path) as made:
        yield made


def test_STO_002_a_document_with_metadata_and_no_value_is_preserved(rig: Rig) -> None:
    engine = rig.open()
    Author(engine).commit(Set(D, {"source": {"id": "a"}}))
    assert engine.read(D).document == {"source": {"id": "a"}}
    assert rig.open("other").read(D).document == {"source": {"id": "a"}}


def test_STO_004_patch_revisions_replay_for_head_and_point_in_time_reads(rig: Rig) -> None:
    engine = rig.open()
    author = Author(engine)
    author.commit(Set(D, {"profile": {"name": "Alice"}, "tags": ["one"]}))
    ops = (Replace(("profile", "name"), "Bob"), Add(("profile", "title"), "Dr"), Splice(("tags",), 1, 0, ("two", "three")))
    verdict = author.commit(Patch(D, ops))
    after = {"profile": {"name": "Bob", "title": "Dr"}, "tags": ["one", "two", "three"]}
    assert verdict.revisions == (Revision(D, "", 2, 0, "patch", ops),)
    for reader in (engine, rig.open("other")):
        assert reader.read(D) == Delivered(D, 2, CommitId("s", 2), after)
        assert reader.read(D, at=2).document == after
        assert reader.read(D, at=1) == Delivered(D, 1, CommitId("s", 1), {"profile": {"name": "Alice"}, "tags": ["one"]})
        assert reader.read(D, at=0) == Delivered(D, 0, None, MISSING)
    head = engine.tables.head("", D)
    assert head is not None
    (row,) = engine.tables.revisions(head.number, 1, 2)
    assert (row.seq, row.op_index, row.op, engine._current.history.operations(row, head)) == (2, 0, "patch", ops)


def test_every_patch_operation_comes_back_from_its_row_as_it_was(rig: Rig) -> None:
    engine = rig.open()
    author = Author(engine)
    link = freeze({"to": [1.5, None, b"x", -0.0]})
    author.commit(put(D, {"a": {"b": 1}, "l": [1], "m": ["x"]}))
    ops = (
        *(Replace(("value", "a", "b"), 2), Add(("value", "n"), link), Remove(("value", "a", "b")), Move(("value", "n"), ("value", "o"))),
        *(Splice(("value", "l"), 0, 1, (freeze({"k": 1}), 2)), Append(("value", "p"), (1, "x"), True), AddUnique(("value", "m"), ("x", "y"))),
        *(RemoveByValue(("value", "m"), "x"), Increment(("value", "q"), 2.5, True), Increment(("value", "r"), -1, True)),
    )
    author.commit(Patch(D, ops))
    head = engine.tables.head("", D)
    assert head is not None
    (row,) = engine.tables.revisions(head.number, 1, 2)
    assert engine._current.history.operations(row, head) == ops
    assert same(rig.open("other").read(D).document, engine.read(D).document)
    assert engine.read(D).document == {"value": {"a": {}, "l": [{"k": 1}, 2], "m": ["y"], "o": link, "p": [1, "x"], "q": 2.5, "r": -1}}


def test_STO_005_several_operations_on_one_document_apply_in_order(rig: Rig) -> None:
    engine = rig.open()
    author = Author(engine)
    author.commit(put(D, {"a": 1}))
    verdict = author.commit(patch(D, Add(("value", "b"), 2)), put(D, {"c": 3}), patch(D, Add(("value", "d"), 4)), delete(D))
    assert [(revision.op_index, revision.op) for revision in verdict.revisions] == [(0, "patch"), (1, "set"), (2, "patch"), (3, "delete")]
    assert engine.read(D) == Delivered(D, 2, CommitId("s", 2), MISSING)
    assert rig.open("other").read(D) == Delivered(D, 2, CommitId("s", 2), MISSING)
    author.commit(patch(D, Add(("value",), freeze({"e": 5}))), patch(D, Add(("value", "f"), 6)))
    assert value(rig.open("third"), D) == {"e": 5, "f": 6}


def test_STO_006_a_snapshot_is_taken_at_the_interval_and_shortens_the_replay(rig: Rig) -> None:
    engine = rig.open(snapshot_interval=2)
    author = Author(engine)
    author.commit(put(D, ["one"]))
    for index, word in enumerate(("two", "three")):
        author.commit(patch(D, Splice(("value",), index + 1, 0, (word,))))
    head = engine.tables.head("", D)
    assert head is not None
    snapshot = engine.tables.snapshot(head.number, 99)
    assert snapshot is not None
    assert (snapshot.seq, engine.codec.decode(snapshot.data)) == (3, {"value": ["one", "two", "three"]})
    author.commit(patch(D, Splice(("value",), 3, 0, ("four",))))
    rig.remove_revision(2)
    cold = rig.open("other")
    assert value(cold, D, at=3) == ["one", "two", "three"]
    assert value(cold, D) == ["one", "two", "three", "four"]


def test_STO_009_a_commit_whose_later_operation_fails_leaves_nothing(rig: Rig) -> None:
    engine = rig.open()
    author = Author(engine)
    author.commit(put(D, {"a": 1}))
    error = author.refused(put(doc("new"), 1), replace(D, "/value/a", 2), patch(D, Remove(("value", "gone"))))
    assert isinstance(error, ConflictError)
    for reader in (engine, rig.open("other")):
        assert value(reader, D) == {"a": 1}
        assert reader.read(doc("new")) == Delivered(doc("new"), 0, None, MISSING)
    assert author.commit(put(doc("new"), 2)).seq == 2


def test_STO_014_the_acknowledgement_names_what_was_written(rig: Rig) -> None:
    engine = rig.open()
    verdict = Author(engine).commit(put(doc("doc:1"), "hello"))
    revision = Revision(doc("doc:1"), "", 1, 0, "set", {"value": "hello"})
    assert verdict == Accepted(CommitId("s", 1), 1, "", (revision,))
    assert (engine.head(), engine.read(doc("doc:1")).seq) == (1, 1)


@pytest.mark.parametrize("what", [[1, 2], 5, None, "text"])
def test_STO_015_a_stored_document_that_is_no_object_is_refused(rig: Rig, what: object) -> None:
    Author(rig.open()).commit(put(D, 1))
    rig.alter_revision(1, data=what)
    with pytest.raises(CorruptRow, match=r"stored documents must be plain object roots: revision 1\.0 of main:doc"):
        rig.open("other").read(D)


def test_STO_015_an_unknown_word_for_an_operation_is_refused(rig: Rig) -> None:
    Author(rig.open()).commit(put(D, 1))
    rig.alter_revision(1, op="upsert")
    with pytest.raises(CorruptRow, match=r"unexpected stored revision op 'upsert' in revision 1\.0 of main:doc"):
        rig.open("other").read(D)


@pytest.mark.parametrize(
    "what", [b"\xc1", b"", [["replace", ["value"]]], [["swap", ["value"], 1]], [["replace", "value", 1]], [["append", ["value"], 1, False]], {"a": 1}, [], [5]]
)
def test_a_stored_patch_that_is_none_is_refused_and_named(rig: Rig, what: object) -> None:
    author = Author(rig.open())
    author.commit(put(D, 1))
    author.commit(replace(D, "/value", 2))
    rig.alter_revision(2, data=what)
    cold = rig.open("other")
    with pytest.raises(CorruptRow, match=r"revision 2\.0 of main:doc"):
        cold.read(D)
    assert value(cold, D, at=1) == 1
    assert isinstance(Author(cold, "t").refused(replace(D, "/value", 3)), CorruptRow)
    assert isinstance(Author(cold, "u").refused(put(doc("x"), 1), confirmed=[confirmed(D, "/value", 1)]), CorruptRow)
    assert Author(cold, "t").commit(put(doc("neighbour"), 1), local=9).seq == 3


def test_patches_that_do_not_apply_to_what_went_before_them_are_refused(rig: Rig) -> None:
    author = Author(rig.open())
    author.commit(put(D, {"a": 1}))
    author.commit(replace(D, "/value/a", 2))
    rig.alter_revision(1, data={"value": 5})
    with pytest.raises(CorruptRow, match="the patches of main:doc up to 2 do not apply to what went before them"):
        rig.open("other").read(D)


def test_a_log_that_ends_before_its_head_or_begins_after_its_birth_is_refused(rig: Rig) -> None:
    author = Author(rig.open())
    for number in (1, 2):
        author.commit(patch(doc(f"d{number}"), Add(("value",), number)))
        author.commit(replace(doc(f"d{number}"), "/value", 0))
    rig.remove_revision(2)
    rig.remove_revision(3)
    cold = rig.open("other")
    with pytest.raises(CorruptRow, match="main:d1 has its newest revision at 2, and the log ends at 1"):
        cold.read(doc("d1"))
    with pytest.raises(CorruptRow, match="main:d2 was first written at 3, and the log begins at 4"):
        cold.read(doc("d2"))


def test_STO_021_replay_detection_runs_before_precondition_checks(rig: Rig) -> None:
    engine = rig.open()
    commit = Author(engine).draft(put(D, {"receipt": 1}), preconditions=[EntityAbsent(D)])
    first = accepted(engine, commit)
    assert accepted(engine, commit) == first._replace(replayed=True)
    assert accepted(rig.open("other"), commit) == first._replace(replayed=True)
    assert [landed.seq for landed in rig.open("third").after(0)] == [1]


def test_STO_021_a_commit_sent_twice_in_one_group_is_taken_once(rig: Rig) -> None:
    engine = rig.open()
    commit = Author(engine).draft(patch(D, Increment(("value",), 1, True)))
    first, second = engine.apply([commit, commit])
    assert isinstance(first, Accepted)
    assert second == first._replace(replayed=True)
    assert (value(engine, D), engine.head()) == (1, 1)


def test_STO_022_changed_content_under_a_replayed_key_is_refused(rig: Rig) -> None:
    engine = rig.open()
    author = Author(engine)
    author.commit(put(D, {"receipt": 1}), preconditions=[EntityAbsent(D)])
    for reader in (engine, rig.open("other")):
        error = refused(reader, author.draft(put(D, {"receipt": 2}), preconditions=[EntityAbsent(D)], local=1))
        assert isinstance(error, ProtocolError)
        assert "commit replay mismatch" in str(error)
        assert value(reader, D) == {"receipt": 1}


def _variants() -> list[Commit]:
    why = Provenance("n", 1, (Address("main", "space", "t", ("value",)),), "e")
    base = Commit(CommitId("s", 1), (put(D, 1), Delete(doc("x"))), (confirmed(D, "/value", 0),), (), (), why)
    operations: list[tuple[Operation, ...]] = [(put(D, 1.0), Delete(doc("x"))), (put(D, True), Delete(doc("x"))), (Delete(doc("x")), put(D, 1)), (put(D, 1), Delete(doc("y")))]
    reads = [(), (confirmed(D, "", 0),), (confirmed(D, "/value", 0, deep=False),), (confirmed(D, "/value", 0, branch=""),)]
    triggers = [(), (Address("main", "space", "t", ()),), (Address("main", "space", "tv", ("alue",)),)]
    return [
        base,
        *(base._replace(operations=changed) for changed in operations),
        *(base._replace(confirmed=changed) for changed in reads),
        *(base._replace(preconditions=(EntityAbsent(doc(id)),)) for id in ("z", "zz")),
        *(base._replace(provenance=changed) for changed in (Provenance(), why._replace(run=2), why._replace(event=None))),
        *(base._replace(provenance=why._replace(triggers=changed)) for changed in triggers),
    ]


@pytest.mark.parametrize("number", range(1, len(_variants())))
def test_STO_022_every_part_of_a_commit_is_part_of_its_identity(rig: Rig, number: int) -> None:
    engine = rig.open()
    base, variant = _variants()[0], _variants()[number]
    accepted(engine, base)
    assert "commit replay mismatch" in str(refused(engine, variant))
    assert accepted(engine, base).replayed


def test_a_replay_is_answered_with_the_resolution_of_the_first_time(rig: Rig) -> None:
    engine = rig.open()
    author = Author(engine)
    author.commit(put(D, 1))
    commit = author.draft(put(doc("e"), 2), pending=[author.pending(D, "/value", 1, basis=0)])
    first = accepted(engine, commit)
    assert first.resolved == ((CommitId("s", 1), 1),)
    author.commit(put(D, 3))
    assert accepted(rig.open("other"), commit) == first._replace(replayed=True)


def test_STO_028_an_empty_commit_is_refused(rig: Rig) -> None:
    engine = rig.open()
    error = Author(engine).refused(confirmed=[confirmed(D, "/value", 0)])
    assert isinstance(error, ProtocolError)
    assert "requires at least one operation" in str(error)


def test_local_sequence_numbers_may_have_gaps_and_come_in_any_order(rig: Rig) -> None:
    engine = rig.open()
    author = Author(engine)
    assert [author.commit(put(D, n), local=n).seq for n in (7, 3, 9, 8)] == [1, 2, 3, 4]
    assert accepted(engine, author.draft(put(D, 3), local=3)).replayed
    assert [engine.seq_of(CommitId("s", n)) for n in (3, 4, 7, 8, 9, 10)] == [2, None, 1, 4, 3, None]


def test_STO_030_one_id_in_three_scopes_is_three_documents(rig: Rig) -> None:
    engine = rig.open()
    author = Author(engine)
    scopes = ("space", "user:alice", "session:alice:1")
    for scope in scopes:
        author.commit(put(doc("x", scope), scope))
    for reader in (engine, rig.open("other")):
        assert [value(reader, doc("x", scope)) for scope in (*scopes, "user:bob", "session:alice:2")] == [*scopes, MISSING, MISSING]


def test_STO_032_scopes_are_opaque_keys_and_never_mix(rig: Rig) -> None:
    engine = rig.open()
    keys = [doc("c", "a:b"), doc("b:c", "a"), doc("b", "a"), doc("a", "b"), doc("ab", ""), doc("", "ab"), doc("B", "a"), doc("%", "ä/é\0"), doc("😀" * 50, "..")]
    for number, key in enumerate(keys):
        Author(engine, f"s{number}").commit(put(key, number))
    assert [value(rig.open("other"), key) for key in keys] == list(range(len(keys)))


def test_STO_035_conflicts_are_per_scope_instance(rig: Rig) -> None:
    engine = rig.open()
    one, other = Author(engine, "one"), Author(engine, "other")
    user = doc("doc", "user")
    one.commit(put(user, 1))
    assert other.commit(put(doc("x"), 1), confirmed=[confirmed(D, "/value", 0)]).seq == 2
    one.commit(put(user, 2))
    error = other.refused(put(doc("x"), 2), confirmed=[confirmed(user, "/value", 1)])
    assert isinstance(error, ConflictError)
    assert str(error).startswith("stale confirmed read of main:doc@user/value")


def test_provenance_is_kept_with_every_commit(rig: Rig) -> None:
    engine = rig.open()
    given = Provenance("app:total", 7, (Address("main", "space", "a", ("value", "x")), Address("other", "user", "b", ())), "event-1")
    author = Author(engine)
    author.commit(put(D, 1), provenance=given)
    author.commit(put(D, 2))
    cold = rig.open("other")
    assert [cold.provenance(seq) for seq in (1, 2, 3)] == [given, Provenance(), None]


def test_the_log_names_commits_with_their_documents_in_order(rig: Rig) -> None:
    engine = rig.open()
    author = Author(engine)
    author.commit(put(doc("b"), 1), put(doc("a"), 1), put(doc("b"), 2))
    author.commit(preconditions=[EntityAbsent(doc("z"))])
    engine.fork("f")
    author.commit(delete(doc("b")), branch="f")
    landed = [
        *(Landed(1, CommitId("s", 1), "", (doc("b"), doc("a"))), Landed(2, CommitId("s", 2), "", ()), Landed(3, CommitId("s", 3), "f", (doc("b"),))),
    ]
    for reader in (engine, rig.open("other")):
        assert [reader.after(seq) for seq in range(5)] == [landed, landed[1:], landed[2:], [], []]
        assert reader.after(0, limit=2) == landed[:2]


@pytest.mark.parametrize("seq", [-1, None, "1", 1.5, True])
def test_what_is_no_sequence_number_has_nothing_after_it_and_no_provenance(rig: Rig, seq: Any) -> None:
    engine = rig.open()
    Author(engine).commit(put(D, 1))
    with pytest.raises(ProtocolError, match="a sequence number from 0"):
        engine.after(seq)
    assert engine.provenance(seq) is None


@pytest.mark.parametrize("entity", [doc("\ud800"), doc("x", "\ud800"), Entity("elsewhere", "space", "x"), ("main", "space", "x"), None])
def test_what_is_no_document_of_the_space_is_not_read(rig: Rig, entity: Any) -> None:
    engine = rig.open()
    for ask in (engine.read, engine.exists, engine.reader().read):
        with pytest.raises(ProtocolError):
            ask(entity)


def test_another_thread_reads_by_a_connection_of_its_own(rig: Rig) -> None:
    engine = rig.open()
    author = Author(engine)
    author.commit(put(D, 1))
    author.commit(replace(D, "/value", 2))
    seen: list[Delivered] = []

    def look() -> None:
        reader = engine.reader()
        seen.extend((reader.read(D), reader.read(D, at=1), reader.read(doc("none"))))
        reader.close()

    thread = Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [Delivered(D, 2, CommitId("s", 2), {"value": 2}), Delivered(D, 1, CommitId("s", 1), {"value": 1}), Delivered(doc("none"), 0, None, MISSING)]


@pytest.mark.parametrize(
    "commit",
    [
        Commit(CommitId("s", -1), (put(D, 1),)),
        Commit(CommitId("s", 2**63), (put(D, 1),)),
        Commit(CommitId("s", True), (put(D, 1),)),
        Commit(CommitId(5, 1), (put(D, 1),)),  # type: ignore[arg-type]
        Commit(("s", 1), (put(D, 1),)),  # type: ignore[arg-type]
        Commit(CommitId("\ud800", 1), (put(D, 1),)),
        Commit(CommitId("s", 1), [put(D, 1)]),  # type: ignore[arg-type]
        Commit(CommitId("s", 1), (None,)),  # type: ignore[arg-type]
        Commit(CommitId("s", 1), (("set", D, {}),)),  # type: ignore[arg-type]
        Commit(CommitId("s", 1), (Set(D, 5),)),
        Commit(CommitId("s", 1), (Set(D, {"value": {1, 2}}),)),
        Commit(CommitId("s", 1), (Set(Entity("elsewhere", "space", "x"), {}),)),
        Commit(CommitId("s", 1), (Set(doc("\ud800"), {}),)),
        Commit(CommitId("s", 1), (Set(("main", "space", "x"), {}),)),  # type: ignore[arg-type]
        Commit(CommitId("s", 1), (Patch(D, ()),)),
        Commit(CommitId("s", 1), (Patch(D, [Replace((), {})]),)),  # type: ignore[arg-type]
        Commit(CommitId("s", 1), (Patch(D, (("replace", (), {}),)),)),  # type: ignore[arg-type]
        Commit(CommitId("s", 1), (Patch(D, (Replace("value", 1),)),)),  # type: ignore[arg-type]
        Commit(CommitId("s", 1), (Patch(D, (Replace((1,), 1),)),)),  # type: ignore[arg-type]
        Commit(CommitId("s", 1), (Patch(D, (Append(("value",), [1]),)),)),  # type: ignore[arg-type]
        Commit(CommitId("s", 1), (Patch(D, (Splice(("value",), 1.5, 0, ()),)),)),  # type: ignore[arg-type]
        Commit(CommitId("s", 1), (Patch(D, (Add(("value",), object()),)),)),
        Commit(CommitId("s", 1), (put(D, 1),), branch=None),  # type: ignore[arg-type]
        Commit(CommitId("s", 1), (put(D, 1),), branch="nowhere"),
        Commit(CommitId("s", 1), (put(D, 1),), (("read",),)),  # type: ignore[arg-type]
        Commit(CommitId("s", 1), (put(D, 1),), (confirmed(Entity("elsewhere", "space", "x"), "", 0),)),
        Commit(CommitId("s", 1), (put(D, 1),), (confirmed(D, "", 0)._replace(path=["value"]),)),  # type: ignore[arg-type]
        Commit(CommitId("s", 1), (put(D, 1),), (confirmed(D, "", 0)._replace(deep=1),)),  # type: ignore[arg-type]
        Commit(CommitId("s", 1), (put(D, 1),), (confirmed(D, "", 0, branch="nowhere"),)),
        Commit(CommitId("s", 1), (put(D, 1),), (confirmed(D, "", -1),)),
        Commit(CommitId("s", 1), (put(D, 1),), (confirmed(D, "", 99),)),
        Commit(CommitId("s", 1), (put(D, 1),), provenance=Provenance(node=5)),  # type: ignore[arg-type]
        Commit(CommitId("s", 1), (put(D, 1),), provenance=Provenance(run=2**63)),
        Commit(CommitId("s", 1), (put(D, 1),), provenance=Provenance(triggers=("a",))),  # type: ignore[arg-type]
        Commit(CommitId("s", 1), (put(doc("x" * 1025), 1),)),
        Commit(CommitId("s" * 1025, 1), (put(D, 1),)),
        None,
    ],
)
def test_what_no_correct_client_sends_is_refused_and_leaves_its_neighbours_alone(rig: Rig, commit: Commit) -> None:
    engine = rig.open()
    good = [Author(engine, f"good{n}").draft(put(doc(f"good{n}"), n)) for n in (1, 2)]
    first, bad, second = engine.apply([good[0], commit, good[1]])
    assert isinstance(first, Accepted)
    assert isinstance(second, Accepted)
    assert (first.seq, second.seq) == (1, 2)
    assert not isinstance(bad, Accepted)
    assert isinstance(bad.rejection.error(), ProtocolError | NotStorable)
    assert [value(rig.open("other"), doc(f"good{n}")) for n in (1, 2)] == [1, 2]


def test_what_was_handed_in_may_change_afterwards(rig: Rig) -> None:
    engine = rig.open()
    given, inner = {"value": {"a": [1]}}, [2]
    author = Author(engine)
    author.commit(Set(D, given), patch(D, Add(("value", "b"), inner)))
    given["value"]["a"].append(9)
    inner.append(9)
    assert value(engine, D) == {"a": [1], "b": [2]}
