"""What users write (tests/programs): each program runs as it stands against the package, and type checkers accept it, strictly; they refuse a wrong one."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness.source import ROOT
from harness.typecheck import LINKS, relink, run

PROGRAMS = sorted((ROOT / "tests" / "programs").glob("*.py"))
WRONG = "\n\ndef wrong(tx: weft.Tx) -> int:\n    return tx[values('A1')] + tx.get(source)\n"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_a_program_runs(program: Path, tmp_path: Path) -> None:
    """Under its own name, as a module that can be imported, from a folder that holds nothing else."""
    shutil.copy(program, tmp_path)
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", program.name], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_mypy_accepts_a_program_and_refuses_a_wrong_one(program: Path, tmp_path: Path) -> None:
    right = run("--strict", str(program))
    assert right.returncode == 0, right.stdout + right.stderr
    wrong = tmp_path / f"wrong_{program.name}"  # mypy's cache goes by names
    wrong.write_text(program.read_text() + WRONG)
    assert "Incompatible return value type" in run("--strict", str(wrong)).stdout


@pytest.mark.parametrize("more", ["", WRONG], ids=["as-it-is", "wrong"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_pyright_accepts_a_program_and_refuses_a_wrong_one(program: Path, more: str, tmp_path: Path) -> None:
    """Where pyright is installed; it is no part of the checks' own environment, because it fetches its program when it first runs."""
    pyright = shutil.which("pyright", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    if pyright is None:
        pytest.skip("pyright is not installed")
    relink()
    (tmp_path / program.name).write_text(program.read_text() + more)
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict", "extraPaths": [str(LINKS.parent)], "pythonVersion": "3.11"}))
    done = subprocess.run([pyright, "-p", str(tmp_path), "--pythonpath", sys.executable], capture_output=True, text=True, check=False)
    assert (done.returncode == 0) is not bool(more), done.stdout + done.stderr
