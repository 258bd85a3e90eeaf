"""Proposals as they travel: there and back they are the same, and what no correct worker sends is refused."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from weft.actors.proposing import beside_of, operations_of, proposal_of, reads_of, touched, used_reads, writes_of
from weft.scheduler.errors import ProtocolError
from weft.scheduler.model import VALUE, CommitId, Entity, Read, Version
from weft.scheduler.values import freeze
from weft.storage.commit import Delete, EntityAbsent, Operation, OriginCommitted, Patch, Precondition, Provenance, Set, ValueHash
from weft.storage.patch import AddUnique, Append, Increment, Move, PatchOp, Remove, RemoveByValue, Replace, Splice
from weft.storage.proposal import Proposal, Seen, Use
from weft.wire.codec import Codec
from weft.wire.messages import TABLE
from weft.wire.ring import Beside, CommitRuns, Finished, UsedRead, Write

A, B = Entity("main", "space", "a"), Entity("other", "space", "b")
OPS: list[PatchOp] = [
    Replace(("value", "x"), freeze({"a": [1]})), Remove(("value", "x")), Move(("value", "x"), ("value", "y")), Splice(("value", "l"), 1, 2, (3, "x")),
    Append(("value", "l"), (1, None), True), AddUnique(("value", "l"), (1,), False), RemoveByValue(("value", "l"), 3), Increment(("value", "n"), 2.5, True),
]  # fmt: skip
OPERATIONS: list[Operation] = [
    Set(A, freeze({"value": 1})), Set(A, freeze({"value": {"x": 1}, "meta": 2})), Set(A, freeze({})), Delete(A), *(Patch(A, (op,)) for op in OPS), Patch(A, tuple(OPS)),
]  # fmt: skip


def sent(proposal: Proposal) -> Finished:
    """Through the codec, as a worker sends it."""
    finished = Finished("n", 1, 2, used_reads(proposal.reads), writes_of(proposal.operations), proposal.provenance.triggers, proposal.group, 0.5, beside_of(proposal), None)
    codec = Codec(TABLE)
    (back,) = codec.decode(codec.encode("worker-1", 1, 1, 1, 0, CommitRuns(1, Version(1, 1), 1, (finished,), True))).message.finished
    assert isinstance(back, Finished)
    return back


def received(finished: Finished, proposal: Proposal) -> Proposal:
    provenance = Provenance(finished.node, finished.number, finished.triggers, None if finished.beside is None else finished.beside.event)
    return proposal_of(proposal.seen, reads_of(finished.reads), operations_of(finished.writes), finished.beside, provenance, finished.group)


@pytest.mark.parametrize("operation", OPERATIONS, ids=repr)
def test_an_operation_comes_back_as_it_was(operation: Operation) -> None:
    proposal = Proposal("main", {A: Seen(freeze({}), 1)}, {Read(A, VALUE): Use.BOTH}, (operation,), provenance=Provenance("n", 2, (A.at(VALUE),)), group="g")
    assert received(sent(proposal), proposal) == proposal


@pytest.mark.parametrize("condition", [OriginCommitted(CommitId("me", 4)), EntityAbsent(A), ValueHash(A, b"\1\2"), ValueHash(A, None)], ids=repr)
def test_a_precondition_comes_back_as_it_was_with_the_space_it_is_for(condition: Precondition) -> None:
    proposal = Proposal("main", {}, {}, (), (), (condition,), Provenance("n", 2, (), "e"))
    assert received(sent(proposal), proposal) == proposal


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.builds(Read, st.sampled_from([A, B]), st.lists(st.sampled_from("xy"), max_size=3).map(tuple), st.booleans()), st.sampled_from(list(Use)), max_size=5))
def test_reads_come_back_with_their_use(reads: dict[Read, Use]) -> None:
    back = reads_of(used_reads(reads))
    assert list(back.items()) == list(reads.items())
    assert all(back[read] is use for read, use in reads.items()), "the very constants, which are compared by identity"


def test_a_small_write_has_nothing_beside() -> None:
    assert writes_of((Set(A, freeze({"value": 1})),)) == (Write(A, "plain", 1),)
    assert beside_of(Proposal("main", {}, {}, ())) is None


def test_everything_that_was_looked_at_is_touched_once() -> None:
    beside = Beside(elided=(A.at(VALUE), Entity("main", "space", "c").at(VALUE)))
    assert list(touched({Read(A, VALUE): Use.BOTH, Read(A, ()): Use.BOTH}, (Delete(B),), beside)) == [A, B, Entity("main", "space", "c")]


@pytest.mark.parametrize("wrong", [
    lambda: reads_of((UsedRead(A, (), True, 7),)),
    lambda: operations_of((Write(A, "set", 3),)),
    lambda: operations_of((Write(A, "patch", freeze([])),)),
    lambda: operations_of((Write(A, "patch", freeze([["explode", ["x"]]])),)),
    lambda: operations_of((Write(A, "patch", freeze([["remove", "x"]])),)),
    lambda: proposal_of({}, {}, (Delete(A), Delete(B)), None, Provenance(), None),
    lambda: proposal_of({}, {}, (), Beside(preconditions=(freeze(["absent"]),)), Provenance(), None),
    lambda: proposal_of({}, {}, (), Beside(preconditions=(freeze(["hash", "main", "space", "a", 3]),)), Provenance(), None),
    lambda: proposal_of({}, {}, (), Beside(preconditions=(3,)), Provenance(), None),
])  # fmt: skip
def test_what_no_correct_sender_sends_is_refused(wrong: object) -> None:
    assert callable(wrong)
    with pytest.raises(ProtocolError):
        wrong()
