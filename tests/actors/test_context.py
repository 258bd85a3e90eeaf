"""What a run is given: reads, writes and refusals of `Tx` over a real replica (API.md "inside a run"; semantics C.3, C.4; decisions 7, 21, 30)."""
from __future__ import annotations

from typing import Any

import pytest
import weft
from harness.stage import HOME, Stage
from weft.actors import places
from weft.actors.context import Reader
from weft.actors.event import Event
from weft.actors.homes import Home
from weft.actors.places import Places
from weft.scheduler.model import VALUE, Entity, Read
from weft.scheduler.values import ReadOnlyDict
from weft.storage.commit import Delete, Patch, Set
from weft.storage.patch import Append, Increment
from weft.storage.proposal import Use
from weft.storage.reading import Reading

A, B, LIST, GONE = weft.cell("a"), weft.cell("b"), weft.cell("list"), weft.cell("gone")


def doc(id: str, space: str = HOME) -> Entity:
    return Entity(space, "space", id)


@pytest.fixture
def stage() -> Stage:
    stage = Stage()
    for cell, value in ((A, {"x": 1, "n": None, "to": weft.link(B)}), (B, "bee"), (LIST, [weft.link(B), 5])):
        stage.put(cell, value)
    return stage


def test_a_read_gives_the_value_or_the_default_and_null_is_a_value(stage: Stage) -> None:
    tx, transaction = stage.begin()
    assert (tx.get(A["x"]), tx.get(B), tx[B]) == (1, "bee", "bee")
    assert (tx.get(GONE), tx.get(GONE, 7), tx.get(A["n"], 7)) == (None, 7, None)
    assert transaction.reads == {Read(doc(id), VALUE + steps, True): Use.BOTH for id, steps in (("a", ("x",)), ("b", ()), ("gone", ()), ("a", ("n",)))}


def test_a_strict_read_of_nothing_raises_missing_and_names_the_cell_and_is_a_dependency(stage: Stage) -> None:
    tx, transaction = stage.begin()
    with pytest.raises(weft.Missing, match=r"^main:a#/y: nothing is there; tx.get\(cell, default\)"):
        _ = tx[A["y"]]
    assert Read(doc("a"), (*VALUE, "y"), True) in transaction.reads
    assert tx[A["n"]] is None


def test_an_untracked_read_is_no_dependency_and_tracking_is_one_without_a_read(stage: Stage) -> None:
    tx, transaction = stage.begin()
    assert tx.get(B, track=False) == "bee"
    tx.track(A)
    assert transaction.reads == {Read(doc("b"), VALUE, True): Use.CONFLICT, Read(doc("a"), VALUE, True): Use.SCHEDULING}


def test_what_a_read_returns_is_read_only(stage: Stage) -> None:
    with pytest.raises(weft.NotStorable, match="read-only"):
        stage.tx().get(A)["x"] = 2  # type: ignore[index]


def test_keys_length_exists_and_cells_are_shallow_and_cells_are_behind_links(stage: Stage) -> None:
    tx, transaction = stage.begin()
    assert (tx.keys(A), tx.length(LIST), tx.exists(A["x"]), tx.exists(GONE)) == (["x", "n", "to"], 2, True, False)
    assert tx.cells(LIST) == [B, LIST[1]]
    assert not any(read.deep for read in transaction.reads)


def test_resolve_follows_links_and_keeps_the_type_and_speaks_of_spaces_as_it_was_asked(stage: Stage) -> None:
    tx = stage.tx()
    assert (tx.resolve(A["to"]), tx.resolve(A["x"])) == (B, A["x"])
    assert tx.resolve(weft.cell("b", of=str)).of is str
    assert tx.resolve(weft.cell("a", HOME)["to"]) == weft.cell("b", HOME)
    assert tx.resolve(A.meta["k"]) == A.meta["k"]


def test_a_link_is_read_like_the_cell_it_refers_to(stage: Stage) -> None:
    tx = stage.tx()
    (first, _) = tx[LIST]
    assert isinstance(first, weft.Link)
    assert (tx.get(first), tx[first]) == ("bee", "bee")


