"""The front door: what `import weft` gives, what it costs, and that it is what was promised (tests/promised/weft.pyi)."""

import ast
import inspect
import subprocess
import sys
import tomllib
from typing import Any, assert_type

import pytest
import weft
from harness.source import ROOT

HEAVY = ("zmq", "pykka", "sqlite3", "msgpack", "psutil", "click", "rich", "multiprocessing", "asyncio")
PROMISED = ast.parse((ROOT / "tests" / "promised" / "weft.pyi").read_text())


def loaded_after(program: str) -> set[str]:
    """The modules that a fresh interpreter holds after this program."""
    done = subprocess.run([sys.executable, "-c", f"{program}\nimport sys\nprint(*sys.modules)"], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_weft_loads_none_of_its_parts() -> None:
    assert [name for name in loaded_after("import weft") if name in HEAVY or name.startswith("weft.")] == []


def test_using_every_public_name_loads_neither_sockets_nor_actors_nor_a_database() -> None:
    loaded = loaded_after("from weft import *\ncell('cart')['items'], MISSING, WeftError")
    assert "weft.scheduler.cells" in loaded
    assert [name for name in HEAVY if name in loaded] == []


@pytest.mark.parametrize("name", weft.__all__)
def test_every_public_name_resolves_and_is_documented(name: str) -> None:
    found = getattr(weft, name)
    assert name == "Loadable" or (type(found) if name == "MISSING" else found).__doc__, f"weft.{name} needs a docstring"
    assert name in dir(weft)


def test_a_name_is_the_same_thing_at_the_front_door_and_in_its_part() -> None:
    from weft.scheduler import cells, errors, values

    assert (weft.cell, weft.Cell, weft.Missing, weft.MISSING) == (cells.cell, cells.Cell, errors.Missing, values.MISSING)


def test_a_name_that_is_not_there_is_an_attribute_error_that_says_where_to_look() -> None:
    with pytest.raises(AttributeError, match=r"weft has no name 'cel'; dir\(weft\) lists those it has"):
        _ = weft.cel  # type: ignore[attr-defined]


def test_checkers_and_programs_see_the_same_names() -> None:
    door = ast.parse((ROOT / "weft" / "__init__.py").read_text())
    (typed,) = [node for node in door.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name)]
    assert sorted(alias.name for node in typed.body if isinstance(node, ast.ImportFrom) for alias in node.names) == sorted(weft.__all__)


def test_the_version_is_the_one_that_is_packaged() -> None:
    assert weft.__version__ == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def promised(kind: type[ast.ClassDef] | type[ast.FunctionDef]) -> list[Any]:
    """The promised classes or functions that are there today; each overload is one, and is held on its own."""
    return [node for node in PROMISED.body if isinstance(node, kind) and node.name in weft.__all__]


@pytest.mark.parametrize("node", promised(ast.ClassDef), ids=lambda node: node.name)
def test_a_class_has_the_bases_and_members_that_were_promised(node: ast.ClassDef) -> None:
    kind = getattr(weft, node.name)
    bases = {ast.unparse(base).split("[")[0] for base in node.bases} - {"NamedTuple"}
    assert bases <= {base.__name__ for base in kind.__mro__}
    declared = {ast.unparse(line.target) for line in node.body if isinstance(line, ast.AnnAssign)} | {line.name for line in node.body if isinstance(line, ast.FunctionDef)}
    annotated = {name for base in kind.__mro__ for name in getattr(base, "__annotations__", {})}
    given = set(inspect.signature(kind.__init__).parameters)
    assert [name for name in sorted(declared) if not hasattr(kind, name) and name not in annotated | given] == []


@pytest.mark.parametrize("node", promised(ast.FunctionDef), ids=lambda node: f"{node.name}:{node.lineno}")
def test_a_function_takes_the_parameters_that_were_promised(node: ast.FunctionDef) -> None:
    there = inspect.signature(getattr(weft, node.name)).parameters
    kinds = {name: parameter.kind.name for name, parameter in there.items()}
    wanted = {argument.arg: "POSITIONAL_OR_KEYWORD" for argument in node.args.args} | {argument.arg: "KEYWORD_ONLY" for argument in node.args.kwonlyargs}
    assert {name: kinds.get(name) for name in wanted} == wanted
    assert (node.args.vararg.arg if node.args.vararg else None) == next((name for name, kind in kinds.items() if kind == "VAR_POSITIONAL"), None)


def test_addresses_have_the_types_that_were_promised() -> None:
    """What is asserted here is asserted by mypy; the run only shows that the lines work."""
    assert_type(weft.cell("total", of=int), weft.Cell[int])
    assert_type(weft.cell("total"), weft.Cell[Any])
    assert_type(weft.cell("cart", of=dict[str, int])["pear"], weft.Cell[Any])
    assert_type(weft.stream("checkout", of=str), weft.Stream[str])
    assert_type(weft.family("total", "user", of=int)("ann"), weft.Cell[int])
    assert_type(weft.link(weft.cell("total", of=int)).cell, weft.Cell[int])
    assert_type(weft.parse("total"), weft.Cell[Any])
    assert weft.parse("main:cart#/items/0") == weft.cell("cart", "main")["items"][0]
