"""weft: a demand-driven, transactional, reactive runtime.

This is the front door: the names that programs import. It is lazy. `import weft` loads nothing but this file; the first use of a name loads the part that has it, so that a
program that only names cells loads neither sockets nor actors nor a database. Type checkers see ordinary imports.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weft.actors.aio import AsyncRuntime, AsyncSent, AsyncWatch
    from weft.actors.client import Client, Loadable
    from weft.actors.clock import VirtualClock
    from weft.actors.context import Reader, Tx
    from weft.actors.declaring import computation, effect, handler
    from weft.actors.event import Event
    from weft.actors.node import Node
    from weft.actors.results import Commit, Run, Update
    from weft.actors.sent import Outcome, Sent
    from weft.actors.specs import HandlerSpec, NodeSpec
    from weft.actors.watching import Watch
    from weft.deploy.runtime import Runtime, connect
    from weft.scheduler.cells import Cell, Family, Stream, cell, family, link, parse, stream
    from weft.scheduler.errors import (
        Aborted,
        BadAddress,
        BrokenInvariant,
        ConflictError,
        ErrorInfo,
        EventDropped,
        EventFailed,
        InsideRun,
        Misfit,
        Missing,
        Misuse,
        NodeFailed,
        NotImportable,
        NotSettled,
        NotStorable,
        PreconditionFailedError,
        RetryLater,
        Stuck,
        WaitTimeout,
        WeftError,
    )
    from weft.scheduler.introspection import NodeView
    from weft.scheduler.model import Version
    from weft.scheduler.values import MISSING, Link, MissingType

__version__ = "0.1.0"

__all__ = [
    "MISSING",
    "Aborted",
    "AsyncRuntime",
    "AsyncSent",
    "AsyncWatch",
    "BadAddress",
    "BrokenInvariant",
    "Cell",
    "Client",
    "Commit",
    "ConflictError",
    "ErrorInfo",
    "Event",
    "EventDropped",
    "EventFailed",
    "Family",
    "HandlerSpec",
    "InsideRun",
    "Link",
    "Loadable",
    "Misfit",
    "Missing",
    "MissingType",
    "Misuse",
    "Node",
    "NodeFailed",
    "NodeSpec",
    "NodeView",
    "NotImportable",
    "NotSettled",
    "NotStorable",
    "Outcome",
    "PreconditionFailedError",
    "Reader",
    "RetryLater",
    "Run",
    "Runtime",
    "Sent",
    "Stream",
    "Stuck",
    "Tx",
    "Update",
    "Version",
    "VirtualClock",
    "WaitTimeout",
    "Watch",
    "WeftError",
    "cell",
    "computation",
    "connect",
    "effect",
    "family",
    "handler",
    "link",
    "parse",
    "stream",
]

if not TYPE_CHECKING:
    # Names that are not errors, by the part that has them. An error's name is looked up in the one file that has every error.
    _PARTS = {
        "weft.actors.aio": ("AsyncRuntime", "AsyncSent", "AsyncWatch"),
        "weft.actors.client": ("Client", "Loadable"),
        "weft.actors.clock": ("VirtualClock",),
        "weft.actors.context": ("Reader", "Tx"),
        "weft.actors.declaring": ("computation", "effect", "handler"),
        "weft.actors.event": ("Event",),
        "weft.actors.node": ("Node",),
        "weft.actors.results": ("Commit", "Run", "Update"),
        "weft.actors.sent": ("Outcome", "Sent"),
        "weft.actors.specs": ("HandlerSpec", "NodeSpec"),
        "weft.actors.watching": ("Watch",),
        "weft.deploy.runtime": ("Runtime", "connect"),
        "weft.scheduler.cells": ("Cell", "Family", "Stream", "cell", "family", "link", "parse", "stream"),
        "weft.scheduler.introspection": ("NodeView",),
        "weft.scheduler.model": ("Version",),
        "weft.scheduler.values": ("MISSING", "Link", "MissingType"),
    }
    _HOME = {name: part for part, names in _PARTS.items() for name in names}

    def __getattr__(name):
        if name not in __all__:
            raise import_module("weft.later").missing(name)
        found = getattr(import_module(_HOME.get(name, "weft.scheduler.errors")), name)
        globals()[name] = found  # the next use finds it without coming here
        return found

    def __dir__():
        return sorted([*__all__, "__version__", "__all__", "__doc__", "__file__", "__name__", "__path__"])
