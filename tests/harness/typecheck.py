"""Types: rebuilds `.links/weft`, the package as a type checker must see it, and runs mypy over it and the tests.

The root folders are the parts of one import package; pip knows that from the mapping in `pyproject.toml`, mypy does not read it. So `.links/weft` holds one symbolic link
for each part, made from the same mapping. Only what is missing or wrong is touched: mypy's cache goes by file times, and several runs may share the folder.
`make check` runs this file; tests/test_types.py calls `run`.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINKS = ROOT / ".links" / "weft"


def parts() -> dict[str, Path]:
    """What belongs under `weft`, by its name there: the front door's own files, and each mapped folder. A folder inside a mapped one comes along with it."""
    mapping: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-dir"]
    front = {file.name: file for file in (ROOT / mapping["weft"]).iterdir() if file.suffix in {".py", ".typed"}}
    return front | {name.split(".")[1]: ROOT / folder for name, folder in mapping.items() if name.count(".") == 1}


def relink() -> None:
    """Make `.links/weft` hold exactly a link for each part."""
    LINKS.mkdir(parents=True, exist_ok=True)
    wanted = parts()
    for link in LINKS.iterdir():
        if link.name not in wanted or link.resolve() != wanted[link.name]:
            link.unlink()
    for name, target in wanted.items():
        if not (LINKS / name).is_symlink():
            (LINKS / name).symlink_to(target)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Relink, then mypy with the settings of pyproject.toml; what it found is in `stdout`."""
    relink()
    return subprocess.run([sys.executable, "-m", "mypy", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    outcome = run(*sys.argv[1:])
    print(outcome.stdout + outcome.stderr, end="")
    sys.exit(outcome.returncode)
