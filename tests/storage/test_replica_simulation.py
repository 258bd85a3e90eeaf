"""Two replicas on one engine, with every delay and order that a link allows, against the slow model and the mirror of the log; checked after each step.

A failing seed prints the line that replays it: SEEDS=17 pytest tests/storage/test_replica_simulation.py
"""

import os
import random
from collections.abc import Callable
from typing import NamedTuple

import pytest
from harness.replica_model import Mirror, ReplicaModel
from harness.toy_engine import SPACE, ToyEngine, ToyLink
from weft.scheduler.errors import PatchApplyError
from weft.scheduler.log import CommitEntry, RevertEntry
from weft.scheduler.matching import matches_naive
from weft.scheduler.model import Address, CommitId, Entity, Read
from weft.scheduler.values import MISSING, Value, freeze, same
from weft.storage.authority import Authority
from weft.storage.commit import Commit, Delete, Operation, Patch, Provenance, Set, Verdict
from weft.storage.engine import open_engine
from weft.storage.layers import Layer, Layers
from weft.storage.link import Frame, Receiver
from weft.storage.patch import Append, Increment, PatchOp, Replace
from weft.storage.proposal import Proposal, Seen, Use
from weft.storage.replica import Replica
from weft.storage.ticket import Committed, Refused, Unchanged
from weft.wire.codec import VALUES

IDS = [Entity(SPACE, "space", name) for name in "abcd"]
SEEDS = [int(seed) for seed in os.environ["SEEDS"].split(",")] if "SEEDS" in os.environ else range(120)
STEPS = 150
WEIGHTS = [4, 5, 2, 1, 3, 0.5, 0.3, 0.2, 0.4]
COUNT, ITEMS = ("value", "count"), ("value", "items")


class Draft(NamedTuple):
    """A transaction that has read and will commit later."""

    seen: dict[Entity, Seen]
    reads: dict[Read, Use]
    operations: tuple[Operation, ...]
    elided: tuple[Address, ...]


