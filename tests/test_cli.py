"""The command line: what people type, what they see, and the code it ends with."""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
import weft
from click.testing import CliRunner, Result
from weft.bench import runner
from weft.bench.runner import Result as Measured
from weft.deploy.cli import main


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="weft")


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """Two benchmarks that answer at once; gives the list of what was asked of them."""
    asked: list[tuple[str, bool]] = []

    def run(name: str, quick: bool = False) -> Iterator[Measured]:
        asked.append((name, quick))
        yield Measured(name, "one", "µs", 1234.5, "bare", 1000.0) if name == "slow" else Measured(name, "two", "commits/s", 0.25)

    monkeypatch.setattr(runner, "NAMES", ["slow", "fast"])
    monkeypatch.setattr(runner, "run", run)
    return asked


def test_version_names_the_program_and_its_version() -> None:
    assert call("--version").output == f"weft, version {weft.__version__}\n"


def test_python_m_weft_is_the_same_command() -> None:
    done = subprocess.run([sys.executable, "-m", "weft", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"weft, version {weft.__version__}\n"


def test_version_and_help_load_neither_sockets_nor_a_database() -> None:
    program = "import sys\nfrom weft.deploy.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert [name for name in ("zmq", "pykka", "sqlite3", "msgpack", "rich", "psutil") if name in loaded] == []


def test_bench_prints_one_json_object_a_line(measured: list[tuple[str, bool]]) -> None:
    done = call("bench", "--json")
    assert done.exit_code == 0
    assert [json.loads(line) for line in done.output.splitlines()] == [
        {"bench": "slow", "case": "one", "unit": "µs", "value": 1234.5, "against": "bare", "against_value": 1000.0, "ratio": 1.2345},
        {"bench": "fast", "case": "two", "unit": "commits/s", "value": 0.25},
    ]
    assert measured == [("slow", False), ("fast", False)]


def test_bench_with_a_name_runs_that_one_alone(measured: list[tuple[str, bool]]) -> None:
    done = call("bench", "fast", "--json", "--quick")
    assert [json.loads(line)["bench"] for line in done.output.splitlines()] == ["fast"]
    assert measured == [("fast", True)]


@pytest.mark.usefixtures("measured")
def test_bench_prints_a_table_for_people() -> None:
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in call("bench").output.splitlines() if line.startswith("│")]
    assert rows == [["slow", "one", "µs", "1,234", "bare", "1,000", "1.23"], ["fast", "two", "commits/s", "0.25", "", "", ""]]


@pytest.mark.usefixtures("measured")
def test_an_unknown_benchmark_ends_with_2_and_the_list() -> None:
    done = call("bench", "sloow")
    assert done.exit_code == 2
    assert "there is no benchmark 'sloow'; there are: slow, fast" in done.output


def test_an_unknown_command_ends_with_2() -> None:
    assert call("benhc").exit_code == 2


def test_demo_tells_what_really_happened() -> None:
    told = call("demo")
    assert told.exit_code == 0, told.output
    assert [line[:2] for line in told.output.splitlines() if line[:1].isdigit()] == ["1.", "2.", "3.", "4.", "5."]
    assert "Emma is a coin dearer: total 37, and what ran is price[emma], then total." in told.output
    assert "whoever looks was not bothered: told 2 times." in told.output
    assert "Ann's commit: accepted. Bob's: ConflictError" in told.output
    assert "Bob sees stock 0 and order MISSING. His log: 1.3 commit, 1.4 commit, 1.5 revert, 1.6 revert." in told.output
    assert "Every acknowledged commit is there." in told.output
    assert "1000 questions and answers over ipc" in told.output
    assert "Refused and counted: 1 malformed, 1 too-deep, 1 trailing, 1 truncated. It lived on." in told.output
