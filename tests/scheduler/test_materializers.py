"""Materializers in the pass: idle priority, promotion, envelopes for ordering only (MAT-*, ORD-009; seed 000 section 4.3)."""
from __future__ import annotations

from harness.ledger_core import Body, LedgerCore, Tx, doc, place, reading
from weft.scheduler.records import Kind


def test_a_child_waits_for_a_materializer_that_made_it_by_promoting_it() -> None:
    ledger = LedgerCore(s=1)

    def make(tx: Tx) -> None:
        tx.set("t", tx.get("s"))
        if "k" not in ledger.core.registry:
            ledger.effect("k", reading("s"))

    ledger.materializer("m", make, "t")
    ledger.idle()
    ledger.commit(s=2)
    end = ledger.turn()
    assert (ledger.log, end.iterations, end.deferred) == (["m", "k", "m", "k"], 1, ())


def test_MAT_003_ordinary_work_first_then_the_materializer_then_the_readers_it_changed() -> None:
    ledger, seen = LedgerCore(s=0, o=0, side={"value": 0}, u=0), list[int]()
    ledger.register("m", lambda tx: (tx.set("o", tx.get("s")), tx.set("side", {"value": tx.get("s")})), Kind.COMPUTATION, (place("o"),), (place("side"),))
    ledger.effect("eo", lambda tx: seen.append(tx.get("o")))
    ledger.effect("eu", reading("u"))
    ledger.idle()
    del seen[:], ledger.log[:], ledger.ends[:]
    ledger.commit(s=1, u=1)
    ledger.idle()
    assert (seen, ledger.log, [(end.iterations, end.runs) for end in ledger.ends]) == ([1], ["eu", "m", "eo"], [(2, 3)])


def test_MAT_007_a_reader_of_its_envelope_promotes_a_materializer_and_sees_the_fresh_value_once() -> None:
    ledger, seen = LedgerCore(s=1, trig=0), list[int]()
    ledger.materializer("m", lambda tx: tx.set("t", {"value": tx.get("s")}), "t")

    def look(tx: Tx) -> None:
        tx.get("trig")
        seen.append(tx.get("t", "value"))

    ledger.effect("e", look)
    ledger.idle()
    del seen[:]
    ledger.commit(s=2)
    ledger.commit(trig=1)
    ledger.idle()
    assert seen == [2]


def test_ORD_009_an_envelope_in_another_scope_promotes_nothing() -> None:
    ledger = LedgerCore(s=1, x=0)
    ledger.effect("reader", reading("x", "s"))
    ledger.register("m", reading("s"), Kind.COMPUTATION, (), (doc("x", "session:1").at(("value",)),))
    ledger.idle()
    del ledger.log[:]
    ledger.commit(s=2)
    ledger.idle()
    assert ledger.log == ["reader", "m"]


def key_of(id: str, key: str) -> Body:
    return lambda tx: tx.get(id, key)


def test_MAT_006_a_rewritten_record_wakes_only_the_reader_of_what_changed() -> None:
    keys = [f"k{i}" for i in range(12)]
    ledger = LedgerCore(s=0, t=dict.fromkeys(keys, 0))
    ledger.materializer("m", lambda tx: tx.set("t", {**tx.get("t"), "k7": tx.get("s")}), "t")
    for key in keys:
        ledger.effect(key, key_of("t", key))
    ledger.idle()
    del ledger.log[:]
    ledger.commit(s=7)
    ledger.idle()
    assert ledger.log == ["m", "k7"]
