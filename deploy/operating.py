"""The commands that start, stop and list trees: `up`, `down`, `ps`, `status`. A tree is named by its app or by its run folder; the only one that runs need not be named.

What runs is read from the run folder, never asked of the tree. Everything heavy is imported when a command runs.
"""
from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

RUN = click.option("--run", metavar="DIR", envvar="WEFT_RUN", help="The tree's run folder (also: WEFT_RUN).")
JSON = click.option("--json", "as_json", is_flag=True, help="For programs.")


def named(command: F) -> F:
    """A tree, by app or run folder."""
    return click.argument("app", required=False)(RUN(JSON(command)))


@click.command()
@click.argument("app")
@click.option("--store", default="memory:", show_default=True, metavar="URL", help="memory:, or sqlite:FOLDER.")
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1, 64), help="Processes that run the app's code.")
@click.option("--placement", default="tree", show_default=True, type=click.Choice(["tree", "isolated"]), help="isolated: one process an actor.")
@click.option("--space", default="main", show_default=True, help="The app's home space.")
@click.option("--run", metavar="DIR", help="The run folder.  [default: $XDG_RUNTIME_DIR/weft/APP, or /tmp/weft-UID/APP]")
@click.option("--detach", is_flag=True, help="Return when the tree is ready; it goes on until weft down.")
@JSON
def up(app: str, store: str, workers: int, placement: str, space: str, run: str | None, detach: bool, as_json: bool) -> None:
    """Start APP, a module to import, as a supervised tree of processes.

    Ctrl-C and SIGTERM stop it in order. It ends with 4 if another tree has the run folder, with 5 if APP cannot be imported, with 6 if a process died that it cannot do without.
    """
    from . import launching, render
    from .folder import named_after
    from .placement import children_of
    from .plan import Plan

    folder = Path(run) if run else named_after(app)
    plan = Plan(app, str(folder.expanduser().absolute()), store, placement, workers, space=space, path=_path())
    children_of(plan)
    if not detach:
        launching.become(plan)
    about = launching.detach(plan)
    if as_json:
        render.as_json(about)
    else:
        click.echo(f"{app} is up as process {about['pid']} in {about['run']}; stop it with: weft down {_name(app, run)}")


@click.command()
@named
@click.option("--timeout", default=60.0, show_default=True, help="Seconds to wait for its end.")
@click.option("--kill", is_flag=True, help="Do not ask: kill it at once. Nothing of it survives.")
def down(app: str | None, run: str | None, as_json: bool, timeout: float, kill: bool) -> None:
    """Stop a tree in order, and wait until nothing of it is left. It ends with 3 if none is running."""
    from . import render
    from .folder import RunFolder
    from .remains import ended

    folder, state = found(app, run)
    os.kill(state["pid"], signal.SIGKILL if kill else signal.SIGTERM)
    if not ended(state, timeout):
        raise click.ClickException(f"process {state['pid']} has not stopped within {timeout:g} s; weft down --run {folder} --kill ends it at once")
    if kill:
        RunFolder(folder).leave()
    if as_json:
        render.as_json({"pid": state["pid"], "run": str(folder)})
    else:
        click.echo(f"{state['app']} has stopped")


@click.command()
@named
def ps(app: str | None, run: str | None, as_json: bool) -> None:
    """List the processes of a tree: actors, pid, CPU and memory. It ends with 3 if none is running."""
    from . import render
    from .listing import processes

    listed = list(processes(found(app, run)[1]))
    if as_json:
        render.as_json(listed)
        return
    died = any(each["last_death"] for each in listed)
    rows = [
        (each["process"], ", ".join(each["actors"]), each["pid"], each["state"], f"{each['cpu']:.1f}", render.megabytes(each["memory"]), each["restarts"], each["last_death"])
        for each in listed
    ]
    columns = ("process", "actors", "pid", "state", "cpu %", "memory", "restarts", "last death")
    render.as_table(columns if died else columns[:-1], rows if died else [row[:-1] for row in rows], ("pid", "cpu %", "memory", "restarts"), ("actors", "last death"))


@click.command()
@named
def status(app: str | None, run: str | None, as_json: bool) -> None:
    """Say what a tree is: its app, store, run folder and how long it has been up. It ends with 3 if none is running."""
    from . import render
    from .listing import summary

    about = summary(found(app, run)[1])
    if as_json:
        render.as_json(about)
    else:
        render.as_lines(about | {"seconds_up": render.seconds(about["seconds_up"]), "memory": render.megabytes(about["memory"])})


def found(app: str | None, run: str | None) -> tuple[Path, dict[str, Any]]:
    """The tree that is meant, and what runs there."""
    from .codes import NotRunning
    from .folder import base, named_after, running, state_of

    if not app and not run:
        trees = list(running())
        if len(trees) > 1:
            raise click.UsageError(f"several trees are running; name one: {', '.join(folder.name for folder in trees)}")
        if not trees:
            raise NotRunning(f"no tree is running in {base()}; start one with: weft up APP")
        run = str(trees[0])
    folder = Path(run) if run else named_after(str(app))
    state = state_of(folder := folder.expanduser().absolute())
    if state is None:
        raise NotRunning(f"no tree is running in {folder}; start one with: weft up {app or 'APP'}{f' --run {folder}' if run else ''}")
    return folder, state


def _path() -> tuple[str, ...]:
    """Where the app is looked for: the folder of the command first, as with `python -m`."""
    here = os.getcwd()
    return (here, *(os.path.abspath(entry) if entry else here for entry in sys.path if entry not in ("", here)))


def _name(app: str, run: str | None) -> str:
    return f"--run {run}" if run else app


COMMANDS = (up, down, ps, status)
