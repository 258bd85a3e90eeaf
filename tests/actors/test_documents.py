"""A worker's documents and storage's feeds together: whatever happens, what a wave reads is what the log showed at its version."""

import os
import random
from collections.abc import Callable

import pytest
from harness.replica_stand import entity, whole
from harness.yard import EPOCH, Shed, Yard, node
from weft.actors.context import Moved
from weft.scheduler.errors import StaleEpoch
from weft.scheduler.model import VALUE, Version
from weft.scheduler.values import MISSING, Value, freeze, same
from weft.storage.transaction import Transaction
from weft.wire.edge import Submit
from weft.wire.feeding import Feed, Fetch
from weft.wire.ring import Finished, Logged, UsedRead, Write

SEEDS = [int(seed) for seed in os.environ["SEEDS"].split(",")] if "SEEDS" in os.environ else range(80)
NAMES = "abcd"


def value(shed: Shed, name: str) -> Value:
    document = shed.documents.read(entity(name)).document
    return document["value"] if document is not MISSING else None


def puts(name: str, given: Value, *reads: str) -> Callable[[Transaction], object]:
    def body(tx: Transaction) -> None:
        for read in reads:
            tx.get(entity(read), VALUE)
        tx.set(entity(name), VALUE, freeze(given))

    return body


def adds(name: str, *reads: str) -> Callable[[Transaction], object]:
    def body(tx: Transaction) -> None:
        for read in reads:
            tx.get(entity(read), VALUE)
        tx.increment(entity(name), (*VALUE, "count"))
        tx.append(entity(name), (*VALUE, "items"), 1)

    return body


def client_writes(yard: Yard, name: str, given: Value) -> None:
    yard.keeping.submit("client-1", Submit(1, yard.keeping.journal.version, (), (Write(entity(name), "plain", freeze(given)),), None, None))
    yard.step()


def prepared(**documents: Value) -> tuple[Yard, Shed]:
    yard = Yard()
    if documents:
        yard.foreign(*(whole(name, given) for name, given in documents.items()))
    yard.keeping.enter((node("n"), node("m"), node("o")), ())
    yard.step()
    return yard, yard.shed("worker-1")


def outcomes(entries: tuple[Logged, ...]) -> list[str]:
    return [entry.unusual.outcome if entry.unusual is not None else "committed" for entry in entries if entry.entry in ("commit", "result")]


# What is fed and what is not


def test_an_undisturbed_run_is_fed_nothing() -> None:
    yard, shed = prepared(a=1)
    for number in range(1, 6):
        version = shed.begin()
        assert value(shed, "a") == (1 if number == 1 else number - 1)
        entries = shed.commit(version, [shed.run(0, "n", number, puts("a", number, "a"))])
        assert outcomes(entries) in (["committed"], ["unchanged"])
    assert yard.feeds == []
    assert shed.fetches == 1
    shed.begin()
    shed.check()


def test_what_others_write_is_fed_as_changes_and_applied_only_when_the_version_asks_for_it() -> None:
    yard, shed = prepared(a={"x": 1, "y": 1})
    shed.begin()
    value(shed, "a")
    client_writes(yard, "a", {"x": 2, "y": 1})
    ((holder, feed),) = yard.feeds
    assert holder == "worker-1"
    assert [(change.path, change.before, change.after) for change in feed.changes] == [(("value", "x"), 1, 2)]
    shed.arrive(feed.fed)
    assert value(shed, "a") == {"x": 1, "y": 1}, "the wave is still at its version"
    shed.begin()
    assert value(shed, "a") == {"x": 2, "y": 1}


def test_a_write_over_a_document_that_had_moved_is_corrected_by_the_whole_document() -> None:
    yard, shed = prepared(a={"count": 1, "items": []})
    version = shed.begin()
    result = shed.run(0, "n", 1, adds("a"))
    client_writes(yard, "a", {"count": 10, "items": [5]})
    assert outcomes(shed.commit(version, [result])) == ["committed"], "a mergeable write does not conflict"
    assert [feed.documents[0].document["value"] for _, feed in yard.feeds if feed.documents] == [{"count": 11, "items": [5, 1]}]
    shed.begin()
    assert value(shed, "a") == {"count": 11, "items": [5, 1]}
    shed.check()


