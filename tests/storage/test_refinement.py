"""The engine refines a straightforward model: it takes nothing the model refuses (scenario STO-073, semantics D.8).

The model keeps the whole log as a list and decides by its definition: exact prefix overlap, sets and deletes overlap everything, a pending read resolves every layer it names and
skips exactly those. Three sessions commit sets, key replacements and appends to two documents, with reads at stale watermarks, some omitting a layer.

A second walk is held to the whole-document definition of the harness (`engine_model`): patches that make their way, create, replace what is new, and shift the elements of
lists; after each of them every read, deep and shallow, from some recent basis, confirmed or through a layer, is stale in the engine exactly where it is in the model, and the
overlap query tells of every one that was written over.
"""
from __future__ import annotations

from collections import Counter
from pathlib import Path as FilePath
from random import Random
from typing import NamedTuple

import pytest
from harness.engine_model import Model as WholeDocuments
from harness.engine_model import Refused
from harness.engines import BACKENDS, Author, doc, rig_on
from weft.scheduler.model import CommitId, Entity, Path, Read
from weft.scheduler.values import MISSING, Value, freeze
from weft.storage import batch, reach, replay
from weft.storage.commit import Accepted, Commit, ConfirmedRead, Delete, Operation, Patch, PendingRead, Rejected, Set
from weft.storage.document import operate
from weft.storage.engine import Engine
from weft.storage.overlaps import Overlaps
from weft.storage.patch import Add, AddUnique, Append, Increment, Move, PatchOp, Remove, RemoveByValue, Replace, Splice

DOCUMENTS = (doc("a"), doc("b"))
PATHS: tuple[Path, ...] = ((), ("value",), ("value", "x"), ("value", "y"), ("value", "list"), ("value", "list", "0"))
SEEDS, STEPS = 100, 25


class Logged(NamedTuple):
    seq: int
    id: CommitId
    operation: Operation


def overlapping(logged: Logged, entity: Entity, path: Path) -> bool:
    if logged.operation.entity != entity:
        return False
    if not isinstance(logged.operation, Patch):
        return True
    paths = [op.path for op in logged.operation.ops]
    return any(path[: len(touched)] == touched or touched[: len(path)] == path for touched in paths)


class Model:
    """Decides by looking at the whole log."""

    def __init__(self) -> None:
        self.log: list[Logged] = []

    def takes(self, commit: Commit) -> bool:
        accepted = {logged.id: logged.seq for logged in self.log}
        named = [layer for read in commit.pending for layer in read.layers]
        stale = any(self.moved(read, frozenset()) for read in commit.confirmed) or any(self.moved(read, frozenset(read.layers)) for read in commit.pending)
        return all(layer in accepted for layer in named) and not stale

    def moved(self, read: ConfirmedRead | PendingRead, named: frozenset[CommitId]) -> bool:
        return any(logged.seq > read.basis and logged.id not in named and overlapping(logged, read.entity, read.path) for logged in self.log)

    def land(self, commit: Commit, seq: int) -> None:
        self.log += [Logged(seq, commit.id, operation) for operation in commit.operations]

    def value(self, entity: Entity) -> Value:
        document: Value = MISSING
        for logged in self.log:
            if logged.operation.entity == entity:
                document = operate(document, logged.operation)
        return document


class Walk:
    """One seed: what three sessions send, and what came of it."""

    def __init__(self, engine: Engine, seed: int, totals: Counter[str]) -> None:
        self.random = Random(seed)
        self.engine = engine
        self.model = Model()
        self.totals = totals
        self.authors = [Author(engine, f"s{number}") for number in range(3)]
        self.sent: dict[str, list[Commit]] = {author.session: [] for author in self.authors}

    def step(self) -> None:
        author = self.random.choice(self.authors)
        confirmed, pending, kind = self.reads(author)
        commit = author.draft(self.operation(), confirmed=confirmed, pending=pending)
        self.sent[author.session].append(commit)
        expected = self.model.takes(commit)
        (verdict,) = self.engine.apply([commit])
        taken = isinstance(verdict, Accepted)
        assert taken <= expected, f"the engine takes what the model refuses: {commit}"
        assert taken == expected, f"the engine refuses what the model takes: {commit}"
        self.totals[f"{kind} {'taken' if taken else 'refused'}"] += 1
        if isinstance(verdict, Accepted):
            self.model.land(commit, verdict.seq)

    def operation(self) -> Operation:
        entity, n = self.random.choice(DOCUMENTS), self.random.randrange(100)
        if self.engine.read(entity).document is MISSING or self.random.random() < 0.15:
            return Set(entity, freeze({"value": {"x": n, "y": n, "list": [n]}}))
        if self.random.random() < 0.3:
            return Patch(entity, (Append(("value", "list"), (n,)),))
        return Patch(entity, (Replace(("value", self.random.choice("xy")), n),))

    def reads(self, author: Author) -> tuple[list[ConfirmedRead], list[PendingRead], str]:
        random, head = self.random, self.engine.head()
        entity, path = random.choice(DOCUMENTS), random.choice(PATHS)
        layers = [commit.id for commit in self.sent[author.session] if commit.operations[0].entity == entity][-random.randrange(1, 4) :]
        basis = max(head - random.randrange(6), 0)
        if not layers or random.random() < 0.4:
            return [ConfirmedRead(entity, path, basis)], [], "confirmed"
        sparse = len(layers) > 1 and random.random() < 0.4
        if sparse:
            layers.remove(random.choice(layers))
        return [], [PendingRead(entity, path, basis, tuple(layers))], "sparse" if sparse else "pending"


