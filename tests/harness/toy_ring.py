"""A storage and a worker that share one replica, behind one lock, for tests of what stands around them: the ring without feeds and without a cache."""
from __future__ import annotations

import threading
from typing import Any

from weft.actors.asked import Asked
from weft.actors.declared import Functions, declared
from weft.actors.execution import Body, Execution
from weft.actors.homes import Homes
from weft.actors.insiders import Insiders
from weft.actors.outlet import Departures
from weft.scheduler.errors import ConflictError
from weft.scheduler.log import Entry, RunId
from weft.scheduler.model import Read, Version
from weft.scheduler.overlap import is_prefix
from weft.scheduler.records import Kind, Node, Surface
from weft.scheduler.rejection import rejection
from weft.scheduler.runs import Run as Made
from weft.scheduler.values import MISSING, ReadOnlyDict
from weft.storage.commit import Accepted, Delete, Patch, Set, Verdict
from weft.storage.desks import Desks
from weft.storage.engine import open_engine
from weft.storage.proposal import Proposal, Seen, Use
from weft.storage.replica import Replica
from weft.storage.ticket import Committed, Refused
from weft.wire.codec import VALUES
from weft.wire.edge import Decided, Enter, Entered, Submit, Submitted
from weft.wire.entries import Enrolled, logged, refusal_of
from weft.wire.feeding import Fed, Fetch, Fetched
from weft.wire.messages import Fence
from weft.wire.ring import Applied, Awaited, Changes, CommitRuns, Fault, Logged, RunWave, Write


class Stand:
    """What both share. `took` collects what graph has to hear."""

    def __init__(self, functions: Functions, insiders: Insiders, home: str = "main", now: Any = None) -> None:
        self.functions, self.insiders, self.home = functions, insiders, home
        self.now = now or (lambda: 0.0)
        self.lock = threading.RLock()
        self.desks = Desks(lambda space: open_engine("memory:", space, runtime="toy", codec=VALUES), report=print)
        self.replica = Replica(self.desks.connect, epoch=1)
        self.replica.journal.subscribe(self._heard)
        self.took: list[Logged] = []
        self.told: dict[int, tuple[float, Fault | None]] = {}
        self.running: tuple[float, Fault | None] | None = None
        self.generations: dict[str, int] = {}

    def _heard(self, entry: Entry) -> None:
        self.took.append(logged(entry, *(self.running or (0.0, None))))

    def register(self, one: Any, parent: str | None = None) -> None:
        generation = self.generations[one.node] = self.replica.journal.n + 1 + (1 << 32)
        self.replica.register(one.node, generation, Enrolled(one, parent))

    def taken(self) -> tuple[Logged, ...]:
        found, self.took = tuple(self.took), []
        return found


class ToyStorage(Asked):
    def __init__(self, *given: Any, stand: Stand, **more: Any) -> None:
        super().__init__(*given, **more)
        self.stand, self.token = stand, 0
        self.answers = {
            "pending": lambda asked: len(stand.replica.pending()),
            "settled": lambda asked: stand.replica.version.n,
            "listed": lambda asked: [],
        }

    def on_fence(self, message: Fence, sender: str) -> None:
        self.token = message.token
        with self.stand.lock:
            self.stand.replica.fence(message.token)
        self._changes()

    def on_fetch(self, message: Fetch, sender: str) -> Fetched:
        with self.stand.lock:
            seen = [(entity, self.stand.replica.read(entity)) for entity in message.entities]
            version = message.version if message.version.n else self.stand.replica.version
        self._changes()
        moved = tuple(entity for entity, found in seen if found.n > version.n and found.document is not MISSING)
        return Fetched(version, tuple(Fed(entity, found.n, found.document) for entity, found in seen), moved)

    def on_submit(self, message: Submit, sender: str) -> Submitted:
        with self.stand.lock:
            replica = self.stand.replica
            if any(replica.read(read.entity).n > message.version.n for read in message.reads if read.use & Use.CONFLICT and message.version.n):
                return Submitted(replica.version, False, refusal_of(rejection(ConflictError("overtaken"))))
            entities = dict.fromkeys([*(read.entity for read in message.reads), *(write.entity for write in message.writes)])
            for entity in entities:
                replica.read(entity)
            seen = {entity: replica.read(entity) for entity in entities}
            reads = {Read(read.entity, read.path, read.deep): Use(read.use) for read in message.reads}
            operations = tuple(_operation(write) for write in message.writes)
            proposal = Proposal(operations[0].entity.space if operations else None, seen, reads, operations, group=message.group)
            answer = replica.commit(proposal)
            if message.beside is not None:
                for child in message.beside.children:
                    self.stand.register(child)
            version = replica.version
        submitted = Submitted(version, isinstance(answer, Committed), refusal_of(answer.rejection) if isinstance(answer, Refused) else None)
        if isinstance(answer, Committed):
            answer.ticket.on_settled(lambda verdict: self._decided(sender, message.key, verdict))
        self._changes()
        self.answer(self.owed, submitted)
        with self.stand.lock:
            self.stand.desks.pump()
        self._changes()
        return None  # type: ignore[return-value]

    def _decided(self, client: str, key: int, verdict: Verdict) -> None:
        refusal = None if isinstance(verdict, Accepted) else refusal_of(verdict.rejection)
        self.tell(client, Decided(key, self.stand.replica.version, refusal))

    def on_enter(self, message: Enter, sender: str) -> Entered:
        with self.stand.lock:
            for one in message.declared:
                self.stand.register(one)
            for node in message.removed:
                if node in self.stand.generations:
                    self.stand.replica.remove(node, self.stand.generations.pop(node))
        self._changes()
        return Entered(self.stand.replica.version)

    def on_commit_runs(self, message: CommitRuns, sender: str) -> None:
        with self.stand.lock:
            self.stand.desks.pump()
        self._changes(message.wave, message.last)

    def on_applied(self, message: Applied, sender: str) -> None: ...

    def _changes(self, wave: int = 0, last: bool = True) -> None:
        with self.stand.lock:
            entries, version = self.stand.taken(), self.stand.replica.version
        if entries or wave:
            self.version = version
            self.tell("graph", Changes(self.token, version, wave, entries, (), last))
            self.seen()


