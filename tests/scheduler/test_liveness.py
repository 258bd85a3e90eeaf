"""Demand: LIVE-*, pitfalls B-1 to B-11; the incremental counts against `derive` after every mutation; growth counted in writes."""
from __future__ import annotations

import random

import pytest
from harness.ledger_core import LedgerCore, Tx
from harness.weave import Cloth, Weave, bare
from weft.scheduler.errors import BrokenInvariant
from weft.scheduler.records import EFFECT, MATERIALIZER, PROVISIONAL


def test_LIVE_001_an_edge_from_a_live_reader_gives_the_writer_one_reference_and_makes_it_live() -> None:
    weave = Weave(2)
    weave.liveness.root(weave[0], EFFECT)
    weave.join(weave[0], weave[1])
    assert (weave.refs(1), weave[1].live) == ([1], True)
    assert weave.liveness.risen == [weave[0], weave[1]]


def test_LIVE_003_a_chain_wired_from_the_dormant_end_lives_when_its_last_edge_comes() -> None:
    weave = Weave(4)
    weave.liveness.root(weave[3], EFFECT)
    weave.join(weave[1], weave[0])
    weave.join(weave[2], weave[1])
    assert weave.refs(0, 1, 2) == [0, 0, 0]
    weave.join(weave[3], weave[2])
    assert weave.refs(0, 1, 2) == [1, 1, 1]
    assert all(node.live for node in weave.nodes)


def test_LIVE_004_an_effect_that_is_read_keeps_an_accurate_count_and_stays_live() -> None:
    weave = Weave(2)
    weave.liveness.root(weave[0], EFFECT)
    weave.liveness.root(weave[1], EFFECT)
    weave.join(weave[1], weave[0])
    assert weave.refs(0) == [1]
    weave.part(weave[1], weave[0])
    assert (weave.refs(0), weave[0].live) == ([0], True)


def test_LIVE_005_one_of_two_live_readers_leaves_one() -> None:
    weave = Weave(3)
    for reader in (1, 2):
        weave.liveness.root(weave[reader], EFFECT)
        weave.join(weave[reader], weave[0])
    weave.part(weave[1], weave[0])
    assert (weave.refs(0), weave[0].live) == ([1], True)


def test_LIVE_006_a_dormant_node_that_becomes_a_materializer_demands_what_it_reads() -> None:
    weave = Weave(2)
    weave.join(weave[1], weave[0])
    assert (weave.refs(0), weave[0].live) == ([0], False)
    weave.liveness.root(weave[1], MATERIALIZER)
    assert (weave.refs(0, 1), weave[0].live) == ([1, 0], True)


@pytest.mark.parametrize("reason", [EFFECT, MATERIALIZER, PROVISIONAL], ids=["effect", "materializer", "provisional"])
def test_LIVE_009_and_passes_that_demand_further_upstream(reason: int) -> None:
    weave = Weave(4)
    for reader in (1, 2, 3):
        weave.join(weave[reader], weave[reader - 1])
    weave.liveness.root(weave[3], reason)
    assert (weave.refs(0, 1, 2, 3), [node.live for node in weave.nodes]) == ([1, 1, 1, 0], [True] * 4)
    weave.liveness.unroot(weave[3], reason)
    assert (weave.refs(0, 1, 2, 3), [node.live for node in weave.nodes]) == ([0] * 4, [False] * 4)


def test_LIVE_007_a_cycle_whose_only_root_is_withdrawn_becomes_dormant() -> None:
    weave = Weave(2)
    weave.join(weave[0], weave[1])
    weave.join(weave[1], weave[0])
    weave.liveness.root(weave[0], MATERIALIZER)
    assert weave.refs(0, 1) == [1, 1]
    weave.liveness.unroot(weave[0], MATERIALIZER)
    assert weave.refs(0, 1) == [0, 0]
    assert not weave[0].live
    assert not weave[1].live


def test_LIVE_010_two_computations_that_read_each_other_die_with_the_effect_that_read_one() -> None:
    weave = Weave(3)
    weave.liveness.root(weave[2], EFFECT)
    weave.join(weave[0], weave[1])
    weave.join(weave[1], weave[0])
    weave.join(weave[2], weave[0])
    assert weave.refs(0, 1) == [2, 1]
    weave.part(weave[2], weave[0])
    assert weave.refs(0, 1) == [0, 0]


def test_a_diamond_counts_both_arms() -> None:
    weave = Weave(4)
    weave.liveness.root(weave[3], EFFECT)
    for arm in (1, 2):
        weave.join(weave[arm], weave[0])
        weave.join(weave[3], weave[arm])
    assert weave.refs(0) == [2]
    weave.part(weave[1], weave[0])
    assert (weave.refs(0), weave[0].live) == ([1], True)


def test_LIVE_012_a_node_that_reads_what_it_writes_has_no_edge_to_itself() -> None:
    cloth = Cloth(1)
    cloth.read(0, "d0")
    assert (cloth[0].upstream, cloth[0].downstream, cloth[0].live, cloth.graph.edges) == ({}, {}, False, 0)
    cloth.check()


def test_LIVE_013_a_reader_outlives_the_writer_that_was_removed() -> None:
    cloth = Cloth(3)
    cloth.graph.liveness.root(cloth[2], EFFECT)
    cloth.read(1, "d0")
    cloth.read(2, "d1")
    cloth.graph.drop(cloth.nodes.pop("n0"))
    cloth.check()
    assert (cloth[1].upstream, cloth[1].live) == ({}, True)


