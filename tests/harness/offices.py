"""A desk with clients over lines that a test moves message by message, and a receiver that holds what it was told as a replica must."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path

from weft.scheduler.model import CommitId, Entity
from weft.scheduler.values import Value, freeze
from weft.storage.authority import Authority
from weft.storage.client import SessionClient
from weft.storage.commit import Accepted, Commit, Operation, Precondition, Set, Verdict
from weft.storage.desk import Desk
from weft.storage.dialogue import Answer, Documents, Flags, Open, Request, Transact, Watch
from weft.storage.document import operate
from weft.storage.engine import Engine, open_engine
from weft.storage.link import Delivered, Frame
from weft.storage.service import Service
from weft.wire.codec import VALUES

SPACE = "main"
BACKENDS = ("memory", "sqlite")


def opener(backend: str, folder: Path, space: str = SPACE, runtime: str = "test") -> Callable[[], Engine]:
    """How an engine of this backend is opened, in the thread that will use it."""
    url = "memory:" if backend == "memory" else f"sqlite:{folder}"
    return lambda: open_engine(url, space, runtime=runtime, codec=VALUES)


def serving(backend: str, folder: Path) -> Iterator[Office]:
    """The body of a fixture: an office, closed behind the test."""
    engine = opener(backend, folder)()
    yield Office(engine, backend)
    engine.close()


def doc(id: str) -> Entity:
    return Entity(SPACE, "space", id)


def put(id: str, value: Value) -> Set:
    return Set(doc(id), freeze({"value": value}))


def commit(session: str, local_seq: int, *operations: Operation, preconditions: Iterable[Precondition] = ()) -> Commit:
    return Commit(CommitId(session, local_seq), tuple(operations), preconditions=tuple(preconditions))


def group_sizes(engine: Authority) -> list[int]:
    """Grows by the size of each group that the engine is given from here on."""
    sizes: list[int] = []
    apply = engine.apply

    def counted(commits: Sequence[Commit]) -> list[Verdict]:
        sizes.append(len(commits))
        return apply(commits)

    engine.apply = counted  # type: ignore[method-assign]
    return sizes


class Picture:
    """A receiver: verdicts and frames as they came, and the confirmed documents that follow from them."""

    def __init__(self) -> None:
        self.verdicts: list[Verdict] = []
        self.frames: list[Frame] = []
        self.held: dict[Entity, Delivered] = {}
        self.sent: dict[CommitId, Commit] = {}
        self.head = 0
        self._accepted: dict[CommitId, Accepted] = {}
        self.order: list[str] = []  # "verdict" and "frame", as they came
        self.after_frame: Callable[[Frame], None] = lambda frame: None

    def on_verdict(self, verdict: Verdict) -> None:
        self.order.append("verdict")
        self.verdicts.append(verdict)
        if isinstance(verdict, Accepted):
            self._accepted[verdict.id] = verdict

    def on_frame(self, frame: Frame) -> None:
        assert frame.head >= self.head, "a frame went back"
        self.order.append("frame")
        self.frames.append(frame)
        self.head = frame.head
        self.take(frame.documents)
        for id in frame.decided:
            if id in self._accepted:
                self._fold(self.sent[id], self._accepted.pop(id).seq)
        self.after_frame(frame)

    def take(self, documents: Iterable[Delivered]) -> None:
        for document in documents:
            held = self.held.get(document.entity)
            if held is None or document.seq >= held.seq:
                self.held[document.entity] = document

    def _fold(self, commit: Commit, seq: int) -> None:
        for entity in {op.entity: None for op in commit.operations}:
            held = self.held.get(entity)
            if held is not None and held.seq < seq:
                value = held.document
                for op in commit.operations:
                    if op.entity == entity:
                        value = operate(value, op)
                self.held[entity] = Delivered(entity, seq, commit.id, value)

    def values(self) -> dict[str, Value]:
        return {entity.id: held.document["value"] for entity, held in self.held.items() if held.document}


class Line:
    """One connection: what was sent stays on its way until the test moves it; what is on its way when it drops is gone."""

    def __init__(self, office: Office, principal: str, flags: Flags | None) -> None:
        self.up: deque[Request] = deque()
        self.down: deque[Answer] = deque()
        self.dropped = False
        self.wire: list[Request] = []
        self._office = office
        self.service = Service(office.desk, principal, self._say, flags)

    def send(self, request: Request) -> None:
        if self.dropped:
            raise OSError("the line is down")
        self.wire.append(request)
        self.up.append(request)

    def _say(self, answer: Answer) -> None:
        if self.dropped:
            raise OSError("the line is down")
        self.down.append(answer)

    def close(self) -> None:
        self.drop()

    def drop(self) -> None:
        self.dropped = True
        self.up.clear()
        self.down.clear()
        self.service.close(self._office.now)


class Customer:
    """A client with its picture and all the lines it ever had."""

    def __init__(self, office: Office, session: str, principal: str = "p", flags: Flags | None = None) -> None:
        self.office, self.principal = office, principal
        self.picture = Picture()
        self.lines: list[Line] = []
        self.issued: list[CommitId] = []
        self.server_flags: Flags | None = None
        self.client = SessionClient(SPACE, self._dial, self.picture, principal=principal, session=session, jitter=lambda: 0.0, flags=flags,
                                    issued=lambda commit: self.issued.append(commit.id))
        self._next = count(1)

    def _dial(self) -> Line:
        self.lines.append(Line(self.office, self.principal, self.server_flags))
        return self.lines[-1]

    @property
    def line(self) -> Line:
        return self.lines[-1]

    def commit(self, *operations: Operation, preconditions: Iterable[Precondition] = ()) -> Commit:
        """Made and noted, not sent."""
        made = commit(self.client.key, next(self._next), *operations, preconditions=preconditions)
        self.picture.sent[made.id] = made
        return made

    def transact(self, *operations: Operation, preconditions: Iterable[Precondition] = ()) -> Commit:
        made = self.commit(*operations, preconditions=preconditions)
        self.client.transact(made)
        return made

    def watch(self, *ids: str) -> None:
        self.client.watch([doc(id) for id in ids], lambda found: self.picture.take(found.documents) if isinstance(found, Documents) else None)

    def up(self) -> bool:
        """Moves one request to the desk."""
        if self.lines and self.line.up:
            self.line.service.handle(self.line.up.popleft(), self.office.now)
            return True
        return False

    def down(self) -> bool:
        """Moves one answer to the client."""
        if self.lines and self.line.down:
            self.client.heard(self.line.down.popleft())
            return True
        return False

    def drop(self) -> None:
        if self.lines and not self.line.dropped:
            self.line.drop()
            self.client.lost(self.office.now)

    def transacts(self) -> list[int]:
        """The local sequences that went out, over all lines."""
        return [request.commit.id.local_seq for line in self.lines for request in line.wire if isinstance(request, Transact)]

    def watches(self) -> int:
        return sum(isinstance(request, Watch) for line in self.lines for request in line.wire)

    def opens(self) -> int:
        return sum(isinstance(request, Open) for line in self.lines for request in line.wire)


class Office:
    """A desk over an engine, at a time that the test sets."""

    def __init__(self, engine: Engine, backend: str, delay: float = 0.005, ttl: float = 30.0) -> None:
        self.engine, self.backend, self.now = engine, backend, 0.0
        self.reports: list[Exception] = []
        numbers = count(1)
        self.desk = Desk(engine, mint=lambda: f"t{next(numbers)}", report=self.reports.append, delay=delay, ttl=ttl)
        self.customers: list[Customer] = []

    def customer(self, session: str, principal: str = "p", flags: Flags | None = None) -> Customer:
        made = Customer(self, session, principal, flags)
        self.customers.append(made)
        return made

    def settle(self) -> None:
        """Moves everything until nothing moves, the clock included where somebody waits for it."""
        quiet = 0
        while quiet < 2:
            moved = False
            for customer in self.customers:
                customer.client.tick(self.now)
                while customer.up():
                    moved = True
            due = self.desk.pump(self.now)
            for customer in self.customers:
                while customer.down():
                    moved = True
            wakes = [wake for wake in (due, *(customer.client.tick(self.now) for customer in self.customers)) if wake is not None]
            self.now = max(self.now, min(wakes, default=self.now))
            quiet = 0 if moved or wakes else quiet + 1

    def value(self, id: str) -> Value:
        document = self.engine.read(doc(id)).document
        return document["value"] if document else None
