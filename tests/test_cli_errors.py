"""The command line when the machine does not play along: one sentence and the code 1, never a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def run(*arguments: str, **environment: str) -> tuple[int, str]:
    """The code, and what is said to stderr, of `weft` with its output going where there is no room."""
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "weft", *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=os.environ | environment)
    return done.returncode, done.stderr


@pytest.mark.parametrize("command", [["demo"], ["--version"], ["bench", "match", "--quick"]], ids=" ".join)
def test_an_output_without_room_is_said_in_one_sentence(command: list[str]) -> None:
    assert run(*command) == (1, "Error: the output cannot be written: No space left on device\n")


def test_a_temporary_folder_with_too_long_a_path_is_said_in_one_sentence(tmp_path: Path) -> None:
    folder = tmp_path / ("d" * 100)
    folder.mkdir()
    assert run("demo", TMPDIR=str(folder)) == (1, f"Error: the temporary folder {folder} has too long a path for sockets; set TMPDIR to a shorter one, such as /tmp\n")
