"""Where actors listen: private folders, locks before binds, short paths, keys or nothing on the network."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from weft.scheduler.errors import AlreadyBound, Misuse
from weft.wire.endpoints import SUN_PATH, Inproc, Ipc, Peer, Tcp
from weft.wire.keys import create_keys, load_keys, load_public
from weft.wire.lock import Lock
from weft.wire.sockets import new_keys

HOLDER = """
import sys
from pathlib import Path
from weft.wire.lock import Lock
lock = Lock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_the_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    ipc = Ipc(tmp_path / "run")
    assert (ipc.folder.stat().st_mode & 0o777, ipc.address("graph")) == (0o700, f"ipc://{tmp_path}/run/graph.sock")


def test_a_folder_that_others_may_enter_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run").chmod(0o750)
    with pytest.raises(Misuse, match=r"mode 750.*chmod 700"):
        Ipc(tmp_path / "run")


def test_a_link_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "run").symlink_to(tmp_path / "real")
    with pytest.raises(Misuse, match="a file or a link"):
        Ipc(tmp_path / "run")


def test_a_second_process_is_told_who_holds_the_name(tmp_path: Path) -> None:
    path = tmp_path / "graph.lock"
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(AlreadyBound, match=f"graph is already running in this folder, as process {holder.pid}") as caught:
            Lock(path)
        assert caught.value.pid == holder.pid
    finally:
        holder.kill()
        holder.communicate()
    Lock(path).release()  # the kernel gave it back when its holder died


FORKING = """
import os, sys
from pathlib import Path
from weft.wire.lock import Lock
lock = Lock(Path(sys.argv[1]))
if os.fork():
    os.write(1, b"forked\\n")
    os.kill(os.getpid(), 9)
sys.stdin.read()
"""


def test_a_forked_child_does_not_keep_the_lock_of_its_dead_parent(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", FORKING, str(tmp_path / "graph.lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdin is not None
    assert holder.stdout.readline() == b"forked\n"
    assert holder.wait(20) == -9
    for _ in range(100_000):  # the child is still there, since its input is still open; its hook may be about to run
        try:
            Lock(tmp_path / "graph.lock").release()
            break
        except AlreadyBound:
            continue
    else:
        pytest.fail("the child holds the lock")
    holder.stdin.close()
    holder.stdout.close()


def test_a_fork_leaves_the_lock_with_the_parent(tmp_path: Path) -> None:
    lock = Lock(tmp_path / "graph.lock")
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    with pytest.raises(AlreadyBound):
        Lock(tmp_path / "graph.lock")
    lock.release()


def test_a_lock_that_was_released_can_be_taken_again(tmp_path: Path) -> None:
    first = Lock(tmp_path / "a.lock")
    first.release()
    second = Lock(tmp_path / "a.lock")
    assert (tmp_path / "a.lock").read_text() == f"{os.getpid()}\n"
    second.release()


def test_a_path_too_long_for_the_kernel_is_shortened_and_then_refused(tmp_path: Path) -> None:
    room = SUN_PATH - len(str(tmp_path)) - 2
    shortened = Ipc(tmp_path / ("d" * (room - 16)))
    address = shortened.address("a-rather-long-actor-name")
    assert len(address.removeprefix("ipc://")) <= SUN_PATH
    assert address != shortened.address("another-rather-long-actor-name")
    with pytest.raises(Misuse, match="choose a shorter run folder"):
        Ipc(tmp_path / ("e" * room)).address("graph")


@pytest.mark.parametrize("name", ["", "Graph", "../graph", "a/b", "a" * 65, "1a", "graph\n"])
def test_a_name_that_could_leave_the_folder_is_refused(name: str, tmp_path: Path) -> None:
    for endpoints in (Inproc(), Ipc(tmp_path / "run")):
        with pytest.raises(Misuse, match="no actor name"):
            endpoints.address(name)


def test_tcp_wants_a_key_for_everyone_and_stays_on_this_machine() -> None:
    keys = new_keys()
    with pytest.raises(Misuse, match="has no public key"):
        Tcp(keys, {"store": Peer("127.0.0.1:7000", b"")})
    with pytest.raises(Misuse, match="beyond this machine"):
        Tcp(keys, {"store": Peer("0.0.0.0:7000", keys.public)})
    with pytest.raises(Misuse, match="no host:port"):
        Tcp(keys, {"store": Peer("127.0.0.1", keys.public)})
    assert Tcp(keys, {"store": Peer("10.0.0.1:7000", keys.public)}, beyond_this_machine=True).address("store") == "tcp://10.0.0.1:7000"
    with pytest.raises(Misuse, match="known are store"):
        Tcp(keys, {"store": Peer("127.0.0.1:7000", keys.public)}).address("graph")


def test_keys_are_written_once_and_readable_by_their_owner_alone(tmp_path: Path) -> None:
    keys = create_keys(tmp_path, "store")
    assert (tmp_path / "store.secret").stat().st_mode & 0o777 == 0o600
    assert (load_keys(tmp_path / "store.secret"), load_public(tmp_path / "store.public")) == (keys, keys.public)
    with pytest.raises(Misuse, match="exists"):
        create_keys(tmp_path, "store")


def test_a_secret_that_others_can_read_is_refused(tmp_path: Path) -> None:
    create_keys(tmp_path, "store")
    (tmp_path / "store.secret").chmod(0o640)
    with pytest.raises(Misuse, match=r"mode 640.*chmod 600"):
        load_keys(tmp_path / "store.secret")


def test_a_file_that_is_no_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.secret").touch(mode=0o600)
    with pytest.raises(Misuse, match="holds no key"):
        load_keys(tmp_path / "x.secret")
    with pytest.raises(Misuse, match="cannot be read"):
        load_keys(tmp_path / "missing.secret")


def test_a_lock_on_a_file_that_its_holder_removed_is_taken_again_at_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first opens and locks the file just after the holder has removed it: a second one would lock another file at the same path."""
    path = tmp_path / "graph.lock"
    opened = os.open

    def open_then_remove(*given: Any, **more: Any) -> int:
        file = opened(*given, **more)
        monkeypatch.undo()
        path.unlink()
        return file

    monkeypatch.setattr(os, "open", open_then_remove)
    first = Lock(path)
    with pytest.raises(AlreadyBound):
        Lock(path)
    first.release()
    Lock(path).release()
