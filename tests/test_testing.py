"""What weft gives to the tests of programs that use it."""

from itertools import count

import pytest
import weft
from weft.testing import expect_non_idempotent, non_idempotent

source, target, steady = weft.cell("source"), weft.cell("target"), weft.cell("steady")
numbers = count()


@weft.computation(output=target, id="counter")
def counter(tx: weft.Tx) -> int:
    tx.get(source)
    return next(numbers)


@weft.computation(output=steady, id="steady")
def keeper(tx: weft.Tx) -> int:
    return int(tx.get(source) or 0)


PROGRAM = """
import weft

def test_the_runtime_is_there_and_time_is_ours(weft_runtime, weft_clock):
    cell = weft.cell("a")
    weft_runtime.set(cell, 1)
    assert weft_runtime.pull(cell) == 1
    weft_clock.advance(10)
    assert weft_clock.now() == 10
"""


def test_the_plugin_gives_a_runtime_and_its_clock(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(PROGRAM)
    pytester.runpytest_subprocess("-p", "weft.testing", "-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_a_node_that_is_meant_to_differ_is_expected_to() -> None:
    with weft.Runtime(placement="inline") as rt:
        rt.load([counter, keeper])
        with expect_non_idempotent(rt, counter):
            rt.pull(target, steady)
        assert non_idempotent(rt) == ["counter"]


def test_one_that_does_not_differ_and_one_that_nobody_expected_are_named() -> None:
    with weft.Runtime(placement="inline") as rt:
        rt.load([counter, keeper])
        with pytest.raises(AssertionError, match=r"^steady: expected to write something else"), expect_non_idempotent(rt, keeper):
            rt.pull(steady)
        with pytest.raises(AssertionError, match=r"^counter: not idempotent, and nobody expected it"), expect_non_idempotent(rt):
            rt.pull(target)
