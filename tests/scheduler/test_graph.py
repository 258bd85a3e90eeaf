"""Edges from reads and outputs, by delta (P4, P6): ORD-001 to ORD-006, EFF-008, EFF-010, SURF-010, TRIG-*; growth counted in edges, moves and writes."""
from __future__ import annotations

import random

import pytest
from harness.ledger_core import Body, LedgerCore, deep, doc, place, reading, shallow
from harness.weave import Cloth, bare
from weft.scheduler.errors import BrokenInvariant
from weft.scheduler.model import Read
from weft.scheduler.readset import ReadSet
from weft.scheduler.records import EFFECT, Kind, Surface


@pytest.mark.parametrize("seed", range(25))
def test_every_edge_is_what_reads_and_outputs_say_whatever_comes_goes_and_is_read(seed: int) -> None:
    chance, cloth = random.Random(seed), Cloth()
    spots = [place("a"), place("a", "x"), place("a", "x", "y"), place("b"), place("b", "x")]
    reads = [deep("a"), deep("a", "x"), shallow("a"), shallow("a", "x"), deep("b", "x"), shallow("b"), Read(doc("a"), ())]
    for _ in range(60):
        number, draw = chance.randrange(7), chance.random()
        node = cloth.nodes.get(f"n{number}")
        if node is None or draw < 0.2:
            node = node or bare(number)
            cloth.nodes[node.id] = node
            node.surface = Surface(tuple(chance.sample(spots, k=chance.randrange(3))))
            cloth.graph.add(node)
            if chance.random() < 0.3:
                cloth.graph.liveness.root(node, EFFECT)
        elif draw < 0.35:
            cloth.graph.drop(cloth.nodes.pop(node.id))
        else:
            cloth.graph.read(node, ReadSet(chance.sample(reads, k=chance.randrange(4))))
        cloth.check()
        for held in cloth.nodes.values():
            assert cloth.graph.readers.reads_of(held) == held.reads.reads() or set(cloth.graph.readers.reads_of(held)) == set(held.reads)


def test_ORD_001_the_surface_is_the_declaration_right_after_registration() -> None:
    ledger = LedgerCore()
    assert ledger.core.registry.get("c") is None
    node = ledger.computation("c", reading(), "out")
    assert node.surface.outputs == (place("out"),)


@pytest.mark.parametrize("restored", [(deep("b"),), ()], ids=["ORD-002-another-cell", "ORD-003-an-empty-log"])
def test_the_surface_is_unchanged_by_restoring(restored: tuple[Read, ...]) -> None:
    ledger = LedgerCore(out=0, b=0)
    node = ledger.computation("c", reading(), "out", restored=restored)
    assert (node.surface.outputs, list(ledger.core.graph.writers_of(deep("out"))), list(ledger.core.graph.writers_of(deep("b")))) == ((place("out"),), [node], [])


def test_ORD_006_the_surface_stays_at_the_collection_when_a_run_writes_one_child() -> None:
    ledger = LedgerCore(items={"0": 1}, s=5)
    node = ledger.computation("c", lambda tx: tx.set("items", {"0": tx.get("s")}), "items")
    ledger.effect("e", lambda tx: tx.get("items", "1"))
    ledger.idle()
    assert ledger.value("items") == {"0": 5}
    assert node.surface.outputs == (place("items"),)
    assert list(node.downstream) == [ledger.node("e")]


def test_EFF_008_writes_beyond_the_surface_make_no_edge() -> None:
    ledger = LedgerCore(foo=0, bar=0)
    effect = ledger.effect("e", reading("bar"))
    node = ledger.computation("c", lambda tx: (tx.set("foo", 1), tx.set("bar", 1)), "foo")
    ledger.idle()
    assert ledger.pull("foo") == 1
    assert ledger.value("bar") == 1
    assert effect not in node.downstream
    assert ledger.runs("e") == 2
    ledger.core.check()


def test_EFF_010_the_edge_stays_when_a_run_writes_elsewhere() -> None:
    ledger = LedgerCore(a=0, b=0)
    effect = ledger.effect("e", reading("a"))
    node = ledger.computation("c", lambda tx: tx.set("b", 1), "a")
    ledger.idle()
    assert (ledger.value("b"), list(node.downstream)) == (1, [effect])


def key_of(id: str, key: str) -> Body:
    return lambda tx: tx.get(id, key)


def test_MAT_004_an_envelope_is_no_edge() -> None:
    ledger = LedgerCore(t={"changed": 0, "stable": 0})
    node = ledger.materializer("m", lambda tx: tx.set("t", {"changed": 1, "stable": 0}), "t")
    for key in ("changed", "stable"):
        ledger.effect(key, key_of("t", key))
    ledger.idle()
    assert (dict(node.downstream), ledger.runs("changed"), ledger.runs("stable")) == ({}, 2, 1)


