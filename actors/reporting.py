"""What one run did, as it travels to storage: reads, writes and what few runs do besides, in one record (PROTOCOL rule 8).

What a run registers comes with it only if it came to its end; the reads always do, so that it runs again when one changes.
"""
from __future__ import annotations

from typing import Any

from ..scheduler.errors import ErrorInfo
from ..scheduler.model import Entity
from ..wire.ring import Beside, Declared, Fault, Finished, Own, Run
from .execution import Ran
from .proposing import beside_of, used_reads, writes_of

_new: Any = tuple.__new__  # what the class of a named tuple calls in the end, at half the cost
_UNREADY = Fault("unready", "unready", "it reads nothing where a node that never ran is about to write; that one runs first", "", "")


def finished(run: Run, ran: Ran, wrote: dict[Entity, int], children: tuple[Declared, ...], group: str | None, took: float) -> Finished:
    """`wrote`: which documents earlier members of the wave have written, and which of them did."""
    proposal, error = ran.proposal, ran.error
    own = tuple([Own(entity, wrote[entity]) for entity in proposal.seen if entity in wrote]) if wrote else ()
    beside = beside_of(proposal)
    if own or children or ran.moved:
        beside = (beside or Beside())._replace(own=own, children=children, touched=ran.moved)
    fault = _fault(error, ran.again) if error is not None else _UNREADY if ran.unready else None
    return _new(  # type: ignore[no-any-return]
        Finished, (run.node, run.generation, run.number, used_reads(proposal.reads), writes_of(proposal.operations), run.triggers, group, took, beside, fault)
    )


def broken(run: Run, error: ErrorInfo, again: bool, group: str | None, took: float) -> Finished:
    """A run that could not even be begun."""
    return Finished(run.node, run.generation, run.number, (), (), run.triggers, group, took, None, _fault(error, again))


def _fault(error: ErrorInfo, again: bool) -> Fault:
    return Fault("later" if again else "failed", error.code, error.message, error.where, error.trace)


