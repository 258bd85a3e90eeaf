"""The commands that start, stop and list trees, and the codes they end with."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from click.testing import CliRunner, Result
from harness.leaves import PATIENCE
from harness.trees import Watched, family, remains, small
from weft.deploy import folder, launching
from weft.deploy.cli import main
from weft.deploy.codes import DONE, NOT_RUNNING, USAGE
from weft.deploy.folder import RunFolder, folder_of, named_after, state_of
from weft.deploy.plan import Plan
from weft.scheduler.errors import Misuse


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where run folders are: a place of this test's own."""
    with TemporaryDirectory(prefix="wt-") as home:
        monkeypatch.setenv("XDG_RUNTIME_DIR", home)
        monkeypatch.setenv("COLUMNS", "150")
        yield folder.base()
        for left in list(folder.running()):
            call("down", "--run", str(left), "--kill")
            pytest.fail(f"a tree is still running in {left}")


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="weft")


def detached(plan: Plan) -> dict[str, Any]:
    about = launching.detach(plan)
    state = state_of(Path(about["run"]))
    assert state is not None
    return state


def test_a_detached_tree_is_listed_and_stopped(base: Path) -> None:
    state = detached(small(base / "leaves"))
    everything = Watched(family(state["pid"]))
    listed = json.loads(call("ps", "leaves", "--json").output)
    assert [(each["process"], each["actors"], each["state"]) for each in listed] == [
        ("supervisor", [], "running"), ("trunk", ["alpha", "beta"], "running"), ("worker-1", ["gamma"], "running"),
    ]  # fmt: skip
    assert [each["pid"] for each in listed] == [state["pid"], *(process["pid"] for process in state["processes"])]
    assert all(each["memory"] > 1_000_000 and each["seconds"] >= 0.0 for each in listed)
    about = json.loads(call("status", "--json").output)
    assert {key: about[key] for key in ("app", "pid", "run", "processes", "restarts")} == {
        "app": "leaves", "pid": state["pid"], "run": str(base / "leaves"), "processes": 3, "restarts": 0,
    }  # fmt: skip
    done = call("down")
    assert (done.exit_code, done.output) == (DONE, "leaves has stopped\n")
    everything.gone(0.5)
    assert not base.exists()


def test_ps_and_status_are_for_people_too(base: Path) -> None:
    state = detached(small(base / "leaves"))
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in call("ps").output.splitlines() if line.startswith("│")]
    assert [row[:4] for row in rows] == [
        ["supervisor", "", str(state["pid"]), "running"], *([each["name"], ", ".join(each["actors"]), str(each["pid"]), "running"] for each in state["processes"]),
    ]  # fmt: skip
    assert f"run         {base / 'leaves'}\n" in call("status").output
    assert call("down", "leaves", "--json").exit_code == DONE


def test_down_kill_ends_a_tree_that_does_not_listen(base: Path) -> None:
    state = detached(small(base / "leaves"))
    everything = Watched(family(state["pid"]))
    subprocess.run(["kill", "-STOP", str(state["pid"])], check=True)
    hung = call("down", "--timeout", "0.1")
    assert hung.exit_code == 1
    assert f"process {state['pid']} has not stopped within 0.1 s; weft down --run {base / 'leaves'} --kill ends it at once" in hung.output
    assert call("down", "--kill").exit_code == DONE
    everything.gone()
    assert not base.exists()


@pytest.mark.parametrize("command", ["down", "ps", "status"])
def test_where_no_tree_is_running_a_command_ends_with_3(base: Path, command: str) -> None:
    done = call(command)
    assert (done.exit_code, done.output) == (NOT_RUNNING, f"Error: no tree is running in {base}; start one with: weft up APP\n")
    done = call(command, "shop")
    assert (done.exit_code, done.output) == (NOT_RUNNING, f"Error: no tree is running in {base / 'shop'}; start one with: weft up shop\n")


def test_of_several_trees_one_has_to_be_named(base: Path) -> None:
    for name in ("one", "two"):
        detached(small(base / name))
    done = call("ps")
    assert done.exit_code == USAGE
    assert "several trees are running; name one: one, two" in done.output
    assert [call("down", name).exit_code for name in ("one", "two")] == [DONE, DONE]


def test_the_output_of_a_detached_tree_is_kept_only_if_it_ends_badly(base: Path) -> None:
    state = detached(small(base / "leaves"))
    everything = Watched(family(state["pid"]))
    os.kill(state["processes"][0]["pid"], 9)
    everything.gone()
    assert remains(base / "leaves") == ["tree.log"]
    assert "trunk was killed by SIGKILL, and with it alpha and beta" in (base / "leaves" / "tree.log").read_text()
    detached(small(base / "leaves"))
    assert call("down").exit_code == DONE
    assert not base.exists()


def test_up_with_a_wrong_option_ends_with_2() -> None:
    assert call("up", "shop", "--placement", "forest").exit_code == USAGE
    assert call("up", "shop", "--workers", "0").exit_code == USAGE
    assert call("up").exit_code == USAGE


def test_a_run_folder_is_named_after_the_app_and_closed_to_others(base: Path) -> None:
    held = RunFolder(named_after("company.shop/main"))
    assert held.path == base / "company.shop-main"
    assert [path.stat().st_mode & 0o777 for path in (held.path, base)] == [0o700, 0o700]
    held.leave()
    assert not base.exists()


def test_without_a_runtime_folder_it_is_in_tmp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    assert named_after("shop") == Path(f"/tmp/weft-{os.geteuid()}/shop")


def test_an_address_is_ipc_and_a_folder_or_the_folder_alone(base: Path) -> None:
    detached(small(base / "leaves"))
    try:
        assert folder_of(f"ipc:{base / 'leaves'}") == folder_of(str(base / "leaves")) == base / "leaves"
        with pytest.raises(Misuse, match="this version connects to trees on this machine"):
            folder_of("tcp://somewhere:1")
    finally:
        call("down")


def test_help_lists_the_exit_codes() -> None:
    text = subprocess.run([sys.executable, "-m", "weft", "--help"], capture_output=True, text=True, check=True, timeout=PATIENCE).stdout
    assert "3 no tree is running" in " ".join(text.split())