class Side:
    """One replica with its link, model, mirror, open drafts and what its tickets said."""

    def __init__(self, engine: Authority, name: str, randomness: random.Random) -> None:
        self.engine, self.name = engine, name
        self.model, self.mirror, self.rng = ReplicaModel(), Mirror(7), randomness
        self.warnings: list[str] = []
        self.replica = Replica(self._connect, 7, warn=self.warnings.append)
        self.replica.journal.subscribe(self.mirror)
        self.drafts: list[Draft] = []
        self.verdicts: dict[CommitId, list[Verdict]] = {}
        self.settled: dict[CommitId, list[Verdict]] = {}
        self.seqs: dict[Entity, int] = {}
        self.frames: list[Frame] = []
        self.runs = 0

    def _connect(self, space: str, receiver: Receiver) -> ToyLink:
        self.link = ToyLink(self.engine, receiver, self.name)
        return self.link

    def read(self, entity: Entity) -> Seen:
        if entity not in self.model.confirmed:
            self.model.pulled(self.engine.read(entity))
        return self.replica.read(entity)

    def draft(self) -> None:
        rng = self.rng
        read = rng.sample(IDS, rng.choice([0, 1, 1, 2]))
        written = rng.sample(IDS, rng.choice([0, 1, 1, 1, 2]))
        seen = {entity: self.read(entity) for entity in (*read, *written)}
        reads = {Read(entity, rng.choice([(), ("value",), COUNT]), rng.random() < 0.8): rng.choice([Use.BOTH, Use.BOTH, Use.CONFLICT, Use.SCHEDULING]) for entity in read}
        elided = tuple(entity.at(COUNT) for entity in seen if rng.random() < 0.15)
        self.drafts.append(Draft(seen, reads, tuple(self.operation(entity) for entity in written), elided))

    def operation(self, entity: Entity) -> Operation:
        rng = self.rng
        kind = rng.randrange(10)
        if kind < 3:
            return Set(entity, freeze({"value": {"count": rng.randrange(3), "items": []}}))
        if kind == 3 and rng.random() < 0.5:
            return Delete(entity)
        patches: list[PatchOp] = [Replace(COUNT, rng.randrange(3)), Increment(COUNT, 1, True), Append(ITEMS, (rng.randrange(100),), True), Replace(("value",), rng.randrange(2))]
        return Patch(entity, (rng.choice(patches),))

    def commit(self) -> None:
        if not self.drafts:
            return
        draft = self.drafts.pop(self.rng.randrange(len(self.drafts)))
        for entity in draft.seen:
            self.read(entity)  # it may have been forgotten since
        self.runs += 1
        node = f"n{self.runs}" if self.rng.random() < 0.5 else None
        proposal = Proposal(SPACE if draft.operations else None, draft.seen, draft.reads, draft.operations, draft.elided, (), Provenance(node, 1))
        expected = self.expected(draft)
        entries, sent = len(self.mirror.entries), len(self.link.sent)
        answer = self.replica.commit(proposal)
        assert type(answer) is expected, f"{answer}, not {expected.__name__}"
        if isinstance(answer, Committed):
            self.took(answer, draft)
        else:
            assert len(self.mirror.entries) == entries + (node is not None), "one entry for a run, none for anybody else"
            assert len(self.link.sent) == sent, "nothing is sent"

    def expected(self, draft: Draft) -> type:
        if not draft.operations:
            return Unchanged
        try:
            self.effective = self.model.effective(draft.operations)
        except PatchApplyError:
            return Refused
        if not self.effective:
            return Unchanged
        for read, use in draft.reads.items():
            if use & Use.CONFLICT and not same(draft.seen[read.entity].document, self.model.visible(read.entity)):
                return Refused
        if any(matches_naive(draft.seen[place.entity].document, self.model.visible(place.entity), place.path, True) for place in draft.elided):
            return Refused
        return Refused if self.rests(draft) & self.model.doomed() else Committed

    def rests(self, draft: Draft) -> frozenset[CommitId]:
        dropped = {operation.entity for operation in draft.operations} - {operation.entity for operation in self.effective}
        return self.model.touching({*(read.entity for read, use in draft.reads.items() if use & Use.CONFLICT), *(place.entity for place in draft.elided), *dropped})

    def took(self, answer: Committed, draft: Draft) -> None:
        rests = self.rests(draft)
        self.model.committed(answer.id, self.effective, rests)
        commit = self.link.sent[-1]
        assert commit.id == answer.id
        assert commit.operations == self.effective
        for read in commit.pending:
            assert read.basis == self.model.confirmed[read.entity].seq, "the true confirmed basis"
            assert read.layers
            assert set(read.layers) == self.model.touching([read.entity]) - {answer.id}, "every layer is named"
        assert isinstance(self.mirror.entries[-1], CommitEntry)
        self.verdicts[answer.id], self.settled[answer.id] = [], []
        answer.ticket.on_verdict(self.verdicts[answer.id].append)
        answer.ticket.on_settled(self.settled[answer.id].append)

    def forget(self) -> None:
        entity = self.rng.choice(IDS)
        if entity in self.model.confirmed and not self.model.touching([entity]):
            self.replica.forget([entity])
            self.model.forgotten(entity)
            self.mirror.forgotten(entity)
            del self.seqs[entity]

    def echo(self) -> None:
        """A frame that was handled arrives once more."""
        if self.frames:
            self.link.down.append(self.rng.choice(self.frames))

    def deliver(self) -> None:
        message = self.link.deliver()
        if isinstance(message, Frame):
            self.frames.append(message)
            self.model.on_frame(message)
        elif message is not None:
            self.model.on_verdict(message)

    def check(self) -> None:
        for entity in self.model.confirmed:
            seen = self.replica.read(entity)
            assert same(seen.document, self.model.visible(entity)), f"{entity}: shows {seen.document}, the model says {self.model.visible(entity)}"
            assert same(self.mirror.shown[entity], seen.document), f"{entity}: the log leads to {self.mirror.shown[entity]}, not to {seen.document}"
            assert seen.n == self.mirror.changed_at[entity], f"{entity} says it changed at {seen.n}, the log at {self.mirror.changed_at[entity]}"
            overlay = self.replica._documents[entity]
            assert overlay.seq == self.model.confirmed[entity].seq
            assert overlay.seq >= self.seqs.get(entity, 0), "confirmed state moved back"
            self.seqs[entity] = overlay.seq
        pending = {ticket.id for ticket in self.replica.pending()}
        assert pending == {layer.id for layer in self.model.layers}
        for id, told in self.settled.items():
            assert len(told) == (id not in pending)
            assert len(self.verdicts[id]) <= 1


