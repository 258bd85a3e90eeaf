"""Documents as of a recent version, against the slow definition: keep every state of every document for ever."""

import random

import pytest
from harness.replica_stand import Stand, entity, patch, whole
from weft.scheduler.log import Entry, changes_of
from weft.scheduler.model import Entity
from weft.scheduler.values import MISSING, Value, same
from weft.storage.past import Past
from weft.storage.patch import Append

IDS = [entity(name) for name in "abcd"]


class Annals:
    """Everything that was ever shown: after each entry, every document that had been loaded."""

    def __init__(self, stand: Stand) -> None:
        self._stand = stand
        self.shown: list[dict[Entity, Value]] = [{}]
        stand.replica.journal.subscribe(self._heard)

    def _heard(self, entry: Entry) -> None:
        assert entry.version.n == len(self.shown)
        now = dict(self.shown[-1])
        for changed in {change.entity for change in changes_of(entry)} | {stamp.entity for stamp in getattr(entry, "stamps", ())}:
            now[changed] = self._stand.log.shown[changed]
        self.shown.append(now)

    def as_of(self, document: Entity, n: int) -> Value:
        return self.shown[n].get(document, MISSING)


def made(seed: int, most: int, steps: int = 120) -> tuple[Stand, Past, Annals, random.Random]:
    rng = random.Random(seed)
    stand = Stand({"a": 1, "b": {"items": [1]}, "c": 3})
    past = Past(stand.replica.read, most)
    stand.replica.journal.subscribe(past.heard)
    annals = Annals(stand)
    for _ in range(steps):
        name = rng.choice("abcd")
        act = rng.randrange(8)
        if act < 3:
            stand.commit(whole(name, rng.randrange(4)), reads=rng.sample("abcd", rng.randrange(3)))
        elif act == 3:
            stand.foreign(whole(name, rng.randrange(9)))
        elif act == 4:
            stand.foreign(whole("b", {"items": [2]}), patch("b", Append(("value", "items"), (7,), True)))
        elif act == 5 and stand.links:
            rng.choice([stand.link.decide, stand.link.frame, stand.link.deliver, stand.link.deliver])()
        elif act == 6 and stand.links and stand.link.up:
            stand.link.doomed.add(stand.link.up[-1].id)
        else:
            stand.replica.read(entity(name))
    return stand, past, annals, rng


@pytest.mark.parametrize("seed", range(60))
def test_as_of_says_what_the_log_showed_at_every_version_since_the_document_was_loaded(seed: int) -> None:
    stand, past, annals, _ = made(seed, 10_000)
    for document in IDS:
        for n in range(1, stand.replica.journal.n + 1):
            if document in annals.shown[n]:
                seen = past.as_of(document, n)
                assert seen is not None, f"{document} at {n}"
                assert same(seen.document, annals.as_of(document, n)), f"{document} at {n}"


@pytest.mark.parametrize("seed", range(60))
def test_what_is_no_longer_kept_is_not_guessed_and_no_more_than_that_is_kept(seed: int) -> None:
    stand, past, annals, _ = made(seed, 5)
    assert len(past) <= 5
    answered = 0
    for document in IDS:
        known = [n for n in range(1, stand.replica.journal.n + 1) if document in annals.shown[n]]
        for n in known:
            seen = past.as_of(document, n)
            answered += seen is not None
            assert seen is None or same(seen.document, annals.as_of(document, n)), f"{document} at {n}"
        if known:
            assert past.as_of(document, known[-1]) is stand.replica.read(document), "the present is never gone"
    assert answered


@pytest.mark.parametrize("seed", range(30))
def test_since_lists_every_state_from_a_version_on(seed: int) -> None:
    stand, past, annals, rng = made(seed, 10_000)
    for document in IDS:
        known = [n for n in range(1, stand.replica.journal.n + 1) if document in annals.shown[n]]
        if known:
            n = rng.choice(known)
            states = past.since(document, n)
            assert states is not None
            assert same(states[0].document, annals.as_of(document, n))
            for seen in states[1:]:
                assert seen.n > n
                assert same(seen.document, annals.as_of(document, seen.n))
            changed = [later for later in range(n + 1, stand.replica.journal.n + 1) if not same(annals.as_of(document, later), annals.as_of(document, later - 1))]
            assert [seen.n for seen in states[1:]] == changed


def test_a_document_that_is_loaded_counts_as_it_is_since_its_space_last_changed_from_outside() -> None:
    stand = Stand({"a": 1, "b": 2})
    past = Past(stand.replica.read)
    stand.replica.journal.subscribe(past.heard)
    stand.stack(whole("a", 5))
    before = stand.replica.journal.n
    loaded = stand.replica.read(entity("b"))
    assert loaded.n > before
    assert past.as_of(entity("b"), before) is loaded
    stand.link.settle()
    stand.foreign(whole("a", 7), whole("c", 8))
    stand.link.settle()
    integrated = stand.replica.journal.n
    stand.replica.read(entity("c"))
    assert past.as_of(entity("c"), integrated) is stand.replica.read(entity("c"))
    assert past.as_of(entity("c"), integrated - 1) is None, "it came with a foreign commit whose other half was not to be seen then"


def test_a_document_that_was_forgotten_begins_anew() -> None:
    stand = Stand({"a": 1})
    past = Past(stand.replica.read)
    stand.replica.journal.subscribe(past.heard)
    stand.stack(whole("a", 5))
    stand.link.settle()
    stand.replica.forget([entity("a")])
    past.forget(entity("a"))
    stand.log.forgotten(entity("a"))
    assert len(past) == 0
    assert past.as_of(entity("a"), stand.replica.journal.n + 1) is stand.replica.read(entity("a"))
