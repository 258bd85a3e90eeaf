"""Several engines on one space: a runtime's successor, other runtimes, other processes (PROTOCOL C12, decision 35)."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.engines import BACKENDS, Author, Rig, accepted, confirmed, delete, doc, patch, put, replace, rig_on, value
from weft.scheduler.errors import ConflictError, PreconditionFailedError, StaleEpoch
from weft.scheduler.values import MISSING
from weft.storage import current
from weft.storage.commit import Accepted, EntityAbsent, OriginCommitted, Rejected
from weft.storage.patch import Append

D = doc("d")


@pytest.fixture(params=BACKENDS)
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rig]:
    with rig_on(request.param, tmp_path) as made:
        yield made


def test_each_opening_raises_the_epoch_of_its_runtime_alone(rig: Rig) -> None:
    assert [rig.open(runtime).epoch for runtime in ("a", "a", "b", "a")] == [1, 2, 1, 3]


def test_a_replaced_engine_commits_nothing_more_and_still_reads(rig: Rig) -> None:
    old, other = rig.open("a"), rig.open("b")
    Author(old).commit(put(D, 1))
    new = rig.open("a")
    verdicts = old.apply([Author(old, f"t{n}").draft(put(D, n)) for n in range(2)])
    for verdict in verdicts:
        assert isinstance(verdict, Rejected)
        assert isinstance(verdict.rejection.error(), StaleEpoch)
        assert "runtime 'a' is at epoch 2 in space 'main', and this is its epoch 1" in verdict.rejection.message
    for call in (lambda: old.fork("f"), lambda: old.delete_branch("f")):
        with pytest.raises(StaleEpoch):
            call()
    assert value(old, D) == 1
    assert Author(new, "n").commit(put(D, 2)).seq == 2
    assert Author(other, "o").commit(put(D, 3)).seq == 3
    assert old.poll()
    assert value(old, D) == 3


def test_what_another_engine_commits_is_seen_after_a_poll(rig: Rig) -> None:
    one, two = rig.open("one"), rig.open("two")
    author = Author(two)
    Author(one, "o").commit(put(D, {"n": 0}), put(doc("kept"), 1))
    assert two.poll()
    assert not two.poll()
    assert value(two, D) == {"n": 0}
    author.commit(replace(D, "/value/n", 1))
    author.commit(delete(doc("kept")), put(doc("new"), 2))
    assert (value(one, D), one.head()) == ({"n": 0}, 1)
    assert one.read(doc("new")).document is MISSING
    assert one.after(1) == []
    assert one.poll()
    assert (value(one, D), value(one, doc("new")), one.read(doc("kept")).document, one.head()) == ({"n": 1}, 2, MISSING, 3)
    assert [landed.seq for landed in one.after(1)] == [2, 3]
    assert not one.poll()


def test_what_an_engine_shows_is_one_state_of_the_log_also_for_what_it_never_read(rig: Rig) -> None:
    one, two = rig.open("one"), rig.open("two")
    author = Author(two)
    author.commit(put(D, 0))
    one.poll()
    for n in range(1, 4):
        author.commit(patch(D, Append(("list",), (n,), True)))
    one_read = one.read(D)
    assert (one_read.seq, one_read.document) == (1, {"value": 0})
    one.poll()
    assert one.read(D).document == {"value": 0, "list": [1, 2, 3]}


def test_a_commit_is_decided_on_what_others_have_committed_since(rig: Rig) -> None:
    one, two = rig.open("one"), rig.open("two")
    first, second = Author(one, "first"), Author(two, "second")
    first.commit(put(D, {"n": 0}))
    second.commit(replace(D, "/value/n", 1))
    (verdict,) = one.apply([first.draft(replace(D, "/value/n", 2), confirmed=[confirmed(D, "/value/n", 1)])])
    assert isinstance(verdict, Rejected)
    assert isinstance(verdict.rejection.error(), ConflictError)
    assert verdict.head == one.head() == 2
    assert value(one, D) == {"n": 1}
    assert one.poll()  # that it came in with a transaction does not make it less foreign
    second.commit(put(doc("receipt"), 1), preconditions=[EntityAbsent(doc("receipt"))])
    (verdict,) = one.apply([first.draft(put(doc("receipt"), 2), preconditions=[EntityAbsent(doc("receipt"))])])
    assert isinstance(verdict, Rejected)
    assert isinstance(verdict.rejection.error(), PreconditionFailedError)
    assert first.commit(put(doc("x"), 1), preconditions=[OriginCommitted(second.id(2))]).seq == 4
    assert accepted(two, first.draft(put(doc("x"), 1), preconditions=[OriginCommitted(second.id(2))], local=4)).replayed


def test_a_commit_sent_again_through_another_engine_is_a_replay(rig: Rig) -> None:
    one, two = rig.open("one"), rig.open("two")
    author = Author(one)
    assert isinstance(two.apply([Author(two).draft(put(doc("x"), 0), local=1)])[0], Accepted)
    commit = author.draft(put(D, 1), local=2)
    first = accepted(one, commit)
    assert accepted(two, commit) == first._replace(replayed=True)
    assert two.head() == 2


def test_branches_made_elsewhere_are_seen(rig: Rig) -> None:
    one, two = rig.open("one"), rig.open("two")
    Author(one).commit(put(D, 1))
    one.fork("feature")
    Author(two, "t").commit(put(D, 2), branch="feature")
    assert one.poll()
    assert (value(one, D, "feature"), value(one, D)) == (2, 1)
    two.delete_branch("feature")
    assert "is deleted" in str(Author(one, "u").refused(put(D, 3), branch="feature"))


def test_catching_up_with_very_much_forgets_what_was_known(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current, "CATCH_UP", 5)
    one, two = rig.open("one"), rig.open("two")
    Author(one, "o").commit(put(D, 0), put(doc("same"), 0))
    author = Author(two)
    for n in range(1, 10):
        author.commit(put(D, n))
    assert one.poll()
    assert (value(one, D), value(one, doc("same")), one.head()) == (9, 0, 10)


def test_two_engines_take_turns_without_losing_a_number(rig: Rig) -> None:
    engines = [rig.open(name) for name in ("one", "two", "three")]
    authors = [Author(engine, f"s{number}") for number, engine in enumerate(engines)]
    authors[0].commit(put(D, []))
    for n in range(30):
        assert authors[n * n % 3].commit(patch(D, Append(("value",), (n,)))).seq == n + 2
    for engine in (*engines, rig.open("four")):
        engine.poll()
        assert value(engine, D) == list(range(30))
