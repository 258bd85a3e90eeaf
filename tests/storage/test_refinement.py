"""The engine refines a straightforward model: it takes nothing the model refuses (scenario STO-073, semantics D.8).

The model keeps the whole log as a list and decides by its definition: exact prefix overlap, sets and deletes overlap everything, a pending read resolves every layer it names and
skips exactly those. Three sessions commit sets, key replacements and appends to two documents, with reads at stale watermarks, some omitting a layer.
"""
from __future__ import annotations

from collections import Counter
from pathlib import Path as FilePath
from random import Random
from typing import NamedTuple

import pytest
from harness.engines import BACKENDS, Author, doc, rig_on
from weft.scheduler.model import CommitId, Entity, Path
from weft.scheduler.values import MISSING, Value, freeze
from weft.storage.commit import Accepted, Commit, ConfirmedRead, Operation, Patch, PendingRead, Set
from weft.storage.document import operate
from weft.storage.engine import Engine
from weft.storage.patch import Append, Replace

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
