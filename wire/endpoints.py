"""Where actors listen, by name: in this process, in a folder of this machine, or on the network.

- inproc: the actors of one process that share one `Sockets`.
- ipc: one socket file an actor, in a folder that only its owner may enter, locked before it is bound.
- tcp: only with CURVE. There is no unencrypted variant to choose by mistake. Loopback unless the plan says otherwise.
Called by `post`, which turns an endpoint into a socket.
"""
from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from ..scheduler.errors import Misuse
from .lock import Lock, private_folder
from .names import checked_name
from .sockets import Keys, is_key

SUN_PATH = 107  # bytes that the kernel takes for the path of a socket


class Endpoints(Protocol):
    """`keys` is what this process proves itself with, None where no proof is needed; `server_key` what the owner of a name must prove."""

    keys: Keys | None

    def address(self, name: str) -> str: ...

    def claim(self, name: str) -> Lock | None:
        """The right to listen as this actor; raises AlreadyBound, naming the process that has it."""

    def vacate(self, name: str) -> None:
        """Nobody listens as this actor any more; called while the claim is still held. ZeroMQ leaves the file of a socket where it was."""

    def is_known(self, name: str) -> bool:
        """Whether an actor of that name can be there, so that a stranger's greeting opens no socket."""

    def server_key(self, name: str) -> bytes: ...

    def client_names(self) -> Mapping[str, str]:
        """Public key to actor name, for those who must prove their name."""


class Inproc:
    """Actors of one process. `tree` keeps two runtimes in one process apart."""

    keys: Keys | None = None

    def __init__(self, tree: str = "weft") -> None:
        self._tree = tree

    def address(self, name: str) -> str:
        return f"inproc://{self._tree}/{checked_name(name)}"

    def claim(self, name: str) -> Lock | None:
        return None  # a second bind in one context fails by itself

    def vacate(self, name: str) -> None: ...

    def is_known(self, name: str) -> bool:
        return True

    def server_key(self, name: str) -> bytes:
        return b""

    def client_names(self) -> Mapping[str, str]:
        return {}


class Ipc(Inproc):
    """Actors of one machine and one user."""

    def __init__(self, folder: Path | str) -> None:
        super().__init__()
        self.folder = private_folder(Path(folder))

    def address(self, name: str) -> str:
        return f"ipc://{self._file(name)}"

    def claim(self, name: str) -> Lock | None:
        return Lock(self.folder / f"{checked_name(name)}.lock")

    def vacate(self, name: str) -> None:
        for file in (self._file(name), self.folder / f"{name}.lock"):
            file.unlink(missing_ok=True)

    def is_known(self, name: str) -> bool:
        return self._file(name).exists()

    def _file(self, name: str) -> Path:
        """The socket's path. A name that would make it too long for the kernel is shortened to its hash."""
        for file in (f"{checked_name(name)}.sock", hashlib.blake2b(name.encode(), digest_size=8).hexdigest()):
            path = self.folder / file
            if len(str(path).encode()) <= SUN_PATH:
                return path
        most = SUN_PATH - 17
        raise Misuse(f"{self.folder} is too long for sockets: the folder's path may have {most} bytes and has {len(str(self.folder).encode())}; choose a shorter run folder")


class Peer(NamedTuple):
    """An actor on the network: where it listens (`host:port`) and the public key that proves it."""

    at: str
    key: bytes


class Tcp:
    """Actors on other machines, each with a key of its own. Whoever is not in the plan is turned away, and may speak only under its own name."""

    def __init__(self, own: Keys, plan: Mapping[str, Peer], *, beyond_this_machine: bool = False) -> None:
        self.keys: Keys | None = own
        self._plan = dict(plan)
        for name, peer in self._plan.items():
            host, _, port = peer.at.rpartition(":")
            if not is_key(peer.key):
                raise Misuse(f"{name} at {peer.at} has no public key; tcp is spoken with keys only")
            if not (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) < 65536) or not host:
                raise Misuse(f"{name}: {peer.at!r} is no host:port, with a port below 65536")
            if not beyond_this_machine and host not in ("127.0.0.1", "localhost", "[::1]"):
                raise Misuse(f"{name} would be reachable at {peer.at}, beyond this machine; say so with beyond_this_machine=True")

    def address(self, name: str) -> str:
        return f"tcp://{self._peer(name).at}"

    def claim(self, name: str) -> Lock | None:
        return None  # the kernel gives a port to one process only

    def vacate(self, name: str) -> None: ...

    def is_known(self, name: str) -> bool:
        return name in self._plan

    def server_key(self, name: str) -> bytes:
        return self._peer(name).key

    def client_names(self) -> Mapping[str, str]:
        return {peer.key.decode(): name for name, peer in self._plan.items()}

    def _peer(self, name: str) -> Peer:
        if name not in self._plan:
            raise Misuse(f"no actor {checked_name(name)!r} is in the network plan; known are {', '.join(sorted(self._plan))}")
        return self._plan[name]
