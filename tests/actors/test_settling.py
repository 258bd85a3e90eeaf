"""When settle begins a pass."""
from __future__ import annotations

import threading
import time

import weft
from weft.actors.settling import QUIET


def test_what_is_written_in_one_breath_is_one_pass_though_nobody_waits() -> None:
    x, seen, shown = weft.cell("x", of=int), [], threading.Event()

    def show(tx: weft.Tx) -> None:
        seen.append(tx.get(x))
        shown.set()

    with weft.Runtime(placement="embedded") as rt:
        rt.load([weft.effect(id="show")(show)])
        for value in range(5):
            rt.set(x, value)
        assert shown.wait(10)
        rt.idle()
    assert seen[-1] == 4
    assert len(seen) <= 2  # a machine that stops for longer than a breath makes two of it


def test_writes_while_a_run_is_under_way_do_not_keep_its_result_from_being_heard() -> None:
    x, y = weft.cell("x", of=int), weft.cell("y", of=int)
    running, release = threading.Event(), threading.Event()

    def slow(tx: weft.Tx) -> None:
        tx.get(x)
        running.set()
        release.wait(10)

    with weft.Runtime(placement="embedded") as rt:
        rt.load([weft.effect(id="slow")(slow)])
        rt.set(x, 1)
        assert running.wait(10)
        over = time.monotonic() + 3 * QUIET  # so long that a pass would begin, were none under way
        while time.monotonic() < over:
            rt.set(y, 1)
        release.set()
        rt.idle(timeout=20)
