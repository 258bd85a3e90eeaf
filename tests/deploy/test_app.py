"""An app in a tree of processes: loaded by `weft up` or by the program that owns the tree, read and written by clients, and gone when they end."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest
import weft
from click.testing import CliRunner, Result
from harness import abacus
from harness.abacus import SEEN, A, B, C
from harness.leaves import PATIENCE
from harness.trees import TESTS, Watched, family, remains
from weft.deploy import folder
from weft.deploy.cli import main
from weft.deploy.codes import APP, DONE, FAILED, NotRunning
from weft.deploy.folder import state_of
from weft.scheduler.errors import ActorDead, NotImportable

APP_NAME = "harness.abacus"


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="weft")


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with TemporaryDirectory(prefix="wt-") as home:
        monkeypatch.setenv("XDG_RUNTIME_DIR", home)
        yield folder.base()


@pytest.fixture(scope="module")
def up() -> Iterator[Path]:
    """One tree, by `weft up`, for those who only look."""
    with TemporaryDirectory(prefix="wt-") as home:
        run = Path(home) / "run"
        command = [sys.executable, "-m", "weft", "up", APP_NAME, "--run", str(run), "--detach", "--json"]
        told = subprocess.run(command, capture_output=True, text=True, check=True, cwd=TESTS, timeout=PATIENCE)
        about = json.loads(told.stdout)
        assert about["run"] == str(run)
        everything = Watched(family(about["pid"]))
        with weft.connect(str(run)) as client:
            client.idle(timeout=PATIENCE)  # the first runs are over
            client.set(A, 4)
            client.idle(timeout=PATIENCE)
        yield run
        assert call("down", "--run", str(run)).exit_code == DONE
        everything.gone(0.5)
        assert not run.exists()


@pytest.mark.parametrize("placement", ["tree", "isolated"])
def test_a_runtime_runs_its_app_in_processes_of_its_own(base: Path, placement: str) -> None:
    with weft.Runtime(placement=placement, app=APP_NAME, workers=2) as rt:  # type: ignore[arg-type]
        (run,) = base.iterdir()
        state = state_of(run)
        assert state is not None
        pids = {process["name"]: process["pid"] for process in state["processes"]}
        assert sorted(pids) == sorted(["storage", *(["core"] if placement == "tree" else ["graph", "registry", "gates", "settle"]), "worker-1", "worker-2"])
        rt.idle(timeout=PATIENCE)
        rt.ran()
        rt.set(A, 4)
        assert rt.pull(C, timeout=PATIENCE) == 9
        rt.idle(timeout=PATIENCE)
        assert rt.get(SEEN, [])[-1] == [9, pids["worker-1"]]
        assert rt.ran()[:3] == [f"{APP_NAME}:{name}" for name in ("double", "next_to", "watch")]
        rt.settled(timeout=PATIENCE)
        rt.check()
        assert {cell.id for cell in rt.documents()} >= {"a", "b", "c", "seen"}
        everything = Watched(list(pids.values()))
    everything.gone(0.5)
    assert psutil.Process().children() == []
    assert not base.exists()


def test_what_was_stored_is_there_for_the_next_tree(base: Path, tmp_path: Path) -> None:
    for value in (3, 5):
        with weft.Runtime(f"sqlite:{tmp_path / 'store'}", placement="tree", app=APP_NAME) as rt:
            assert rt.get(A, 0) == (0 if value == 3 else 3)
            rt.set(A, value).result(PATIENCE)
            assert rt.pull(B, timeout=PATIENCE) == 2 * value


def test_with_a_virtual_clock_the_client_keeps_the_time_of_the_tree(base: Path) -> None:
    clock = weft.VirtualClock(100.0)
    with weft.Runtime(placement="tree", app=APP_NAME, clock=clock) as rt:
        late = weft.cell("late")
        rt.idle()
        clock.advance(20.0)
        rt.idle()
        assert rt.get(late) is not None
        rt.set(A, 1)
        rt.drain()
        before = rt.get(late)
        clock.advance(4.9)
        assert rt.get(late) == before
        clock.advance(0.2)
        assert rt.get(late) == 125.0


def test_a_function_that_workers_cannot_import_is_refused_where_it_is_registered(base: Path) -> None:
    with weft.Runtime(placement="tree") as rt:
        with pytest.raises(NotImportable, match="where a worker cannot reach it"):
            rt.register(weft.effect(id="e")(closure()))
        rt.register(abacus.double)
        rt.set(A, 2)
        assert rt.pull(B, timeout=PATIENCE) == 4


def closure() -> Callable[[weft.Tx], None]:
    def inner(tx: weft.Tx) -> None: ...

    return inner


def test_an_app_that_cannot_be_imported_is_said_in_one_sentence_and_nothing_is_left(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.py").write_text("import weft\nraise ValueError('no luck')\n")
    monkeypatch.chdir(tmp_path)
    for options in ([], ["--detach"]):
        command = [sys.executable, "-m", "weft", "up", "broken", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
        assert (done.returncode, done.stdout) == (APP, "")
        assert done.stderr == "Error: the module 'broken' was found, but importing it failed with ValueError: no luck\n"
        assert not base.exists()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(NotImportable, match="no luck"):
        weft.Runtime(placement="tree", app="broken")
    assert not base.exists()
    assert psutil.Process().children() == []


def test_weft_up_becomes_the_root_and_ctrl_c_stops_it(base: Path) -> None:
    root = subprocess.Popen([sys.executable, "-m", "weft", "up", APP_NAME], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=TESTS)
    assert root.stdout is not None
    lines = {root.stdout.readline(), root.stdout.readline()}  # what the app prints, and that it is up, in any order
    assert lines == {"c is 1\n", f"{APP_NAME} is up as process {root.pid} in {base / APP_NAME}; Ctrl-C, or weft down --run {base / APP_NAME}, stops it\n"}
    everything = Watched(family(root.pid))
    root.send_signal(signal.SIGINT)
    assert root.communicate(timeout=PATIENCE) == ("", "")
    assert root.returncode == DONE
    everything.gone(0.5)
    assert not base.exists()


def test_whoever_waits_for_a_tree_that_is_killed_is_told(base: Path) -> None:
    rt = weft.Runtime(placement="tree", app=APP_NAME)
    (run,) = base.iterdir()
    state = state_of(run)
    assert state is not None
    client = weft.connect(f"ipc:{run}")
    told: list[BaseException] = []
    os.kill(state["processes"][0]["pid"], signal.SIGSTOP)  # storage answers nobody

    def wait() -> None:
        try:
            client.set(A, 1)
        except BaseException as error:
            told.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    os.kill(state["pid"], signal.SIGKILL)
    waiting.join(PATIENCE)
    assert [type(error) for error in told] == [ActorDead]
    for one in (client, rt):
        with pytest.raises(ActorDead):
            one.close()
    assert psutil.Process().children() == []
    assert not base.exists()


def test_the_folder_of_a_tree_that_was_killed_with_its_owner_is_swept_by_the_next(base: Path) -> None:
    program = f"import sys, weft\nrt = weft.Runtime(placement='tree', app={APP_NAME!r})\nprint('up', flush=True)\nsys.stdin.read()"
    owner = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=TESTS)
    assert owner.stdout is not None
    while "up" not in owner.stdout.readline():
        continue
    (left,) = base.iterdir()
    state = state_of(left)
    assert state is not None
    everything = Watched(family(owner.pid))
    os.kill(owner.pid, signal.SIGSTOP)
    os.kill(state["pid"], signal.SIGKILL)
    owner.kill()
    everything.gone()
    owner.communicate()
    assert left.exists()
    weft.Runtime(placement="tree").close()
    assert not base.exists()


def test_what_nodes_print_in_a_worker_reaches_the_client_that_listens(base: Path) -> None:
    heard: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
    with weft.Runtime(placement="tree", app=APP_NAME) as rt:
        rt.idle(timeout=PATIENCE)
        rt.on_console(lambda node, line: heard.put((node, line)))
        rt.set(A, 7)
        assert heard.get(timeout=PATIENCE) == (f"{APP_NAME}:watch", "c is 15")


def worker_of(run: Path, rt: weft.Runtime) -> dict[str, Any]:
    """It answers a moment before the root has written that it does."""
    while len((state_of(run) or {})["processes"]) < 3:
        rt.get(A)
    found: dict[str, Any] = (state_of(run) or {})["processes"][2]
    return found


def test_a_worker_that_dies_loses_only_a_run_which_is_made_again(base: Path, tmp_path: Path) -> None:
    with weft.Runtime(placement="tree", app=APP_NAME) as rt:
        (run,) = base.iterdir()
        rt.set(A, 1)
        assert rt.pull(weft.cell("risky"), weft.cell("c"), timeout=PATIENCE) == (101, 3)
        rt.set(weft.cell("flag"), str(tmp_path / "flag"))
        assert rt.pull(weft.cell("risky"), timeout=PATIENCE) == 101
        rt.set(A, 5)
        assert rt.pull(weft.cell("risky"), weft.cell("c"), timeout=PATIENCE) == (105, 11)
        rt.idle(timeout=PATIENCE)
        rt.check()
        worker = worker_of(run, rt)
        assert (worker["restarts"], worker["last_death"]) == (1, "was killed by SIGKILL")


def test_a_worker_that_dies_between_two_runs_costs_nothing(base: Path) -> None:
    with weft.Runtime(placement="tree", app=APP_NAME) as rt:
        (run,) = base.iterdir()
        for value in (1, 2, 3):
            rt.set(A, value)
            rt.idle(timeout=PATIENCE)
            assert rt.get(C) == 2 * value + 1
            worker = worker_of(run, rt)["pid"]
            dead = Watched([worker])
            os.kill(worker, signal.SIGKILL)
            dead.gone()


def test_connecting_where_nothing_runs_says_what_to_start(base: Path) -> None:
    with pytest.raises(NotRunning, match="no tree is running in /nowhere/run; start one with: weft up APP --run /nowhere/run"):
        weft.connect("ipc:/nowhere/run")


def test_a_client_comes_and_goes_and_the_tree_stays(up: Path) -> None:
    before = remains(up)
    for _ in range(3):
        with weft.connect(f"ipc:{up}") as client:
            assert client.pull(C, timeout=PATIENCE) == 9
    assert remains(up) == before


def look(up: Path, *arguments: str) -> str:
    done = call(*arguments, "--run", str(up))
    assert done.exit_code == DONE, done.output
    return str(done.output)


def test_get_and_set(up: Path) -> None:
    assert look(up, "get", "a", "b") == "4\n8\n"
    assert look(up, "get", "c", "--pull", "--json") == '{"cell": "c", "value": 9}\n'
    assert look(up, "set", "note", '{"x": [1, "é"]}').startswith('note is {"x": [1, "é"]} at version ')
    assert look(up, "get", "note#/x/1") == '"é"\n'
    assert json.loads(look(up, "set", "word", "plain text", "--json"))["value"] == "plain text"


def test_get_of_nothing_ends_with_1(up: Path) -> None:
    done = call("get", "nothing", "--run", str(up))
    assert (done.exit_code, done.output) == (FAILED, "Error: nothing holds nothing\n")


def test_nodes_and_their_graph(up: Path) -> None:
    names = [f"{APP_NAME}:{name}" for name in ("double", "next_to", "watch")]
    listed = json.loads(look(up, "nodes", "--json"))
    assert [(each["id"], each["kind"], each["live"]) for each in listed[:3]] == [(names[0], "computation", True), (names[1], "computation", True), (names[2], "effect", True)]
    assert f"{names[0]} -> {names[1]}\n" in look(up, "graph")
    assert {"from": names[1], "to": names[2], "kind": "data"} in json.loads(look(up, "graph", "--json"))["edges"]
    assert json.loads(look(up, "plan", "b", "--json")) == names[1:]
    assert look(up, "plan", "b") == "".join(f"{name}\n" for name in names[1:])
    assert look(up, "plan", "word") == "nothing\n"


def test_one_node_and_why_it_ran(up: Path) -> None:
    view = json.loads(look(up, "node", f"{APP_NAME}:double", "--json"))
    assert (view["reads"], view["outputs"], view["status"], view["dependents"]) == ([["a", "deep"]], ["b"], "clean", [f"{APP_NAME}:next_to"])
    assert "reads         a deep\n" in look(up, "node", f"{APP_NAME}:double")
    assert "because a changed" in look(up, "why", f"{APP_NAME}:double")
    assert json.loads(look(up, "why", f"{APP_NAME}:double", "--json"))["node"] == f"{APP_NAME}:double"
    done = call("why", "nobody", "--run", str(up))
    assert done.exit_code == FAILED
    assert "no node 'nobody' is registered" in done.output