class World:
    def __init__(self, seed: int, engine: Authority) -> None:
        self.rng = random.Random(seed)
        self.engine = engine
        start = freeze({"value": {"count": 0, "items": []}})
        self.engine.apply([Commit(CommitId("start", 1), tuple(Set(entity, start) for entity in IDS[:3]))])
        self.sides = [Side(self.engine, name, self.rng) for name in ("s1", "s2")]
        for side in self.sides:
            side.read(IDS[0])
            side.check()

    def step(self) -> None:
        side = self.rng.choice(self.sides)
        self.rng.choices([side.draft, side.commit, side.link.decide, side.link.frame, side.deliver, side.link.overtake, side.forget, side.echo, self.bad_luck], WEIGHTS)[0]()
        for each in self.sides:
            each.check()

    def bad_luck(self) -> None:
        """The engine will refuse a commit that is on its way."""
        waiting = [(side.link, commit.id) for side in self.sides for commit in side.link.up]
        if waiting:
            link, id = self.rng.choice(waiting)
            link.doomed.add(id)

    def finish(self) -> None:
        """Everything arrives; then both show what the engine holds, and everybody was answered."""
        for _ in range(2):
            for side in self.sides:
                while side.link.decide() is not None:
                    pass
            for side in self.sides:
                side.link.frame()
                while side.link.down:
                    side.deliver()
                    side.check()
        for side in self.sides:
            assert side.replica.pending() == ()
            assert side.warnings == []
            for entity in side.model.confirmed:
                assert same(side.replica.read(entity).document, self.engine.read(entity).document), f"{entity} did not converge"


ENGINES: dict[str, Callable[[], Authority]] = {"toy": ToyEngine, "memory": lambda: open_engine("memory:", SPACE, runtime="simulation", codec=VALUES)}


def simulate(seed: int, engine: str = "toy", steps: int = STEPS) -> World:
    world = World(seed, ENGINES[engine]())
    try:
        for _ in range(steps):
            world.step()
        world.finish()
    except Exception:
        print(f"replay: SEEDS={seed} .venv/bin/pytest {__file__}")
        raise
    return world


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_replica_shows_what_the_slow_model_shows_whatever_the_order_of_arrival(seed: int, engine: str) -> None:
    simulate(seed, engine)


def test_the_simulation_reaches_what_it_is_for() -> None:
    """Across the seeds: refusals, cascades, folds that follow deliveries, and shadowed foreign commits."""
    entries = [entry for seed in range(20) for side in simulate(seed).sides for entry in side.mirror.entries]
    reverts = [entry for entry in entries if isinstance(entry, RevertEntry)]
    assert len(reverts) > 50
    assert sum(entry.id != entry.primary for entry in reverts) > 10
    assert sum(entry.kind == "integrate" for entry in entries) > 50
    assert sum(entry.kind == "result" for entry in entries) > 20


def test_the_simulation_notices_a_layer_forgotten_in_the_cascade(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: only the direct dependants fall."""

    def shallow(self: Layers, primary: Layer) -> list[Layer]:
        return [primary, *(layer for layer in self if primary.id in layer.rests and not layer.accepted)]

    monkeypatch.setattr(Layers, "cascade", shallow)
    caught = 0
    for seed in range(40):
        try:
            simulate(seed)
        except AssertionError:
            caught += 1
    assert caught >= 3


@pytest.mark.soak
@pytest.mark.parametrize("engine", ENGINES)
def test_a_replica_shows_what_the_slow_model_shows_for_many_more_seeds(engine: str) -> None:
    for seed in range(1000, 6000):
        simulate(seed, engine)


def test_nothing_is_there_before_it_was_read() -> None:
    world = World(0, ToyEngine())
    value: Value = world.sides[0].replica.read(IDS[3]).document
    assert value is MISSING
