"""Proposals of transactions as they travel: what a run or a client read and wants written, in the words of the wire and in those of storage.

- Documents as they were seen stay where they are: a reader names a version, and storage knows what was there (PROTOCOL rule 4).
- What cannot have been sent by a correct worker or client raises ProtocolError, before anything is done with it.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..scheduler.errors import ProtocolError
from ..scheduler.ids import shown
from ..scheduler.model import CommitId, Entity, Read
from ..scheduler.values import ReadOnlyDict, ReadOnlyList, Value
from ..storage.commit import Delete, EntityAbsent, Operation, OriginCommitted, Patch, Precondition, Provenance, Set, ValueHash
from ..storage.forms import listed, operations
from ..storage.proposal import Proposal, Seen, Use
from ..wire.ring import Beside, UsedRead, Write

_new: Any = tuple.__new__  # what the class of a named tuple calls in the end, at half the cost; several are made for every run
_USES = {int(use): use for use in (Use.SCHEDULING, Use.CONFLICT, Use.BOTH)}
_NOTHING = Beside()
_ORIGIN, _ABSENT, _HASH = "origin", "absent", "hash"


def used_reads(reads: Mapping[Read, Use]) -> tuple[UsedRead, ...]:
    return tuple([_new(UsedRead, (*read, int(use))) for read, use in reads.items()])


def reads_of(reads: tuple[UsedRead, ...]) -> dict[Read, Use]:
    try:
        return {_new(Read, read[:3]): _USES[read[3]] for read in reads}
    except KeyError as error:
        raise ProtocolError(f"a read is for scheduling (1), for conflicts (2) or both (3), not {shown(error.args[0])}") from None


def writes_of(proposed: tuple[Operation, ...]) -> tuple[Write, ...]:
    """The operations as they travel."""
    return tuple([_write(operation) for operation in proposed])


def _write(operation: Operation) -> Write:
    if isinstance(operation, Set):
        entity, document = operation
        if len(document) == 1 and "value" in document:
            return _new(Write, (entity, "plain", document["value"]))  # type: ignore[no-any-return]
        return Write(entity, "set", document)
    if isinstance(operation, Patch):
        return Write(operation.entity, "patch", operations(operation.ops)[1])
    return Write(operation.entity, "delete", None)


def operations_of(writes: tuple[Write, ...]) -> tuple[Operation, ...]:
    return tuple([_operation(write) for write in writes])


def _operation(write: Write) -> Operation:
    entity, op, value = write
    if op == "plain":
        return _new(Set, (entity, ReadOnlyDict(value=value)))  # type: ignore[no-any-return]
    if op == "set":
        if not isinstance(value, dict):
            raise ProtocolError(f"{entity}: a document is an object, not {shown(value)}")
        return Set(entity, value)
    return Patch(entity, listed(value)) if op == "patch" else Delete(entity)


def preconditions_of(required: tuple[Value, ...]) -> tuple[tuple[Precondition, str], ...]:
    """The preconditions, each with the space that it is about."""
    return tuple([_precondition(value) for value in required])


def _precondition(value: Value) -> tuple[Precondition, str]:
    try:
        word, space, *rest = value
        if word == _ORIGIN:
            session, local_seq = rest
            return OriginCommitted(CommitId(str(session), int(local_seq))), str(space)
        scope, id, *hashed = rest
        entity = Entity(str(space), str(scope), str(id))
        if word == _ABSENT and not hashed:
            return EntityAbsent(entity), entity.space
        (digest,) = hashed
        if word == _HASH and (digest is None or type(digest) is bytes):
            return ValueHash(entity, digest), entity.space
    except (TypeError, ValueError):
        pass
    raise ProtocolError(f"{shown(value)} is no precondition")


def required(preconditions: tuple[Precondition, ...], space: str | None) -> tuple[Value, ...]:
    """The preconditions as they travel; `space` is the one that the proposal is for."""
    told: list[Value] = []
    for condition in preconditions:
        if isinstance(condition, OriginCommitted):
            told.append(ReadOnlyList((_ORIGIN, space, *condition.origin)))
        elif isinstance(condition, EntityAbsent):
            told.append(ReadOnlyList((_ABSENT, *condition.entity)))
        else:
            told.append(ReadOnlyList((_HASH, *condition.entity, condition.hash)))
    return tuple(told)


def beside_of(proposal: Proposal) -> Beside | None:
    """What a proposal has besides reads and writes; None, as a rule."""
    if not (proposal.elided or proposal.preconditions or proposal.provenance.event is not None):
        return None
    return Beside(elided=proposal.elided, preconditions=required(proposal.preconditions, proposal.space), event=proposal.provenance.event)


def proposal_of(
    seen: dict[Entity, Seen], reads: dict[Read, Use], writes: tuple[Operation, ...], beside: Beside | None, provenance: Provenance, group: str | None
) -> Proposal:
    """The proposal that was sent so, over what its transaction has seen."""
    if beside is None and len(writes) < 2:
        return _new(Proposal, (writes[0][0][0] if writes else None, seen, reads, writes, (), (), provenance, group))  # type: ignore[no-any-return]
    beside = beside or _NOTHING
    conditions = preconditions_of(beside.preconditions)
    spaces = {operation.entity.space for operation in writes} | {space for _, space in conditions}
    if len(spaces) > 1:
        raise ProtocolError(f"one commit is for one space, and this one is for {', '.join(sorted(spaces))}")
    space = next(iter(spaces), None)
    return Proposal(space, seen, reads, writes, beside.elided, tuple([condition for condition, _ in conditions]), provenance, group)


def touched(reads: dict[Read, Use], writes: tuple[Operation, ...], beside: Beside | None) -> dict[Entity, None]:
    """Every document that the transaction has looked at, in this order."""
    found = dict.fromkeys([read[0] for read in reads])
    for operation in writes:
        found[operation[0]] = None
    if beside is not None:
        for address in beside.elided:
            found[address.entity] = None
    return found
