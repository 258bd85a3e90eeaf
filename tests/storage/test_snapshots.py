"""When snapshots are taken, how many are kept, and what a small edit of a large document costs."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.engines import BACKENDS, SPACE, Author, Rig, doc, patch, put, replace, rig_on, value
from weft.scheduler.errors import NotStorable
from weft.scheduler.model import Entity
from weft.scheduler.values import Value
from weft.storage import current
from weft.storage.engine import Engine, open_engine
from weft.storage.patch import Append
from weft.storage.recent import Recent, Weighed
from weft.storage.snapshots import FLOOR
from weft.wire.codec import VALUES

D = doc("d")


@pytest.fixture(params=BACKENDS)
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rig]:
    with rig_on(request.param, tmp_path) as made:
        yield made


class Counting:
    """A codec that knows how many bytes it has made and read."""

    def __init__(self) -> None:
        self.encoded = self.decoded = 0

    def encode(self, value: Value) -> bytes:
        data = VALUES.encode(value)
        self.encoded += len(data)
        return data

    def decode(self, data: bytes) -> Value:
        self.decoded += len(data)
        return VALUES.decode(data)


def newest_snapshot(engine: Engine, entity: Entity, upto: int = 2**40) -> int:
    head = engine.tables.head("", entity)
    assert head is not None
    row = engine.tables.snapshot(head.number, upto)
    return 0 if row is None else row.seq


def test_two_snapshots_are_kept_and_every_moment_can_still_be_read(rig: Rig) -> None:
    author = Author(rig.open(snapshot_interval=3))
    author.commit(put(D, []))
    for n in range(20):
        author.commit(patch(D, Append(("value",), (n,))))
    engine = rig.open("cold")
    assert (newest_snapshot(engine, D), newest_snapshot(engine, D, 18), newest_snapshot(engine, D, 15)) == (19, 16, 0)
    assert [len(value(engine, D, at=at)) for at in range(1, 22)] == list(range(21))


def test_an_interval_counts_patches_since_the_last_whole_form(rig: Rig) -> None:
    engine = rig.open(snapshot_interval=3)
    author = Author(engine)
    author.commit(put(D, 0))
    author.commit(replace(D, "/value", 1), replace(D, "/value", 2))
    author.commit(put(D, 0))
    author.commit(replace(D, "/value", 3))
    assert newest_snapshot(engine, D) == 0
    author.commit(replace(D, "/value", 4), replace(D, "/value", 5))
    assert newest_snapshot(engine, D) == 5


def test_by_weight_a_snapshot_comes_when_the_patches_outweigh_the_document(rig: Rig) -> None:
    engine = rig.open()
    author = Author(engine)
    author.commit(put(D, {"text": "x" * 10_000, "n": "y"}))
    taken = set()
    for n in range(40):
        author.commit(replace(D, "/value/n", f"{n:1000}"))
        taken.add(newest_snapshot(engine, D))
    assert sorted(taken) == [0, 11, 22, 33]  # a patch has 1,022 bytes: ten outweigh the first 10,020, eleven the 11,021 of a snapshot
    assert value(rig.open("cold"), D) == {"text": "x" * 10_000, "n": f"{39:1000}"}


def test_a_small_document_is_not_written_whole_with_every_patch(rig: Rig) -> None:
    engine = rig.open()
    author = Author(engine)
    author.commit(put(D, 0))
    for n in range(20):
        author.commit(replace(D, "/value", n))
    assert newest_snapshot(engine, D) == 0
    for n in range(FLOOR // 10):
        author.commit(replace(D, "/value", n))
    assert newest_snapshot(engine, D) > 0


def test_a_leaf_edit_of_a_large_document_encodes_and_decodes_the_leaf_alone(rig: Rig) -> None:
    codec = Counting()
    engine = open_engine(rig.store, SPACE, runtime="counting", codec=codec)
    author = Author(engine)
    author.commit(put(D, {f"r{n}": {"name": f"record {n}", "price": n} for n in range(10_000)}))
    large = codec.encoded
    codec.encoded = codec.decoded = 0
    for n in range(100):
        author.commit(replace(D, f"/value/r{n}/price", -n))
        assert value(engine, D)[f"r{n}"]["price"] == -n
    assert codec.decoded == 0
    assert codec.encoded < 100 * 40 < large / 50
    assert newest_snapshot(engine, D) == 0


def test_the_memory_of_recent_things_is_bounded_and_keeps_what_is_used() -> None:
    recent: Recent[int, str] = Recent(10)
    for n in range(100):
        recent.put(n, str(n))
        assert recent.get(0, None) == "0"
        assert recent.get(n, None) == str(n)
    assert len(recent) <= 12
    assert recent.get(50, "gone") == "gone"
    recent.update(dict.fromkeys(range(200, 206), "group"))
    recent.drop(203)
    assert (200 in recent, 203 in recent) == (True, False)
    recent.clear()
    assert len(recent) == 0


def test_the_memory_of_weighed_things_is_bounded_by_their_weight() -> None:
    weighed: Weighed[int, str] = Weighed(1000)
    for n in range(100):
        weighed.put(n, str(n), 100)
        assert weighed.get(0, None) == "0"
    assert len(weighed) <= 10
    for _ in range(100):
        weighed.put(7, "hot", 400)  # one that changes often pushes nothing else out
    weighed.put(8, "x", 100)
    assert (weighed.get(7, None), weighed.get(8, None)) == ("hot", "x")
    weighed.put(9, "huge", 10**9)
    assert weighed.get(9, None) == "huge"
    weighed.drop(9)
    assert weighed.get(9, None) is None
    weighed.clear()
    assert len(weighed) == 0


def test_evicted_documents_and_heads_come_back_from_their_rows(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HEADS", "DOCUMENT_BYTES", "COMMITS", "SESSIONS"):
        monkeypatch.setattr(current, name, 4)
    engine = rig.open()
    for n in range(60):
        Author(engine, f"s{n % 7}").commit(patch(doc(f"d{n % 10}"), Append(("value",), (n,), True)), local=n)
    assert [value(engine, doc(f"d{n}")) for n in range(10)] == [[n + 10 * k for k in range(6)] for n in range(10)]
    assert engine.seq_of(Author(engine, "s0").id(0)) == 1


def test_a_patch_that_makes_a_document_too_large_to_be_stored_whole_is_refused(rig: Rig) -> None:
    author = Author(rig.open())
    author.commit(put(D, {"a": "x" * (7 << 20), "b": "y" * (7 << 20)}))
    author.commit(patch(D, Append(("log",), ("z" * (1 << 20),), True)))
    error = author.refused(patch(D, Append(("log",), ("z" * (3 << 20),))))
    assert isinstance(error, NotStorable)
    author.commit(replace(D, "/value/a", ""))
    author.commit(patch(D, Append(("log",), ("z" * (3 << 20),))))
    assert len(rig.open("cold").read(D).document["log"]) == 2
