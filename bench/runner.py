"""What a measurement is, how two sides are measured beside each other, and where the benchmarks are found.

Owns the shape of a result (`Result`), the fair comparison (`interleaved`) and the list of benchmark names (`NAMES`). A benchmark is a module of this folder that has
`run(quick: bool = False) -> Iterator[Result]`; it is imported only when it is asked for, so that measuring the matcher neither loads sockets nor opens a database.
The command line (`weft bench`) is the only caller of `run`; benchmark modules call `interleaved` and build `Result`s.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import NamedTuple, cast

NAMES = ("match", "core", "commit", "ring", "embedded")
"""The benchmarks in the order in which a full run prints them: from the one that touches least of the machine to the one that touches most."""


class Result(NamedTuple):
    """One line of the table: a case of a benchmark, its figure, and, when something was measured beside it in the same run, that one's name and figure.
    Lower is better unless the unit is a rate (it ends in `/s`)."""

    bench: str
    case: str
    unit: str
    value: float
    against: str | None = None
    against_value: float | None = None

    @property
    def ratio(self) -> float | None:
        """The figure divided by the one beside it; None when nothing was measured beside it."""
        return None if not self.against_value else self.value / self.against_value

    def as_json(self) -> str:
        """One JSON object on one line; what was not measured is left out, never null."""
        fields: dict[str, object] = {"bench": self.bench, "case": self.case, "unit": self.unit, "value": self.value}
        if self.against is not None:
            fields |= {"against": self.against, "against_value": self.against_value, "ratio": self.ratio}
        return json.dumps(fields)


def interleaved(first: Callable[[], float], second: Callable[[], float], rounds: int, rate: bool = False) -> tuple[float, float]:
    """Run the two sides in turn, `rounds` times each, and take the best of each: the smallest, or with `rate` the largest.

    In turn, because a machine that is busy for a second would otherwise slow one side only; the best, because noise only ever adds time. The side that starts changes
    from round to round, so that neither always finds the caches the other one left."""
    if rounds < 1:
        raise ValueError(f"interleaved needs at least one round, not {rounds}")
    firsts: list[float] = []
    seconds: list[float] = []
    for number in range(rounds):
        if number % 2:
            seconds.append(second())
            firsts.append(first())
        else:
            firsts.append(first())
            seconds.append(second())
    best = max if rate else min
    return best(firsts), best(seconds)


def run(name: str, quick: bool = False) -> Iterator[Result]:
    """Import one benchmark and yield its results as they come. `quick` asks for fewer rounds: for tests, not for figures to be quoted."""
    program = cast(Callable[[bool], Iterator[Result]], import_module(f"weft.bench.{name}").run)
    yield from program(quick)


def run_all(chosen: Sequence[str], quick: bool = False) -> Iterator[Result]:
    """The chosen benchmarks one after the other, never two at a time: they would measure each other."""
    for name in chosen:
        yield from run(name, quick)
