"""How two runs of one node are compared."""
from __future__ import annotations

from weft.scheduler.idempotency import Contradiction, Trial, broken, contradiction, differing
from weft.scheduler.values import MISSING, freeze


def test_positions_on_one_side_only_differ_and_changed_values_differ_and_equal_ones_do_not() -> None:
    assert differing({"a": 1, "b": 2, "c": freeze([1, {"x": 2}])}, {"b": 3, "c": freeze([1, {"x": 2}]), "d": 4}) == ("b", "d", "a")


def test_of_the_latest_alone_what_only_the_previous_one_had_does_not_count() -> None:
    assert differing({"a": 1, "b": 2}, {"b": 2, "d": 4}, latest_only=True) == ("d",)


def test_equality_is_strict_about_types_and_about_absence() -> None:
    assert differing({"a": 1, "b": True, "c": None}, {"a": 1.0, "b": 1, "c": MISSING}) == ("a", "b", "c")


def test_one_run_contradicts_nothing() -> None:
    assert contradiction([]) is None
    assert contradiction([Trial({"in": 1}, {"out": 1})]) is None


def test_runs_that_read_the_same_and_wrote_otherwise_are_a_contradiction() -> None:
    trials = [Trial({"in": 1}, {"out": 1}), Trial({"in": 2}, {"out": 7}), Trial({"in": 1}, {"out": 2, "more": 3})]
    assert contradiction(trials) == Contradiction(0, 2, ("out", "more"))


def test_runs_that_read_otherwise_or_wrote_the_same_are_none() -> None:
    assert contradiction([Trial({"in": 1}, {"out": 1}), Trial({"in": 2}, {"out": 2})]) is None
    assert contradiction([Trial({"in": 1}, {"out": 1}), Trial({"in": 1}, {"out": 1})]) is None


def test_a_second_run_is_held_against_what_is_there_where_it_writes() -> None:
    assert broken({"out": 1, "once": 5}, {"out": 1}) == ()
    assert broken({"out": 1}, {"out": 2, "new": 3}) == ("out", "new")
