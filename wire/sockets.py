"""ZeroMQ, and nothing else of weft knows it. The only file that imports zmq.

Invariants
- PUSH and PULL only. Inside the ring both ends are unlimited, so that nobody blocks (PROTOCOL rule 7); at the edge the inlet is bounded and its senders feel it.
- A socket is used by one thread at a time. The waker is the exception and has a lock of its own.
- With keys, a socket speaks CURVE and nothing else, and an inlet with keys takes only clients whose public key is allowed.
Called by `post` (which opens inlets and outlets by actor name) and by mailboxes.
"""
from __future__ import annotations

import logging
import re
import threading
import uuid
import weakref
from collections.abc import Collection
from typing import NamedTuple

import zmq
import zmq.auth
import zmq.auth.thread

from ..scheduler.errors import Misuse
from .limits import MESSAGE

Idle = zmq.Again  # nothing came in time, or there is no room
LINGER_MS = 500  # how long a closing outlet tries to deliver its last answers
RETRY_MS, RETRY_MOST_MS = 5, 200  # how soon an outlet tries again where nobody listens yet, and how slowly after a while: a successor comes within milliseconds, or it takes long
FREE_MS = 2000  # how long a closing inlet waits for its address to be let go
CLOSE_S = 5.0  # how long a closing context waits for sockets that somebody still has open: ten times what an outlet lingers
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

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], *, bound: int = 0, keys: Keys | None = None, domain: str = "") -> None:
        self._socket = socket = context.socket(zmq.PULL)
        self._waker = context.socket(zmq.PUSH)
        self._lock = threading.Lock()
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
            socket.setsockopt(zmq.ZAP_DOMAIN, domain.encode())
        self.is_secure = keys is not None
        self.receive = socket.recv

    @property
    def is_closed(self) -> bool:
        return self._socket.closed

    def bind(self, address: str) -> str:
        """Listen. Returns the address as it is, with the port that was chosen."""
        try:
            _reach(self._socket, address)
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
            if self.is_closed:
                return
            if self._address.startswith("inproc:"):
                self._socket.unbind(self._address)
            elif self._address:
                with self._socket.get_monitor_socket(zmq.EVENT_CLOSED) as monitor:
                    self._socket.unbind(self._address)
                    monitor.poll(FREE_MS)
                    self._socket.disable_monitor()
            self.abandon()

    def abandon(self) -> None:
        """Let go at once, whoever uses it: for a context that closes."""
        self._waker.close(linger=0)
        self._socket.close(linger=0)


class Outlet:
    """The sending end: PUSH to one address. `bound` 0 never refuses."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], address: str, *, bound: int = 0, keys: Keys | None = None, server: bytes = b"") -> None:
        self._socket = socket = context.socket(zmq.PUSH)
        socket.setsockopt(zmq.SNDHWM, bound)
        socket.setsockopt(zmq.LINGER, LINGER_MS)
        socket.setsockopt(zmq.RECONNECT_IVL, RETRY_MS)
        socket.setsockopt(zmq.RECONNECT_IVL_MAX, RETRY_MOST_MS)
        if keys is not None:
            socket.setsockopt(zmq.CURVE_PUBLICKEY, keys.public)
            socket.setsockopt(zmq.CURVE_SECRETKEY, keys.secret)
            socket.setsockopt(zmq.CURVE_SERVERKEY, server)
        try:
            _reach(socket, address)
            socket.connect(address)
        except zmq.ZMQError as error:
            socket.close()
            raise Misuse(f"nothing can be sent to {address}: {error}") from None
        self._address = address
        self._bound = bound
        self._send = super(zmq.Socket, socket).send  # past the layer that handles options weft does not use

    @property
    def is_closed(self) -> bool:
        return self._socket.closed

    def send(self, data: bytes) -> bool:
        """False if there is no room, which happens at the edge only."""
        try:
            self._send(data, zmq.NOBLOCK)
        except zmq.Again:
            return self._send_late(data) if self._bound else self._send_anew(data)
        return True

    def _send_late(self, data: bytes) -> bool:
        """There may be room by now: a sending socket hears of it at most once in a while, unless it is asked for its state."""
        try:
            if self._socket.poll(0, zmq.POLLOUT):
                self._send(data, zmq.NOBLOCK)
                return True
        except zmq.Again:
            pass
        return False

    def _send_anew(self, data: bytes) -> bool:
        """An unlimited outlet without room has lost its other end: an inproc pipe dies with its reader, and ZeroMQ makes no new one. Connecting again waits for the successor."""
        self._socket.connect(self._address)
        self._send(data, zmq.NOBLOCK)
        return True

    def close(self) -> None:
        self._socket.close()

    def abandon(self) -> None:
        """Let go at once, whoever uses it: for a context that closes."""
        self._socket.close(linger=0)


class Sockets:
    """One ZeroMQ context: the sockets of one process that can reach each other by inproc."""

    def __init__(self) -> None:
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._context.set(zmq.MAX_SOCKETS, 4096)
        self._gate: zmq.auth.thread.ThreadAuthenticator | None = None
        self._domains: dict[frozenset[bytes], str] = {}  # each list of allowed clients is a ZAP domain of its own
        self._open: weakref.WeakSet[Inlet | Outlet] = weakref.WeakSet()

    def inlet(self, *, bound: int = 0, keys: Keys | None = None, domain: str = "") -> Inlet:
        if keys is not None and domain not in self._domains.values():
            raise Misuse("an inlet with keys needs the list of allowed clients first: call allow(public_keys), and name the domain that it returns")
        inlet = Inlet(self._context, bound=bound, keys=keys, domain=domain)
        self._open.add(inlet)
        return inlet

    def outlet(self, address: str, *, bound: int = 0, keys: Keys | None = None, server: bytes = b"") -> Outlet:
        outlet = Outlet(self._context, address, bound=bound, keys=keys, server=server)
        self._open.add(outlet)
        return outlet

    def allow(self, public_keys: Collection[bytes]) -> str:
        """A domain: only these clients pass the handshake of an inlet in it. Everybody else is turned away before a byte of theirs is decoded."""
        keys = frozenset(public_keys)
        if self._gate is None:
            self._gate = zmq.auth.thread.ThreadAuthenticator(self._context)
            self._gate.start()
        if keys not in self._domains:
            self._domains[keys] = domain = f"weft-{len(self._domains) + 1}"
            self._gate.configure_curve_callback(domain=domain, credentials_provider=_Allowed(domain, keys))
        return self._domains[keys]

    def close(self, patience: float = CLOSE_S) -> None:
        """Close the context. Every inlet and outlet should be closed already; one that is not is waited for, then let go of, and logged: no process hangs because of it."""
        if self._gate is not None:
            self._gate.stop()
        ending = threading.Thread(target=self._context.term, name="weft-sockets-close", daemon=True)
        ending.start()
        ending.join(patience)
        if ending.is_alive():
            left = [end for end in self._open if not end.is_closed]
            logging.getLogger("weft.wire").warning("%d sockets were still open when their context was closed; stop the actors first", len(left))
            for end in left:
                end.abandon()
            ending.join(patience)


class _Allowed:
    """ZAP's question, answered from a fixed list."""

    def __init__(self, domain: str, keys: frozenset[bytes]) -> None:
        self._domain = domain
        self._keys = keys

    def callback(self, domain: str, key: bytes) -> bool:
        return domain == self._domain and key in self._keys


def _reach(socket: zmq.Socket[bytes], address: str) -> None:
    """ZeroMQ takes an IPv6 address only where it was asked to."""
    if address.startswith("tcp://["):
        socket.setsockopt(zmq.IPV6, 1)