@pytest.mark.parametrize("call", ["get", "__getitem__", "track", "keys", "length", "exists", "resolve", "cells", "delete", "append", "increment", "link"])
@pytest.mark.parametrize(
    ("what", "advice"),
    [
        (weft.stream("s"), r"s is a stream: .* tx.send\(stream, payload\)"),
        (weft.family("total", "user"), r"'total' is a family of cells; name the member: family\(user\)"),
        ("a", "'a' is no cell; make one with weft.cell"),
        ({}, r"\{\} is no cell"),
    ],
)
def test_what_is_no_cell_raises_misuse_with_what_to_do(stage: Stage, call: str, what: Any, advice: str) -> None:
    with pytest.raises(weft.Misuse, match=advice):
        getattr(stage.tx(), call)(what)


def test_writing_to_a_stream_or_a_link_says_what_to_do(stage: Stage) -> None:
    untyped: Any = stage.tx()
    with pytest.raises(weft.Misuse, match="s is a stream"):
        untyped.set(weft.stream("s"), 1)
    with pytest.raises(weft.Misuse, match=r"b is a link, .*tx.set\(link.cell, value\)"):
        untyped.set(weft.link(B), 1)


def test_a_run_sees_its_own_writes_of_every_kind(stage: Stage) -> None:
    tx = stage.tx()
    tx.set(GONE, {"k": 1})
    tx.append(LIST, 6)
    tx.increment(A["x"], 2)
    tx.delete(B)
    assert (tx.get(GONE["k"]), tx.get(LIST[2]), tx.get(A["x"]), tx.exists(B)) == (1, 6, 3, False)
    tx.add_unique(GONE["u"], 1, 1)
    tx.remove_value(GONE["u"], 1)
    assert tx.get(GONE) == {"k": 1, "u": []}


def test_writes_go_out_as_the_operations_they_are(stage: Stage) -> None:
    tx, transaction = stage.begin()
    tx.append(LIST, 6)
    tx.increment(A["x"], 2)
    tx.delete(B)
    tx.set(GONE, 1)
    operations = transaction.finish()[0].operations
    assert operations == (Patch(doc("list"), (Append(VALUE, (6,)),)), Patch(doc("a"), (Increment((*VALUE, "x"), 2),)), Delete(doc("b")), Set(doc("gone"), {"value": 1}))


def test_what_cannot_be_stored_is_named_with_its_whole_address(stage: Stage) -> None:
    tx = stage.tx()
    with pytest.raises(weft.NotStorable, match=r"^main:a#/deep/1/k: a tuple would come back as a list"):
        tx.set(A["deep"], [1, {"k": (1, 2)}])
    with pytest.raises(weft.NotStorable, match=r"^main:list#/to: a Cell is an address; store weft.link"):
        tx.append(LIST, {"to": B})
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(weft.NotStorable, match="inside itself"):
        tx.set(A["deep"], endless)


def test_a_new_document_has_the_same_id_in_every_attempt(stage: Stage) -> None:
    first, again, other = stage.tx().new("order"), stage.tx().new("order"), stage.begin(seed="event-2")[0].new("order")
    assert first == again != other
    assert first.id.startswith("order/")
    assert first.space is None


def test_a_link_is_made_of_a_cell(stage: Stage) -> None:
    assert stage.tx().link(A["x"]) == weft.link(A["x"])


def test_an_abort_drops_the_writes_keeps_the_reads_and_cannot_be_swallowed(stage: Stage) -> None:
    tx, transaction = stage.begin()
    tx.get(A["x"])
    tx.set(B, "new")
    with pytest.raises(weft.Aborted, match="no good"):
        tx.abort("no good")
    with pytest.raises(weft.Aborted, match="no good"):
        tx.get(B)
    (proposal,) = transaction.finish()
    assert (proposal.operations, list(proposal.reads)) == ((), [Read(doc("a"), (*VALUE, "x"), True)])


