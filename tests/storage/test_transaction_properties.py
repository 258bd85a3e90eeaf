"""What holds for every transaction, whatever it does.

The third property is what all the recording is for: two transactions start from one state; the first commits; if nothing the second must answer for was touched, and what it
sends still applies, then the outcome is as if the second had been run after the first.
"""
from __future__ import annotations

from harness.scripts import PLAIN, D, Model, perform, script
from harness.values import STEPS
from harness.view import Documents, begin
from hypothesis import event, given, settings
from hypothesis import strategies as st
from weft.scheduler.errors import PatchApplyError
from weft.scheduler.matching import matches_naive
from weft.scheduler.model import index_of
from weft.scheduler.values import MISSING, Value, freeze, same
from weft.storage.commit import Patch
from weft.storage.conflicts import operation_touches, reach_touches
from weft.storage.document import operate
from weft.storage.patch import Add, Move, Remove
from weft.storage.proposal import Proposal, Use
from weft.storage.reach import reach_of
from weft.storage.spine import at

values = st.recursive(st.sampled_from(PLAIN), lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(STEPS), inner, max_size=4), max_leaves=10)
bases = values.map(lambda value: freeze({"value": value})) | st.just(MISSING) | values.map(lambda value: freeze({"value": value, "m": 1}))
bare = values.map(lambda value: freeze({"value": value})) | st.just(MISSING)
seeds = st.integers(0, 2**32)


def view_of(document: Value) -> Documents:
    view = Documents()
    view.put(D, document)
    return view


def after(document: Value, proposal: Proposal) -> Value:
    for operation in proposal.operations:
        document = operate(document, operation)
    return document


@settings(max_examples=600, deadline=None)
@given(bases, seeds)
def test_the_operations_of_a_transaction_make_of_the_document_what_the_transaction_sees(base: Value, seed: int) -> None:
    tx = begin(view_of(base))
    perform(tx, script(base, seed))
    seen = tx.get(D, ())
    (proposal,) = tx.finish()
    assert same(after(base, proposal), seen)
    model = Model(base)
    model.perform(script(base, seed))
    assert same(seen, model.document)
    assert len(proposal.operations) == (0 if same(base, seen) else 1)


@settings(max_examples=400, deadline=None)
@given(bases, seeds)
def test_no_operation_adds_removes_or_moves_an_element_by_its_index(base: Value, seed: int) -> None:
    tx = begin(view_of(base))
    perform(tx, script(base, seed, 8))
    (proposal,) = tx.finish()
    for operation in proposal.operations:
        for op in operation.ops if isinstance(operation, Patch) else ():
            assert not isinstance(op, Move)
            if isinstance(op, (Add, Remove)) and (index_of(op.path[-1]) is not None or op.path[-1] == "-"):
                assert not isinstance(at(base, op.path[:-1]), list), op


def refused(proposal: Proposal, first: Proposal, base: Value, now: Value) -> bool:
    """Would the engine, or the replica for what was elided, refuse it after `first`?"""
    for operation in first.operations:
        word = "patch" if isinstance(operation, Patch) else "set"
        data = operation.ops if isinstance(operation, Patch) else ()
        reach = reach_of(data, base)
        for read, use in proposal.reads.items():
            if use & Use.CONFLICT and (operation_touches(word, data, read.path, read.deep) or reach_touches(reach, read.path, read.deep)):
                return True
    return any(matches_naive(base, now, address.path, True) for address in proposal.elided)


@settings(max_examples=1500, deadline=None)
@given(bare, seeds, seeds)
def test_a_transaction_that_is_not_refused_did_what_it_would_have_done_later(base: Value, seed: int, other: int) -> None:
    steps = script(base, seed, 4)
    tx, rival = begin(view_of(base)), begin(view_of(base))
    returned = perform(tx, steps)
    perform(rival, script(base, other, 3))
    (proposal,), (first,) = tx.finish(), rival.finish()
    now = after(base, first)
    if refused(proposal, first, base, now):
        event("refused")
        return
    try:
        result = after(now, proposal)
    except PatchApplyError:
        event("does not apply")
        return
    event("accepted" if first.operations and proposal.operations else "one of them wrote nothing")
    again = begin(view_of(now))
    repeated = perform(again, steps)
    assert same(result, again.get(D, ())), (steps, first.operations, proposal.operations)
    for index, step in enumerate(steps):
        if step.word in ("get", "keys"):
            assert same(returned[index], repeated[index]), (step, first.operations)


def test_a_new_key_that_reads_like_an_index_moves_no_element_if_a_list_has_come_there() -> None:
    tx = begin(view_of(freeze({"value": {}})))
    tx.set(D, ("value", "0"), "x")
    (proposal,) = tx.finish()
    assert same(after(freeze({"value": {"1": "a"}}), proposal), {"value": {"1": "a", "0": "x"}})
    assert same(after(freeze({"value": ["a", "b"]}), proposal), {"value": ["x", "b"]})
