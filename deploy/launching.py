"""Starting a root from another process: in its place (`weft up`), beside it (`--detach`), or below it, as long as it lives (`Runtime`).

The root says over a pipe that its tree is ready, or why it is not; its starter raises that as its own error.
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

from ..scheduler.errors import Misuse, WeftError, by_name
from .codes import NotRunning, ProcessLost
from .folder import RunFolder
from .lifeline import Lifeline
from .plan import Plan, written
from .process import cause_of

STOP = 60.0  # seconds a whole tree may take to stop: every process its own time, one after another


def become(plan: Plan) -> NoReturn:
    """This process becomes the root: the same pid, so that whoever started it can stop it or wait for it."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, _command(plan))


def detach(plan: Plan) -> dict[str, Any]:
    """A root that outlives this process; returns when it is ready, with its pid and run folder."""
    return _launched(plan._replace(detached=True), None)[1]


class Owned:
    """A tree that lives as long as this process, at most."""

    def __init__(self, plan: Plan) -> None:
        self._lifeline = Lifeline()
        try:
            self._process, self.about = _launched(plan, self._lifeline)
        except BaseException:
            self._lifeline.release()
            raise
        self.pid: int = self.about["pid"]
        self.run = Path(self.about["run"])

    def close(self) -> None:
        """Waits until nothing of the tree is left, whatever became of its root."""
        self._lifeline.release()
        try:
            self._process.wait(STOP)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.returncode < 0 and self.run.exists():
            RunFolder(self.run).leave()


def _launched(plan: Plan, lifeline: Lifeline | None) -> tuple[subprocess.Popen[bytes], dict[str, Any]]:
    heard, report = os.pipe()
    owner = -1 if lifeline is None else lifeline.end.fileno()
    passed = [report, *([owner] if owner >= 0 else [])]
    command = _command(plan._replace(report=report, owner=owner))
    output = subprocess.DEVNULL if plan.detached else None
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, pass_fds=passed, start_new_session=plan.detached)
    finally:
        os.close(report)
    with open(heard, "rb") as lines:
        said = lines.readline()
    if not said:
        raise ProcessLost(f"the root of the tree {cause_of(process.wait())} before it was ready")
    found = json.loads(said)
    if "failed" in found:
        process.wait()
        raise _error(*found["failed"])
    return process, found["ready"]


def _command(plan: Plan) -> list[str]:
    if not sys.executable:
        raise Misuse("this Python does not know its own program, so that it cannot start processes; run it as a file")
    return [sys.executable, "-m", "weft.deploy", written(plan)]


def _error(name: str, text: str, fields: dict[str, Any]) -> WeftError:
    own = {kind.__name__: kind for kind in (ProcessLost, NotRunning)}
    return own[name](text) if name in own else by_name(name, text, fields)