@pytest.mark.parametrize(
    "call",
    [
        lambda tx: tx.get(A), lambda tx: tx[A], lambda tx: tx.get(A, track=False), lambda tx: tx.track(A), lambda tx: tx.keys(A), lambda tx: tx.length(A), lambda tx: tx.exists(A),
        lambda tx: tx.resolve(A), lambda tx: tx.cells(A), lambda tx: tx.set(A, 1), lambda tx: tx.set(weft.cell("a", of=int), "x"), lambda tx: tx.delete(A),
        lambda tx: tx.append(A, 1), lambda tx: tx.add_unique(A, 1), lambda tx: tx.remove_value(A, 1), lambda tx: tx.increment(A), lambda tx: tx.new("n"), lambda tx: tx.link(A),
        lambda tx: tx.send(weft.stream("s"), 1), lambda tx: tx.register(None), lambda tx: tx.launch(None), lambda tx: tx.job("f", into=A), lambda tx: tx.outbox("f"),
        lambda tx: tx.abort("late"),
    ],
)  # fmt: skip
def test_after_the_run_every_call_says_that_it_is_over(stage: Stage, call: Any) -> None:
    tx, transaction = stage.begin()
    tx.get(A)
    transaction.finish()
    with pytest.raises(weft.Misuse, match="this transaction is finished; open another one"):
        call(tx)
    assert stage.outlet.left == []


def test_the_commit_can_be_asked_for_when_the_block_has_ended(stage: Stage) -> None:
    tx = stage.tx()
    with pytest.raises(weft.Misuse, match=r"after the block of rt\.transaction"):
        _ = tx.commit
    tx.conclude("commit")
    assert tx.commit == "commit"


def test_what_leaves_besides_data_goes_to_the_outlet(stage: Stage) -> None:
    tx, s = stage.tx(), weft.stream("s")
    assert tx.send(s, [1], "e1", session="x", after=2.0) == "sent"
    assert tx.job("f", {"k": 1}, into=A) == {"status": "pending"}
    tx.outbox("g")
    assert stage.outlet.left == [("send", s, [1], "e1", "x", 2.0), ("job", "f", {"k": 1}, A), ("outbox", "g", {})]
    with pytest.raises(weft.Misuse, match="<cell a> is no stream"):
        tx.send(A, 1)  # type: ignore[arg-type]


def test_a_run_knows_its_time_its_node_and_its_event(stage: Stage) -> None:
    event = Event("e", weft.stream("s"), {"k": 1}, 4.0, "")
    tx, _ = stage.begin(event=event)
    assert (tx.now, tx.node, tx.attempt, tx.causes, tx.event) == (5.0, "n", 1, (), event)


def test_a_reader_reads_and_has_no_way_to_write(stage: Stage) -> None:
    reader = Reader(Reading(stage.replica, HOME), Home(HOME), now=1.0, version=2)
    assert (reader.get(B), reader.now, reader.version, hasattr(reader, "set")) == ("bee", 1.0, 2, False)


def test_a_cell_without_a_space_is_at_home_and_one_with_a_space_is_there(stage: Stage) -> None:
    stage.put(weft.cell("b", "far"), "away")
    assert (stage.tx().get(weft.cell("b", "far")), stage.begin(home="far")[0].get(B), stage.tx().get(B)) == ("away", "away", "bee")


def test_placements_are_remembered_up_to_a_bound_and_what_is_no_cell_never(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "MOST", 3)
    known = Places(HOME)
    assert known[A] is known[weft.cell("a", of=int)]
    for n in range(10):
        assert known[weft.cell(f"c{n}")] == Read(doc(f"c{n}"), VALUE, True)
        assert len(known) <= 3
    with pytest.raises(weft.Misuse):
        known["a"]
    assert "a" not in known


def test_a_dropped_transaction_stays_open_and_keeps_its_reads_only(stage: Stage) -> None:
    tx, transaction = stage.begin()
    tx.get(A["x"])
    tx.set(weft.cell("b", "far"), 1)
    tx.append(weft.cell("list", "far"), 6)
    transaction.drop()
    tx.delete(B)
    (proposal,) = transaction.finish()
    assert (proposal.space, proposal.operations) == (HOME, (Delete(doc("b")),))
    assert Read(doc("a"), (*VALUE, "x"), True) in proposal.reads


def test_what_was_dropped_is_neither_sent_nor_seen(stage: Stage) -> None:
    tx, transaction = stage.begin()
    tx.set(GONE, 1)
    tx.set(B, "new")
    tx.set(A["x"], 2)
    transaction.drop()
    assert (tx.get(GONE), tx.get(B), tx.get(A["x"])) == (None, "bee", 1)
    tx.delete(LIST)
    assert transaction.finish()[0].operations == (Delete(doc("list")),)


def test_the_stored_value_itself_is_handed_out(stage: Stage) -> None:
    assert type(stage.tx().get(A)) is ReadOnlyDict
    assert stage.tx().get(A) is stage.tx().get(A)
