"""What graph tells settle of its nodes: rows of present state, edges, runs that are done (PROTOCOL rule 6: state, not events).

Plain values, so that they can be carried; `fold` makes them, `mirror` takes them.
"""
from __future__ import annotations

from typing import NamedTuple

from .model import Address

NEVER_RAN, CLEAN, INVALID, LIVE, HIT, LATER, WAITS, DEMANDED = 0, 1, 2, 4, 8, 16, 32, 64  # the flags of a row


class Row(NamedTuple):
    """A node as it is now. `flags`: NEVER_RAN, CLEAN or INVALID; LIVE; HIT, a change has hit it since its last row; LATER, not again in this pass; WAITS, it runs again in this
    pass, behind what it gave way to; DEMANDED, provisionally."""

    node: str
    flags: int
    height: int
    attempts: int
    causes: tuple[Address, ...]


class Edge(NamedTuple):
    """`reader` reads what `writer` writes, or, not `present`, no longer."""

    writer: str
    reader: str
    present: bool


class Done(NamedTuple):
    """A run whose result is in the log. It has left its node clean, unless a row says otherwise."""

    node: str
    number: int
    took: float
    unready: bool
