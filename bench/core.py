"""What an update costs: a source is written, and everything that follows from it has run. Inline, memory storage, beside other reactive libraries in the same run.

- `a`: source, computation, effect. `b100`, `b1000`: a chain of so many computations, one effect. `c`: one source, 1000 computations, each with an effect.
- `d`: 100 sources, 10 layers of 100 computations, each reading the one above it and three others of the layer above (fixed seed), an effect on each of the last.
- `e`: 10,000 computations of one source, 10 of them observed. `f`: a chain of 100 whose first gives the same value again. `g`: 1000 conditional computations, each with an effect,
  that all switch branch.
- `materializer`: one node keeps 1000 documents in step with 1000 keys, and one key changes. `roots`: 1000 effects on sources of their own, and one source changes.
Calls are counted on every side: what ran more or less often than the case asks for is no measurement. What another library is known to do otherwise is named in `KNOWN`.
A run of weft's is a transaction with a read log, a commit and a verdict; theirs is a function call.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import count
from random import Random
from time import perf_counter
from typing import NamedTuple

import weft
from weft.bench.runner import Result, interleaved
from weft.bench.sides import Handle, Observ, Reaktiv, Side, Weft

LAYERS, WIDTH = 10, 100  # of the grid
SHALLOW = 4  # its layers in a quick run: some need for one update of the whole grid as many calls as there are ways through it
ROUNDS = 9
SLOW = 0.5  # seconds: what takes longer is measured twice and no more
WANTED = 0.05  # seconds of one measurement: long enough for the clock, short enough to fit between two interruptions
DEEP = 20_000  # Python's own recursion: others go down a chain by calling


class Built(NamedTuple):
    """A case on one side. `source` is what changes; `runs` and `seen` are the computations and effects that one update makes."""

    source: Handle
    runs: int
    seen: int


Case = Callable[[Side], Built]
OTHERS: dict[str, Callable[[], Side]] = {"reaktiv": Reaktiv, "observ": Observ}
KNOWN = {("f", "observ"): (101, 1)}  # it has no cutoff: a computation that gives the same value again makes its readers run


def run(quick: bool = False) -> Iterator[Result]:
    others = [name for name in OTHERS if find_spec(name) is not None]
    for name in OTHERS:
        if name not in others:
            print(f"{name} is not installed, so nothing is measured beside it; install it with: pip install 'weft[bench]'", file=sys.stderr)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEEP))
    try:
        for name, case in cases(SHALLOW if quick else LAYERS).items():
            for other in others:
                yield _beside(name, case, OTHERS[other](), quick)
            if not others:
                yield _alone(name, case, Weft(), quick)
        side = Weft()
        yield _alone("materializer", lambda _: _materializer(side), side, quick)
    finally:
        sys.setrecursionlimit(limit)


def _beside(name: str, case: Case, other: Side, quick: bool) -> Result:
    ours, theirs = Measured(name, case, Weft(), quick), Measured(name, case, other, quick)
    rounds = 1 if quick else ROUNDS if theirs.once < SLOW else 2
    value, against = interleaved(ours.measure, theirs.measure, rounds)
    ours.side.close()
    theirs.side.close()
    return Result("core", name, "µs", value, other.name, against)


def _alone(name: str, case: Case, side: Side, quick: bool) -> Result:
    measured = Measured(name, case, side, quick)
    value = min(measured.measure() for _ in range(1 if quick else ROUNDS))
    side.close()
    return Result("core", name, "µs", value)


class Measured:
    """A case built on a side. `once` is about what one update takes, in seconds; `size` how many runs it makes."""

    def __init__(self, name: str, case: Case, side: Side, quick: bool) -> None:
        self.side = side
        self._name = name
        self._built = case(side)
        self.size = self._built.runs + self._built.seen
        self._runs, self._seen = KNOWN.get((name, side.name), self._built[1:])
        self._numbers = count(1)
        side.update(self._built.source, next(self._numbers))  # what was never read is read now
        self.once = self._some(1)
        if self.once < SLOW:
            self.once = min(self.once, self._some(1), self._some(1))
        self._updates = 1 if quick else max(1, min(2000, int(WANTED / self.once)))

    def measure(self) -> float:
        """Microseconds an update."""
        return self._some(self._updates) * 1e6

    def _some(self, updates: int) -> float:
        """Some updates, and whether what ran is what the case asks for."""
        side, source, numbers = self.side, self._built.source, self._numbers
        side.runs = side.seen = 0
        start = perf_counter()
        for _ in range(updates):
            side.update(source, next(numbers))
        elapsed = perf_counter() - start
        made, asked = (side.runs, side.seen), (self._runs * updates, self._seen * updates)
        if made != asked:
            raise AssertionError(f"{self._name}: {updates} updates of {side.name} made {made[0]} runs and {made[1]} effects, not {asked[0]} and {asked[1]}")
        return elapsed / updates


def chain(length: int) -> Case:
    def build(side: Side) -> Built:
        source = last = side.source(0)
        for _ in range(length):
            last = side.sums((last,))
        side.effect(last)
        return Built(source, length, 1)

    return build


def _wide(side: Side) -> Built:
    source = side.source(0)
    for _ in range(1000):
        side.effect(side.sums((source,)))
    return Built(source, 1000, 1000)


def _grid(layers: int) -> Case:
    def build(side: Side) -> Built:
        """`hit` are the nodes of a layer that the first source reaches: every sum on the way changes with it."""
        random = Random(20)
        layer = sources = [side.source(index) for index in range(WIDTH)]
        hit, runs = {0}, 0
        for _ in range(layers):
            reads = [(index, *random.sample([other for other in range(WIDTH) if other != index], 3)) for index in range(WIDTH)]
            layer = [side.sums([layer[read] for read in mine]) for mine in reads]
            hit = {index for index, mine in enumerate(reads) if not hit.isdisjoint(mine)}
            runs += len(hit)
        for node in layer:
            side.effect(node)
        return Built(sources[0], runs, len(hit))

    return build


def _dormant(side: Side) -> Built:
    source = side.source(0)
    nodes = [side.sums((source,)) for _ in range(10_000)]
    for node in nodes[::1000]:
        side.effect(node)
    return Built(source, 10, 10)


def _cutoff(side: Side) -> Built:
    source = side.source(0)
    last = side.constant(source)
    for _ in range(100):
        last = side.sums((last,))
    side.effect(last)
    return Built(source, 1, 0)


def _switch(side: Side) -> Built:
    flag, one, other = side.source(0), side.source(1), side.source(2)
    for _ in range(1000):
        side.effect(side.choice(flag, one, other))
    return Built(flag, 1000, 1000)


def _roots(side: Side) -> Built:
    sources = [side.source(0) for _ in range(1000)]
    for source in sources:
        side.effect(source)
    return Built(sources[0], 0, 1)


def cases(layers: int) -> dict[str, Case]:
    """`layers` are the grid's."""
    return {
        "a": chain(1), "b100": chain(100), "b1000": chain(1000), "c": _wide, "d": _grid(layers), "e": _dormant, "f": _cutoff, "g": _switch, "roots": _roots,
    }  # fmt: skip


def _materializer(side: Weft) -> Built:
    keys = [f"key{index}" for index in range(1000)]
    table: weft.Cell[dict[str, int]] = weft.cell("table")
    kept: weft.Cell[dict[str, int]] = weft.cell("kept")
    side.write(table, dict.fromkeys(keys, 0))

    def keep(tx: weft.Tx) -> None:
        side.runs += 1
        for key, value in tx[table].items():
            tx.set(kept[key], value + 1)

    side.register(weft.computation(id="keep", envelope=[kept])(keep))
    return Built(table[keys[0]], 1, 0)