@pytest.mark.parametrize(("effects", "provisional"), [(0.25, True), (0.0, True), (0.0, False)], ids=["a-quarter-effects", "no-effects", "materializers-only"])
@pytest.mark.parametrize("seed", range(20))
def test_LIVE_014_after_every_mutation_the_counts_are_those_derived_from_the_roots(seed: int, effects: float, provisional: bool) -> None:
    chance, weave = random.Random(seed), Weave(10)
    for node in weave.nodes:
        if chance.random() < effects:
            weave.liveness.root(node, EFFECT)
    for _ in range(300):
        draw = chance.random()
        reader, writer = chance.sample(weave.nodes, 2)
        if draw < 0.4:
            if writer not in reader.upstream:
                weave.join(reader, writer)
        elif draw < 0.75:
            if reader.upstream:
                weave.part(reader, chance.choice(list(reader.upstream)))
        else:
            reason = PROVISIONAL if provisional and draw < 0.9 else MATERIALIZER
            (weave.liveness.unroot if reader.roots & reason else weave.liveness.root)(reader, reason)
        weave.liveness.check(weave.nodes)


@pytest.mark.parametrize("rate", [0.3, 0.0], ids=["roots", "no-roots-at-all"])
@pytest.mark.parametrize("seed", range(20))
def test_LIVE_015_the_same_when_readers_come_before_the_writers_they_read(seed: int, rate: float) -> None:
    chance, cloth = random.Random(seed), Cloth(8)
    for _ in range(80):
        number, draw = chance.randrange(8), chance.random()
        node = cloth.nodes.get(f"n{number}")
        if node is None:
            node = cloth.nodes[f"n{number}"] = bare(number, (f"d{number}",))
            cloth.graph.add(node)
            if chance.random() < rate:
                cloth.graph.liveness.root(node, chance.choice([EFFECT, MATERIALIZER, PROVISIONAL]))
        elif draw < 0.3:
            cloth.graph.drop(cloth.nodes.pop(node.id))
        else:
            cloth.read(number, *(f"d{other}" for other in chance.sample(range(8), k=chance.randrange(4))))
        cloth.check()
        if not rate:
            assert not any(node.live for node in cloth.nodes.values())


def test_what_fell_first_is_not_counted_again_when_the_search_meets_it_once_more() -> None:
    """The last reader of s, t and x goes, where x reads s and t, s reads t, and a cycle elsewhere makes every loss suspicious."""
    weave = Weave(6)
    reader, s, x, t, one, other = weave.nodes
    weave.join(one, other)
    weave.join(other, one)
    for edge in ((reader, s), (reader, t), (reader, x), (x, s), (x, t), (s, t)):
        weave.join(*edge)
    weave.liveness.root(reader, EFFECT)
    weave.liveness.unroot(reader, EFFECT)
    assert [node.live_refs for node in weave.nodes] == [0] * 6
    assert weave.liveness.fallen.count(s) == 1


def test_a_rootless_cycle_never_lives_and_costs_nothing() -> None:
    weave = Weave(100)
    for number in range(100):
        weave.join(weave[number], weave[(number + 1) % 100])
    assert weave.liveness.writes == 0
    assert not any(node.live for node in weave.nodes)


@pytest.mark.parametrize("closed", [False, True], ids=["chain", "cycle"])
def test_chains_and_cycles_of_20000_rise_and_fall_without_recursion(closed: bool) -> None:
    weave = Weave(20_001)
    for number in range(20_000):
        weave.join(weave[number], weave[number + 1])
    if closed:
        weave.join(weave[20_000], weave[10_000])
    weave.liveness.root(weave[0], EFFECT)
    assert all(node.live for node in weave.nodes)
    weave.liveness.unroot(weave[0], EFFECT)
    assert not any(node.live for node in weave.nodes)
    assert weave.liveness.writes <= 70_000
    weave.liveness.check(weave.nodes)


@pytest.mark.parametrize("cycle_elsewhere", [False, True])
def test_losing_one_of_many_readers_costs_one_write_whatever_else_there_is(cycle_elsewhere: bool) -> None:
    """A shared source with 2,000 readers, each under an effect of its own."""
    weave = Weave(4_003)
    hub, readers, effects = weave[4_000], weave.nodes[:2_000], weave.nodes[2_000:4_000]
    for reader, effect in zip(readers, effects, strict=True):
        weave.join(reader, hub)
        weave.liveness.root(effect, EFFECT)
        weave.join(effect, reader)
    if cycle_elsewhere:
        weave.join(weave[4_001], weave[4_002])
        weave.join(weave[4_002], weave[4_001])
    before = weave.liveness.writes
    weave.part(effects[7], readers[7])
    assert (readers[7].live, hub.live, hub.live_refs) == (False, True, 1_999)
    assert weave.liveness.writes - before <= 20


def test_the_growing_list_remounts_every_card_at_each_append_within_5000_writes() -> None:
    """Forty times a card is appended, and every card that is there is taken away and mounted again."""
    ledger = LedgerCore(items=[], theme=0)

    def card(number: int) -> None:
        ledger.computation(f"card{number}", lambda tx: tx.set(f"c{number}", tx.get("theme") + number), f"c{number}")
        ledger.effect(f"view{number}", lambda tx: tx.get(f"c{number}"))

    def remount(tx: Tx) -> None:
        count = len(tx.get("items"))
        for number in range(count - 1):
            ledger.remove(f"view{number}")
            ledger.remove(f"card{number}")
        for number in range(count):
            card(number)

    ledger.effect("list", remount)
    for length in range(1, 41):
        ledger.commit(items=list(range(length)))
        ledger.idle()
    ledger.core.check()
    assert ledger.value("c39") == 39
    assert ledger.core.graph.liveness.writes <= 5_000


def test_check_names_what_is_wrong() -> None:
    weave = Weave(1)
    weave[0].live_refs = 1
    with pytest.raises(BrokenInvariant, match="L1: n0 counts 1 live readers and has 0"):
        weave.liveness.check(weave.nodes)
