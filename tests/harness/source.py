"""The source tree as data: each module with its imports, resolved to where they point. Read with `ast`; nothing is imported.

tests/test_architecture.py states its rules over these values; made-up modules come from `made_up`, so that each rule is also seen to fail.
"""

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("actors", "deploy", "scheduler", "storage", "wire")  # the folders that spell imports with dots
FRONT = ("weft", "bench", "examples")  # those that write `weft.…`, as users do


class Import(NamedTuple):
    """One import. `target` is absolute: "zmq.utils", or "weft.storage.commit" for one that is spelled with dots. `level` is the number of dots."""

    line: int
    level: int
    target: str
    name: str  # what is taken out of the target; "" for `import target`

    @property
    def folder(self) -> str:
        """The root folder of weft that it points into, "weft" for the front door, or "" when it points outside."""
        steps = self.target.split(".")
        if steps[0] != "weft":
            return ""
        inner = steps[1] if len(steps) > 1 else self.name
        return inner if inner in (*PARTS, *FRONT[1:]) else "weft"

    @property
    def outside(self) -> str:
        """The top-level name of a foreign package, or ""."""
        top = self.target.split(".")[0]
        return "" if top == "weft" else top


class Module(NamedTuple):
    path: str  # from the root, with slashes
    text: str
    tree: ast.Module

    @property
    def folder(self) -> str:
        return self.path.split("/")[0]

    @property
    def name(self) -> str:
        """The file's name without .py; for a sub-package's file, dotted from the root folder."""
        return ".".join(self.path.removesuffix(".py").split("/")[1:])

    def imports(self) -> Iterator[Import]:
        """Every import, also those inside functions and under TYPE_CHECKING: knowing a name is depending on it."""
        package = ["weft", *self.path.split("/")[:-1]] if self.folder != "weft" else self.path.split("/")[:-1]
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (Import(node.lineno, 0, alias.name, "") for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = package[: len(package) - node.level + 1] if node.level else []
                target = ".".join([*base, *([node.module] if node.module else [])])
                yield from (Import(node.lineno, node.level, target, alias.name) for alias in node.names)

    def at(self, line: int) -> str:
        return f"{self.path}:{line}"


def made_up(path: str, text: str) -> Module:
    return Module(path, text, ast.parse(text))


@cache
def modules(*folders: str) -> tuple[Module, ...]:
    """The modules of these root folders as they are on disk, in order of path."""
    files = (file for folder in folders for file in (ROOT / folder).rglob("*.py") if "__pycache__" not in file.parts)
    return tuple(made_up(file.relative_to(ROOT).as_posix(), file.read_text()) for file in sorted(files))


def setuptools() -> dict[str, Any]:
    """What pyproject.toml tells setuptools."""
    settings: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    return settings
