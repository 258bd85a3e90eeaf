"""`embedded`: what a run costs when it goes round the ring. The cases of `core` on a runtime of actors in this process, SQLite underneath, µs a run, against a bare ring.

- `a` … `g` as in `core`. Waves put many runs into one ring, so that `c` and `d` cost less than a ring each.
- `e` is against the same with 10 computations in all: what is dormant costs nothing.
Both sides are kept on one core, for the reason that `ring` gives.
"""
from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack

from weft.bench.core import LAYERS, SHALLOW, Built, Measured, cases
from weft.bench.ring import inproc_ring, one_core
from weft.bench.runner import Result, interleaved
from weft.bench.sides import Side, Weft

RINGS = 500
ROUNDS = 7


def run(quick: bool = False) -> Iterator[Result]:
    made = {name: case for name, case in cases(SHALLOW if quick else LAYERS).items() if name in ("a", "b100", "b1000", "c", "d", "e", "f", "g")}
    for name, case in made.items():
        with ExitStack() as stack:
            stack.enter_context(one_core())
            measured = Measured(name, case, _side(stack), quick)
            per_run = _per_run(measured)
            if name == "e":
                few = Measured("few", _few, _side(stack), quick)
                value, against = interleaved(per_run, _per_run(few), 1 if quick else ROUNDS)
                yield Result("embedded", name, "µs", value, "10 computations in all", against)
            else:
                ring = stack.enter_context(inproc_ring())
                value, against = interleaved(per_run, lambda ring=ring: ring(RINGS) * 1e6, 1 if quick else ROUNDS)  # type: ignore[misc]
                yield Result("embedded", name, "µs", value, "bare inproc ring", against)


def _side(stack: ExitStack) -> Weft:
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="weft-bench-"))
    side = Weft("embedded", f"sqlite:{folder}")
    stack.callback(side.close)
    return side


def _per_run(measured: Measured) -> Callable[[], float]:
    return lambda: measured.measure() / measured.size


def _few(side: Side) -> Built:
    source = side.source(0)
    for _ in range(10):
        side.effect(side.sums((source,)))
    return Built(source, 10, 10)


