"""The benchmarks' runner: fair comparisons, results in the promised shape, and one benchmark loaded at a time."""

import ast
import json
import subprocess
import sys
from importlib.util import find_spec

import pytest
from harness.source import modules
from weft.bench import core, runner
from weft.bench.runner import Result, interleaved


def test_the_ratio_is_the_value_divided_by_the_one_beside_it() -> None:
    assert Result("match", "100k-readers", "µs", 6.0, "100 readers", 4.0).ratio == 1.5
    assert Result("match", "alone", "µs", 6.0).ratio is None


def test_json_names_what_was_measured_and_nothing_else() -> None:
    beside = Result("match", "100k-readers", "µs", 6.0, "100 readers", 4.0)
    assert json.loads(beside.as_json()) == {"bench": "match", "case": "100k-readers", "unit": "µs", "value": 6.0, "against": "100 readers", "against_value": 4.0, "ratio": 1.5}
    assert json.loads(Result("match", "alone", "µs", 6.0).as_json()) == {"bench": "match", "case": "alone", "unit": "µs", "value": 6.0}
    assert "\n" not in beside.as_json()


def test_the_two_sides_take_turns_and_take_turns_at_starting() -> None:
    log: list[str] = []

    def side(name: str, figures: list[float]) -> float:
        log.append(name)
        return figures.pop(0)

    firsts, seconds = [5.0, 3.0, 4.0], [9.0, 8.0, 7.0]
    assert interleaved(lambda: side("a", firsts), lambda: side("b", seconds), rounds=3) == (3.0, 7.0)
    assert log == ["a", "b", "b", "a", "a", "b"]


def test_the_best_of_a_rate_is_the_largest() -> None:
    firsts, seconds = [5.0, 3.0], [7.0, 9.0]
    assert interleaved(lambda: firsts.pop(0), lambda: seconds.pop(0), rounds=2, rate=True) == (5.0, 9.0)


def test_no_rounds_are_no_measurement() -> None:
    with pytest.raises(ValueError, match="at least one round, not 0"):
        interleaved(lambda: 1.0, lambda: 1.0, rounds=0)


def test_every_module_that_can_be_run_is_in_the_list_and_the_list_holds_no_other() -> None:
    can_run = {module.name for module in modules("bench") for node in module.tree.body if isinstance(node, ast.FunctionDef) and node.name == "run"} - {"runner"}
    assert can_run == set(runner.NAMES)


@pytest.mark.parametrize("name", runner.NAMES)
def test_a_benchmark_runs_without_loading_the_others_and_gives_results_under_its_name(name: str) -> None:
    program = f"""
import sys
from weft.bench import runner
for result in runner.run({name!r}, quick=True):
    print(result.as_json())
print(*(name for name in sys.modules if name.startswith("weft.bench.")))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    *lines, loaded = done.stdout.splitlines()
    results = [json.loads(line) for line in lines]
    assert results
    assert {result["bench"] for result in results} == {name}
    assert all(result["value"] > 0 and result["unit"] for result in results)
    others = {f"weft.bench.{other}" for other in runner.NAMES} - {f"weft.bench.{name}"}
    builds_on = {"weft.bench.core", "weft.bench.ring"} if name == "embedded" else set()  # its cases, and what it is measured beside
    assert others & set(loaded.split()) == builds_on


def test_the_core_is_measured_beside_each_library_that_is_there_in_every_case() -> None:
    libraries = [name for name in ("reaktiv", "observ") if find_spec(name) is not None]
    results = [*runner.run("core", quick=True)]
    assert [result.case for result in results if result.against == (libraries[0] if libraries else None)][:9] == ["a", "b100", "b1000", "c", "d", "e", "f", "g", "roots"]
    assert [(result.case, result.against) for result in results[-1:]] == [("materializer", None)]
    assert len(results) == 9 * max(1, len(libraries)) + 1
    assert all(result.unit == "µs" and (result.against is None or (result.ratio or 0) > 0) for result in results)


def test_without_the_libraries_the_core_is_measured_alone_and_says_how_to_install_them(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(core, "find_spec", lambda name: None)
    monkeypatch.setattr(core, "cases", lambda layers: {"a": core.chain(1)})
    results = list(core.run(quick=True))
    assert [(result.case, result.against) for result in results] == [("a", None), ("materializer", None)]
    assert [line.split(" is not installed")[0] for line in capsys.readouterr().err.splitlines()] == ["reaktiv", "observ"]


def test_a_case_that_ran_more_or_less_than_it_should_is_no_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "KNOWN", {("a", "weft"): (2, 1)})
    with pytest.raises(AssertionError, match="a: 1 updates of weft made 1 runs and 1 effects, not 2 and 1"):
        list(core.run(quick=True))
