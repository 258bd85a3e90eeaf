"""Graphs whose number of runs is known beforehand: chains, diamonds, a grid, a cut-off; and work that must not grow with what does not take part."""
from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
import weft
from harness.parts import parts
from weft.actors.runtime import Runtime

LAYERS, WIDTH = 10, 100


def runtime() -> Runtime:
    return Runtime(placement="inline", clock=weft.VirtualClock())


def cells(name: str, n: int) -> list[weft.Cell[Any]]:
    return [weft.cell(f"{name}{i}") for i in range(n)]


def add_one(id: str, source: weft.Cell[Any], output: weft.Cell[Any], *, declared: bool = False) -> weft.NodeSpec[..., Any]:
    def add(tx: weft.Tx) -> Any:
        return tx.get(source, 0) + 1

    return weft.computation(output=output, id=id, declared_reads=[source] if declared else [])(add)


def observer(id: str, *watched: weft.Cell[Any], declared: bool = False) -> weft.NodeSpec[..., Any]:
    def look(tx: weft.Tx) -> None:
        for cell in watched:
            tx.get(cell)

    return weft.effect(id=id, auto_debounce=False, declared_reads=watched if declared else ())(look)


def chain(rt: Runtime, depth: int, *, declared: bool = False) -> list[weft.Cell[Any]]:
    x = cells("x", depth + 1)
    rt.load([add_one(f"n{i}", x[i], x[i + 1], declared=declared) for i in range(depth)])
    return x


def test_a_discovered_chain_of_200_settles_in_one_pass_with_at_most_two_runs_a_node() -> None:
    with runtime() as rt:
        x = chain(rt, 200)
        rt.register(observer("tail", x[-1]))
        before = parts(rt).core.settle.number
        rt.idle()
        runs = Counter(rt.ran())
        assert parts(rt).core.settle.number - before == 1
        assert max(runs.values()) <= 2
        assert rt.get(x[-1]) == 200


def test_a_declared_chain_of_1000_is_one_iteration_and_each_node_runs_once() -> None:
    with runtime() as rt:
        x = chain(rt, 1000, declared=True)
        rt.register(observer("tail", x[-1], declared=True))
        rt.idle()
        assert Counter(rt.ran()) == Counter([*(f"n{i}" for i in range(1000)), "tail"])
        assert parts(rt).core.settle.iteration == 1
        rt.set(x[0], 7)
        rt.idle()
        assert rt.ran() == [*(f"n{i}" for i in range(1000)), "tail"]
        assert parts(rt).core.settle.iteration == 1
        assert rt.get(x[-1]) == 1007


def test_an_effect_below_a_long_and_a_short_arm_runs_once() -> None:
    with runtime() as rt:
        s, a, b, c = cells("v", 4)
        rt.load([add_one("a", s, a), add_one("b", a, b), add_one("c", b, c), observer("e", s, c)])
        rt.idle()
        rt.ran()
        rt.set(s, 5)
        rt.idle()
        assert rt.ran() == ["a", "b", "c", "e"]


def test_a_cut_off_chain_of_100_whose_first_node_returns_the_same_runs_one_node() -> None:
    with runtime() as rt:
        s = weft.cell("s")
        x = chain(rt, 100)

        def tenth(tx: weft.Tx) -> Any:
            return tx.get(s, 0) // 10

        rt.register(weft.computation(output=x[0], id="first")(tenth))
        rt.register(observer("tail", x[-1]))
        rt.idle()
        rt.ran()
        rt.set(s, 3)
        rt.idle()
        assert rt.ran() == ["first"]


def test_in_a_grid_exactly_the_nodes_with_a_changed_input_run_each_once() -> None:
    """Ten layers of a hundred, node i reading i and three others above; the oracle evaluates the whole grid before and after."""
    random = Random(7)
    reads = {(layer, i): [i, *random.sample([k for k in range(WIDTH) if k != i], 3)] for layer in range(1, LAYERS + 1) for i in range(WIDTH)}
    grid = [cells(f"g{layer}/", WIDTH) for layer in range(LAYERS + 1)]

    def value(above: list[int], layer: int, i: int) -> int:
        return sum(above[k] for k in reads[layer, i]) // 3 % 17

    def evaluated(sources: list[int]) -> list[list[int]]:
        rows = [sources]
        for layer in range(1, LAYERS + 1):
            rows.append([value(rows[-1], layer, i) for i in range(WIDTH)])
        return rows

    with runtime() as rt:
        for layer in range(1, LAYERS + 1):
            for i in range(WIDTH):

                def compute(tx: weft.Tx, layer: int = layer, i: int = i) -> Any:
                    return sum(tx[grid[layer - 1][k]] for k in reads[layer, i]) // 3 % 17

                rt.register(weft.computation(output=grid[layer][i], id=f"{layer}/{i}")(compute).bind(args={}))
        rt.register(observer("all", *grid[-1]))
        before = evaluated([k * 5 % 13 for k in range(WIDTH)])
        with rt.transaction() as tx:
            for k, number in enumerate(before[0]):
                tx.set(grid[0][k], number)
        rt.idle()
        assert [rt.get(cell) for cell in grid[-1]] == before[-1]
        rt.ran()
        after = evaluated([before[0][0] + 9, *before[0][1:]])
        rt.set(grid[0][0], after[0][0])
        rt.idle()
        expected = [
            f"{layer}/{i}" for layer in range(1, LAYERS + 1) for i in range(WIDTH) if any(before[layer - 1][k] != after[layer - 1][k] for k in reads[layer, i])
        ]
        assert Counter(rt.ran()) == Counter([*expected, *(["all"] if before[-1] != after[-1] else [])])
        assert [rt.get(cell) for cell in grid[-1]] == after[-1]


@pytest.mark.parametrize("dormant", [100, 2_000])
def test_registering_dormant_nodes_reads_nothing_and_a_change_that_only_they_see_runs_nothing(dormant: int) -> None:
    with runtime() as rt:
        s = weft.cell("s")
        version = parts(rt).replica.version.n
        rt.load([add_one(f"d{i}", s, weft.cell(f"d{i}")) for i in range(dormant)])
        assert parts(rt).replica.version.n - version == dormant  # a registration each, and no document was loaded
        rt.set(s, 1)
        rt.idle()
        assert rt.ran() == []


def test_a_pass_does_not_look_at_dormant_nodes() -> None:
    with runtime() as rt:
        s = weft.cell("s")
        rt.load([add_one(f"d{i}", s, weft.cell(f"d{i}")) for i in range(2_000)])
        rt.load([add_one("live", s, weft.cell("live")), observer("e", weft.cell("live"))])
        rt.idle()
        rt.ran()
        rt.set(s, 1)
        assert len(parts(rt).core.settle.work) == 1
        rt.idle()
        assert rt.ran() == ["live", "e"]


def test_chains_of_20_000_work() -> None:
    with runtime() as rt:
        x = chain(rt, 20_000)
        rt.register(observer("tail", x[-1]))
        rt.idle()
        assert rt.get(x[-1]) == 20_000
        rt.ran()
        rt.set(x[0], 1)
        rt.idle()
        assert len(rt.ran()) == 20_001
        assert parts(rt).core.settle.iteration == 1
