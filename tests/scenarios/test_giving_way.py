"""Nothing is shown that is not there yet: who reads nothing where a node that never ran is about to write lets that one run first."""
from __future__ import annotations

from typing import Any

import weft
from harness.scene import Scene, cells
from weft import Tx


def test_an_effect_whose_writer_never_ran_shows_its_value_and_not_nothing() -> None:
    scene = Scene(s=2)
    s, o = cells("s o")
    seen: list[object] = []
    scene.C("c", o, lambda tx: tx[s] * 10)
    scene.E("e", lambda tx: seen.append(tx.get(o)))
    scene.idle()
    assert seen == [20]
    assert scene.rt.ran() == ["e", "c", "e"]


def test_a_sink_is_told_the_value_and_not_nothing() -> None:
    scene = Scene(s=2)
    s, o = cells("s o")
    heard: list[object] = []
    scene.C("c", o, lambda tx: tx[s] * 10)
    scene.rt.sink(o, heard.append)
    scene.idle()
    assert heard == [20]


def test_what_is_stored_already_is_shown_at_once() -> None:
    scene = Scene(s=2, o=20)
    s, o = cells("s o")
    seen: list[object] = []
    scene.C("c", o, lambda tx: tx[s] * 10)
    scene.E("e", lambda tx: seen.append(tx.get(o)))
    scene.idle()
    assert (seen, scene.rt.ran()) == ([20], ["e", "c"])


def test_two_that_read_each_other_both_run() -> None:
    scene = Scene()
    a, b = cells("a b")
    scene.C("a", a, lambda tx: min(tx.get(b, 0) + 1, 3))
    scene.C("b", b, lambda tx: tx.get(a, 0))
    scene.E("e", lambda tx: tx.get(a))
    scene.idle()
    assert (scene.get("a"), scene.get("b")) == (3, 3)


def test_user_code_cannot_swallow_it() -> None:
    scene = Scene(s=2)
    s, o = cells("s o")
    seen: list[object] = []

    def careful(tx: Tx) -> None:
        try:
            seen.append(tx[o])
        except Exception:
            seen.append("nothing")

    scene.C("c", o, lambda tx: tx.get(s))
    scene.E("e", careful)
    scene.idle()
    assert seen == [2]


def test_a_writer_behind_a_gate_is_not_waited_for() -> None:
    scene = Scene(s=2)
    s, o = cells("s o")
    seen: list[object] = []
    scene.rt.set_debounce("c", 5.0)
    scene.C("c", o, lambda tx: tx.get(s))
    scene.E("e", lambda tx: seen.append(tx.get(o)))
    scene.idle()
    assert seen[-1] == 2
    assert weft.MISSING not in seen


def test_a_computation_that_reads_several_that_never_ran_runs_twice_and_what_it_made_of_nothing_is_dropped() -> None:
    scene = Scene(s=2)
    s, a, b, c, o = cells("s a b c o")
    for id, cell in (("a", a), ("b", b), ("c", c)):
        scene.C(id, cell, lambda tx: tx[s])
    torn = weft.cell("torn")

    def add(tx: Tx) -> Any:
        if tx.get(a) is None:
            tx.set(torn, True)
        first: Any = tx.get(b)
        return first + tx.get(c)  # of nothing and nothing this raises, and nobody hears of it

    scene.C("o", o, add)
    assert scene.pull(o) == 4
    assert scene.order() == ["o", "a", "b", "c", "o"]
    assert (scene.errors, scene.get("torn")) == ([], weft.MISSING)


def test_members_of_a_family_that_read_members_run_twice_at_most() -> None:
    scene = Scene()
    fib = weft.family("fib", "n")

    @weft.computation(output=fib, id="fib")
    def add(tx: Tx, n: int) -> int:
        return n if n < 2 else tx.get(fib(n - 1), 0) + tx.get(fib(n - 2), 0)

    scene.rt.load(add)
    assert scene.pull(fib(30)) == 832040
    ran = scene.rt.ran()
    assert max(ran.count(id) for id in ran) == 2
    scene.idle()
    assert scene.rt.graph()["nodes"] == []  # the last one forgotten leaves the next without a reader, down to the first
