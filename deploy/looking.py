"""The commands that read and write a running tree and explain it: `get set nodes node why plan graph`. Each is a client for a moment; none of them waits for the tree to settle.

Cells are written as `str(cell)` writes them: `[space:]id[#/path]`. Values are JSON. Everything heavy is imported when a command runs.
"""
from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .operating import JSON, RUN, found

if TYPE_CHECKING:
    from ..actors.client import Client

F = TypeVar("F", bound=Callable[..., Any])
ANSWER = 10.0  # seconds that a person waits for one


def of_tree(command: F) -> F:
    """A command that asks a tree."""
    return RUN(click.option("--app", help="The tree's app, if several are running.")(JSON(command)))


@contextmanager
def _client(app: str | None, run: str | None) -> Iterator[Client]:
    """Lets go of the tree without waiting for it."""
    from ..actors.client import Client
    from .connecting import attached

    site, leave = attached(found(app, run)[0])
    try:
        yield Client(site, site.home, False)
    finally:
        leave()


@click.command()
@click.argument("cells", nargs=-1, required=True, metavar="CELL...")
@click.option("--pull", is_flag=True, help="Bring it up to date first; without, what is stored.")
@of_tree
def get(cells: tuple[str, ...], pull: bool, app: str | None, run: str | None, as_json: bool) -> None:
    """Print what cells hold, as JSON, one a line. It ends with 1 if one of them holds nothing."""
    from ..scheduler.cells import parse
    from ..scheduler.values import MISSING
    from . import render

    named = [parse(text) for text in cells]
    with _client(app, run) as client:
        if pull:
            client.pull(*named, timeout=ANSWER)
        values = [client.get(cell, MISSING) for cell in named]
    for text, value in zip(cells, values, strict=True):
        if value is MISSING:
            raise click.ClickException(f"{text} holds nothing")
        if as_json:
            render.as_json({"cell": text, "value": value})
        else:
            render.as_json(value)


@click.command(name="set")
@click.argument("cell")
@click.argument("value")
@of_tree
def put(cell: str, value: str, app: str | None, run: str | None, as_json: bool) -> None:
    """Set CELL to VALUE, which is JSON; what is not JSON is taken as text. Returns when the store has taken it."""
    from ..scheduler.cells import parse
    from . import render

    named, taken = parse(cell), _value(value)
    with _client(app, run) as client:
        commit = client.set(named, taken)
        commit.result(ANSWER)
    if as_json:
        render.as_json({"cell": cell, "value": taken, "version": commit.version})
    else:
        click.echo(f"{cell} is {json.dumps(taken, ensure_ascii=False)} at version {commit.version}")


@click.command()
@of_tree
def nodes(app: str | None, run: str | None, as_json: bool) -> None:
    """List the nodes: what each is, its status, and whether somebody looks."""
    from . import render

    with _client(app, run) as client:
        listed = client.graph()["nodes"]
    if as_json:
        render.as_json(listed)
    else:
        rows = [(each["id"], each["kind"], each["status"], "live" if each["live"] else "") for each in listed]
        render.as_table(("node", "kind", "status", "live"), rows, wide=("node",))


@click.command()
@click.argument("id")
@of_tree
def node(id: str, app: str | None, run: str | None, as_json: bool) -> None:
    """Show one node: reads, outputs, causes, gates, figures, its last error."""
    from dataclasses import fields

    from . import render

    with _client(app, run) as client:
        view = client.node(id)
    about = {field.name: _plain(getattr(view, field.name)) for field in fields(view)}
    if as_json:
        render.as_json(about)
    else:
        render.as_lines({name: _shown(value) for name, value in about.items()})


@click.command()
@click.argument("id")
@of_tree
def why(id: str, app: str | None, run: str | None, as_json: bool) -> None:
    """Say why a node ran last, or why it has not."""
    from . import render

    with _client(app, run) as client:
        text = client.why(id)
    if as_json:
        render.as_json({"node": id, "why": text})
    else:
        click.echo(text)


@click.command()
@click.argument("cells", nargs=-1, required=True, metavar="CELL...")
@of_tree
def plan(cells: tuple[str, ...], app: str | None, run: str | None, as_json: bool) -> None:
    """List what would run if these cells changed, in order."""
    from ..scheduler.cells import parse
    from . import render

    named = [parse(text) for text in cells]
    with _client(app, run) as client:
        ids = client.plan(*named)
    if as_json:
        render.as_json(ids)
    else:
        click.echo("\n".join(ids) or "nothing")


@click.command()
@of_tree
def graph(app: str | None, run: str | None, as_json: bool) -> None:
    """Show who reads what whom writes."""
    from . import render

    with _client(app, run) as client:
        picture = client.graph()
    if as_json:
        render.as_json(picture)
        return
    for edge in picture["edges"]:
        kind = "" if edge["kind"] == "data" else f" ({edge['kind']})"
        click.echo(f"{edge['from']} -> {edge['to']}{kind}")
    if not picture["edges"]:
        click.echo("no node reads what another writes")


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _shown(value: object) -> object:
    return ", ".join(" ".join(part) if isinstance(part, list) else str(part) for part in value) if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    """What JSON can hold; an address is its text."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


COMMANDS = (get, put, nodes, node, why, plan, graph)
