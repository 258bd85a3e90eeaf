"""Keys, locks and folders that cannot be used are refused with a sentence, never with the system's own error."""
from __future__ import annotations

import os
from pathlib import Path

import pytest
from weft.scheduler.errors import Misuse
from weft.wire.endpoints import Peer, Tcp
from weft.wire.keys import create_keys, load_keys, load_public
from weft.wire.lock import Lock, private_folder
from weft.wire.names import checked_name
from weft.wire.sockets import Sockets, new_keys


def test_keys_are_not_written_into_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="cannot be written: No such file or directory"):
        create_keys(tmp_path / "nowhere", "settle")


def test_a_key_whose_public_half_cannot_be_written_is_not_made(tmp_path: Path) -> None:
    (tmp_path / "settle.public").symlink_to(tmp_path / "nowhere" / "settle.public")
    with pytest.raises(Misuse, match=r"settle\.public cannot be written: .*; no key was made"):
        create_keys(tmp_path, "settle")
    assert not (tmp_path / "settle.secret").exists()


def test_the_public_half_can_be_changed_by_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        create_keys(tmp_path, "settle")
    finally:
        os.umask(before)
    assert (tmp_path / "settle.public").stat().st_mode & 0o777 == 0o644


def test_a_pipe_in_the_place_of_a_key_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "settle.secret", 0o600)
    with pytest.raises(Misuse, match=r"the secret key .* must be a file"):
        load_keys(tmp_path / "settle.secret")
    with pytest.raises(Misuse, match=r"the public key .* must be a file"):
        load_public(tmp_path / "settle.secret")


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_secret_in_a_folder_where_others_may_write_is_refused(tmp_path: Path, mode: int) -> None:
    create_keys(tmp_path, "settle")
    tmp_path.chmod(mode)
    with pytest.raises(Misuse, match="chmod go-w"):
        load_keys(tmp_path / "settle.secret")
    with pytest.raises(Misuse, match="chmod go-w"):
        create_keys(tmp_path, "graph")
    tmp_path.chmod(0o1777)  # as /tmp: others may write, and replace nothing of ours
    load_keys(tmp_path / "settle.secret")


def test_a_lock_that_is_a_link_or_has_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "settle.lock").symlink_to(tmp_path / "elsewhere")
    for path in (tmp_path / "settle.lock", tmp_path / "nowhere" / "settle.lock"):
        with pytest.raises(Misuse, match="cannot be opened"):
            Lock(path)


def test_a_run_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(Misuse, match="a file is in its place"):
            private_folder(folder)
    with pytest.raises(Misuse, match="cannot be made: Not a directory"):
        private_folder(tmp_path / "file" / "below" / "run")


@pytest.mark.parametrize("key", [b"", b"k" * 39, b"\xff" * 40, b" " * 40, "k" * 40])
def test_a_peer_has_a_key_in_its_spelling(key: bytes) -> None:
    with pytest.raises(Misuse, match="has no public key"):
        Tcp(new_keys(), {"settle": Peer("127.0.0.1:5000", key)})


@pytest.mark.parametrize("at", ["127.0.0.1", ":5000", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:\u0665", "127.0.0.1:-1"])
def test_a_peer_is_at_a_host_and_a_port(at: str) -> None:
    keys = new_keys()
    with pytest.raises(Misuse, match="is no host:port"):
        Tcp(keys, {"settle": Peer(at, keys.public)})


def test_an_address_that_nothing_can_be_sent_to_is_refused_and_leaves_no_socket_open(caplog: pytest.LogCaptureFixture) -> None:
    sockets = Sockets()
    with pytest.raises(Misuse, match="nothing can be sent to"):
        sockets.outlet("nonsense://here")
    sockets.close()
    assert caplog.text == ""  # it would say what was open


@pytest.mark.parametrize("name", [None, 5, b"settle", "", "Settle", "a/b", "a" * 65])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(Misuse, match="is no actor name"):
        checked_name(name)
