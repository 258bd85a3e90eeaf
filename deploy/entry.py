"""Where a child process begins. The root names this function and loads nothing of what the child will need: only the fork server and its children load sockets and actors."""
from __future__ import annotations

from multiprocessing.connection import Connection

HOSTING = "weft.deploy.hosting"


def begin(start: bytes, control: Connection, lifeline: Connection) -> None:
    from .hosting import serve

    serve(start, control, lifeline)
