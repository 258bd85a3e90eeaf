"""The common commit of a sender in this process, decided without detours: one document replaced as a whole, in the memory store.

Goal: the same verdicts and the same rows as the commit algorithm gives, in a few look-ups. Whatever is not plain is left to it: `take` then answers None and has changed nothing.
Plain is: the default branch, one Set of a document that was written before, or a Put if that holds nothing but a value, no precondition, a local sequence number that is new,
confirmed reads whose document has not been written after their basis, and pending reads whose layers are all the revisions of their document since.
Why that suffices: a document with no revision after the basis, other than those named, cannot have been touched, whatever the path and depth (steps 6 and 7 of the algorithm).
- First every commit of the group is decided, then all rows are written: nothing can fail in between, so nothing has to be undone.
- Rows are kept as values here: a small document, the triggers and the resolution stay what they are until somebody wants their bytes.
- The verdicts name no revisions: the sender has them.
- The sender sends each commit once, over a call, not a wire: its key will not come again, so no digest is taken (`tables.SENT_ONCE`). What it sends was made by the replica, so its
  shape is not looked at again.
The engine calls this, for the desk.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..scheduler.errors import WeftError
from ..scheduler.model import CommitId, Entity
from ..scheduler.values import MISSING, ReadOnlyDict, Value
from .codec import Codec
from .commit import Accepted, Commit, Put, Set, Verdict
from .current import Current, Key
from .memory import MemoryTables
from .tables import SENT_ONCE, SET, Branch, CommitRow, Head, RevisionRow

_new: Any = tuple.__new__  # what the class of a named tuple calls in the end, at half the cost
_WHOLE = frozenset({Put, Set})
_FIXED = frozenset({int, float, bool, type(None)})
_SCALAR_BYTES = 17  # at most: an object of one key "value" and nine bytes of number
Row = tuple[CommitId, CommitRow, RevisionRow, Head, Key]


class Direct:
    """Works on the tables and the engine's memory of them."""

    def __init__(self, tables: MemoryTables, current: Current, codec: Codec, clock: Callable[[], float]) -> None:
        self._tables, self._current, self._codec, self._clock = tables, current, codec, clock
        self._bare: dict[int, int] = {}  # documents of more than a few bytes that hold a value and nothing else, as of this sequence number

    def take(self, commits: Sequence[Commit], runtime: str, epoch: int) -> list[Verdict] | None:
        """The verdicts, all of them Accepted; None if it is not for this to decide."""
        space = self._tables.space
        with space.lock:
            if self._tables.busy or space.epochs.get(runtime) != epoch or self._tables.behind or self._current.seq != len(space.commits):
                return None
            rows: list[Row] = []
            verdicts: list[Verdict] = []
            newest: dict[str, int] = {}
            large: dict[int, int] = {}
            if not self._decide(commits, rows, verdicts, newest, large):
                return None
            self._write(rows, newest)
            self._bare.update(large)
        return verdicts

    def _decide(self, commits: Sequence[Commit], rows: list[Row], verdicts: list[Verdict], newest: dict[str, int], large: dict[int, int]) -> bool:
        """Fills in rows, verdicts, the newest local sequence number of each session, and which documents that are kept as bytes were put, and when."""
        space, seq, now = self._tables.space, self._current.seq, self._clock()
        standing, revisions, locals_, sender, last = space.heads, space.revisions, space.locals, None, -1
        seqs: dict[CommitId, int] = {}  # of this group
        written: dict[Entity, list[int]] = {}  # sequence numbers, by document
        for id, operations, confirmed, pending, preconditions, (node, run, triggers, event), branch in commits:
            if branch or preconditions or len(operations) != 1 or (kind := type(operations[0])) not in _WHOLE:
                return False
            entity, document = operations[0]  # type: ignore[misc]
            head = standing.get(key := ("", entity))
            if (
                kind is Put and head is not None
                and (entity in written or type(revisions[head[0]][-1][4]) is not ReadOnlyDict)  # a row that holds a document as it is, not as bytes, holds a value and nothing else
                and not self._holds_a_value_alone(head, written.get(entity), rows, large)
            ):  # fmt: skip
                return False
            size, data = _SCALAR_BYTES, document
            if type(document) is not ReadOnlyDict or len(document) != 1 or type(document.get("value", MISSING)) not in _FIXED:
                size, data = self._stored(document)
                if kind is Put and head is not None and type(data) is bytes:
                    large[head[0]] = seq + 1
            session, local_seq = id
            if session != sender:
                sender, last = session, newest[session] if session in newest else locals_.get(session, -1)
            if head is None or data is None or local_seq <= last:
                return False
            for of, _, basis, _, other in confirmed:
                here = standing.get(("", of))
                if other or of in written or basis > seq or (here is not None and here[3] > basis):
                    return False
            resolved = self._resolved(pending, seqs, written, seq) if pending else ()
            if resolved is None:
                return False
            seqs[id] = seq = seq + 1
            newest[session] = last = local_seq
            number = head[0]
            rows.append((
                id,
                _new(CommitRow, (seq, "", session, local_seq, SENT_ONCE, resolved or None, node, run, triggers or None, event, now)),
                _new(RevisionRow, (number, seq, 0, SET, data)),
                _new(Head, (number, "", entity, seq, 0, SET, head[6], size, 0, 0, id)),
                key,
            ))  # fmt: skip
            if entity in written:
                written[entity].append(seq)
            else:
                written[entity] = [seq]
            verdicts.append(_new(Accepted, (id, seq, "", (), resolved, False)))
        return True

    def _holds_a_value_alone(self, head: Head, written: list[int] | None, rows: list[Row], large: dict[int, int]) -> bool:
        """So that a Put of it is a Set. What this group wrote to it counts; what was found out about bytes is remembered."""
        number, seq = head[0], head[3]
        if written is not None:
            newest = next(row[2] for row in reversed(rows) if row[1][0] == written[-1])
            return type(newest[4]) is ReadOnlyDict or large.get(number) == written[-1]
        _, _, _, op, data = self._tables.space.revisions[number][-1]
        if op == SET and self._bare.get(number) != seq and type(data) is bytes and self._codec.decode(data).keys() == {"value"}:
            self._bare[number] = seq
        return op == SET and self._bare.get(number) == seq

    def _resolved(self, pending: Sequence[Any], seqs: dict[CommitId, int], written: dict[Entity, list[int]], seq: int) -> tuple[tuple[CommitId, int], ...] | None:
        """The sequence numbers of all layers named, if they are of this group and are all that was written since the basis."""
        resolved: dict[CommitId, int] = {}
        heads = self._tables.space.heads
        for entity, _, basis, layers, _ in pending:
            here = heads.get(("", entity))
            if basis > seq or (here is not None and here[3] > basis):
                return None
            named = []
            for layer in layers:
                found = seqs.get(layer)
                if found is None:
                    return None
                resolved[layer] = found
                named.append(found)
            mine = written.get(entity)
            if mine is not None and mine != named and not set(mine).issubset(named):
                return None
        return tuple(resolved.items())

    def _stored(self, document: Value) -> tuple[int, Value]:
        """How many bytes a document takes, and what the row holds; None for what is none or cannot be stored."""
        if type(document) is not ReadOnlyDict:
            return 0, None
        value = document.get("value")
        if len(document) == 1 and type(value) is str and len(value) < 1000 and value.isascii():
            return len(value) + _SCALAR_BYTES, document
        try:
            data = self._codec.encode(document)
        except WeftError:
            return 0, None
        return len(data), data

    def _write(self, rows: list[Row], newest: dict[str, int]) -> None:
        space, current = self._tables.space, self._current
        commits, seqs, writes, revisions, heads = space.commits, space.seqs, space.writes, space.revisions, space.heads
        for id, row, revision, head, key in rows:
            seq, number = row[0], revision[0]
            commits[seq] = row
            seqs[id] = seq
            writes[seq] = [number]
            revisions[number].append(revision)
            heads[key] = head
        keys = [row[4] for row in rows]
        current.heads.drop_all(keys)
        current.documents.drop_all(keys)
        space.locals.update(newest)
        current.locals.update(newest)
        current.seq = rows[-1][1][0]
        name, parent, fork_seq, _, status = space.branches[""]
        space.branches[""] = current.branches[""] = _new(Branch, (name, parent, fork_seq, current.seq, status))
        self._tables.landed_directly()