def test_a_refused_write_is_corrected_by_the_whole_document() -> None:
    yard, shed = prepared(a=1, b=1)
    version = shed.begin()
    result = shed.run(0, "n", 1, puts("b", 7, "a"))
    client_writes(yard, "a", 2)
    assert outcomes(shed.commit(version, [result])) == ["refused"]
    shed.begin()
    assert (value(shed, "a"), value(shed, "b")) == (2, 1)


def test_a_revert_is_fed_to_its_writer_too() -> None:
    yard, shed = prepared(a=1)
    version = shed.begin()
    shed.commit(version, [shed.run(0, "n", 1, puts("a", 5))])
    yard.link.doomed.add(yard.link.up[-1].id)
    yard.link.settle()
    yard.step()
    shed.begin()
    assert value(shed, "a") == 1


def test_a_document_that_changed_after_the_version_is_fetched_as_of_it_and_then_becomes_what_it_became() -> None:
    yard, shed = prepared(a=1)
    yard.keeping.replica.read(entity("a"))
    yard.step()
    yard.late = True
    client_writes(yard, "a", 2)
    at_two = yard.keeping.journal.version
    client_writes(yard, "a", 3)
    shed.begin()
    assert value(shed, "a") == 1
    yard.version = at_two
    shed.begin()
    assert value(shed, "a") == 2
    yard.catch_up()
    shed.begin()
    assert value(shed, "a") == 3
    assert shed.fetches == 1


def test_what_cannot_be_had_as_of_the_version_any_more_ends_the_run_as_moved() -> None:
    yard, shed = prepared(a=1)
    yard.keeping.past._most = 2
    yard.keeping.replica.read(entity("a"))
    yard.step()
    yard.late = True
    for given in range(10, 15):
        client_writes(yard, "a", given)
    shed.begin()
    with pytest.raises(Moved) as moved:
        shed.documents.read(entity("a"))
    assert moved.value.entities == (entity("a"),)


# Members of a wave


def test_H12_a_member_sees_what_an_earlier_one_wrote_and_says_so() -> None:
    _, shed = prepared(a=1)
    version = shed.begin()
    first = shed.run(0, "n", 1, puts("a", 5))
    seen: list[Value] = []

    def reads(tx: Transaction) -> None:
        seen.append(tx.get(entity("a"), VALUE))
        tx.set(entity("b"), VALUE, 6)

    second = shed.run(1, "m", 1, reads)
    assert seen == [5]
    assert second.beside is not None
    assert [(own.entity, own.member) for own in second.beside.own] == [(entity("a"), 0)]
    entries = shed.commit(version, [first, second])
    assert outcomes(entries) == ["committed", "committed"]
    assert [read for entry in entries for read in entry.moved] == []


def test_H12_a_member_that_read_what_a_refused_one_wrote_is_refused_with_it_even_in_a_later_message() -> None:
    yard, shed = prepared(a=1, x=1)
    version = shed.begin()
    first = shed.run(0, "n", 1, puts("a", 5, "x"))
    second = shed.run(1, "m", 1, puts("b", 6, "a"))
    third = shed.run(2, "o", 1, puts("c", 7))
    client_writes(yard, "x", 2)
    assert outcomes(shed.commit(version, [first], last=False)) == ["refused"]
    assert outcomes(shed.commit(version, [second, third])) == ["refused", "committed"]
    shed.begin()
    shed.check()
    assert (value(shed, "a"), value(shed, "b"), value(shed, "c")) == (1, None, 7)


def test_a_member_that_read_what_storage_made_something_else_of_is_refused() -> None:
    yard, shed = prepared(a={"count": 1, "items": []})
    version = shed.begin()
    first = shed.run(0, "n", 1, adds("a"))
    second = shed.run(1, "m", 1, puts("b", 6, "a"))
    client_writes(yard, "a", {"count": 10, "items": []})
    assert outcomes(shed.commit(version, [first, second])) == ["committed", "refused"]


def test_H4_a_read_that_moved_before_the_result_arrived_is_named() -> None:
    yard, shed = prepared(a=1)
    version = shed.begin()
    result = shed.run(0, "n", 1, lambda tx: tx.get(entity("a"), VALUE))
    client_writes(yard, "a", 2)
    (entry,) = [entry for entry in shed.commit(version, [result]) if entry.entry == "result"]
    assert [(read.entity, read.path) for read in entry.moved] == [(entity("a"), VALUE)]


