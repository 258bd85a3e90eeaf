"""One look at a proposal tells what admission finds out in several questions, or nothing."""

from random import Random

import pytest
from weft.scheduler.changes import diff
from weft.scheduler.model import Change, CommitId, Entity, Read
from weft.scheduler.values import MISSING, freeze
from weft.storage.admission import declare, moved, raced, read_at, scheduling
from weft.storage.commit import Set
from weft.storage.glance import glance, replaced
from weft.storage.link import Delivered
from weft.storage.overlay import Overlay, Part
from weft.storage.proposal import Proposal, Seen, Use

DOCS = [Entity(space, "space", name) for space in ("main", "else") for name in "abc"]


def _documents(random: Random) -> dict[Entity, Overlay]:
    documents = {}
    for entity in DOCS:
        overlay = documents[entity] = Overlay(Delivered(entity, random.randrange(5), CommitId("p:o", 1), freeze({"value": 1})), random.randrange(9))
        for n in range(random.choice([0, 0, 1, 1, 2])):
            document = freeze({"value": 10 + n})
            overlay.push(Part(CommitId("p:s", random.randrange(99)), (Set(entity, document),), document), 10 + n)
            overlay.parts[-1].applies = random.random() < 0.8
    return documents


@pytest.mark.parametrize("seed", range(200))
def test_where_a_glance_answers_admission_answers_the_same(seed: int) -> None:
    random = Random(seed)
    documents = _documents(random)
    answered = 0
    for _ in range(20):
        seen: dict[Entity, Seen] = {}
        reads: dict[Read, Use] = {}
        for entity in random.sample(DOCS, random.randint(0, 4)):
            seen[entity] = documents[entity].seen if random.random() < 0.95 else Seen(freeze({"value": "old"}), 0)
            for path in [("value",)] if random.random() < 0.9 else [("value", "x"), ("value", "y")]:
                reads[Read(entity, path, random.random() < 0.8)] = Use.BOTH if random.random() < 0.95 else random.choice([Use.SCHEDULING, Use.CONFLICT])
        proposal = Proposal(random.choice(["main", None]), seen, reads)
        look = glance(proposal, documents)
        if look is not None:
            answered += 1
            find = documents.__getitem__
            assert raced(proposal, find) is None
            assert moved(proposal, find) == ()
            assert look.reads == scheduling(proposal)
            assert look.at == read_at(proposal, (), find)
            if proposal.space is not None:
                assert (look.confirmed, look.pending, frozenset(look.layers)) == declare(proposal, find)
        if random.random() < 0.3:  # the ground moves between two looks: what was told before is not told again
            overlay = documents[random.choice(DOCS)]
            overlay.rebase(Delivered(overlay.entity, overlay.seq + 1, CommitId("p:f", overlay.seq), overlay.confirmed))
    assert answered


@pytest.mark.parametrize(("before", "after"), [(1, 2), (1, 1), (1, True), (1, 1.0), (0.0, -0.0), (float("nan"), float("nan")), (None, 1), ("a", "b"), ("a", "a"), (False, None)])
def test_a_small_document_replaced_is_the_change_that_a_comparison_finds(before: object, after: object) -> None:
    one, other = freeze({"value": before}), freeze({"value": after})
    found = diff(DOCS[0], one, other)
    change = replaced(DOCS[0], one, other)
    assert ([] if change is None else [change]) == found


@pytest.mark.parametrize(("before", "after"), [({"value": [1]}, {"value": 1}), ({"value": 1, "more": 2}, {"value": 2}), ({"other": 1}, {"value": 1})])
def test_of_any_other_document_it_says_nothing(before: object, after: object) -> None:
    assert replaced(DOCS[0], freeze(before), freeze(after)) is None
    assert replaced(DOCS[0], MISSING, freeze(after)) is None


def test_the_change_is_at_the_value() -> None:
    assert replaced(DOCS[0], freeze({"value": 1}), freeze({"value": 2})) == Change(DOCS[0], ("value",), 1, 2)
