"""The architecture: imports point one way, the world is touched in named places only, and the core touches none of it.

Each rule is a function from modules to complaints. It is held against the tree, and against a made-up module that breaks it: a rule that cannot fail holds nothing.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator

import pytest
from harness.source import FRONT, PARTS, ROOT, Module, made_up, modules, setuptools

MAY_IMPORT = {
    "scheduler": {"scheduler"},
    "wire": {"wire", "scheduler"},
    "storage": {"storage", "scheduler"},
    "actors": {"actors", "wire", "storage", "scheduler"},
    "deploy": {"deploy", "actors", "wire", "storage", "scheduler", "weft", "bench", "examples"},
}

LAYERS = (  # inside scheduler/, lowest first; a module imports its own layer and those above it in this table
    ("words", "__init__ values errors model ids rejection constants cells overlap readset changes matching gate records log rows"),
    ("graph", "registry trie ways readers heights liveness graph invalidation"),
    ("pass", "gates work order blockers backoffs settle runs background idle"),
    ("events", "events preflight lineage receipts"),
    ("persistence", "observation resume"),
    ("core", "idempotency introspection explanation unsettled invariants core fold mirror waves turns"),
)
LAYER_OF = {name: number for number, (_, names) in enumerate(LAYERS) for name in names.split()}

ONLY_IN = {
    "zmq": {"wire/sockets.py"},
    "msgpack": {"wire/codec.py"},
    "pykka": {"actors/component.py", "wire/mailbox.py"},
    "sqlite3": {"storage/schema.py", "storage/sqlite.py"},
}
SQL_IN = ONLY_IN["sqlite3"] | {"storage/sqlite_queries.py"}
SQL = re.compile(r"\b(SELECT\s.+\sFROM|INSERT\s+(OR\s+\w+\s+)?INTO|DELETE\s+FROM|UPDATE\s+\w+\s+SET|CREATE\s+(TABLE|INDEX|UNIQUE)|PRAGMA\s+\w+)\b", re.DOTALL)

PURE = {
    *("__future__", "abc", "bisect", "collections", "collections.abc", "dataclasses", "enum", "functools", "hashlib", "heapq", "itertools", "math", "operator", "re"),
    *("struct", "types", "typing", "typing_extensions", "urllib.parse"),
}
IMPURE_CALLS = {"open", "print", "input", "breakpoint", "id"}  # `id` differs from process to process, and so would what is decided by it
UNSAFE = {"pickle", "marshal", "shelve", "dill", "cloudpickle"}
NO_NOUN = {"manager", "helper", "helpers", "utils", "util", "common", "misc", "data", "info"}


def one_way(tree: Iterable[Module]) -> Iterator[str]:
    for module in tree:
        for found in module.imports():
            if found.folder and found.folder not in MAY_IMPORT[module.folder]:
                yield f"{module.at(found.line)}: {module.folder} may not import {found.folder}; deploy → actors → {{wire, storage}} → scheduler"


def layered(tree: Iterable[Module]) -> Iterator[str]:
    for module in tree:
        if module.folder != "scheduler":
            continue
        if module.name not in LAYER_OF:
            yield f"{module.path} has no place: add {module.name!r} to one layer of LAYERS in tests/test_architecture.py ({', '.join(name for name, _ in LAYERS)})"
            continue
        for found in module.imports():
            other = found.target.removeprefix("weft.scheduler").lstrip(".") or found.name
            if found.folder == "scheduler" and LAYER_OF.get(other, -1) > LAYER_OF[module.name]:
                here, there = LAYERS[LAYER_OF[module.name]][0], LAYERS[LAYER_OF[other]][0]
                yield f"{module.at(found.line)}: {module.name} ({here}) may not import {other} ({there}); words → graph → pass → events → persistence → core"


def single_importers(tree: Iterable[Module]) -> Iterator[str]:
    for module in tree:
        for found in module.imports():
            if module.path not in ONLY_IN.get(found.outside, {module.path}):
                yield f"{module.at(found.line)}: {found.outside} is imported only in {' and '.join(sorted(ONLY_IN[found.outside]))}"


def sql_in_its_place(tree: Iterable[Module]) -> Iterator[str]:
    for module in tree:
        if module.path in SQL_IN:
            continue
        prose = {id(node.value) for node in ast.walk(module.tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose and SQL.search(node.value):
                yield f"{module.at(node.lineno)}: SQL is written only in {' and '.join(sorted(SQL_IN))}"


def pure(tree: Iterable[Module]) -> Iterator[str]:
    for module in tree:
        if module.folder != "scheduler":
            continue
        for found in module.imports():
            if found.outside and found.target not in PURE:
                yield f"{module.at(found.line)}: scheduler is pure, and {found.target} is not on the list of what it may import; take what you need as a parameter"
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPURE_CALLS:
                yield f"{module.at(node.lineno)}: scheduler is pure and does not call {node.func.id}()"


def spelled_with_dots(tree: Iterable[Module]) -> Iterator[str]:
    for module in tree:
        if module.folder not in PARTS:
            continue
        for found in module.imports():
            if found.level == 0 and (found.folder or found.outside in PARTS):
                yield f"{module.at(found.line)}: write dots, not {found.target}: one inside a folder, two across folders"
            elif found.level >= 2 and found.folder == module.folder and module.path.count("/") == 1:
                yield f"{module.at(found.line)}: one dot inside a folder"


def safe(tree: Iterable[Module]) -> Iterator[str]:
    for module in tree:
        for found in module.imports():
            if found.outside in UNSAFE:
                yield f"{module.at(found.line)}: {found.outside} runs what it reads; weft carries msgpack only"
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"eval", "exec"}:
                yield f"{module.at(node.lineno)}: no {node.func.id}()"


def readable(tree: Iterable[Module]) -> Iterator[str]:
    for module in tree:
        if (lines := module.text.count("\n")) > 300 and "Written by `drafting`" not in module.text:
            yield f"{module.path} has {lines} lines; find the noun hiding in it and give it a file"
        if not ast.get_docstring(module.tree):
            yield f"{module.path} does not say what it owns: it needs a docstring"
        if module.name.rpartition(".")[2] in NO_NOUN:
            yield f"{module.path}: {module.name} is no noun of the specification"


RULES: tuple[Callable[[Iterable[Module]], Iterator[str]], ...] = (one_way, layered, single_importers, sql_in_its_place, pure, spelled_with_dots, safe, readable)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_tree_keeps_the_rule(rule: Callable[[Iterable[Module]], Iterator[str]]) -> None:
    tree = modules(*PARTS) if rule is one_way else modules(*PARTS, "weft", "examples")
    assert list(rule(tree)) == []


BREAKS = (
    (one_way, "wire/x.py", "from ..storage.commit import Commit", "wire may not import storage"),
    (one_way, "storage/x.py", "def f():\n    from ..wire import codec", "storage may not import wire"),
    (one_way, "scheduler/x.py", "if TYPE_CHECKING:\n    from ..actors.component import Component", "scheduler may not import actors"),
    (one_way, "actors/x.py", "from .. import deploy", "actors may not import deploy"),
    (layered, "scheduler/model.py", "from .graph import Graph", "model (words) may not import graph (graph)"),
    (layered, "scheduler/gates.py", "from . import events", "gates (pass) may not import events (events)"),
    (layered, "scheduler/resume.py", "from .core import Core", "resume (persistence) may not import core (core)"),
    (layered, "scheduler/novelty.py", "", "add 'novelty' to one layer"),
    (single_importers, "actors/x.py", "import zmq.green", "zmq is imported only in wire/sockets.py"),
    (single_importers, "wire/x.py", "from msgpack import packb", "msgpack is imported only in wire/codec.py"),
    (single_importers, "weft/x.py", "import pykka", "pykka is imported only in actors/component.py and wire/mailbox.py"),
    (single_importers, "storage/engine.py", "import sqlite3", "sqlite3 is imported only in storage/schema.py and storage/sqlite.py"),
    (sql_in_its_place, "storage/engine.py", "run('SELECT a FROM b')", "SQL is written only in"),
    (sql_in_its_place, "actors/x.py", "run(f'INSERT INTO {t} VALUES (1)')", "SQL is written only in"),
    (pure, "scheduler/x.py", "import time", "time is not on the list"),
    (pure, "scheduler/x.py", "from os import path", "os is not on the list"),
    (pure, "scheduler/x.py", "def f():\n    import random", "random is not on the list"),
    (pure, "scheduler/x.py", "import urllib.request", "urllib.request is not on the list"),
    (pure, "scheduler/x.py", "print('now')", "does not call print()"),
    (spelled_with_dots, "storage/x.py", "from weft.scheduler.model import Entity", "write dots"),
    (spelled_with_dots, "storage/x.py", "from scheduler.model import Entity", "write dots"),
    (spelled_with_dots, "storage/x.py", "import wire", "write dots"),
    (spelled_with_dots, "storage/x.py", "from ..storage.commit import Commit", "one dot inside a folder"),
    (safe, "wire/x.py", "import pickle", "pickle runs what it reads"),
    (safe, "deploy/x.py", "eval('1')", "no eval()"),
    (readable, "wire/x.py", "'''words'''\n" + "a = 1\n" * 300, "has 301 lines"),
    (readable, "wire/x.py", "a = 1", "needs a docstring"),
    (readable, "wire/utils.py", "'''words'''", "utils is no noun"),
)


@pytest.mark.parametrize(("rule", "path", "text", "complaint"), BREAKS, ids=[f"{rule.__name__}-{number}" for number, (rule, *_) in enumerate(BREAKS)])
def test_a_module_that_breaks_the_rule_is_named(rule: Callable[[Iterable[Module]], Iterator[str]], path: str, text: str, complaint: str) -> None:
    (found,) = rule([made_up(path, text)])
    assert found.startswith(path)
    assert complaint in found


def test_what_the_rules_allow_is_not_complained_about() -> None:
    fine = [
        made_up("storage/sqlite.py", "'''words'''\nimport sqlite3\nfrom .commit import Commit\nfrom ..scheduler.model import Entity\nrun('SELECT a FROM b')\n"),
        made_up("scheduler/graph.py", "'''words'''\nfrom __future__ import annotations\nfrom collections.abc import Mapping\nfrom .model import Entity\n"),
        made_up("deploy/cli.py", "'''words'''\nfrom .. import __version__\nfrom ..bench import runner\n"),
        made_up("storage/prose.py", "'''SELECT a FROM b is what it would be.'''\n"),
    ]
    assert [complaint for rule in RULES for complaint in rule(fine)] == []


def test_every_package_folder_is_in_the_wheel_mapping() -> None:
    settings = setuptools()
    on_disk = {file.relative_to(ROOT).parent.as_posix() for folder in (*PARTS, *FRONT) for file in (ROOT / folder).rglob("*.py") if "__pycache__" not in file.parts}
    listed = {name: settings["package-dir"].get(name) for name in settings["packages"]}
    assert {folder: f"weft.{folder.replace('/', '.')}" if folder != "weft" else "weft" for folder in on_disk} == {folder: name for name, folder in listed.items()}
    assert [folder for folder in sorted(on_disk) if not (ROOT / folder / "__init__.py").is_file()] == []


def test_no_folder_of_tests_is_a_package() -> None:
    assert list((ROOT / "tests").rglob("__init__.py")) == []
