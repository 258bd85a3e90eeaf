"""What conflicts with what: confirmed reads by path and depth, and pending reads through layers (scenarios 2.4 and 2.5)."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.engines import BACKENDS, Author, confirmed, delete, doc, patch, put, replace, rig_on, value
from weft.scheduler.errors import ConflictError, ProtocolError
from weft.scheduler.model import CommitId, Entity
from weft.scheduler.values import MISSING, freeze
from weft.storage.commit import Accepted, Operation, PendingRead, Rejected
from weft.storage.conflicts import operation_touches
from weft.storage.engine import Engine
from weft.storage.patch import Add, Append, Increment, Move, PatchOp, Remove, Replace, Splice

A, B, D, X = doc("a"), doc("b"), doc("d"), doc("x")


@pytest.fixture(params=BACKENDS)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    with rig_on(request.param, tmp_path) as rig:
        yield rig.open()


def stale(author: Author, path: str, basis: int, *, deep: bool = True, entity: Entity = D) -> bool:
    """Whether a commit with this read is refused as stale; it must be refused for that or taken."""
    commit = author.draft(put(X, author.local), confirmed=[confirmed(entity, path, basis, deep=deep)])
    (verdict,) = author.engine.apply([commit])
    if isinstance(verdict, Accepted):
        return False
    error = verdict.rejection.error()
    assert isinstance(error, ConflictError)
    assert str(error).startswith(f"stale confirmed read of {entity}{path}")
    return True


def test_STO_044_a_shape_read_of_an_array_conflicts_with_move_and_splice(engine: Engine) -> None:
    author = Author(engine)
    author.commit(put(D, {"arr": ["a", "b", "c"]}))
    moved = author.commit(patch(D, Move(("value", "arr", "0"), ("value", "arr", "2")))).seq
    assert stale(author, "/value/arr", moved - 1, deep=False)
    spliced = author.commit(patch(D, Splice(("value", "arr"), 0, 1, ()))).seq
    assert stale(author, "/value/arr", spliced - 1, deep=False)
    assert not stale(author, "/value/arr", spliced, deep=False)


def test_STO_045_an_indexed_array_add_touches_only_that_index(engine: Engine) -> None:
    author = Author(engine)
    author.commit(put(D, {"answers": ["bob"]}))
    author.commit(patch(D, Add(("value", "answers", "1"), "eve")))
    assert not stale(author, "/value/answers/0", 1)
    assert stale(author, "/value/answers/1", 1)
    assert stale(author, "/value/answers", 1)
    assert stale(author, "/value/answers", 1, deep=False)


def test_STO_048_a_stale_patch_onto_a_retyped_ancestor_is_a_conflict(engine: Engine) -> None:
    author = Author(engine)
    author.commit(put(D, {"notes": {"today": 1}}))
    author.commit(replace(D, "/value/notes", False))
    late = replace(D, "/value/notes/today", 2)
    blind = author.refused(put(X, 1), late)
    assert isinstance(blind, ConflictError)
    assert "path is not traversable at /value/notes/today" in str(blind)
    assert isinstance(author.refused(late, confirmed=[confirmed(D, "", 1, deep=False)]), ConflictError)
    seen = author.refused(late, confirmed=[confirmed(D, "/value/notes", 1, deep=False)])
    assert isinstance(seen, ConflictError)
    assert str(seen).startswith("stale confirmed read")
    assert (value(engine, D), value(engine, X)) == ({"notes": False}, MISSING)


def test_a_conflict_names_the_document_the_basis_and_the_commit(engine: Engine) -> None:
    author = Author(engine)
    author.commit(put(D, 1))
    author.commit(put(D, 2))
    author.commit(put(D, 3))
    error = author.refused(put(X, 1), confirmed=[confirmed(D, "/value", 1)])
    assert isinstance(error, ConflictError)
    assert (error.entity, error.basis, error.seq) == ("main:d", 1, 2)


@pytest.mark.parametrize("operation", [put(D, 1), delete(D)])
@pytest.mark.parametrize("path", ["", "/value", "/elsewhere/entirely"])
@pytest.mark.parametrize("deep", [True, False])
def test_a_set_or_delete_conflicts_whatever_the_path_and_depth(engine: Engine, operation: Operation, path: str, deep: bool) -> None:
    author = Author(engine)
    author.commit(put(D, {"a": 1}))
    author.commit(operation)
    assert stale(author, path, 1, deep=deep)
    assert not stale(author, path, 2, deep=deep)


def test_an_absent_document_is_read_with_basis_0(engine: Engine) -> None:
    author = Author(engine)
    author.commit(put(X, 0))
    assert not stale(author, "/value", 0)
    author.commit(put(D, 1))
    assert stale(author, "/value", 0)


TOUCHES: list[tuple[PatchOp, dict[tuple[str, bool], bool]]] = [
    (Replace(("v", "a", "x"), 1), {("v", True): True, ("v.a", True): True, ("v.a.x", True): True, ("v.a.x.y", True): True, ("v.a.y", True): False}),
    (Replace(("v", "a", "x"), 1), {("v.a", False): False, ("v.a.x", False): True, ("v.a.x.y", False): True, ("v", False): False}),
    (Add(("v", "a", "x"), 1), {("v.a", False): True, ("v.a.y", False): True, ("v", False): False, ("v.a.y", True): False, ("v.a", True): True}),
    (Remove(("v", "a", "x")), {("v.a", False): True, ("v.a.y", True): False, ("v", False): False}),
    (Move(("v", "a", "x"), ("v", "b", "y")), {("v.a", False): True, ("v.b", False): True, ("v.a.x", True): True, ("v.b.y", True): True, ("v.b.x", True): False}),
    (Append(("v", "l"), (1,)), {("v.l", False): True, ("v.l.0", True): True, ("v", False): False, ("v", True): True, ("v.m", True): False}),
    (Append(("v", "l"), (1,), True), {("v", False): True, ("v.m", False): True, ("v.m", True): False}),
    (Increment(("v", "n"), 1), {("v", False): False, ("v.n", False): True, ("v.n", True): True}),
    (Increment(("v", "n"), 1, True), {("v", False): True}),
]


@pytest.mark.parametrize(("op", "expected"), TOUCHES)
def test_a_patch_touches_leaves_for_deep_reads_and_shapes_for_shallow_ones(op: PatchOp, expected: dict[tuple[str, bool], bool]) -> None:
    assert {(path, deep): operation_touches("patch", (op,), tuple(path.split(".")), deep) for path, deep in expected} == expected


def test_a_conflict_inside_one_group_is_seen_like_one_between_groups(engine: Engine) -> None:
    one, two = Author(engine, "one"), Author(engine, "two")
    one.commit(put(D, {"a": 0, "b": 0}))
    reads = {path: [confirmed(D, path, 1)] for path in ("/value/a", "/value/b")}
    verdicts = engine.apply(
        [
            one.draft(replace(D, "/value/a", 1), confirmed=reads["/value/a"]),
            two.draft(replace(D, "/value/a", 2), confirmed=reads["/value/a"]),
            two.draft(replace(D, "/value/b", 2), confirmed=reads["/value/b"]),
            two.draft(replace(D, "/value/b", 3), confirmed=[confirmed(D, "/value", 3)]),
            two.draft(put(X, 1), confirmed=[confirmed(D, "/value", 4)]),
        ]
    )
    assert [type(verdict) for verdict in verdicts] == [Accepted, Rejected, Accepted, Accepted, Accepted]
    assert (engine.head(), value(engine, D)) == (5, {"a": 1, "b": 3})


def test_STO_060_a_pending_read_resolves_to_the_accepted_seq(engine: Engine) -> None:
    own, other = Author(engine), Author(engine, "other")
    own.commit(put(D, {"foo": 0, "bar": 0}))
    own.commit(replace(D, "/value/foo", 1))
    third = own.commit(put(X, 1), pending=[own.pending(D, "/value/foo", 2, basis=1)])
    assert (third.seq, third.resolved) == (3, ((CommitId("s", 2), 2),))
    other.commit(replace(D, "/value/bar", 1))
    error = own.refused(put(X, 2), pending=[own.pending(D, "/value/bar", 2, basis=1)])
    assert isinstance(error, ConflictError)
    assert str(error).startswith("stale pending read of main:d/value/bar")
    assert "pending dependency" in str(own.refused(put(X, 3), pending=[own.pending(D, "/value", 99, basis=1)]))


def test_a_layer_of_another_session_is_named_in_full(engine: Engine) -> None:
    one, two = Author(engine, "one"), Author(engine, "two")
    one.commit(put(D, 1))
    verdict = two.commit(put(X, 1), pending=[one.pending(D, "/value", 1, basis=0)])
    assert verdict.resolved == ((CommitId("one", 1), 1),)
    error = one.refused(put(X, 2), pending=[two.pending(D, "/value", 9, basis=0)])
    assert str(error).startswith("pending dependency not resolved: two#9,")


def test_STO_062_a_composite_dies_on_its_unresolved_layer(engine: Engine) -> None:
    own, other = Author(engine), Author(engine, "other")
    own.commit(put(D, {"items": []}), local=1)
    other.commit(replace(D, "/value/items", []))
    own.refused(replace(D, "/value/items", ["A"]), confirmed=[confirmed(D, "/value/items", 1)], local=10)
    own.commit(patch(D, Append(("value", "items"), ("B",))), local=11)
    assert own.commit(put(X, 1), pending=[own.pending(D, "/value/items", 11, basis=2)], local=12).seq == 4
    error = own.refused(put(X, 2), pending=[own.pending(D, "/value/items", 10, 11, basis=2)], local=13)
    assert isinstance(error, ConflictError)
    assert str(error).startswith("pending dependency not resolved: 10,")


def _over_a_foreign_write(engine: Engine) -> Author:
    """seq 1 own L1 A{x 1}; seq 2 foreign x := 2; seq 3 own L2 adds y 9."""
    own, other = Author(engine), Author(engine, "other")
    own.commit(put(A, {"x": 1}))
    other.commit(replace(A, "/value/x", 2))
    own.commit(patch(A, Add(("value", "y"), 9)))
    return own


def test_STO_063_a_pending_read_without_a_basis_is_refused(engine: Engine) -> None:
    own = _over_a_foreign_write(engine)
    bare = own.pending(A, "/value/x", 1, 2, basis=0)._replace(basis=None)  # type: ignore[arg-type]
    error = own.refused(put(B, 1), pending=[bare])
    assert isinstance(error, ProtocolError)
    assert "malformed basisSeq" in str(error)
    assert str(own.refused(put(B, 1), confirmed=[confirmed(A, "/value/x", 1)])).startswith("stale confirmed read")


def test_STO_064_a_declared_basis_scans_the_whole_interval(engine: Engine) -> None:
    own = _over_a_foreign_write(engine)
    error = own.refused(put(B, 1), pending=[own.pending(A, "/value/x", 1, 2, basis=0)])
    assert isinstance(error, ConflictError)
    assert str(error).startswith("stale pending read")
    assert engine.read(B).document is MISSING


def test_STO_065_own_named_layers_are_excluded_from_the_scan(engine: Engine) -> None:
    own = _over_a_foreign_write(engine)
    assert own.commit(put(B, 1), pending=[own.pending(A, "/value/y", 1, 2, basis=0)]).seq == 4


def test_STO_067_an_own_write_that_overtook_the_reader_is_not_excluded(engine: Engine) -> None:
    own = Author(engine)
    own.commit(put(A, {"x": 1}), local=1)
    own.commit(replace(A, "/value/x", 2), local=10)
    error = own.refused(put(B, 1), pending=[own.pending(A, "/value/x", 1, basis=0)], local=5)
    assert isinstance(error, ConflictError)
    assert str(error).startswith("stale pending read")
    assert engine.read(B).document is MISSING


def test_STO_068_the_basis_is_validated(engine: Engine) -> None:
    own = Author(engine)
    for n in range(3):
        own.commit(put(A, n))
    for basis in (-1, 1.5, True, "1", None):
        error = own.refused(put(B, 1), pending=[own.pending(A, "/value", 3, basis=0)._replace(basis=basis)])  # type: ignore[arg-type]
        assert isinstance(error, ProtocolError)
        assert "malformed basisSeq" in str(error)
        assert "malformed basisSeq" in str(own.refused(put(B, 1), confirmed=[confirmed(A, "/value", 0)._replace(basis=basis)]))  # type: ignore[arg-type]
    error = own.refused(put(B, 1), pending=[own.pending(A, "/value", 3, basis=4)])
    assert isinstance(error, ProtocolError)
    assert "ahead of the log" in str(error)
    assert own.commit(put(B, 1), pending=[own.pending(A, "/value", 3, basis=3)]).seq == 4


@pytest.mark.parametrize("layers", [(), [CommitId("s", 1)], (1,), (("s", 1),), (CommitId("s", -1),), None])
def test_malformed_layers_are_refused(engine: Engine, layers: object) -> None:
    own = Author(engine)
    own.commit(put(A, 1))
    error = own.refused(put(B, 1), pending=[PendingRead(A, ("value",), 0, layers)])  # type: ignore[arg-type]
    assert isinstance(error, ProtocolError)
    assert "malformed layers" in str(error)


def _around_a_rejection(engine: Engine) -> Author:
    """own L1 sets A (seq 1); own L2 rejected by a stale read; own L3 blind-sets A (seq 2)."""
    own = Author(engine)
    own.commit(put(A, 1))
    own.refused(put(A, 2), confirmed=[confirmed(A, "/value", 0)])
    own.commit(put(A, 3))
    return own


def test_STO_069_an_honoured_rejection_may_be_omitted(engine: Engine) -> None:
    own = _around_a_rejection(engine)
    assert own.commit(put(B, 1), pending=[own.pending(A, "", 3, basis=1)]).seq == 3
    assert value(engine, B) == 1


def test_STO_070_naming_the_rejected_layer_dooms_the_commit(engine: Engine) -> None:
    own = _around_a_rejection(engine)
    assert str(own.refused(put(B, 1), pending=[own.pending(A, "", 2, 3, basis=1)])).startswith("pending dependency not resolved: 2,")


def test_STO_071_omitting_an_accepted_durable_layer_is_stale(engine: Engine) -> None:
    own = _around_a_rejection(engine)
    own.commit(put(A, 4))
    for _ in range(2):
        assert str(own.refused(put(B, 1), pending=[own.pending(A, "", 4, basis=1)])).startswith("stale pending read")
    assert own.commit(put(B, 1), pending=[own.pending(A, "", 3, 4, basis=1)]).seq == 4


def test_STO_072_patch_writing_layers_obey_the_same_rule(engine: Engine) -> None:
    other, own = Author(engine, "other"), Author(engine)
    other.commit(put(D, {"items": {}}))
    own.commit(patch(D, Add(("value", "items", "first"), 1)))
    assert own.commit(patch(D, Add(("value", "items", "second"), 2)), pending=[own.pending(D, "/value/items", 1, basis=1)]).seq == 3
    assert str(own.refused(put(X, 1), pending=[own.pending(D, "/value/items", 2, basis=1)])).startswith("stale pending read")
    assert own.commit(put(X, 1), pending=[own.pending(D, "/value/items", 1, 2, basis=1)]).seq == 4


def test_a_chain_of_layers_is_decided_in_one_group(engine: Engine) -> None:
    own = Author(engine)
    commits = [own.draft(put(A, 0))]
    for n in range(1, 6):
        commits.append(own.draft(replace(A, "/value", n), pending=[own.pending(A, "/value", *range(1, n + 1), basis=0)]))
    verdicts = engine.apply(commits)
    assert [verdict.seq for verdict in verdicts if isinstance(verdict, Accepted)] == [1, 2, 3, 4, 5, 6]
    last = verdicts[-1]
    assert isinstance(last, Accepted)
    assert last.resolved == tuple((CommitId("s", n), n) for n in range(1, 6))
    assert value(engine, A) == 5


def test_a_refused_layer_takes_its_dependents_in_the_same_group_with_it(engine: Engine) -> None:
    own, other = Author(engine), Author(engine, "other")
    other.commit(put(A, freeze({"x": 0})))
    other.commit(put(A, freeze({"x": 1})))
    verdicts = engine.apply(
        [
            own.draft(replace(A, "/value/x", 2), confirmed=[confirmed(A, "/value/x", 1)]),
            own.draft(put(B, 1), pending=[own.pending(A, "/value/x", 1, basis=1)]),
            own.draft(put(X, 1)),
        ]
    )
    assert [type(verdict) for verdict in verdicts] == [Rejected, Rejected, Accepted]
    assert (value(engine, A), engine.read(B).document, value(engine, X)) == ({"x": 1}, MISSING, 1)
