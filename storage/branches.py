"""Branches: who sees whose history (semantics D.7), and how one comes and goes.

- A document is read in the branch itself, else in its parent up to the fork point, and so on.
- Forking is idempotent and writes no commit. A deleted branch, and one forked from it, can still be read; its name is not given again.
Called by the engine inside its transactions, and by everything that reads through branches.
"""
from __future__ import annotations

from collections.abc import Mapping

from ..scheduler.errors import CorruptRow, HistoryCollected, ProtocolError
from ..scheduler.ids import encodable, shown
from .tables import ACTIVE, DELETED, Branch

DEFAULT = ""
MAX_BRANCH_DEPTH = 64  # a read asks one branch after another; the specification advises 8, and nobody has needed more
MAX_NAME = 1024


def lineage(branches: Mapping[str, Branch], name: str, upto: int) -> list[tuple[str, int]]:
    """The branches through which `name` is read, itself first, each with the newest sequence number that shows. All are looked at, so that no reader follows a broken line."""
    branch = branches[name]
    levels = [(name, upto)]
    while branch.parent is not None:
        upto = min(upto, branch.fork_seq)
        above = branches.get(branch.parent)
        if above is None:
            raise CorruptRow(f"the row of branch {branch.name!r} names {branch.parent!r} as its parent, and there is no such branch")
        if len(levels) >= MAX_BRANCH_DEPTH:
            raise CorruptRow(f"the row of branch {name!r} leads to more than {MAX_BRANCH_DEPTH} branches, one of which is its own ancestor: {[level for level, _ in levels[:4]]}")
        branch = above
        levels.append((branch.name, upto))
    return levels


def readable(branches: Mapping[str, Branch], name: str) -> Branch:
    branch = branches.get(name) if type(name) is str else None
    if branch is None:
        if name == DEFAULT and type(name) is str:
            raise CorruptRow("the row of the default branch is not there, and every space has one")
        raise ProtocolError(f"there is no branch {shown(name)} in this space; fork it first")
    return branch


def writable(branches: Mapping[str, Branch], name: str) -> Branch:
    branch = readable(branches, name)
    if branch.status != ACTIVE:
        raise ProtocolError(f"branch {name!r} is {branch.status}: it can be read and takes no commits")
    return branch


def check_range(branches: Mapping[str, Branch], name: str, seq: object, head: int, horizon: int = 0) -> int:
    """A sequence number at which a branch can be read."""
    branch = readable(branches, name)
    if type(seq) is not int or not branch.fork_seq <= seq <= head:
        raise ProtocolError(f"seq {shown(seq)} is out of range for branch {name}: it can be read from {branch.fork_seq} to {head}")
    if seq < horizon:
        raise HistoryCollected(f"seq {seq} lies before {horizon}, where history begins: what was before was collected; ask for {horizon} or later", horizon=horizon)
    return seq


def forked(branches: Mapping[str, Branch], name: str, parent: str, at: int | None, head: int, horizon: int = 0) -> Branch:
    """The branch that a fork makes, or the one that is there already."""
    if type(name) is not str or not name or "\0" in name or len(name) > MAX_NAME or not encodable(name):
        raise ProtocolError(f"{shown(name)} is no name for a branch: it is a non-empty text of at most {MAX_NAME} characters, without NUL and lone surrogates")
    source = readable(branches, parent)
    there = branches.get(name)
    if there is not None:
        if there.status == ACTIVE and there.parent == parent and at in (None, there.fork_seq):
            return there
        raise ProtocolError(f"branch {name!r} exists already: {there.status}, forked from {there.parent!r} at {there.fork_seq}; choose another name")
    if len(lineage(branches, parent, head)) >= MAX_BRANCH_DEPTH:
        raise ProtocolError(f"branch {name!r} would be more than {MAX_BRANCH_DEPTH} branches away from the default one")
    seq = source.head_seq if at is None else check_range(branches, parent, at, head, horizon)
    return Branch(name, parent, seq, seq, ACTIVE)


def without(branches: Mapping[str, Branch], name: str) -> Branch:
    """The branch as it is once deleted."""
    branch = readable(branches, name)
    if branch.parent is None:
        raise ProtocolError("the default branch is not deleted")
    return branch._replace(status=DELETED)
