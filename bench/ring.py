"""`ring`: what one run costs in messages. Four actors, settle → worker → storage → graph → settle, through the real mailboxes and codec, against two bare PAIR sockets.

Both sides are of one kind: `inproc` four actors, or two peers, in threads of one process; `ipc` in processes of their own. The bare side sends a message of the same size there
and back with msgpack pack and unpack on both sides, so the ratio says what four checked, counted, numbered hops cost in units of two bare ones.

In the `inproc` case both sides are kept on one and the same core. Threads of one interpreter take turns anyway, and waking a thread on another core, which may be asleep, costs
several times as much as handing over on the same one: where the kernel happens to put two threads, or four, would decide the figures, and not what the messages cost.
Processes do not take turns; in the `ipc` case the kernel places them as it likes.
"""
from __future__ import annotations

import multiprocessing
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path

import msgpack  # type: ignore[import-untyped]
import zmq
from weft.actors.component import Component
from weft.bench.runner import Result, interleaved
from weft.scheduler.model import Change, Entity, Read, Version
from weft.scheduler.rows import HIT, INVALID, LIVE, Done, Row
from weft.wire.endpoints import Endpoints, Inproc, Ipc
from weft.wire.messages import Presence
from weft.wire.post import Post
from weft.wire.ring import Changes, CommitRuns, Finished, Invalidated, Logged, Run, RunWave, UsedRead, Write
from weft.wire.sockets import Sockets

CART, TOTAL = Entity("main", "space", "cart/42"), Entity("main", "space", "total/42")
TRIGGERS = (CART.at(("value", "items")),)
READS = (UsedRead(CART, ("value", "items"), True, 3), UsedRead(CART, ("value", "rate"), True, 3))
PATIENCE = 60.0  # seconds; a ring that does not come round in that time is broken


class Settle(Component):
    """Starts each ring and counts them. `met` may be called more than once, so that the event it sets is not the one that ends a measurement."""

    def __init__(self, post: Post, ready: threading.Event, done: threading.Event) -> None:
        super().__init__(post, "settle")
        self.left = 0
        self.begun = self.took = 0.0
        self._ready = ready
        self._done = done
        self._n = 0

    def begin(self) -> None:
        self.link("worker")

    def met(self, peer: str, epoch: int, presence: Presence) -> None:
        if peer == "worker":
            self._ready.set()

    def go(self, rings: int) -> None:
        """Called through pykka, so in the actor's thread."""
        self.left = rings
        self.took = 0.0
        self.begun = time.perf_counter()
        self._next()

    def on_invalidated(self, message: Invalidated, sender: str) -> None:
        if message.version.n != self._n:
            raise AssertionError(f"ring {message.version.n} came round, and {self._n} was sent")
        self.left -= 1
        if self.left:
            self._next()
        else:
            self.took = time.perf_counter() - self.begun
            self._done.set()

    def _next(self) -> None:
        self._n += 1
        run = Run("cart/total", 1, self._n, 1, False, True, None, TRIGGERS)
        self.tell("worker", RunWave(17, Version(3, self._n), 4, self._n, 1700000000.25, (run,), ()))


class Worker(Component):
    def on_run_wave(self, message: RunWave, sender: str) -> None:
        (run,) = message.runs
        write = Write(TOTAL, "plain", float(run.number))
        finished = Finished(run.node, run.generation, run.number, READS, (write,), run.triggers, None, 0.000125, None, None)
        self.tell("storage", CommitRuns(message.token, message.version, message.wave, (finished,), True))


class Storage(Component):
    def on_commit_runs(self, message: CommitRuns, sender: str) -> None:
        (done,) = message.finished
        change = Change(TOTAL, ("value",), float(done.number - 1), done.writes[0].value)
        reads = tuple([Read(read.entity, read.path, read.deep) for read in done.reads])
        entry = Logged(message.version.n, "commit", done.node, done.generation, done.number, reads, (change,), (), done.took, None)
        self.tell("graph", Changes(message.token, message.version, message.wave, (entry,), (), True))


class Graph(Component):
    def on_changes(self, message: Changes, sender: str) -> None:
        (entry,) = message.entries
        done = Done("cart/total", entry.number, entry.took, False)
        row = Row("effect/show", INVALID | LIVE | HIT, 2, 0, (entry.changes[0].entity.at(("value",)),))
        self.tell("settle", Invalidated(message.token, message.version, message.wave, (row,), (done,), None, (), 0, True))


