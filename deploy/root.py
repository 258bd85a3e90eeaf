"""The root of a tree: it has the run folder, starts the tree, serves until it is told to stop, and leaves nothing behind. Its exit code is one of `codes`.

No user code runs in it and nothing is asked of it, so that it outlives whatever happens below. Its program is `python -m weft.deploy PLAN`; see `launching`.
"""
from __future__ import annotations

import json
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..scheduler.errors import WeftError, describe
from .codes import DONE, code_of
from .folder import LOG, RunFolder
from .orders import Orders
from .placement import children_of
from .plan import Plan, read
from .remains import born
from .tree import Tree

SOCKET_ROOM = 75  # bytes of a run folder's path that leave room for the socket of the fork server


class Root:
    """One run of a tree."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._report = plan.report
        self._was_up = False

    def run(self) -> int:
        """From the claim of the run folder to its release."""
        plan = self._plan
        try:
            children = children_of(plan)
            folder = RunFolder(Path(plan.run))
        except WeftError as error:
            return self._failed(error)
        code = DONE
        try:
            with Orders(plan.owner) as orders:
                say = self._saying(folder)
                say([])
                code = self._grow(Tree(str(folder.path), children, orders, say), folder)
        finally:
            folder.leave(keep=LOG if code and plan.detached and self._was_up else "")
        return code

    def _grow(self, tree: Tree, folder: RunFolder) -> int:
        if len(str(folder.path).encode()) <= SOCKET_ROOM:
            tempfile.tempdir = str(folder.path)  # or the fork server's socket would stay in /tmp after a SIGKILL of this process
        if self._plan.detached:
            _write_to(folder.path / LOG)
        try:
            tree.start()
            self._ready(folder)
            reason = tree.serve()
            logging.getLogger("weft.deploy").info("%s: the tree stops", reason)
        except WeftError as error:
            return self._failed(error)
        finally:
            tree.stop()
        return DONE

    def _saying(self, folder: RunFolder) -> Callable[[list[dict[str, Any]]], None]:
        plan, own = self._plan, {"pid": os.getpid(), "born": born(os.getpid()), "started": time.time()}
        about = own | {"app": plan.app, "store": plan.store, "placement": plan.placement, "space": plan.space, "run": str(folder.path)}
        return lambda processes: folder.say(about | {"processes": processes})

    # What the starter hears

    def _ready(self, folder: RunFolder) -> None:
        self._was_up = True
        if not self._tell({"ready": {"pid": os.getpid(), "run": str(folder.path)}}):
            print(f"{self._plan.app or 'weft'} is up as process {os.getpid()} in {folder.path}; Ctrl-C, or weft down --run {folder.path}, stops it", flush=True)

    def _failed(self, error: WeftError) -> int:
        code = code_of(error)
        name, text, fields = describe(error)
        if not self._tell({"failed": [name, text, fields], "code": code}):
            print(f"Error: {text}", file=sys.stderr, flush=True)
        return code

    def _tell(self, what: dict[str, Any]) -> bool:
        """Once; afterwards the log hears it."""
        if self._report < 0:
            return False
        try:
            os.write(self._report, json.dumps(what).encode() + b"\n")
        except OSError:
            return False
        finally:
            os.close(self._report)
            self._report = -1
        return True


def main(arguments: list[str]) -> int:
    plan = read(arguments[0] if arguments else "")
    if plan.path:
        sys.path[:] = plan.path
    logging.basicConfig(format="%(asctime)s supervisor %(levelname)s %(name)s: %(message)s", level=logging.INFO if plan.detached else logging.WARNING)
    return Root(plan).run()


def _write_to(path: Path) -> None:
    """From now on what this process and its children print goes there."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    for stream in (1, 2):
        os.dup2(file, stream)
    os.close(file)