# Fences


def test_H10_a_commit_of_a_removed_or_unknown_generation_changes_nothing() -> None:
    yard, shed = prepared(a=1)
    version = shed.begin()
    result = shed.run(0, "n", 1, puts("a", 5))
    yard.keeping.enter((), ("n",))
    yard.step()
    (entry,) = shed.commit(version, [result])
    assert outcomes((entry,)) == ["refused"]
    assert entry.unusual is not None
    assert entry.unusual.refusal is not None
    assert entry.unusual.refusal.name == StaleEpoch.__name__
    yard.keeping.enter((node("n"),), ())
    yard.step()
    version = shed.begin()
    assert value(shed, "a") == 1, "its write is corrected"
    assert outcomes(shed.commit(version, [shed.run(0, "n", 2, puts("a", 6))._replace(generation=result.generation)])) == ["refused"], "the generation before"
    version = shed.begin()
    assert outcomes(shed.commit(version, [shed.run(0, "n", 3, puts("a", 7))])) == ["committed"]


def test_a_commit_under_an_older_token_or_epoch_changes_nothing_and_its_writes_are_not_believed() -> None:
    yard, shed = prepared(a=1)
    version = shed.begin()
    result = shed.run(0, "n", 1, puts("a", 5))
    yard.keeping.replica.fence(2)
    yard.step()
    shed.begin(token=2)
    assert value(shed, "a") == 1, "nobody waits for the correction"
    assert outcomes(shed.commit(version, [result])) == ["refused"]
    shed.begin(token=2)
    shed.check()
    assert outcomes(shed.commit(Version(EPOCH - 1, 4), [result], token=2)) == ["refused"]


def test_C1_under_another_epoch_of_storage_nothing_is_held() -> None:
    yard, shed = prepared(a=1)
    shed.begin()
    value(shed, "a")
    assert shed.documents.reaches(Version(EPOCH + 1, 3), 0)
    shed.documents.advance(Version(EPOCH + 1, 3), 0)
    assert len(shed.documents) == 0
    assert yard.keeping.fetch("worker-1", Fetch(Version(EPOCH + 1, 3), (entity("a"),)), True).moved == (entity("a"),), "storage answers for its own epoch only"


# Credit, gaps, forgetting


def test_H2_past_its_credit_a_holder_is_told_that_all_is_old_and_fetches_again() -> None:
    yard, shed = prepared(a=1, b=1)
    yard.keeping.feeds._credit = 3
    shed.begin()
    assert (value(shed, "a"), value(shed, "b")) == (1, 1)
    for given in range(10, 20):
        client_writes(yard, "a", given)
    assert [feed.stale for _, feed in yard.feeds] == [False, False, False, True], "and nothing after it"
    shed.begin()
    assert len(shed.documents) == 0
    assert (value(shed, "a"), value(shed, "b")) == (19, 1)
    client_writes(yard, "a", 20)
    shed.begin()
    assert value(shed, "a") == 20


def test_what_was_fetched_after_everything_was_called_old_is_kept() -> None:
    yard, shed = prepared(a=1, b=1)
    yard.keeping.feeds._credit = 0
    shed.begin()
    value(shed, "a")
    yard.late = True
    client_writes(yard, "a", 2)
    assert value(shed, "b") == 1
    yard.catch_up()
    shed.begin()
    assert entity("a") not in shed.documents
    assert entity("b") in shed.documents


def test_after_a_gap_nothing_is_believed() -> None:
    yard, shed = prepared(a=1)
    shed.begin()
    value(shed, "a")
    shed.documents.receive(Feed(7, yard.version, (), (), False))
    assert len(shed.documents) == 0
    assert shed.documents.received == 7


def test_a_document_that_was_forgotten_and_fetched_again_takes_no_change_twice() -> None:
    yard, shed = prepared(a=[1])
    shed.begin()
    value(shed, "a")
    yard.late = True
    client_writes(yard, "a", [1, 2])
    shed.documents.forget([entity("a")])
    assert value(shed, "a") == [1]
    yard.catch_up()
    shed.begin()
    assert value(shed, "a") == [1, 2]


def test_of_too_many_documents_the_half_that_came_first_goes() -> None:
    _, shed = prepared(a=1, b=2, c=3, d=4)
    shed.documents._most = 3
    shed.begin()
    for name in NAMES:
        value(shed, name)
    shed.begin()
    assert [name for name in NAMES if entity(name) in shed.documents] == ["c", "d"]


