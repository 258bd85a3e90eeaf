"""How answers look: tables and lines for people, JSON for programs. Commands hand over plain values and say which."""
from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click


def as_json(value: Any) -> None:
    """One object, or a list, in one line."""
    click.echo(json.dumps(value, ensure_ascii=False, default=str))


def as_table(columns: Sequence[str], rows: Iterable[Sequence[object]], figures: Sequence[str] = (), wide: Sequence[str] = ()) -> None:
    """`figures` are columns of numbers; on a narrow screen all but the `wide` stay whole."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for column in columns:
        table.add_column(column, justify="right" if column in figures else "left", no_wrap=column not in wide, overflow="fold")
    for row in rows:
        table.add_row(*(Text("" if part is None else str(part)) for part in row))
    Console().print(table)


def as_lines(about: Mapping[str, object]) -> None:
    """One thing's properties, a line each."""
    width = max(map(len, about), default=0)
    for name, value in about.items():
        click.echo(f"{name:<{width}}  {'' if value is None else value}")


def seconds(value: float) -> str:
    """A span of time as people say it."""
    if value < 120:
        return f"{value:.1f} s"
    return f"{value / 60:.0f} min" if value < 7200 else f"{value / 3600:.1f} h"


def megabytes(value: int) -> str:
    return f"{value / 1_000_000:.1f} MB"
