"""Which documents there are: live ids of one scope, in order, page by page (STO-011, STO-012).

- A listing is of one moment. A page names the sequence number it was taken at; the next page asks for the same one and is refused when the log has moved on, because pages of
  different moments would leave out a document or show it twice.
- A branch shows its own documents and those its parent had at the fork point; the nearest row of a document decides, so one
  that was deleted in the branch is not there, whatever the parent has.
- A deleted document is left out. Its head row remains.
- Ids are ordered by code point, on every backend.
The caller holds one view of the tables for the length of a call (`Tables.reading`).
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from heapq import merge
from itertools import islice
from typing import NamedTuple

from ..scheduler.errors import ConflictError, CorruptRow, ProtocolError
from ..scheduler.ids import encodable
from ..scheduler.model import Entity
from .branches import lineage, readable
from .tables import DELETE, Branch, Head, Tables

PAGE_LIMIT = 1000  # ids in one answer: a page of them stays far below the size of one message
_CHUNK = 256  # rows asked of the tables at once: a short page reads little more than it shows


class Listing(NamedTuple):
    """One page. `after` is where the next begins, None when nothing follows; `seq` pins it."""

    ids: tuple[str, ...]
    seq: int
    after: str | None


def list_ids(
    tables: Tables, branches: Mapping[str, Branch], *, scope: str = "space", branch: str = "", limit: int | None = None, after: str | None = None, seq: int | None = None
) -> Listing:
    """The live ids of a scope that come after `after`. Without `limit` all of them, if they fit in one page."""
    readable(branches, branch)
    if limit is not None and (type(limit) is not int or not 1 <= limit <= PAGE_LIMIT):
        raise ProtocolError(f"a page of {limit!r} ids: its limit is an integer from 1 to {PAGE_LIMIT}")
    if type(scope) is not str or not encodable(scope) or not (after is None or (type(after) is str and encodable(after))):
        raise ProtocolError(f"no listing of scope {scope!r} after {after!r}: both are texts without lone surrogates, `after` from the page before")
    newest = tables.newest()[0]
    if seq is not None and seq != newest:
        raise ConflictError(f"entity identifier snapshot changed: the listing began at {seq}, and the log is at {newest}; begin again without `after`", basis=seq, seq=newest)
    wanted = PAGE_LIMIT if limit is None else limit
    ids = list(islice(_live(tables, branches, branch, scope, after, newest, wanted), wanted + 1))
    if len(ids) <= wanted:
        return Listing(tuple(ids), newest, None)
    if limit is None:
        raise ProtocolError(f"more than {PAGE_LIMIT} ids in scope {scope!r}: paginate, with limit= of at most {PAGE_LIMIT}, and after= and seq= from the page before")
    return Listing(tuple(ids[:wanted]), newest, ids[wanted - 1])


def exists(tables: Tables, branches: Mapping[str, Branch], entity: Entity, branch: str = "") -> bool:
    """Whether the branch shows a document there now. One that was deleted does not exist, and has existed."""
    readable(branches, branch)
    for level, upto in lineage(branches, branch, tables.newest()[0]):
        head = tables.head(level, entity)
        if head is not None and head.born <= upto:
            return _op_at(tables, head, upto) != DELETE
    return False


def _live(tables: Tables, branches: Mapping[str, Branch], branch: str, scope: str, after: str | None, newest: int, wanted: int) -> Iterator[str]:
    """Every level gives its rows in order of id. Merged, the rows of one id stand together, and the first that was there at its level's limit is the nearest."""
    chunk = min(wanted + 1, _CHUNK)
    levels = [_marked(tables, level, scope, after, depth, upto, chunk) for depth, (level, upto) in enumerate(lineage(branches, branch, newest))]
    decided: str | None = None
    for id, _, upto, head in merge(*levels):
        if id != decided and head.born <= upto:
            decided = id
            if _op_at(tables, head, upto) != DELETE:
                yield id


def _marked(tables: Tables, level: str, scope: str, after: str | None, depth: int, upto: int, chunk: int) -> Iterator[tuple[str, int, int, Head]]:
    while True:
        heads = tables.heads(level, scope, after, chunk)
        for head in heads:
            yield head.entity.id, depth, upto, head
        if len(heads) < chunk:
            return
        after = heads[-1].entity.id


def _op_at(tables: Tables, head: Head, upto: int) -> str:
    """The word of the newest revision that shows: the head's own, unless the fork point lies before it."""
    if head.seq <= upto:
        return head.op
    with closing(tables.backwards(head.number, upto)) as rows:
        row = next(rows, None)
    if row is None:
        raise CorruptRow(f"{head.entity} in branch {head.branch!r} was first written at {head.born}, and no revision of it is left at {upto}")
    return row.op
