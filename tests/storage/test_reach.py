"""What a patch writes beyond the paths it names, and who conflicts with that: what it makes, and what it moves."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from harness.engines import BACKENDS, Author, confirmed, delete, doc, patch, put, rig_on, value
from weft.scheduler.errors import ConflictError
from weft.storage.commit import Accepted, Rejected
from weft.storage.engine import Engine
from weft.storage.patch import Add, AddUnique, Append, Increment, Move, PatchOp, Remove, Replace

D, X = doc("d"), doc("x")


@pytest.fixture(params=BACKENDS)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    with rig_on(request.param, tmp_path) as rig:
        yield rig.open()


def stale(author: Author, path: str, basis: int, *, deep: bool = True) -> bool:
    (verdict,) = author.engine.apply([author.draft(put(X, author.local), confirmed=[confirmed(D, path, basis, deep=deep)])])
    return isinstance(verdict, Rejected)


class Hole(NamedTuple):
    """A patch of START, and the reads from before it that see what it wrote, or do not: deep, and shallow."""

    op: PatchOp
    stale_deep: str = ""
    stale_shallow: str = ""
    good_deep: str = ""
    good_shallow: str = ""


START = {"k": 1, "o": {"a": 1}, "l": [1, {"x": 1}, 3]}
HOLES = {
    "an add makes its way": Hole(
        Add(("value", "p", "q", "r"), 1),
        "/value/p /value/p/q /value/p/other /value", "/value /value/p /value/p/q", "/value/k /value/o", "/value/k /value/o",
    ),
    "an add finds its way": Hole(Add(("value", "o", "b"), 1), "/value/o/b /value/o", "/value/o /value/o/b", "/value/o/a /value/k", "/value /value/k"),
    "a replaced key is new": Hole(Replace(("value", "o", "b"), 1), "/value/o/b /value/o", "/value/o /value/o/b", "/value/o/a", "/value /value/o/a /value/k"),
    "a replaced key is old": Hole(Replace(("value", "o", "a"), 2), "/value/o/a /value/o", "/value/o/a", "/value/o/b /value/k", "/value/o /value /value/o/b"),
    "an append creates": Hole(Append(("value", "o", "n"), (1,)), "/value/o/n", "/value/o /value/o/n", "/value/o/a", "/value /value/o/a"),
    "an append extends": Hole(Append(("value", "l"), (1,)), "/value/l /value/l/length", "/value/l /value/l/length", "/value/k /value/o", "/value /value/o"),
    "an append makes its way": Hole(Append(("value", "p", "n"), (1,)), "/value/p /value/p/other", "/value /value/p", "/value/k", "/value/k /value/o"),
    "an add-unique makes its way": Hole(AddUnique(("value", "p", "n"), (1,)), "/value/p/other", "/value /value/p", "/value/k", "/value/k"),
    "an increment creates": Hole(Increment(("value", "o", "n"), 1), "/value/o/n", "/value/o", "/value/o/a", "/value /value/o/a"),
    "an increment counts": Hole(Increment(("value", "k"), 1), "/value/k", "/value/k", "/value/o", "/value /value/o"),
    "an increment makes its way": Hole(Increment(("value", "p", "n"), 1), "/value/p/other", "/value /value/p", "/value/k", "/value/o"),
    "metadata comes": Hole(Replace(("meta",), 1), "/meta", "/meta ", "/value /value/k", "/value /value/o"),
    "an element goes": Hole(
        Remove(("value", "l", "1")),
        "/value/l/1 /value/l/2 /value/l/1/x /value/l/length", "/value/l /value/l/2 /value/l/length", "/value/l/0 /value/k", "/value",
    ),
    "an element comes": Hole(Add(("value", "l", "1"), 9), "/value/l/1 /value/l/2 /value/l/3 /value/l/length", "/value/l /value/l/2", "/value/l/0 /value/o", "/value"),
    "an element comes last": Hole(Add(("value", "l", "-"), 9), "/value/l/3 /value/l/length /value/l", "/value/l", "/value/l/0 /value/l/2", "/value /value/o"),
    "an element moves out": Hole(
        Move(("value", "l", "0"), ("value", "p", "e")),
        "/value/l/1 /value/l/2 /value/p/other", "/value /value/l /value/p", "/value/k", "/value/k /value/o",
    ),
    "an element is replaced": Hole(
        Replace(("value", "l", "1"), 9),
        "/value/l/1 /value/l/1/x /value/l", "/value/l/1", "/value/l/0 /value/l/2 /value/l/length", "/value/l /value/l/2",
    ),
}


def _holes(hole: Hole) -> list[tuple[str, bool, bool]]:
    """Path, depth, and whether it is stale."""
    listed = ((hole.stale_deep, True, True), (hole.stale_shallow, False, True), (hole.good_deep, True, False), (hole.good_shallow, False, False))
    return [(path, deep, bad) for paths, deep, bad in listed for path in paths.split()]


@pytest.mark.parametrize("hole", HOLES.values(), ids=HOLES.keys())
@pytest.mark.parametrize("known", ["decided in the same group", "remembered", "told from the log"])
def test_a_read_is_stale_if_what_it_sees_was_written_and_only_then(engine: Engine, hole: Hole, known: str) -> None:
    author, other = Author(engine), Author(engine, "other")
    author.commit(put(D, START))
    asked = _holes(hole)
    write = other.draft(patch(D, hole.op))
    confirmed_reads = [author.draft(put(X, 1), confirmed=[confirmed(D, path, 1, deep=deep)]) for path, deep, _ in asked]
    pending_reads = [author.draft(put(X, 1), pending=[author.pending(D, path, 1, basis=0)._replace(deep=deep)]) for path, deep, _ in asked]
    if known == "decided in the same group":
        verdicts = engine.apply([write, *confirmed_reads, *pending_reads])[1:]
    else:
        engine.apply([write])
        if known == "told from the log":
            engine._current.reaches.clear()
        verdicts = engine.apply([*confirmed_reads, *pending_reads])
    told = [(path, deep, isinstance(verdict, Rejected)) for (path, deep, _), verdict in zip(asked * 2, verdicts, strict=True)]
    assert told == asked * 2


def test_a_patch_that_makes_the_document_is_seen_by_whoever_read_that_there_was_none(engine: Engine) -> None:
    author = Author(engine)
    author.commit(put(X, 0))
    author.commit(patch(D, Append(("value", "list"), (1,))))
    engine._current.reaches.clear()
    for path in ("", "/value", "/value/x", "/meta"):
        assert stale(author, path, 1)
        assert stale(author, path, 1, deep=False)
        assert not stale(author, path, 2)
    gone = author.commit(delete(D)).seq
    layers = [author.pending(D, "/meta", author.local, basis=gone - 1)]
    assert isinstance(author.commit(put(X, 1), pending=layers), Accepted)
    Author(engine, "other").commit(patch(D, Add(("value",), 1)))
    assert str(author.refused(put(X, 1), pending=layers)).startswith("stale pending read of main:d/meta")


def test_a_key_removed_and_replaced_by_others_is_new_to_who_names_the_removal_as_a_layer(engine: Engine) -> None:
    own, other = Author(engine), Author(engine, "other")
    own.commit(put(D, {"o": {"a": 1}}))
    own.commit(patch(D, Remove(("value", "o", "a"))))
    keys = [own.pending(D, "/value/o", 2, basis=1)._replace(deep=False)]
    own.commit(put(X, 1), pending=keys)
    other.commit(patch(D, Replace(("value", "o", "a"), 2)))
    assert str(own.refused(put(X, 2), pending=keys)).startswith("stale pending read of main:d/value/o")


def test_what_a_patch_reached_on_a_branch_is_told_from_what_the_branch_inherits(engine: Engine) -> None:
    author = Author(engine)
    author.commit(put(D, {"p": {"q": 1}, "l": [1, 2]}))
    engine.fork("side")
    seq = author.commit(patch(D, Add(("value", "p", "r"), 1), Remove(("value", "l", "0"))), branch="side").seq
    engine._current.reaches.clear()
    def refused(path: str) -> bool:
        (verdict,) = engine.apply([author.draft(put(X, 1), confirmed=[confirmed(D, path, seq - 1)], branch="side")])
        return isinstance(verdict, Rejected)
    assert [refused(path) for path in ("/value/p/q", "/meta", "/value/l/1", "/value/l/length")] == [False, False, True, True]


def test_writers_that_read_nothing_never_conflict(engine: Engine) -> None:
    one, two = Author(engine, "one"), Author(engine, "two")
    one.commit(put(D, {"l": [], "n": 0}))
    for author in (one, two):
        author.commit(patch(D, Append(("value", "l"), (author.session,)), Increment(("value", "n"), 1), Append(("value", "new", "m"), (1,))))
    assert value(engine, D) == {"l": ["one", "two"], "n": 2, "new": {"m": [1, 1]}}


def test_a_set_without_a_read_means_the_whole_document_and_the_last_one_stands(engine: Engine) -> None:
    one, two = Author(engine, "one"), Author(engine, "two")
    one.commit(put(D, 1))
    two.commit(patch(D, Add(("meta",), "by two")))
    assert isinstance(one.refused(put(D, 2), confirmed=[confirmed(D, "", 1, deep=False)]), ConflictError)
    one.commit(put(D, 2))
    assert engine.read(D).document == {"value": 2}