def test_TRIG_002_readers_in_one_space_go_and_those_in_another_stay() -> None:
    cloth = Cloth(2)
    here, there = Read(doc("x"), ("value",)), Read(doc("x")._replace(space="other"), ("value",))
    cloth.graph.read(cloth[0], ReadSet([here]))
    cloth.graph.read(cloth[1], ReadSet([there]))
    for node in [node for node in cloth.nodes.values() if any(read.entity.space == "other" for read in node.reads)]:
        cloth.graph.drop(cloth.nodes.pop(node.id))
    assert list(cloth.graph.readers.entities()) == [doc("x")]
    cloth.check()


def test_TRIG_004_across_read_deltas_one_removal_takes_whatever_is_registered_now() -> None:
    cloth = Cloth(1)
    for documents in (("a", "b"), ("b", "c"), ("d",)):
        cloth.read(0, *documents)
    assert cloth.graph.readers.reads_of(cloth[0]) == (deep("d"),)
    cloth.graph.drop(cloth.nodes.pop("n0"))
    assert len(cloth.graph.readers) == 0
    cloth.check()


def test_a_node_removed_with_reads_readers_and_roots_leaves_nothing() -> None:
    cloth = Cloth(3)
    cloth.graph.liveness.root(cloth[1], EFFECT)
    cloth.graph.liveness.root(cloth[2], EFFECT)
    cloth.read(1, "d0")
    cloth.read(2, "d1")
    gone = cloth.nodes.pop("n1")
    cloth.graph.drop(gone)
    assert (gone.upstream, gone.downstream, gone.live, cloth[0].live) == ({}, {}, False, False)
    assert gone not in cloth.graph.writers
    cloth.check()


def test_SURF_010_reachability_in_20000_deep_cycles_does_not_recurse() -> None:
    cloth = Cloth(20_002)
    for number in range(1, 20_001):
        cloth.read(number, f"d{number - 1}")
    cloth.read(10_000, "d9999", "d20000")
    assert cloth.graph.leads(cloth[0], cloth[20_000])
    assert not cloth.graph.leads(cloth[0], cloth[20_001])
    assert sum(1 for _ in cloth.graph.upstream_of([cloth[20_000]])) == 20_001


def test_one_change_of_a_read_set_costs_the_same_in_a_graph_of_100_and_of_100000_nodes() -> None:
    def cost(size: int) -> tuple[int, int, int]:
        cloth = Cloth(size)
        for number in range(1, size):
            cloth.read(number, f"d{(number - 1) // 10}")
        cloth.graph.liveness.root(cloth[size - 1], EFFECT)
        before = cloth.graph.edges, cloth.graph.heights.moves, cloth.graph.liveness.writes
        cloth.read(size - 1, "d3", "d5")
        after = cloth.graph.edges, cloth.graph.heights.moves, cloth.graph.liveness.writes
        return after[0] - before[0], after[1] - before[1], after[2] - before[2]

    small, large = cost(100), cost(100_000)
    assert large[0] == small[0] == 3
    assert large[1] == small[1] == 0
    assert large[2] <= small[2] + 5  # it gave up a longer way to the top


def test_registering_dormant_nodes_costs_an_entry_each_and_nothing_is_granted_marked_or_queued() -> None:
    ledger = LedgerCore()
    for number in range(2_000):
        ledger.computation(f"n{number}", reading(f"d{number - 1}", into=f"d{number}"), f"d{number}", restored=(deep(f"d{number - 1}"),))
    core = ledger.core
    assert core.graph.edges == 1_999
    assert core.graph.heights.moves <= 2_000
    assert core.graph.liveness.writes == 0
    assert not core.settle.work
    assert ledger.log == []


def test_a_change_that_only_dormant_nodes_see_marks_them_and_does_nothing_else() -> None:
    ledger = LedgerCore(s=0)
    for number in range(500):
        ledger.computation(f"n{number}", reading("s"), f"d{number}", restored=(deep("s"),))
    before = ledger.core.graph.edges, ledger.core.graph.liveness.writes
    ledger.commit(s=1)
    ledger.idle()
    assert (ledger.core.graph.edges, ledger.core.graph.liveness.writes) == before
    assert all(ledger.node(f"n{number}").causes for number in range(500))
    assert (ledger.log, dict(ledger.core.settle.work)) == ([], {})


def test_check_names_what_is_wrong() -> None:
    cloth = Cloth(2)
    cloth.read(1, "d0")
    cloth[1].upstream[cloth[0]] = 2
    with pytest.raises(BrokenInvariant, match="E1: the edges into n1"):
        cloth.check()
    cloth[1].upstream[cloth[0]] = 1
    del cloth[0].downstream[cloth[1]]
    with pytest.raises(BrokenInvariant, match="E2"):
        cloth.check()
    assert cloth[1].kind is Kind.COMPUTATION
