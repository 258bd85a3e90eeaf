"""What a leaf write costs to match when many readers of other paths are registered beside the one it hits.

One document of many records, one reader for a leaf of each; a write to such a leaf hits its one reader, and all the others read other paths. An index of 100,000 readers is
measured against one of 100. The writes go to as many different leaves as there are, up to a batch, in no order that memory favours: the larger index pays for its cache
misses too.
"""

from collections.abc import Callable, Iterator
from time import perf_counter

from weft.bench.runner import Result, interleaved
from weft.scheduler.model import Change, Entity, Read
from weft.scheduler.readers import Readers

DOCUMENT = Entity("main", "space", "doc")
WRITES = 2_000  # in one batch: a millisecond or two, long enough for the clock and short enough to fit between two interruptions
STRIDE = 7_919  # a prime: multiples of it visit all records, far from one another


def batch(count: int) -> Callable[[], float]:
    """A measurement of one batch of writes against an index of `count` readers; it gives microseconds for a write."""
    readers: Readers[int] = Readers()
    for n in range(count):
        readers.add(n, [Read(DOCUMENT, ("value", "items", str(n), "price"))])
    hit = [n * STRIDE % count for n in range(WRITES)]
    changes = [Change(DOCUMENT, ("value", "items", str(n), "price"), n, n + 1) for n in hit]
    if [readers.readers_of(change) for change in changes] != [[n] for n in hit]:
        raise AssertionError("a leaf write must hit the one reader of its leaf; what is measured would mean nothing")

    def measure() -> float:
        started = perf_counter()
        for change in changes:
            readers.readers_of(change)
        return (perf_counter() - started) / len(changes) * 1e6

    return measure


def run(quick: bool = False) -> Iterator[Result]:
    value, beside = interleaved(batch(100_000), batch(100), 5 if quick else 50)
    yield Result("match", "100k-readers", "µs", value, "100-readers", beside)
