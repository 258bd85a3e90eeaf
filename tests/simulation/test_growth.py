"""Growth, counted in instructions rather than timed (DESIGN section 10): what costs more when there is more, and what must not."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import weft
from harness.ledger_core import LedgerCore, deep, reading
from harness.opcodes import opcodes
from harness.parts import parts
from weft.storage.replica import Replica

S = weft.cell("s")


def inline() -> weft.Runtime:
    return weft.Runtime(placement="inline", clock=weft.VirtualClock())


def reader(id: str, source: weft.Cell[Any]) -> weft.NodeSpec[..., Any]:
    def body(tx: weft.Tx) -> Any:
        return tx.get(source, 0)

    return weft.computation(output=weft.cell(f"out/{id}"), id=id)(body)


def watcher(id: str, source: weft.Cell[Any]) -> weft.NodeSpec[..., Any]:
    def look(tx: weft.Tx) -> None:
        tx.get(source)

    return weft.effect(id=id, auto_debounce=False)(look)


def do(*calls: Callable[[], object]) -> None:
    for call in calls:
        call()


def dormant(ledger: LedgerCore, count: int, source: str) -> None:
    for number in range(count):
        ledger.computation(f"{source}/{number}", reading(source), f"out/{source}/{number}", restored=(deep(source),))


def test_registering_dormant_nodes_costs_the_same_for_each_and_reads_no_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Replica, "read", lambda self, entity: pytest.fail(f"{entity} was read"))
    with inline() as rt:
        specs = [reader(f"n{number}", weft.cell(f"s{number}")) for number in range(3_000)]
        first = opcodes(lambda: rt.load(specs[:500]))
        rt.load(specs[500:2_500])
        last = opcodes(lambda: rt.load(specs[2_500:]))
        assert first <= 500 * 2_000
        assert abs(last - first) <= first // 100
        graph = parts(rt).core.graph
        assert (len(graph.writers), len(graph.readers), graph.edges, graph.liveness.writes) == (3_000, 0, 0, 0)


def test_a_change_that_only_dormant_readers_see_costs_its_readers_and_nothing_for_the_others() -> None:
    def cost(readers: int, others: int) -> int:
        ledger = LedgerCore(s=0, t=0)
        dormant(ledger, readers, "s")
        dormant(ledger, others, "t")
        count = opcodes(lambda: do(lambda: ledger.commit(s=1), ledger.idle))
        assert ledger.log == []
        return count

    one, two = cost(200, 0), cost(400, 0)
    assert one < two <= 2 * one
    assert cost(200, 5_000) == one


def test_a_change_costs_what_runs_however_many_nodes_live_beside_it() -> None:
    def cost(others: int) -> int:
        with inline() as rt:
            rt.load([reader("c", S), watcher("e", weft.cell("out/c"))])
            for number in range(others):
                rt.load([reader(f"n{number}", weft.cell("t")), watcher(f"w{number}", weft.cell(f"out/n{number}"))])
            rt.set(S, 1)
            rt.idle()
            rt.set(S, 2)
            rt.idle()
            rt.ran()
            count = opcodes(lambda: do(lambda: rt.set(S, 3), rt.idle))
            assert rt.ran() == ["c", "e"]
            return count

    assert abs(cost(1_000) - cost(1)) <= 100


@pytest.mark.timeout(600)
def test_one_change_of_a_read_set_does_work_that_does_not_depend_on_100000_nodes() -> None:
    def cost(size: int) -> int:
        """A tree of nodes, each read by ten; the switch gives up one of the leaves' parents for another."""
        ledger = LedgerCore(sel=0, d0=0)
        for number in range(1, size):
            ledger.computation(f"n{number}", reading(f"d{(number - 1) // 10}"), f"d{number}", restored=(deep(f"d{(number - 1) // 10}"),))
        ledger.effect("switch", lambda tx: tx.get(f"d{50 + tx.get('sel')}"))
        ledger.idle()
        count = opcodes(lambda: do(lambda: ledger.commit(sel=1), ledger.idle))
        assert ledger.log == ["switch", "switch"]
        return count

    small, large = cost(100), cost(100_000)
    assert abs(large - small) <= 100


def test_a_leaf_is_written_at_one_price_whatever_the_size_of_its_document() -> None:
    def cost(records: int) -> int:
        with inline() as rt:
            table = weft.cell("table")
            rt.set(table, {f"r{number}": {"price": number} for number in range(records)})
            rt.register(watcher("e", table["r3"]["price"]))
            rt.idle()
            rt.set(table["r3"]["price"], -1)
            rt.idle()
            rt.ran()
            count = opcodes(lambda: do(lambda: rt.set(table["r3"]["price"], -2), rt.idle))
            assert rt.ran() == ["e"]
            return count

    assert abs(cost(10_000) - cost(10)) <= 200


@pytest.mark.timeout(600)
def test_a_cycle_of_20_000_runs_to_its_fixpoint() -> None:
    """Each node passes on the greatest number it has seen, and one of them knows a greater one."""
    size = 20_000
    x = [weft.cell(f"x{number}") for number in range(size)]

    def passing(number: int) -> weft.NodeSpec[..., Any]:
        def body(tx: weft.Tx) -> Any:
            return max(tx.get(x[number - 1], 0), 7 if number == size // 2 else 0)

        return weft.computation(output=x[number], id=f"n{number}")(body)

    with inline() as rt:
        rt.load([passing(number) for number in range(size)])
        rt.register(watcher("e", x[-1]))
        rt.idle(gated=True)
        assert {rt.get(cell) for cell in x} == {7}
        assert len(rt.ran()) <= 3 * size
