"""Half of the ring, for real: the storage actor and workers, with a settle, a graph and a client that a test plays by hand, over a loopback or over inproc sockets.

The played ones write down what they hear. Settle sends a wave at the newest version that graph has heard of, as the real one does, unless a test says otherwise.
"""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from weft.actors.component import Component
from weft.actors.declared import declared_of
from weft.actors.functions import Functions
from weft.actors.reporter import Record
from weft.actors.specs import NodeSpec
from weft.actors.storing import Storing
from weft.actors.worker import Worker
from weft.scheduler.errors import WeftError
from weft.scheduler.model import Address, Entity, Version
from weft.scheduler.values import MISSING, Value, freeze
from weft.storage.connect import Hosts, open_hosts
from weft.storage.desks import Desks
from weft.storage.engine import open_engine
from weft.storage.spaces import Store
from weft.wire.codec import VALUES
from weft.wire.edge import Decided, Enter, News, Submit, Submitted
from weft.wire.endpoints import Inproc
from weft.wire.feeding import Feed, Fetch, Fetched
from weft.wire.loopback import Loopback
from weft.wire.post import Post
from weft.wire.ring import Awaited, Changes, Logged, Run, RunWave, Write
from weft.wire.sockets import Sockets
from weft.wire.table import Message

EPOCH = 4
PATIENCE = 20.0  # seconds; only a failing test waits that long
SPACE = "main"


def doc(id: str) -> Entity:
    return Entity(SPACE, "space", id)


class Peer(Component):
    """One who is played by hand."""

    def __init__(self, *args: Any, bell: threading.Condition, **rest: Any) -> None:
        super().__init__(*args, reporter=Record(), **rest)
        self.bell = bell
        self.heard: list[Any] = []

    def _note(self, what: Any) -> None:
        with self.bell:
            self.heard.append(what)
            self.bell.notify_all()

    def on_changes(self, message: Changes, sender: str) -> None:
        self._note(message)

    def on_decided(self, message: Decided, sender: str) -> None:
        self._note(message)

    def on_news(self, message: News, sender: str) -> None:
        self._note(message)

    def send(self, target: str, message: Message) -> None:
        self.tell(target, message)

    def put(self, target: str, message: Message, into: list[Any]) -> None:
        def then(answer: Message | WeftError) -> None:
            with self.bell:
                into.append(answer)
                self.bell.notify_all()

        self.ask(target, message, then, within=PATIENCE)


class Tapped(Worker):
    """Counts what it is fed."""

    fed: list[Feed]

    def begin(self) -> None:
        self.fed = []
        super().begin()

    def on_feed(self, message: Feed, sender: str) -> None:
        self.fed.append(message)
        super().on_feed(message, sender)


