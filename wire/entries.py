"""Entries of storage's log as they travel to graph, and back.

Graph needs no stamps, no ids of commits and no positions of reads: whatever a run read and did not move is as of its own entry. Those stay behind; all else comes back as it was.
"""
from __future__ import annotations

from typing import Any, NamedTuple

from ..scheduler.errors import ProtocolError
from ..scheduler.log import (
    NO_STAMP,
    CommitEntry,
    Entry,
    FenceEntry,
    IntegrateEntry,
    Outcome,
    PullEntry,
    RegistrationEntry,
    RemovalEntry,
    ResultEntry,
    RevertEntry,
    RunId,
    RunResult,
)
from ..scheduler.model import Version
from ..scheduler.rejection import Rejection
from ..scheduler.values import freeze
from .ring import Declared, Fault, Leaning, Logged, Refusal, Unusual

_new: Any = tuple.__new__  # what the class of a named tuple calls in the end, at half the cost
_PLAIN = Outcome.COMMITTED


class Enrolled(NamedTuple):
    """What the entry of a registration carries: who made it in a run, if anybody did."""

    declared: Declared
    parent: str | None = None


def refusal_of(why: Rejection) -> Refusal:
    return Refusal(why.name, why.message, freeze(why.fields))


def rejection_of(why: Refusal) -> Rejection:
    return Rejection(why.name, why.message, dict(why.fields) if isinstance(why.fields, dict) else {})


def logged(entry: Entry, took: float = 0.0, fault: Fault | None = None) -> Logged:
    """The entry as graph needs it; of a run, with how long it took and what went wrong."""
    n = entry[0][1]
    if type(entry) is CommitEntry:
        _, _, changes, node, group, result = entry
        if result is None:
            return Logged(n, "commit", node, 0, 0, (), changes, (), took, None if group is None else Unusual(group=group))
        (name, generation, number, _), outcome, reads, _, moved, _, _ = result
        unusual = None if group is None and outcome is _PLAIN and fault is None else Unusual(outcome.value, group, fault=fault)
        return _new(Logged, (n, "commit", name, generation, number, reads, changes, moved, took, unusual))  # type: ignore[no-any-return]
    if type(entry) is ResultEntry:
        (name, generation, number, _), outcome, reads, _, moved, _, why = entry.result
        unusual = Unusual(outcome.value, refusal=None if why is None else refusal_of(why), fault=fault)
        return Logged(n, "result", name, generation, number, reads, (), moved, took, unusual)
    return _other(entry, n)


def _other(entry: Entry, n: int) -> Logged:
    """What makes no run's result."""
    if isinstance(entry, PullEntry):
        return Logged(n, "pull", None, 0, 0, (), entry.changes, (), 0.0, None)
    if isinstance(entry, IntegrateEntry):
        return Logged(n, "integrate", None, 0, 0, (), entry.changes, (), 0.0, None)
    if isinstance(entry, RevertEntry):
        run = entry.run
        node, generation, number = (None, 0, 0) if run is None else run[:3]
        unusual = Unusual("refused", refusal=refusal_of(entry.rejection), leaning=tuple([Leaning(*lean[:3]) for lean in entry.leaning]))
        return Logged(n, "revert", node, generation, number, (), entry.changes, (), 0.0, unusual)
    if isinstance(entry, RegistrationEntry):
        declared, parent = entry.spec
        return Logged(n, "registration", entry.node, entry.generation, 0, (), (), (), 0.0, Unusual(parent=parent, declared=declared))
    if isinstance(entry, RemovalEntry):
        return Logged(n, "removal", entry.node, entry.generation, 0, (), (), (), 0.0, None)
    if isinstance(entry, FenceEntry):
        return Logged(n, "fence", None, 0, 0, (), (), (), 0.0, Unusual(token=entry.token))
    raise ProtocolError(f"{type(entry).__name__} is no entry of the log")


def entry_of(told: Logged, epoch: int, token: int = 0) -> Entry:
    """The entry that was logged so, without what graph does not need. `token` is settle's, for the names of runs."""
    n, kind, node, generation, number, reads, changes, moved, _, unusual = told
    version = _new(Version, (epoch, n))
    if kind == "commit":
        if node is None or not (number or reads or generation):
            return CommitEntry(version, NO_STAMP, changes, node, None if unusual is None else unusual.group)
        outcome, group = (_PLAIN, None) if unusual is None else (Outcome(unusual.outcome), unusual.group)
        result = _new(RunResult, (_new(RunId, (node, generation, number, token)), outcome, reads, (), moved, (), None))
        return _new(CommitEntry, (version, NO_STAMP, changes, node, group, result))  # type: ignore[no-any-return]
    if kind == "pull":
        return PullEntry(version, changes, ())
    if kind == "integrate":
        return IntegrateEntry(version, changes, ())
    if kind == "fence":
        return FenceEntry(version, (unusual or Unusual()).token)
    return _of_node(told, version, unusual or Unusual(), token)


def _of_node(told: Logged, version: Version, unusual: Unusual, token: int) -> Entry:
    why = None if unusual.refusal is None else rejection_of(unusual.refusal)
    run = None if told.node is None else RunId(told.node, told.generation, told.number, token)
    if told.entry == "revert":
        leaning = tuple([RunId(*lean, token) for lean in unusual.leaning])
        return RevertEntry(version, NO_STAMP, NO_STAMP, why or Rejection("", "", {}), told.changes, (), run, leaning)
    if run is None:
        raise ProtocolError(f"the {told.entry} at {version} names no node")
    if told.entry == "result":
        return ResultEntry(version, RunResult(run, Outcome(unusual.outcome), told.reads, (), told.moved, (), why))
    if told.entry == "removal":
        return RemovalEntry(version, run.node, run.generation)
    if unusual.declared is None:
        raise ProtocolError(f"the registration of {run.node} at {version} does not say what it is")
    return RegistrationEntry(version, run.node, run.generation, Enrolled(unusual.declared, unusual.parent))
