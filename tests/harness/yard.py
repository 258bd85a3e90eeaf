"""The two halves that share documents, without messages: storage's side of the ring over an engine that is moved by hand, and workers' documents that it feeds.

`Annals` keeps every state of every document that was ever shown: the slow definition of "as of V".
"""
from __future__ import annotations

from collections import deque
from collections.abc import Callable

from weft.actors.documents import Documents
from weft.actors.execution import Ran
from weft.actors.keeping import Keeping, Step
from weft.actors.reporting import finished
from weft.actors.surfaces import outcome
from weft.scheduler.log import Entry, PullEntry, changes_of
from weft.scheduler.model import CommitId, Entity, Version
from weft.scheduler.values import MISSING, Value, same
from weft.storage.commit import Accepted, Commit, Operation, Provenance
from weft.storage.link import Receiver
from weft.storage.transaction import Transaction
from weft.wire.feeding import Fed, Feed, Fetch, Fetched
from weft.wire.ring import CommitRuns, Declared, Finished, Logged, Run

from .replica_model import applied
from .toy_engine import SPACE, ToyEngine, ToyLink

EPOCH = 3
Body = Callable[[Transaction], object]


def node(name: str) -> Declared:
    return Declared(name, "computation", SPACE, (), (), (), None, None, None, False, None, False, None)


class Annals:
    """`shown[n]`: every loaded document after entry n."""

    def __init__(self) -> None:
        self.shown: list[dict[Entity, Value]] = [{}]

    def heard(self, entry: Entry) -> None:
        assert entry.version.n == len(self.shown)
        now = dict(self.shown[-1])
        if isinstance(entry, PullEntry):
            now.update((stamp.entity, MISSING) for stamp in entry.stamps)
        for change in changes_of(entry):
            now[change.entity] = applied(now[change.entity], change)
        self.shown.append(now)


class Shed:
    """One worker's documents. `due` are feeds on their way."""

    def __init__(self, yard: Yard, name: str, most: int = 100_000) -> None:
        self.yard, self.name = yard, name
        self.documents = Documents(self._fetch, most)
        self.due: deque[Feed] = deque()
        self.fetches = 0
        self.wave = 0

    def _fetch(self, version: Version, entities: tuple[Entity, ...]) -> Fetched:
        self.fetches += 1
        answer = self.yard.keeping.fetch(self.name, Fetch(version, entities), True)
        self.yard.step()
        return answer

    def arrive(self, fed: int) -> None:
        """Feeds up to this number arrive."""
        while self.due and self.due[0].fed <= fed:
            self.documents.receive(self.due.popleft())

    def begin(self, token: int = 0) -> Version:
        """A wave at the newest version that settle knows."""
        self.wave += 1
        self.arrive(self.yard.served.get(self.name, 0))
        assert self.documents.reaches(self.yard.version, self.yard.served.get(self.name, 0))
        self.documents.advance(self.yard.version, token)
        return self.yard.version

    def run(self, member: int, name: str, number: int, body: Body) -> Finished:
        run = Run(name, self.yard.keeping.generations.get(name, 0), number, 0, False, False, None, ())
        transaction = Transaction(self.documents, SPACE, provenance=Provenance(name, number))
        body(transaction)
        ran = Ran(transaction.finish()[0])
        result = finished(run, ran, self.documents.wrote, (), None, 0.5)
        for operation in ran.proposal.operations:
            self.documents.write(operation.entity, outcome(operation, ran.proposal.seen[operation.entity].document), member)
        return result

    def commit(self, version: Version, results: list[Finished], last: bool = True, token: int = 0) -> tuple[Logged, ...]:
        self.yard.keeping.commit_runs(self.name, CommitRuns(token, version, self.wave, tuple(results), last))
        return self.yard.step().entries

    def check(self) -> None:
        """Everything held is as of the version, but for what the wave has written."""
        documents = self.documents
        for entity, seen in documents._held.items():
            if entity not in documents.wrote:
                shown = self.yard.as_of(entity, documents.version.n)
                assert same(seen.document, shown), f"{self.name} at {documents.version}: {entity} is {seen.document}, and {shown} was shown"


class Yard:
    """`version` and `served` are what settle knows: after each step of storage, unless it is late."""

    def __init__(self, documents: dict[str, Value] | None = None) -> None:
        self.engine = ToyEngine()
        self.annals = Annals()
        self.keeping = Keeping(self._connect, EPOCH)
        self.keeping.journal.subscribe(self.annals.heard)
        self.sheds: dict[str, Shed] = {}
        self.served: dict[str, int] = {}
        self.feeds: list[tuple[str, Feed]] = []
        self.version = Version(EPOCH, 0)
        self.late = False
        self._kept_back: dict[str, int] = {}
        self._link: ToyLink | None = None
        self._start = documents or {}

    @property
    def link(self) -> ToyLink:
        if self._link is None:
            self.keeping.replica.read(Entity(SPACE, "space", "first"))
        assert self._link is not None
        return self._link

    def _connect(self, space: str, receiver: Receiver) -> ToyLink:
        self._link = ToyLink(self.engine, receiver, "me")
        return self._link

    def shed(self, name: str, most: int = 100_000) -> Shed:
        self.sheds[name] = Shed(self, name, most)
        return self.sheds[name]

    def foreign(self, *operations: Operation) -> None:
        (verdict,) = self.engine.apply([Commit(CommitId("other", self.engine.head() + 1), operations)])
        assert isinstance(verdict, Accepted)

    def step(self) -> Step:
        """What storage sends after a message; settle hears of it at once, unless it is late."""
        step = self.keeping.take()
        version = self.keeping.journal.version
        for batch in step.batches:
            feed = Feed(batch.number, version, batch.changes, tuple(Fed(entity, seen.n, seen.document) for entity, seen in batch.documents), batch.stale)
            self.feeds.append((batch.holder, feed))
            if batch.holder in self.sheds:
                self.sheds[batch.holder].due.append(feed)
            self._kept_back[batch.holder] = batch.number
        if not self.late:
            self.catch_up()
        return step

    def catch_up(self) -> None:
        self.version = self.keeping.journal.version
        self.served.update(self._kept_back)

    def as_of(self, entity: Entity, n: int) -> Value:
        """What the log showed then; a document that was not loaded yet is as it was when it was first."""
        for shown in self.annals.shown[n:]:
            if entity in shown:
                return shown[entity]
        raise AssertionError(f"{entity} was never loaded")
