"""The README: its programs run as they stand and print what it claims; its commands and links exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from harness.source import FRONT, PARTS, ROOT

README = (ROOT / "README.md").read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```\n(.*?)(?=```python\n|\Z)", README, re.DOTALL)  # each program with what follows, up to the next one
CLAIMED = re.compile(r"\A\s*[^\n`]*\n*```text\n(.*?)```", re.DOTALL)  # at most one line between the program and its output


def claimed(after: str) -> str:
    """The output that is printed below a program."""
    found = CLAIMED.match(after)
    assert found, "each python block of the README is followed by a text block with what it prints"
    return found[1]


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_a_program_prints_what_the_readme_claims(number: int, tmp_path: Path) -> None:
    program, after = PROGRAMS[number]
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == (claimed(after), "", 0)


def test_the_first_program_is_about_ten_lines() -> None:
    lines = [line for line in PROGRAMS[0][0].splitlines() if line.strip() and not line.startswith(("import ", "from "))]
    assert len(lines) <= 12


def test_the_picture_of_the_tree_shows_every_folder() -> None:
    (picture,) = re.findall(r"```tree\n(.*?)```", README, re.DOTALL)
    assert {line.split("/")[0] for line in picture.splitlines() if "/" in line.split()[0]} == {*PARTS, *FRONT, "tests"}


def test_the_commands_it_names_are_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"demo", "test"} <= set(re.findall(r"make (\w+)", README)) <= targets


def test_files_it_links_to_exist() -> None:
    linked = re.findall(r"\]\(([^)#:]+)\)", README)
    assert [name for name in linked if not (ROOT / name).exists()] == []
