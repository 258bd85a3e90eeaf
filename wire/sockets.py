"""ZeroMQ, and nothing else of weft knows it. The only file that imports zmq.

Invariants
- PUSH and PULL only. Inside the ring both ends are unlimited, so that nobody blocks (PROTOCOL rule 7); at the edge the inlet is bounded and its senders feel it.
- A socket is used by one thread at a time. The waker is the exception and has a lock of its own.
- With keys, a socket speaks CURVE and nothing else, and an inlet with keys takes only clients whose public key is allowed.
Called by `post` (which opens inlets and outlets by actor name) and by mailboxes.
"""
from __future__ import annotations

import re
import threading
import uuid
from collections.abc import Collection
from typing import NamedTuple

import zmq
import zmq.auth
import zmq.auth.thread

from ..scheduler.errors import Misuse
from .limits import MESSAGE

Idle = zmq.Again  # nothing came in time, or there is no room
LINGER_MS = 500  # how long a closing outlet tries to deliver its last answers
FREE_MS = 2000  # how long a closing inlet waits for its address to be let go
NEVER = -1


_Z85 = re.compile(rb"[0-9a-zA-Z.\-:+=^!/*?&<>()\[\]{}@%$#]{40}\Z")


class Keys(NamedTuple):
    """A CURVE key pair, in Z85."""

    public: bytes
    secret: bytes


def is_key(text: bytes) -> bool:
    """One half of a pair, as far as its spelling tells."""
    return type(text) is bytes and _Z85.match(text) is not None


def new_keys() -> Keys:
    return Keys(*zmq.curve_keypair())


def public_key(secret: bytes) -> bytes:
    return zmq.curve_public(secret)


class Inlet:
    """A mailbox's socket: PULL. It also listens to a private in-process address, by which other threads wake it."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], *, bound: int = 0, keys: Keys | None = None) -> None:
        self._socket = socket = context.socket(zmq.PULL)
        self._waker = context.socket(zmq.PUSH)
        self._lock = threading.Lock()
        self.is_closed = False
        self._address = ""
        socket.setsockopt(zmq.RCVHWM, bound)
        socket.setsockopt(zmq.MAXMSGSIZE, MESSAGE.bytes)
        socket.setsockopt(zmq.LINGER, 0)
        self._waker.setsockopt(zmq.LINGER, 0)
        self._waker.setsockopt(zmq.SNDHWM, 0)
        private = f"inproc://wake-{uuid.uuid4()}"
        socket.bind(private)
        self._waker.connect(private)
        if keys is not None:
            socket.setsockopt(zmq.CURVE_SERVER, 1)
            socket.setsockopt(zmq.CURVE_SECRETKEY, keys.secret)
            socket.setsockopt(zmq.ZAP_DOMAIN, b"weft")
        self.is_secure = keys is not None
        self.receive = socket.recv

    def bind(self, address: str) -> str:
        """Listen. Returns the address as it is, with the port that was chosen."""
        try:
            self._socket.bind(address)
        except zmq.ZMQError as error:
            raise Misuse(f"cannot listen at {address}: {error}") from None
        self._address = self._socket.getsockopt_string(zmq.LAST_ENDPOINT)
        return self._address

    def receive_with_key(self) -> tuple[bytes, str]:
        """The next frame and the public key of the client that sent it; empty for a frame of the waker."""
        frame = self._socket.recv(copy=False)
        try:
            user = frame.get("User-Id")
        except zmq.ZMQError:
            user = ""
        return frame.bytes, user if isinstance(user, str) else ""

    def is_empty(self) -> bool:
        return self.is_closed or not self._socket.poll(0)

    def set_patience(self, milliseconds: int) -> None:
        """How long `receive` waits before it raises Idle."""
        self._socket.setsockopt(zmq.RCVTIMEO, milliseconds)

    def wake(self, token: bytes) -> None:
        """Put a frame of this process into the socket, from any thread."""
        with self._lock:
            if not self.is_closed:
                self._waker.send(token)

    def close(self) -> None:
        """When this returns the address is free. ZeroMQ lets go of it later, in a thread of its own, and would then remove the socket file of a successor that was quicker."""
        with self._lock:
            self.is_closed = True
            if self._address.startswith("inproc:"):
                self._socket.unbind(self._address)
            elif self._address:
                with self._socket.get_monitor_socket(zmq.EVENT_CLOSED) as monitor:
                    self._socket.unbind(self._address)
                    monitor.poll(FREE_MS)
                    self._socket.disable_monitor()
            self._waker.close()
            self._socket.close()


class Outlet:
    """The sending end: PUSH to one address. `bound` 0 never refuses."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], address: str, *, bound: int = 0, keys: Keys | None = None, server: bytes = b"") -> None:
        self._socket = socket = context.socket(zmq.PUSH)
        socket.setsockopt(zmq.SNDHWM, bound)
        socket.setsockopt(zmq.LINGER, LINGER_MS)
        if keys is not None:
            socket.setsockopt(zmq.CURVE_PUBLICKEY, keys.public)
            socket.setsockopt(zmq.CURVE_SECRETKEY, keys.secret)
            socket.setsockopt(zmq.CURVE_SERVERKEY, server)
        try:
            socket.connect(address)
        except zmq.ZMQError as error:
            socket.close()
            raise Misuse(f"nothing can be sent to {address}: {error}") from None
        self._address = address
        self._bound = bound
        self._send = super(zmq.Socket, socket).send  # past the layer that handles options weft does not use

    def send(self, data: bytes) -> bool:
        """False if there is no room, which happens at the edge only."""
        try:
            self._send(data, zmq.NOBLOCK)
        except zmq.Again:
            return not self._bound and self._send_anew(data)
        return True

    def _send_anew(self, data: bytes) -> bool:
        """An unlimited outlet without room has lost its other end: an inproc pipe dies with its reader, and ZeroMQ makes no new one. Connecting again waits for the successor."""
        self._socket.connect(self._address)
        self._send(data, zmq.NOBLOCK)
        return True

    def close(self) -> None:
        self._socket.close()


class Sockets:
    """One ZeroMQ context: the sockets of one process that can reach each other by inproc."""

    def __init__(self) -> None:
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._context.set(zmq.MAX_SOCKETS, 4096)
        self._gate: zmq.auth.thread.ThreadAuthenticator | None = None

    def inlet(self, *, bound: int = 0, keys: Keys | None = None) -> Inlet:
        if keys is not None and self._gate is None:
            raise Misuse("an inlet with keys needs the list of allowed clients first: call allow(public_keys)")
        return Inlet(self._context, bound=bound, keys=keys)

    def outlet(self, address: str, *, bound: int = 0, keys: Keys | None = None, server: bytes = b"") -> Outlet:
        return Outlet(self._context, address, bound=bound, keys=keys, server=server)

    def allow(self, public_keys: Collection[bytes]) -> None:
        """From now on only these clients pass the handshake of any inlet with keys. Everybody else is turned away before a byte of theirs is decoded."""
        if self._gate is None:
            self._gate = zmq.auth.thread.ThreadAuthenticator(self._context)
            self._gate.start()
        self._gate.configure_curve_callback(domain="weft", credentials_provider=_Allowed(frozenset(public_keys)))

    def close(self) -> None:
        """Close the context; every inlet and outlet must be closed already, else this waits for them."""
        if self._gate is not None:
            self._gate.stop()
        self._context.term()


class _Allowed:
    """ZAP's question, answered from a fixed list."""

    def __init__(self, keys: frozenset[bytes]) -> None:
        self._keys = keys

    def callback(self, domain: str, key: bytes) -> bool:
        return domain == "weft" and key in self._keys
