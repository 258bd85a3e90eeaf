"""The transport over ZeroMQ: mailboxes and links by actor name, wherever the endpoints put them."""
from __future__ import annotations

from contextlib import ExitStack

from .endpoints import Endpoints
from .mailbox import Mailbox
from .names import is_name
from .sockets import Inlet, Outlet, Sockets

EDGE_BOUND = 1000  # frames an inlet with keys holds before the network holds its senders back


class Post:
    """`sockets` may be shared by several posts of one process; whoever made it closes it."""

    def __init__(self, sockets: Sockets, endpoints: Endpoints) -> None:
        self._sockets = sockets
        self._endpoints = endpoints
        self._domain = "" if endpoints.keys is None else sockets.allow([key.encode() for key in endpoints.client_names()])

    def open(self, mailbox: Mailbox) -> None:
        """Lock, then bind: a second bind would take the first one's mail."""
        keys = self._endpoints.keys
        with ExitStack() as undo:
            lock = self._endpoints.claim(mailbox.name)
            if lock is not None:
                undo.callback(lock.release)
            undo.callback(self._endpoints.vacate, mailbox.name)
            inlet = self._sockets.inlet(bound=EDGE_BOUND if keys else 0, keys=keys, domain=self._domain)
            undo.callback(inlet.close)
            inlet.bind(self._endpoints.address(mailbox.name))
            mailbox.attach(_Locked(inlet, undo.pop_all()), self._endpoints.client_names())

    def connect(self, sender: str, target: str, bound: int = 0) -> Outlet:
        return self._sockets.outlet(self._endpoints.address(target), bound=bound, keys=self._endpoints.keys, server=self._endpoints.server_key(target))

    def is_known(self, name: str) -> bool:
        return is_name(name) and self._endpoints.is_known(name)


class _Locked:
    """An inlet that gives its lock back, after it has stopped listening."""

    def __init__(self, inlet: Inlet, undo: ExitStack) -> None:
        self.is_secure = inlet.is_secure
        self.receive = inlet.receive
        self.receive_with_key = inlet.receive_with_key
        self.is_empty = inlet.is_empty
        self.set_patience = inlet.set_patience
        self.wake = inlet.wake
        self.close = undo.close
