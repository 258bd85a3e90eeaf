"""The Makefile: it works from anywhere, in a folder with spaces, beside another make, and whatever the user has set for pip. pip is a stand-in that writes down its calls."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from harness.source import ROOT

PIP = """#!/bin/sh
# .venv/bin/python: `-m pip --version` works; `-m pip install` is noted, and ends when it is let go
case "$*" in
*install*) echo "PIP_USER=$PIP_USER" >>"{folder}/installs"; echo begun >"{folder}/begun"; read -r line <"{folder}/go";;
esac
"""

PYTHON = """#!/bin/sh
# the interpreter, which says so before it waits for the lock
case "$*" in
*flock*) echo locking >"{folder}/locking";;
esac
exec "{python}" "$@"
"""

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "a folder of mine"
    (folder / ".venv" / "bin").mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    for script, text in ((folder / ".venv" / "bin" / "python", PIP), (tmp_path / "python", PYTHON)):
        script.write_text(text.format(folder=folder, python=sys.executable))
        script.chmod(0o755)
    for pipe in ("locking", "begun", "go"):
        os.mkfifo(folder / pipe)
    return folder


@contextmanager
def make(folder: Path, cwd: Path) -> Iterator["subprocess.Popen[str]"]:
    """Ended with everything that it began, whatever happens."""
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    command = ["make", "-f", str(folder / "Makefile"), "env", f"PYTHON={folder.parent / 'python'}"]
    made = subprocess.Popen(command, cwd=cwd, env=environment | {"PIP_USER": "1"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    try:
        yield made
    finally:
        with suppress(ProcessLookupError):
            os.killpg(made.pid, signal.SIGKILL)
        made.communicate()


def test_two_makes_at_once_from_elsewhere_install_once_and_into_the_environment(folder: Path, tmp_path: Path) -> None:
    with make(folder, tmp_path) as first:
        assert [(folder / pipe).read_text() for pipe in ("locking", "begun")] == ["locking\n", "begun\n"]  # the first one installs
        with make(folder, folder) as second:
            assert (folder / "locking").read_text() == "locking\n"  # the second has found nothing installed
            (folder / "go").write_text("go\n")
            said = [each.communicate(timeout=60)[0] for each in (first, second)]
    assert [first.returncode, second.returncode] == [0, 0], said
    assert (folder / "installs").read_text() == "PIP_USER=0\n"
    assert not (tmp_path / ".venv").exists()
