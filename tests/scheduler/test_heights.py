"""Heights: H1 and H2 after every edge, in any order (decision 10); ORD-007; growth counted in moves."""
from __future__ import annotations

import random

import pytest
from harness.weave import Weave
from weft.scheduler.errors import BrokenInvariant


@pytest.mark.parametrize("seed", range(30))
def test_whatever_edges_come_and_go_writers_stand_below_readers_but_for_edges_that_close_a_cycle(seed: int) -> None:
    chance, weave = random.Random(seed), Weave(12)
    for _ in range(150):
        reader, writer = chance.sample(weave.nodes, 2)
        if writer in reader.upstream:
            weave.part(reader, writer)
        else:
            weave.join(reader, writer)
        weave.check()


@pytest.mark.parametrize("seed", range(20))
def test_without_cycles_no_edge_is_held_to_close_one(seed: int) -> None:
    chance, weave = random.Random(seed), Weave(12)
    for _ in range(150):
        high, low = sorted(chance.sample(range(12), 2), reverse=True)
        if weave[low] in weave[high].upstream:
            weave.part(weave[high], weave[low])
        else:
            weave.join(weave[high], weave[low])
        assert not weave.heights.back
        weave.check()


def test_a_chain_found_from_its_reading_end_moves_one_node_an_edge() -> None:
    weave = Weave(20_000)
    for number in range(19_999):
        weave.join(weave[number], weave[number + 1])
    assert weave.heights.moves <= 20_000
    weave.check()


def test_a_chain_wired_from_its_writing_end_moves_one_node_an_edge() -> None:
    weave = Weave(20_000)
    for number in range(19_999):
        weave.join(weave[number + 1], weave[number])
    assert weave.heights.moves <= 20_000
    weave.check()


def test_two_chains_of_10000_joined_late_move_each_node_once() -> None:
    weave = Weave(20_000)
    for number in range(19_999):
        if number != 9_999:
            weave.join(weave[number + 1], weave[number])
    before = weave.heights.moves
    weave.join(weave[10_000], weave[9_999])
    assert weave.heights.moves - before <= 20_001
    weave.check()


def test_a_cycle_of_20000_is_closed_and_opened() -> None:
    weave = Weave(20_000)
    for number in range(19_999):
        weave.join(weave[number + 1], weave[number])
    weave.join(weave[0], weave[19_999])
    assert list(weave.heights.back) == [(weave[19_999], weave[0])]
    weave.check()
    weave.part(weave[10_000], weave[9_999])
    assert not weave.heights.back
    weave.check()


def test_the_edge_that_closes_a_cycle_is_an_ordinary_one_when_the_cycle_is_cut_elsewhere() -> None:
    weave = Weave(3)
    weave.join(weave[1], weave[0])
    weave.join(weave[2], weave[1])
    weave.join(weave[0], weave[2])
    weave.part(weave[1], weave[0])
    assert weave[2].height < weave[0].height
    weave.check()


def test_cutting_an_edge_searches_no_cycle_that_stands_beside_it() -> None:
    weave = Weave(4_010)
    for number in range(0, 4_000, 2):
        weave.join(weave[number], weave[number + 1])
        weave.join(weave[number + 1], weave[number])
    for number in range(4_000, 4_009):
        weave.join(weave[number + 1], weave[number])
    before = weave.heights.moves
    weave.part(weave[4_009], weave[4_008])
    assert weave.heights.moves == before


def test_check_names_what_is_wrong() -> None:
    weave = Weave(2)
    weave.join(weave[1], weave[0])
    weave[1].height = weave[0].height
    with pytest.raises(BrokenInvariant, match="H1"):
        weave.heights.check({node.id: node for node in weave.nodes})
    weave[1].height += 1
    weave.heights.back[weave[0], weave[1]] = None
    with pytest.raises(BrokenInvariant, match="H2"):
        weave.heights.check({node.id: node for node in weave.nodes})