class ToyWorker(Asked):
    def __init__(self, *given: Any, stand: Stand, **more: Any) -> None:
        super().__init__(*given, **more)
        self.stand = stand
        self.specs: dict[tuple[str, int], Any] = {}
        self.awaited: dict[Any, None] = {}
        self.execution = Execution(stand.replica, Homes(), self._awaits)
        self.gives_way = False

    def on_run_wave(self, message: RunWave, sender: str) -> None:
        for awaited in message.awaited:
            self._await(awaited)
        for run in message.runs:
            if run.spec is not None:
                self.specs[run.node, run.generation] = run.spec
            self._make(run, message)
        self.tell("storage", CommitRuns(message.token, message.version, message.wave, (), True))

    def _make(self, run: Any, wave: RunWave) -> None:
        told = self.specs[run.node, run.generation]
        spec = self.stand.functions[told["fn"]]
        node = Node(run.node, Kind.EFFECT if spec.kind == "effect" else Kind.COMPUTATION, told["space"], Surface(), Body.of(spec, told["space"]), 0, run.generation)
        node.group, node.attempts = told["group"], run.attempt - 1
        id, departures = RunId(run.node, run.generation, run.number, wave.token), Departures(None, told["space"])
        self.gives_way = run.gives_way
        with self.stand.lock:
            now = self.stand.now()
            with self.stand.insiders.inside():
                ran = self.execution.run(Made(node, id, run.triggers), now, wave.version.n, departures)
            fault = None
            if ran.unready:
                fault = Fault("unready", "", "", run.node, "")
            elif ran.error is not None:
                fault = Fault("later" if ran.again else "failed", *ran.error)
            self.stand.running = (self.stand.now() - now, fault)
            answer = self.stand.replica.commit(ran.proposal, id)
            self.stand.running = None
            if not isinstance(answer, Refused) and fault is None:
                for child in departures.children:
                    self.stand.register(declared(child, told["space"], self.stand.home, self.stand.functions, demanded=run.demanded), run.node)

    def _await(self, awaited: Awaited) -> None:
        if awaited.pending:
            self.awaited[awaited.address] = None
        else:
            self.awaited.pop(awaited.address, None)

    def _awaits(self, node: Node, read: Read) -> bool:
        return self.gives_way and any(
            place.entity == read.entity and (is_prefix(place.path, read.path) or is_prefix(read.path, place.path)) for place in self.awaited
        )


def _operation(write: Write) -> Any:
    if write.op == "plain":
        return Set(write.entity, ReadOnlyDict(value=write.value))
    if write.op == "set":
        return Set(write.entity, write.value)
    if write.op == "delete":
        return Delete(write.entity)
    from weft.storage.forms import _stored

    return Patch(write.entity, tuple(_stored(item) for item in write.value))


__all__ = ["Seen", "Stand", "ToyStorage", "ToyWorker", "Version"]