class HalfRing:
    """`changes` is what graph has heard; `version` and `served` follow from it. `told`: which registrations each worker knows."""

    def __init__(self, loopback: Loopback | None, sockets: Sockets | None, engine: Any, workers: int, lead: int, listener: str | None) -> None:
        self.loopback = loopback
        self.bell = threading.Condition()
        self.functions = Functions()
        self.declared: dict[str, Any] = {}
        self.told: set[tuple[str, str, int]] = set()
        self.numbers: dict[str, int] = {}
        self.waves = 0
        self.token = 0
        self._refs: dict[str, Any] = {}
        self.actors: dict[str, Any] = {}
        post = None if sockets is None else Post(sockets, Inproc("half"))
        cast: list[tuple[str, type[Any], dict[str, Any]]] = [
            ("graph", Peer, {"bell": self.bell}), ("settle", Peer, {"bell": self.bell}), ("client-1", Peer, {"bell": self.bell}),
            ("storage", Storing, {"engine": engine, "storage_epoch": EPOCH, "lead": lead, "reporter": Record()}),
            *((f"worker-{index}", Tapped, {"functions": self.functions, "listener": listener, "reporter": Record()}) for index in range(1, workers + 1)),
        ]  # fmt: skip
        for name, kind, rest in cast:
            if loopback is not None:
                self.actors[name] = kind.play(loopback, name, **rest)
            else:
                ref = self._refs[name] = kind.start(post, name, **rest)
                self.actors[name] = ref._actor_weakref()

    # What everybody sees

    @property
    def changes(self) -> list[Changes]:
        return [message for message in self.actors["graph"].heard if isinstance(message, Changes)]

    @property
    def version(self) -> Version:
        return max((message.version for message in self.changes), default=Version(EPOCH, 0))

    @property
    def served(self) -> dict[str, int]:
        return {served.worker: served.fed for message in self.changes for served in message.served}

    @property
    def entries(self) -> list[Logged]:
        return [entry for message in self.changes for entry in message.entries]

    def reports(self) -> list[str]:
        """What went wrong inside actors."""
        said = [report for actor in self.actors.values() for report in actor.reporter.reports]
        return [f"{report.actor} {report.about}: {report.error!r}" for report in said if report.what == "failed"]

    # What a test does

    def until(self, done: Callable[[], bool], what: str = "it") -> None:
        if self.loopback is not None:
            self.loopback.run()
            assert done(), f"{what} has not come (seed {self.loopback.seed}); {self.reports()}"
            return
        with self.bell:
            assert self.bell.wait_for(done, PATIENCE), f"{what} has not come; {self.reports()}"

    def send(self, who: str, target: str, message: Message) -> None:
        if self.loopback is not None:
            self.actors[who].send(target, message)
        else:
            self._refs[who].proxy().send(target, message).get()

    def begin_to_ask(self, who: str, target: str, message: Message) -> list[Any]:
        into: list[Any] = []
        if self.loopback is not None:
            self.actors[who].put(target, message, into)
        else:
            self._refs[who].proxy().put(target, message, into).get()
        return into

    def ask(self, target: str, message: Message, who: str = "client-1") -> Any:
        into = self.begin_to_ask(who, target, message)
        self.until(lambda: bool(into), f"the answer of {target} to {type(message).__name__}")
        return into[0]

    def load(self, *specs: NodeSpec[..., Any], group: str | None = None) -> None:
        declared = tuple(declared_of(spec, spec.id, SPACE, self.functions, group=group) for spec in specs)
        self.declared.update((one.node, one) for one in declared)
        version = self.ask("storage", Enter(declared, ())).version
        self.until(lambda: self.version >= version, "the registration")

    def remove(self, *nodes: str) -> None:
        version = self.ask("storage", Enter((), nodes)).version
        self.until(lambda: self.version >= version, "the removal")

    def generation(self, node: str) -> int:
        return max(entry.generation for entry in self.entries if entry.entry == "registration" and entry.node == node)

    def submission(self, **values: Value) -> Submit:
        writes = tuple(Write(doc(id), "delete" if value is MISSING else "plain", None if value is MISSING else freeze(value)) for id, value in values.items())
        return Submit(len(self.actors["client-1"].heard) + 1, self.version, (), writes, None, None)

    def set(self, **values: Value) -> Submitted:
        answer = self.ask("storage", self.submission(**values))
        assert isinstance(answer, Submitted), answer
        self.until(lambda: self.version >= answer.version, "the change")
        return answer

    def get(self, id: str) -> Value:
        answer = self.ask("storage", Fetch(Version(EPOCH, 0), (doc(id),)))
        assert isinstance(answer, Fetched), answer
        (fed,) = answer.documents
        return fed.document["value"] if fed.document is not MISSING else None

    def made(self, node: str, worker: str, triggers: tuple[Address, ...] = (), gives_way: bool = False) -> Run:
        """The next run of a node."""
        self.numbers[node] = self.numbers.get(node, 0) + 1
        generation = self.generation(node)
        spec = None if (worker, node, generation) in self.told else next(
            entry.unusual.declared.spec for entry in self.entries if entry.entry == "registration" and entry.generation == generation
            and entry.node == node and entry.unusual is not None and entry.unusual.declared is not None
        )
        self.told.add((worker, node, generation))
        return Run(node, generation, self.numbers[node], 0, gives_way, False, spec, triggers)

    def begin_wave(self, *runs: Run, worker: str = "worker-1", version: Version | None = None, fed: int | None = None, awaited: tuple[Awaited, ...] = ()) -> int:
        self.waves += 1
        fed = self.served.get(worker, 0) if fed is None else fed
        self.send("settle", worker, RunWave(self.token, version or self.version, fed, self.waves, 17.5, runs, awaited))
        return self.waves

    def ended(self, wave: int) -> bool:
        return any(message.wave == wave and message.last for message in self.changes)

    def run(self, *nodes: str | Run, worker: str = "worker-1", **rest: Any) -> list[Logged]:
        """One wave, and what came of its runs."""
        runs = [self.made(node, worker) if isinstance(node, str) else node for node in nodes]
        wave = self.begin_wave(*runs, worker=worker, **rest)
        self.until(lambda: self.ended(wave), f"the end of wave {wave}")
        return self.results(wave)

    def results(self, wave: int) -> list[Logged]:
        return [entry for message in self.changes if message.wave == wave for entry in message.entries if entry.entry in ("commit", "result")]

    def close(self) -> None:
        for ref in self._refs.values():
            ref.stop(timeout=PATIENCE)


def outcomes(results: list[Logged]) -> list[str]:
    return ["committed" if entry.unusual is None else entry.unusual.outcome for entry in results]


@contextmanager
def half_ring(kind: str, seed: int = 0, workers: int = 1, lead: int = 10_000, listener: str | None = None) -> Iterator[HalfRing]:
    """`kind`: loopback (engine at desks), desks (the same over inproc sockets), hosts (inproc, the engine in a thread)."""
    store = Store("memory:")
    hosts: Hosts | None = open_hosts(store, runtime="half", codec=VALUES) if kind == "hosts" else None
    errors: list[Exception] = []
    desks = Desks(lambda space: open_engine(store, space, runtime="half", codec=VALUES), report=errors.append)
    engine: Any = desks if hosts is None else (lambda deliver, hosts=hosts: hosts.connector(deliver=deliver))
    sockets = None if kind == "loopback" else Sockets()
    ring = HalfRing(Loopback(seed) if sockets is None else None, sockets, engine, workers, lead, listener)
    try:
        yield ring
        assert errors == []
    finally:
        ring.close()
        if hosts is not None:
            hosts.close()
        else:
            desks.close()
        if sockets is not None:
            sockets.close()