@pytest.mark.parametrize("backend", BACKENDS)
def test_STO_073_the_engine_takes_nothing_that_the_model_refuses(backend: str, tmp_path: FilePath) -> None:
    totals: Counter[str] = Counter()
    for seed in range(SEEDS):
        with rig_on(backend, tmp_path / str(seed)) as rig:
            walk = Walk(rig.open(), seed, totals)
            for _ in range(STEPS):
                walk.step()
            cold = rig.open("other")
            for entity in DOCUMENTS:
                assert cold.read(entity).document == walk.engine.read(entity).document == walk.model.value(entity), f"seed {seed}"
    refusals = sum(count for kind, count in totals.items() if kind.endswith("refused"))
    assert refusals >= 50, totals
    assert totals["pending taken"] + totals["sparse taken"] >= 50, totals
    assert min(totals["sparse taken"], totals["sparse refused"]) >= 5, totals


def test_STO_073_the_model_notices_an_engine_that_starts_its_scan_at_the_topmost_layer(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> None:
    from weft.storage.batch import Batch

    honest = Batch.overwritten

    def hasty(self: Batch, branch: str, entity: Entity, path: Path, deep: bool, basis: int, named: frozenset[int]) -> int | None:
        return honest(self, branch, entity, path, deep, max((basis, *named)), named)

    monkeypatch.setattr(Batch, "overwritten", hasty)
    with pytest.raises(AssertionError, match="takes what the model refuses"):
        test_STO_073_the_engine_takes_nothing_that_the_model_refuses("memory", tmp_path)


# the whole-document definition
KEYS: tuple[Path, ...] = (("value", "x"), ("value", "new"), ("value", "deep", "c"), ("value", "deep", "d"), ("value", "far", "e", "f"), ("meta",), ("value", "list", "1", "k"))
LIST: Path = ("value", "list")
ELEMENTS: tuple[Path, ...] = tuple((*LIST, step) for step in ("0", "1", "2", "-"))
SEEN: tuple[Path, ...] = (
    *((), ("value",), *KEYS, ("value", "deep"), ("value", "far"), ("value", "far", "g"), ("value", "n"), ("elsewhere",)),
    *(LIST, *ELEMENTS, (*LIST, "3"), (*LIST, "9"), (*LIST, "length"), ("value", "deep", "l"), ("value", "deep", "l", "length")),
)
NOWHERE = (Patch(doc("z"), (Remove(("nowhere",)),)),)  # applies to no document: what carries it never lands
WHOLE = freeze({"value": {"x": 1, "deep": {"c": 1}, "list": [0, {"k": 1}, 2]}})


class Stroll:
    """One seed: one document, changed in every way there is, and asked about after each."""

    def __init__(self, engine: Engine, seed: int) -> None:
        self.random = Random(seed)
        self.engine = engine
        self.model = WholeDocuments()
        self.author = Author(engine)
        self.overlaps = Overlaps(engine.space, engine.tables, engine.codec)
        self.land((Set(DOCUMENTS[0], WHOLE),))

    def land(self, operations: tuple[Operation, ...]) -> None:
        commit = self.author.draft(*operations)
        (verdict,) = self.engine.apply([commit])
        try:
            expected: int | str = self.model.decide(commit)
        except Refused as refused:
            expected = str(refused.args[0])
        assert (verdict.seq if isinstance(verdict, Accepted) else verdict.rejection.name) == expected, f"{commit}: {verdict}"

    def step(self) -> None:
        chance = self.random.random()
        if chance < 0.05:
            self.land((Delete(DOCUMENTS[0]),))
        elif chance < 0.15:
            self.land((Set(DOCUMENTS[0], WHOLE),))
        else:
            self.land(tuple(Patch(DOCUMENTS[0], tuple(self.op() for _ in range(self.random.choice((1, 1, 1, 2))))) for _ in range(self.random.choice((1, 1, 2)))))
        if self.random.random() < 0.5:
            self.engine._current.reaches.clear()  # as after a restart: what patches reached is told again from the log
        self.ask()

    def op(self) -> PatchOp:
        pick, flag = self.random.choice, self.random.random() < 0.5
        value = freeze(pick((1, 2, [], [1, 2], {"k": 1})))
        source, target = pick(ELEMENTS), pick((*ELEMENTS, *KEYS))
        ops: tuple[PatchOp, ...] = (
            *(Replace(pick(KEYS), value), Replace(pick(ELEMENTS), value), Add(pick(KEYS), value), Add(pick(ELEMENTS), value), Remove(pick(KEYS)), Remove(pick(ELEMENTS))),
            Move(source, target if target[: len(source)] != source else source),
            *(Splice(LIST, 1, 1, (value,)), Append(pick((LIST, ("value", "deep", "l"), ("value", "far", "l"))), (value,), flag), AddUnique(LIST, (value,), flag)),
            *(RemoveByValue(LIST, value), Increment(pick((("value", "n"), ("value", "far", "n"), (*LIST, "0"))), 1, flag)),
        )
        return pick(ops)

    def ask(self) -> None:
        basis = max(self.model.head - self.random.randrange(1, 4), 0)
        layers = (self.random.choice(sorted(self.model.accepted)),) if self.random.random() < 0.3 else ()
        asked = [(path, deep) for path in SEEN for deep in (True, False)]
        commits = [
            self.author.draft(*NOWHERE, pending=[PendingRead(DOCUMENTS[0], path, basis, layers, deep)])
            if layers
            else self.author.draft(*NOWHERE, confirmed=[ConfirmedRead(DOCUMENTS[0], path, basis, deep)])
            for path, deep in asked
        ]
        verdicts = zip(asked, self.engine.apply(commits), strict=True)
        stale = {read for read, verdict in verdicts if isinstance(verdict, Rejected) and verdict.rejection.message.startswith("stale")}
        expected = {read for read in asked if self.model.hit(DOCUMENTS[0], *read, basis, frozenset(layers))}
        found = self.overlaps.find_overlapping_writes_after("", [Read(DOCUMENTS[0], *read) for read in asked], basis)
        told = {(read.path, read.deep) for overlap in found for read in overlap.reads}
        unseen = {read for read in asked if self.model.overwritten(DOCUMENTS[0], *read, basis)} - told
        assert not unseen, f"the overlap query misses {sorted(unseen)} after {basis}: {self.model.lines['']}"
        assert not expected - stale, f"the engine misses {sorted(expected - stale)} after {basis}: {self.model.lines['']}"
        assert not stale - expected, f"the engine refuses {sorted(stale - expected)} after {basis}: {self.model.lines['']}"


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_read_is_stale_exactly_if_what_it_sees_was_written(backend: str, tmp_path: FilePath) -> None:
    for seed in range(60 if backend == "memory" else 15):
        with rig_on(backend, tmp_path / str(seed)) as rig:
            stroll = Stroll(rig.open(), seed)
            for _ in range(15):
                stroll.step()


def _never(*_: object) -> bool:
    return False


BROKEN = {
    "no reach": (batch, "reach_touches", _never),
    "nothing came": (reach.Came, "touches", _never),
    "nothing shifted": (reach.Shifted, "touches", _never),
    "every shift is of the whole list": (reach.Shifted, "touches", lambda self, read, deep: read[: len(self.path)] == self.path),
    "replaced keys are old ones": (reach, "_is_new", _never),
    "nothing can be reached": (batch, "may_reach", _never),
    "history forgets the reach": (batch, "reach_of", lambda ops, before: ()),
    "history stands still": (replay.Replay, "before", lambda self, row: WHOLE),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_model_notices_an_engine_that_is_broken_like_this(name: str, tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, replacement = BROKEN[name]
    monkeypatch.setattr(owner, attribute, replacement)
    with pytest.raises(AssertionError, match=r"the (engine|overlap query) (misses|refuses)"):
        test_a_read_is_stale_exactly_if_what_it_sees_was_written("memory", tmp_path)
