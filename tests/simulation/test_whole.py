"""Whole-system simulation: random programs on the real runtime, held against their own definition after every step. A failing seed prints the line that replays it."""

import pytest
from harness.whole import play

QUICK, SOAK, CHUNK = 2_000, 100_000, 500


@pytest.mark.parametrize("first", range(0, QUICK, CHUNK))
def test_random_programs_show_what_evaluating_them_afresh_would(first: int) -> None:
    for seed in range(first, first + CHUNK):
        play(seed)


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_a_hundred_thousand_random_programs_show_what_evaluating_them_afresh_would() -> None:
    for seed in range(QUICK, SOAK):
        play(seed)
