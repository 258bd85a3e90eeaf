"""The command line: `weft`, also `python -m weft`.

Owns what people type and what they see. Every command imports its part when it runs, so that `weft --version` starts nothing. Whatever the user or the machine can be blamed for
ends in one sentence, not in a traceback. Exit codes are stable; `codes` lists them, and so does `weft --help`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from .. import __version__
from ..scheduler.errors import WeftError
from . import looking, operating
from .codes import FAILED, code_of

if TYPE_CHECKING:
    from ..bench.runner import Result


ENDINGS = (
    "Exit codes: 0 done; 1 it failed; 2 called wrongly; 3 no tree is running there; 4 another tree has the run folder; 5 the app cannot be imported; "
    "6 a process was lost that the tree cannot do without."
)


class Commands(click.Group):
    """The group that says an error in one sentence."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        try:
            return super().main(*arguments, **options)
        except WeftError as error:
            sentence, code = str(error), code_of(error)
        except OSError as error:
            code = FAILED
            sentence = f"{error.filename or 'the output cannot be written'}: {error.strerror or error}"  # a write to the output names no file
            _let_go()
        click.echo(f"Error: {sentence}", err=True)
        sys.exit(code)


def _let_go() -> None:
    """What cannot be written is given up, or Python would try again at its end and complain a second time."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=ENDINGS)
@click.version_option(__version__, prog_name="weft")
def main() -> None:
    """weft: a demand-driven, transactional, reactive runtime."""


for command in (*operating.COMMANDS, *looking.COMMANDS):
    main.add_command(command)


@main.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line instead of a table.")
@click.option("--quick", is_flag=True, help="Fewer rounds: to see that it works, not for figures to be quoted.")
def bench(name: str | None, as_json: bool, quick: bool) -> None:
    """Measure weft beside something else in the same run: all benchmarks, or the one called NAME."""
    from ..bench import runner

    if name is not None and name not in runner.NAMES:
        raise click.UsageError(f"there is no benchmark {name!r}; there are: {', '.join(runner.NAMES)}")
    results = runner.run_all(runner.NAMES if name is None else [name], quick)
    if as_json:
        for result in results:
            click.echo(result.as_json())
    else:
        _table(results)


@main.command()
def demo() -> None:
    """Show what weft does today, as a story with figures; it works in a folder of its own that is gone afterwards."""
    from ..examples.demo import tell

    for line in tell():
        click.echo(line)


def _table(results: Iterable[Result]) -> None:
    """The results for people; rows are gathered first, because the columns' widths depend on all of them."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title="lower is better; for a rate (/s), higher", title_justify="left")
    for heading in ("bench", "case", "unit", "value", "against", "its value", "ratio"):
        is_figure = heading in ("value", "its value", "ratio")
        table.add_column(heading, justify="right" if is_figure else "left", no_wrap=heading != "against", overflow="fold")  # on a narrow screen all but the long names stay whole
    console = Console()
    with console.status("measuring"):
        for row in _rows(results):
            table.add_row(*row)
    console.print(table)


def _rows(results: Iterable[Result]) -> Iterator[tuple[str, ...]]:
    for result in results:
        beside = "" if result.against_value is None else _figure(result.against_value)
        ratio = "" if result.ratio is None else f"{result.ratio:.2f}"
        yield result.bench, result.case, result.unit, _figure(result.value), result.against or "", beside, ratio


def _figure(value: float) -> str:
    """Three digits that mean something: nobody compares nanoseconds of a millisecond."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