def run(quick: bool = False) -> Iterator[Result]:
    rings, rounds = (200, 2) if quick else (500, 25)  # short turns, many of them: a quiet moment is then likely to be met by both sides
    for case, place, ring, pair in (("inproc", one_core, inproc_ring, inproc_pair), ("ipc", nullcontext, ipc_ring, ipc_pair)):
        with place(), ring() as go, pair() as bounce:
            ours, bare = interleaved(lambda go=go: go(rings), lambda bounce=bounce: bounce(rings), rounds)  # type: ignore[misc]
        yield Result("ring", case, "µs", round(ours * 1e6, 1), f"zmq PAIR {case} round trip", round(bare * 1e6, 1))


@contextmanager
def one_core() -> Iterator[None]:
    """Threads that are started inside stay on one core, the caller's thread too while it is inside; where the system does not offer that, they go where they like."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def inproc_ring() -> Iterator[Callable[[int], float]]:
    with _settled(Inproc("bench-ring"), lambda post: [kind.start(post, name) for name, kind in OTHERS.items()]) as go:
        yield go


@contextmanager
def ipc_ring() -> Iterator[Callable[[int], float]]:
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        for name in OTHERS:
            ours, theirs = spawn.Pipe()
            process = spawn.Process(target=serve, args=(folder, name, theirs), daemon=True)
            process.start()
            stack.callback(process.join, PATIENCE)
            stack.callback(ours.close)
            if not ours.poll(PATIENCE):
                raise TimeoutError(f"{name} did not start")
            ours.recv_bytes()
            theirs.close()
        with _settled(Ipc(folder), lambda _: []) as go:
            yield go


def serve(folder: str, name: str, lifeline: multiprocessing.connection.Connection) -> None:
    """One actor in a process of its own, until the lifeline breaks."""
    sockets = Sockets()
    actor = OTHERS[name].start(Post(sockets, Ipc(folder)), name)
    lifeline.send_bytes(b"up")
    try:
        lifeline.recv_bytes()
    except EOFError:
        actor.stop()
        sockets.close()


@contextmanager
def _settled(endpoints: Endpoints, others: Callable[[Post], list[object]]) -> Iterator[Callable[[int], float]]:
    sockets, ready, done = Sockets(), threading.Event(), threading.Event()
    post = Post(sockets, endpoints)
    running = others(post)
    settle = Settle.start(post, ready, done)
    proxy = settle.proxy()

    def go(rings: int) -> float:
        done.clear()
        proxy.go(rings).get()
        if not done.wait(PATIENCE):
            raise TimeoutError("the ring does not come round")
        took, left = float(proxy.took.get()), proxy.left.get()
        if left or not took:
            raise AssertionError(f"{left} rings of {rings} are not round, and the time was taken")
        return took / rings

    try:
        if not ready.wait(PATIENCE):
            raise TimeoutError("the worker does not answer")
        go(50)
        yield go
    finally:
        for actor in (settle, *running):
            actor.stop()  # type: ignore[attr-defined]
        sockets.close()


@contextmanager
def inproc_pair() -> Iterator[Callable[[int], float]]:
    context = zmq.Context()
    with context.socket(zmq.PAIR) as here, context.socket(zmq.PAIR) as there:
        here.bind("inproc://pair")
        there.connect("inproc://pair")
        echo = threading.Thread(target=_echo, args=(there,))
        echo.start()
        yield lambda rings: _bounce(here, rings)
        here.send(b"")
        echo.join()
    context.term()


@contextmanager
def ipc_pair() -> Iterator[Callable[[int], float]]:
    spawn = multiprocessing.get_context("spawn")
    context = zmq.Context()
    with tempfile.TemporaryDirectory() as folder, context.socket(zmq.PAIR) as here:
        address = f"ipc://{Path(folder) / 'pair'}"
        here.bind(address)
        process = spawn.Process(target=echo_from, args=(address,), daemon=True)
        process.start()
        _bounce(here, 50)
        yield lambda rings: _bounce(here, rings)
        here.send(b"")
        process.join()
    context.term()


def echo_from(address: str) -> None:
    context = zmq.Context()
    with context.socket(zmq.PAIR) as socket:
        socket.connect(address)
        _echo(socket)
    context.term()


def _echo(socket: zmq.Socket[bytes]) -> None:
    while data := socket.recv():
        socket.send(msgpack.packb(msgpack.unpackb(data)))


def _bounce(socket: zmq.Socket[bytes], rings: int) -> float:
    finished = ["cart/total", 1, 42, ["worker-1", 42], [list(read) for read in READS], [[TOTAL, "replace", ["value"], 42.0]], [], [], [], None]
    message = [17, "worker", 1, 1, 42, 0, [17, [3, 42], [finished], True]]
    begun = time.perf_counter()
    for _ in range(rings):
        socket.send(msgpack.packb(message))
        msgpack.unpackb(socket.recv())
    return (time.perf_counter() - begun) / rings


OTHERS: dict[str, type[Component]] = {"worker": Worker, "storage": Storage, "graph": Graph}