# Everything at once


class Play:
    """Two workers, a client, another session and the engine, in an order that a seed decides."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.yard = Yard()
        start = freeze({"count": 0, "items": []})
        self.yard.foreign(*(whole(name, start) for name in "abc"))
        self.yard.keeping.enter(tuple(node(f"n{index}") for index in range(6)), ())
        self.yard.step()
        self.yard.keeping.feeds._credit = self.rng.choice([4, 30, 10_000])
        self.yard.keeping.past._most = self.rng.choice([3, 10_000])
        self.sheds = [self.yard.shed(f"worker-{index}", self.rng.choice([2, 100])) for index in (1, 2)]
        self.token = 0
        self.number = 0

    def wave(self) -> None:
        """A wave of a few members whose results leave one by one or together, with others in between."""
        shed = self.rng.choice(self.sheds)
        version = shed.begin(self.token)
        token = self.token
        shed.check()
        results: list[Finished] = []
        members = self.rng.randrange(1, 5)
        for member in range(members):
            self.number += 1
            try:
                results.append(shed.run(member, f"n{self.rng.randrange(6)}", self.number, self.body()))
            except Moved:
                break
            shed.check()
            if self.rng.random() < 0.3:
                self.disturb()
            if self.rng.random() < 0.3:
                shed.commit(version, results, last=False, token=token)
                results = []
        if self.rng.random() < 0.5:
            self.disturb()
        if self.rng.random() < 0.05:
            self.token += 1
            self.yard.keeping.replica.fence(self.token)
            self.yard.step()
        self.yard.late = False
        shed.commit(version, results, token=token)

    def body(self) -> Callable[[Transaction], object]:
        rng = self.rng
        reads = rng.sample(NAMES, rng.randrange(3))
        name = rng.choice(NAMES)
        act = rng.randrange(4)
        if act == 0:
            return lambda tx: [tx.get(entity(read), VALUE) for read in reads]
        if act == 1:
            return puts(name, {"count": rng.randrange(3), "items": [0] * rng.randrange(3)}, *reads)
        if act == 2:
            return adds(name, *reads) if name != "d" else puts(name, {"count": 1, "items": []})
        return lambda tx: (tx.delete(entity("d"), VALUE), [tx.get(entity(read), VALUE) for read in reads])

    def disturb(self) -> None:
        rng = self.rng
        act = rng.randrange(6)
        given = {"count": rng.randrange(4), "items": [rng.randrange(3)] * rng.randrange(4)}
        name = rng.choice(NAMES)
        if act == 0:
            client_writes(self.yard, name, given)
        elif act == 1:
            self.yard.foreign(whole(name, given))
        elif act == 2 and self.yard.link.up:
            self.yard.link.doomed.add(rng.choice(list(self.yard.link.up)).id)
        elif act == 3:
            self.yard.late = not self.yard.late
        else:
            for _ in range(rng.randrange(4)):
                rng.choice([self.yard.link.decide, self.yard.link.frame, self.yard.link.deliver])()
            self.yard.step()
        if self.sheds and rng.random() < 0.5:
            shed = rng.choice(self.sheds)
            if shed.due:
                shed.arrive(shed.due[0].fed)


@pytest.mark.parametrize("seed", SEEDS)
def test_H7_whatever_others_do_a_worker_reads_what_the_log_showed_at_its_version(seed: int) -> None:
    play = Play(seed)
    try:
        for _ in range(60):
            play.wave()
            play.disturb()
        play.yard.link.settle()
        play.yard.late = False
        play.yard.step()
        for shed in play.sheds:
            shed.begin(play.token)
            shed.check()
            for name in NAMES:
                assert same(shed.documents.read(entity(name)).document, play.yard.keeping.replica.read(entity(name)).document)
    except Exception:
        print(f"replay: SEEDS={seed} .venv/bin/pytest {__file__}")
        raise


def test_the_reads_that_travel_are_those_of_the_transaction() -> None:
    _, shed = prepared(a=1)
    shed.begin()
    result = shed.run(0, "n", 1, puts("b", 2, "a"))
    assert result.reads == (UsedRead(entity("a"), VALUE, True, 3),)
    assert result.writes == (Write(entity("b"), "plain", 2),)
