"""The shorter way of a sender in this process: it decides as the commit algorithm does, or leaves it to it."""

from random import Random

import pytest
from weft.scheduler.model import Address, CommitId, Entity
from weft.scheduler.values import freeze
from weft.storage.commit import Accepted, Commit, ConfirmedRead, Delete, EntityAbsent, Patch, PendingRead, Provenance, Put, Rejected, Set, Verdict
from weft.storage.direct import Direct
from weft.storage.engine import Engine, open_engine
from weft.storage.patch import Replace
from weft.storage.spaces import Store
from weft.wire.codec import VALUES

DOCS = [Entity("main", "space", name) for name in "abcde"]
VALUE = ("value",)


def engine() -> Engine:
    return open_engine("memory:", "main", runtime="test", codec=VALUES, clock=lambda: 7.0)


def plain(n: int, entity: Entity, value: object, **more: object) -> Commit:
    return Commit(CommitId("p:s", n), (Set(entity, freeze({"value": value})),), **more)  # type: ignore[arg-type]


def essence(verdict: Verdict) -> tuple[object, ...]:
    """A verdict without the revisions, which the sender has."""
    if isinstance(verdict, Accepted):
        return verdict.id, verdict.seq, verdict.branch, verdict.resolved, verdict.replayed
    return verdict.id, verdict.rejection, verdict.head


def state(of: Engine, sent: int) -> list[object]:
    """All that can be asked of the history."""
    reads = [of.read(entity, at=seq) for entity in DOCS for seq in range(of.head() + 1)]
    return [of.head(), reads, of.after(0), [of.provenance(seq) for seq in range(1, of.head() + 1)], [of.seq_of(CommitId("p:s", n)) for n in range(sent + 1)], of.list()]


@pytest.mark.parametrize("seed", range(300))
def test_a_group_is_decided_as_by_the_algorithm(seed: int) -> None:
    random = Random(seed)
    ours, model = engine(), engine()
    sent = 0
    layers: dict[Entity, list[CommitId]] = {}
    for _ in range(random.randint(1, 6)):
        group, base = [], ours.head()
        layers.clear()
        for _ in range(random.randint(1, 6)):
            sent += 1
            group.append(_drawn(random, sent, base, layers))
        verdicts = ours.take(group)
        assert [essence(one) for one in verdicts] == [essence(one) for one in model.apply(group)]
        assert [type(one) for one in verdicts if not isinstance(one, (Accepted, Rejected))] == []
    assert state(ours, sent) == state(model, sent)


def _drawn(random: Random, n: int, base: int, layers: dict[Entity, list[CommitId]]) -> Commit:
    entity, of = random.choice(DOCS), random.choice(DOCS)
    through = tuple(layers.get(of, ()))
    basis = base if random.random() < 0.8 else max(0, base - random.randint(0, 3))
    read = PendingRead(of, VALUE, basis, through[-random.randint(1, len(through)) :] if random.random() < 0.2 else through) if through and random.random() < 0.9 else None
    value = random.choice([random.randrange(9), 1.5, None, "text", "ü", {"k": [1, 2]}, True])
    operation: Set | Patch | Delete = (Put if random.random() < 0.7 else Set)(entity, freeze({"value": value}))
    if random.random() < 0.05:
        operation = Set(entity, freeze({"value": value, "slug": n}))
    elif random.random() < 0.05:
        operation = Delete(entity) if random.random() < 0.5 else Patch(entity, (Replace(VALUE, 3),))
    confirmed = () if read is not None else (ConfirmedRead(of, VALUE, basis),)
    preconditions = (EntityAbsent(entity),) if random.random() < 0.03 else ()
    layers.setdefault(entity, []).append(CommitId("p:s", n))
    trigger = Address(*of, VALUE)
    return Commit(CommitId("p:s", n), (operation,), confirmed, (read,) if read is not None else (), preconditions, Provenance("node", n, (trigger,)))


def test_plain_commits_take_the_shorter_way_and_others_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    ways: list[bool] = []
    take = Direct.take

    def noted(self: Direct, *args: object) -> object:
        verdicts = take(self, *args)  # type: ignore[arg-type]
        ways.append(verdicts is not None)
        return verdicts

    monkeypatch.setattr(Direct, "take", noted)
    of = engine()
    of.take([plain(1, DOCS[0], 1), plain(2, DOCS[1], 1)])  # documents that never were
    of.take([plain(3, DOCS[0], 2, confirmed=(ConfirmedRead(DOCS[1], VALUE, 2),)), plain(4, DOCS[1], 2, pending=(PendingRead(DOCS[0], VALUE, 2, (CommitId("p:s", 3),)),))])
    of.take([plain(5, DOCS[0], 3, confirmed=(ConfirmedRead(DOCS[1], VALUE, 2),))])  # overwritten since
    of.take([plain(6, DOCS[0], {"large": ["document"]})])
    of.take([Commit(CommitId("p:s", 7), (Delete(DOCS[0]),))])
    assert ways == [False, True, False, True, False]
    assert of.read(DOCS[1]).document == {"value": 2}


def test_a_commit_that_comes_again_though_its_sender_sends_once_is_refused() -> None:
    of = engine()
    of.apply([plain(1, DOCS[0], 1)])
    (accepted,) = of.take([plain(2, DOCS[0], 2)])
    assert isinstance(accepted, Accepted)
    (again,) = of.take([plain(2, DOCS[0], 2)])
    assert isinstance(again, Rejected)
    assert again.rejection.name == "ProtocolError"
    assert "sends each commit once" in again.rejection.message
    assert of.head() == 2


def test_another_connection_s_commits_are_not_overlooked() -> None:
    """The engine reads its memory of the tables; what another one has written since is looked at before anything is decided."""
    store = Store("memory:")
    one = open_engine(store, "main", runtime="one", codec=VALUES)
    two = open_engine(store, "main", runtime="two", codec=VALUES)
    one.apply([plain(1, DOCS[0], 1)])
    two.apply([Commit(CommitId("p:t", 1), (Set(DOCS[0], freeze({"value": 2})),))])
    (verdict,) = one.take([plain(2, DOCS[0], 3, confirmed=(ConfirmedRead(DOCS[0], VALUE, 1),))])
    assert isinstance(verdict, Rejected)
    (verdict,) = one.take([plain(3, DOCS[0], 3, confirmed=(ConfirmedRead(DOCS[0], VALUE, 2),))])
    assert isinstance(verdict, Accepted)
    assert two.poll()
    assert two.read(DOCS[0]).document == {"value": 3}


def test_a_replaced_runtime_commits_nothing_by_the_shorter_way_either() -> None:
    store = Store("memory:")
    old = open_engine(store, "main", runtime="same", codec=VALUES)
    old.apply([plain(1, DOCS[0], 1)])
    open_engine(store, "main", runtime="same", codec=VALUES)
    (verdict,) = old.take([plain(2, DOCS[0], 2)])
    assert isinstance(verdict, Rejected)
    assert verdict.rejection.name == "StaleEpoch"


def test_a_pending_read_that_leaves_out_a_layer_of_its_own_group_is_stale() -> None:
    of = engine()
    of.apply([plain(1, DOCS[0], 1), plain(2, DOCS[1], 1)])
    *_, verdict = of.take([plain(3, DOCS[0], 2), plain(4, DOCS[0], 3), plain(5, DOCS[1], 2, pending=(PendingRead(DOCS[0], VALUE, 2, (CommitId("p:s", 4),)),))])
    assert isinstance(verdict, Rejected)
    assert "commit 3 changed it after basis 2" in verdict.rejection.message
