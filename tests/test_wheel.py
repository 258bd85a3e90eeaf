"""The wheel: built from the sdist, installed into an environment of its own, and used from a user's project whose folders are called like ours.

The build and the install are the real ones. Only the dependencies are not fetched again: the clean environment looks for them where this one has them, through a .pth file,
which does not make it see this one's editable install of weft.
"""

import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest
import weft
from harness.source import FRONT, PARTS, ROOT, modules

IMPORTED_AS = {"pyzmq": "zmq"}  # where a distribution's name is not its module's


class Installed(NamedTuple):
    wheel: Path
    python: Path
    project: Path  # a user's project with folders called storage, scheduler and wire; commands run here

    def run(self, *command: str) -> str:
        done = subprocess.run(command, cwd=self.project, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    there = tmp_path_factory.mktemp("wheel")
    source = there / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(".*", "*.egg-info", "build", "dist", "tests", "__pycache__"))
    subprocess.run([sys.executable, "-m", "build", "--no-isolation", "--outdir", there / "dist", source], check=True, capture_output=True)
    (wheel,) = (there / "dist").glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", there / "env"], check=True)
    python = there / "env" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps", wheel], check=True)
    site = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True, capture_output=True, text=True).stdout.strip()
    (Path(site) / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n{sysconfig.get_path('platlib')}\n")
    project = there / "project"
    for folder in ("storage", "scheduler", "wire"):
        (project / folder).mkdir(parents=True)
        (project / folder / "__init__.py").write_text(f"raise RuntimeError('the user\\'s own {folder} was imported')\n")
    return Installed(wheel, python, project)


def test_the_wheel_holds_every_file_of_the_package_folders_and_nothing_else(installed: Installed) -> None:
    names = {name for name in zipfile.ZipFile(installed.wheel).namelist() if ".dist-info/" not in name}
    files = (file.relative_to(ROOT).as_posix() for folder in (*PARTS, *FRONT) for file in (ROOT / folder).rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    assert names == {file if file.startswith("weft/") else f"weft/{file}" for file in files}


def test_the_wheel_carries_its_license_and_the_command(installed: Installed) -> None:
    archive = zipfile.ZipFile(installed.wheel)
    (license,) = [name for name in archive.namelist() if name.endswith("/LICENSE")]
    assert archive.read(license) == (ROOT / "LICENSE").read_bytes()
    (entry,) = [name for name in archive.namelist() if name.endswith("/entry_points.txt")]
    assert "weft = weft.deploy.cli:main" in archive.read(entry).decode()


def test_what_is_imported_is_what_was_installed(installed: Installed) -> None:
    program = "import weft, weft.storage.commit as part; print(weft.__file__); print(part.__file__); print(weft.parse('main:cart#/items/0').path)"
    front, part, path = installed.run(str(installed.python), "-c", program).splitlines()
    inside = installed.python.parents[1]
    assert Path(front).is_relative_to(inside)
    assert Path(part).is_relative_to(inside)
    assert path == "('items', '0')"


def test_the_command_runs(installed: Installed) -> None:
    assert installed.run(str(installed.python.parent / "weft"), "--version") == f"weft, version {weft.__version__}\n"


def test_every_module_imports_inside_a_project_whose_folders_are_called_like_ours(installed: Installed) -> None:
    names = sorted("weft." + module.path.removesuffix(".py").replace("/", ".").removesuffix(".__init__") for module in modules(*PARTS, "bench", "examples"))
    installed.run(str(installed.python), "-c", f"from importlib import import_module\nfor name in {names!r}: import_module(name)")


def test_the_demo_runs_inside_a_project_whose_folders_are_called_like_ours(installed: Installed) -> None:
    assert "Traceback" not in installed.run(str(installed.python), "-m", "weft", "demo")
    assert sorted(file.name for file in installed.project.iterdir()) == ["scheduler", "storage", "wire"]


def test_everything_that_is_imported_is_a_declared_dependency() -> None:
    declared: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.split(r"[<>=~!\[ ]", requirement)[0] for requirement in declared}
    product = [module for module in modules(*PARTS, *FRONT) if module.path != "weft/testing.py"]  # a plugin of pytest: only who has pytest loads it
    used = {found.outside for module in product for found in module.imports()} - set(sys.stdlib_module_names) - {""}
    assert used <= {IMPORTED_AS.get(name, name) for name in names}
