"""The tree of processes: started in order, watched, stopped in reverse; nothing survives its root, and nothing is left of it."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest
from harness.leaves import PATIENCE, asking
from harness.trees import TESTS, Watched, family, leaf, plan, remains, small
from weft.deploy.codes import DONE, LOST, OWNED, ProcessLost
from weft.deploy.folder import state_of
from weft.deploy.launching import Owned
from weft.deploy.plan import Plan, written
from weft.scheduler.errors import AlreadyBound


@pytest.fixture
def run() -> Iterator[Path]:
    """A run folder with a short path, as sockets want it."""
    with TemporaryDirectory(prefix="wt-") as folder:
        yield Path(folder) / "run"


def started(given: Plan) -> tuple["subprocess.Popen[str]", dict[str, Any]]:
    """A root of its own, as `weft up` becomes one, when it has said that it is up."""
    root = subprocess.Popen([sys.executable, "-m", "weft.deploy", written(given)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert root.stdout is not None
    if "is up as process" not in root.stdout.readline():
        raise AssertionError(root.communicate(timeout=PATIENCE))
    state = state_of(Path(given.run))
    assert state is not None
    return root, state


def test_actors_of_different_processes_reach_each_other(run: Path) -> None:
    tree = Owned(small(run))
    try:
        state = state_of(run)
        assert state is not None
        pids = {process["name"]: process["pid"] for process in state["processes"]}
        with asking(run) as ask:
            assert ask("alpha") == ["alpha", 1, 1, pids["trunk"]]
            assert ask("beta") == ["beta", 1, 1, pids["trunk"]]
            assert ask("alpha", "pass it on") == ["gamma", 1, 1, pids["worker-1"]]
            assert ask("gamma", "pass it on") == ["alpha", 1, 2, pids["trunk"]]
        assert len({tree.pid, os.getpid(), *pids.values()}) == 4
    finally:
        tree.close()


def test_children_start_in_order_and_stop_in_reverse(run: Path, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    Owned(small(run, str(diary))).close()
    assert diary.read_text().splitlines() == ["alpha began", "beta began", "gamma began", "gamma ended", "beta ended", "alpha ended"]


def test_ten_starts_and_stops_leave_nothing(run: Path) -> None:
    for _ in range(10):
        tree = Owned(small(run))
        everything = Watched(family(tree.pid))
        tree.close()
        assert everything.gone() < 1.0
        assert not run.exists()
    assert list(run.parent.iterdir()) == []


def test_when_the_root_is_killed_its_children_end_within_20_ms(run: Path) -> None:
    took = []
    for _ in range(3):
        root, state = started(small(run))
        children = Watched([process["pid"] for process in state["processes"]])
        everything = Watched(family(root.pid))
        os.kill(root.pid, signal.SIGKILL)
        took.append(children.gone())
        everything.gone()
        root.communicate()
    assert min(took) < 0.020


def test_a_child_that_hangs_with_the_interpreter_s_lock_ends_with_the_root(run: Path, tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    root, state = started(plan(run, ["stuck", [["stuck", "harness.stuck:Stuck", {"target": str(pipe)}]]]))
    child = Watched([process["pid"] for process in state["processes"]])
    with asking(run) as ask:
        ask("stuck", wait=False)
        assert pipe.read_text() == "stuck"
        os.kill(root.pid, signal.SIGKILL)
        child.gone()
    root.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda number: signal.Signals(number).name)
def test_a_signal_to_the_root_stops_the_tree_in_order(run: Path, tmp_path: Path, number: int) -> None:
    diary = tmp_path / "diary"
    root, _ = started(small(run, str(diary)))
    everything = Watched(family(root.pid))
    root.send_signal(number)
    assert root.communicate(timeout=PATIENCE) == ("", "")
    assert root.returncode == DONE
    everything.gone()
    assert diary.read_text().splitlines()[3:] == ["gamma ended", "beta ended", "alpha ended"]
    assert not run.exists()


def test_ctrl_c_reaches_the_whole_group_and_the_tree_still_stops_in_order(run: Path, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    command = [sys.executable, "-m", "weft.deploy", written(small(run, str(diary)))]
    root = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert root.stdout is not None
    assert "is up" in root.stdout.readline()
    os.killpg(root.pid, signal.SIGINT)
    assert root.communicate(timeout=PATIENCE) == ("", "")
    assert root.returncode == DONE
    assert diary.read_text().splitlines()[3:] == ["gamma ended", "beta ended", "alpha ended"]


def test_a_tree_ends_with_the_program_that_owns_it(run: Path) -> None:
    program = (
        f"import sys; sys.path.insert(0, {TESTS!r})\nfrom harness.trees import *\nfrom weft.deploy.launching import Owned\n"
        f"tree = Owned(small(Path({str(run)!r})))\nprint(tree.pid, flush=True)\nsys.stdin.read()"
    )
    owner = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    everything = Watched(family(int(owner.stdout.readline())))
    owner.kill()
    everything.gone()
    owner.communicate()
    assert not run.exists()


def test_a_worker_that_is_killed_is_started_again_as_another_epoch(run: Path) -> None:
    root, state = started(small(run))
    try:
        worker = state["processes"][1]
        dead = Watched([worker["pid"]])
        os.kill(worker["pid"], signal.SIGKILL)
        dead.gone()
        with asking(run) as ask:
            assert ask("gamma")[:3] == ["gamma", 2, 1]
            while len((again := state_of(run) or {})["processes"]) < 2:  # it answers a moment before the root has written that it does
                ask("alpha")
        told = again["processes"][1]
        assert (told["restarts"], told["last_death"]) == (1, "was killed by SIGKILL")
        assert told["pid"] != worker["pid"]
    finally:
        root.terminate()
        _, said = root.communicate(timeout=PATIENCE)
    assert "worker-1 was killed by SIGKILL and is started again" in said


def test_a_process_that_the_tree_cannot_do_without_stops_it_with_that_sentence(run: Path, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    root, state = started(small(run, str(diary)))
    everything = Watched(family(root.pid))
    os.kill(state["processes"][0]["pid"], signal.SIGTERM)
    assert root.communicate(timeout=PATIENCE) == ("", "Error: trunk was killed by SIGTERM, and with it alpha and beta, without which the tree cannot go on\n")
    assert root.returncode == LOST
    everything.gone()
    assert diary.read_text().splitlines()[3:] == ["gamma ended"]
    assert not run.exists()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("kill", "second was killed by SIGKILL before it was ready"),
        ("exit", "second ended with exit code 7 before it was ready"),
        ("raise", "second did not start: RuntimeError: no more of this"),
    ],
    ids=["kill", "exit", "raise"],
)
def test_a_child_that_does_not_come_up_is_named_and_the_others_are_stopped(run: Path, tmp_path: Path, wrong: str, sentence: str) -> None:
    diary = tmp_path / "diary"
    with pytest.raises(ProcessLost) as caught:
        Owned(plan(run, ["first", [leaf("alpha", diary=str(diary))]], ["second", [leaf("beta", wrong=wrong)]]))
    assert str(caught.value) == sentence
    assert diary.read_text().splitlines() == ["alpha began", "alpha ended"]
    assert psutil.Process().children() == []
    assert not run.exists()


def test_a_child_that_does_not_stop_is_killed_by_its_id(run: Path) -> None:
    tree = Owned(plan(run, ["first", [leaf("alpha")]], ["second", [leaf("beta", wrong="hang")], "stop", 0.2]))
    everything = Watched(family(tree.pid))
    tree.close()
    everything.gone()
    assert not run.exists()


def test_a_second_tree_on_one_run_folder_says_which_pid_owns_it(run: Path) -> None:
    tree = Owned(small(run))
    try:
        before = remains(run)
        with pytest.raises(AlreadyBound, match=f"process {tree.pid} runs a tree in {run}; stop it with `weft down --run {run}`") as caught:
            Owned(small(run))
        assert caught.value.pid == tree.pid
        second = subprocess.run([sys.executable, "-m", "weft.deploy", written(small(run))], capture_output=True, text=True, check=False)
        assert (second.returncode, second.stdout) == (OWNED, "")
        assert second.stderr.startswith(f"Error: process {tree.pid} runs a tree in {run};")
        assert remains(run) == before
    finally:
        tree.close()


def test_the_folder_of_a_dead_tree_is_taken_over_and_what_is_left_of_it_killed(run: Path) -> None:
    root, _ = started(small(run))
    everything = Watched(family(root.pid))
    os.kill(root.pid, signal.SIGKILL)
    everything.gone()
    root.communicate()
    assert "supervisor.lock" in remains(run)
    assert state_of(run) is None
    orphan = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)  # one that did not hear of the end
    left = json.loads((run / "tree.json").read_text())
    left["processes"].append({"name": "storage", "pid": orphan.pid, "born": psutil.Process(orphan.pid).create_time()})
    (run / "tree.json").write_text(json.dumps(left))
    tree = Owned(small(run))
    assert orphan.wait(PATIENCE) == -signal.SIGKILL
    orphan.communicate()
    with asking(run) as ask:
        assert ask("alpha")[:3] == ["alpha", 1, 1]
    tree.close()
    assert remains(run) == []


def test_files_of_others_in_the_run_folder_stay(run: Path) -> None:
    run.mkdir(mode=0o700)
    (run / "notes.txt").write_text("mine")
    Owned(small(run)).close()
    assert remains(run) == ["notes.txt"]


def test_a_run_folder_that_somebody_removes_does_not_keep_the_tree_from_stopping(run: Path) -> None:
    tree = Owned(small(run))
    everything = Watched(family(tree.pid))
    shutil.rmtree(run)
    tree.close()
    everything.gone()
    assert not run.exists()
