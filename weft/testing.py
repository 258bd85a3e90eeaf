"""For tests of programs that use weft: a pytest plugin (`pytest -p weft.testing`, or by being installed), and what else such tests want.

- `weft_clock` is a virtual clock, `weft_runtime` a runtime on it with storage in memory; with the clock, nothing in a test waits for time to pass.
- `non_idempotent(rt)` names the nodes that wrote something else when they were run again; `expect_non_idempotent(rt, node)` is for the one that is meant to.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import weft

__all__ = ["expect_non_idempotent", "non_idempotent", "weft_clock", "weft_runtime"]

PLACEMENTS = ("inline",)


@pytest.fixture
def weft_clock() -> weft.VirtualClock:
    """Stands still until it is moved, and jumps where `idle` waits."""
    return weft.VirtualClock()


@pytest.fixture(params=PLACEMENTS)
def weft_runtime(request: pytest.FixtureRequest, weft_clock: weft.VirtualClock) -> Iterator[weft.Runtime]:
    """A runtime of each placement, closed behind the test."""
    with weft.Runtime(placement=request.param, clock=weft_clock) as rt:
        yield rt


def non_idempotent(rt: weft.Client) -> list[str]:
    """The nodes that were found to write something else on a second run, in the order in which they were."""
    return list(dict.fromkeys(str(found["node"]) for found in rt.violations() if found["kind"] == "idempotency"))


@contextmanager
def expect_non_idempotent(rt: weft.Client, *nodes: "weft.Node | weft.NodeSpec[..., Any] | str") -> Iterator[None]:
    """Inside, every computation is run twice; afterwards exactly these nodes, and no others that were not known before, must have been found out."""
    expected = {node if isinstance(node, str) else node.id for node in nodes}
    before = set(non_idempotent(rt))
    rt.check_idempotency(True)
    try:
        yield
    finally:
        rt.check_idempotency(False)
    found = set(non_idempotent(rt)) - before
    if missed := sorted(expected - found - before):
        raise AssertionError(f"{', '.join(missed)}: expected to write something else on a second run, and did not")
    if others := sorted(found - expected):
        raise AssertionError(f"{', '.join(others)}: not idempotent, and nobody expected it; rt.violations() names the cells")
