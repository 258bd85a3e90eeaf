"""One seed of the whole-system simulation: a random program, random deeds, and after every step everything that must hold."""
from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import Any

import weft
from harness.parts import parts
from harness.programs import MODULUS, SOURCES, Program, evaluated, family_spec, out, pointer, source, table
from weft.actors.runtime import Runtime
from weft.scheduler.records import Node, Status
from weft.storage.place import place
from weft.storage.replica import Replica
from weft.storage.transaction import Transaction

STEPS = 14


class World:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.program = Program(self.random, cyclic=self.random.random() < 0.25)
        self.clock = weft.VirtualClock()
        self.rt = Runtime(placement="inline", clock=self.clock)
        self.rt.register(family_spec())
        self.peer = Replica(parts(self.rt).desks.connect, epoch=1)  # another session of the same engine: what it commits arrives as integrate, and wins races
        self.nodes: dict[str, str] = {}
        self.sinks: list[Any] = []

    def step(self) -> None:
        deeds = {
            self.write: 6, self.relink: 2, self.add_computation: 4, self.add_effect: 3, self.add_materializer: 1, self.remove: 2,
            self.pull: 2, self.foreign: 2, self.race: 2, self.advance: 1, self.sink: 2, self.unsink: 1,
        }  # fmt: skip
        self.random.choices(list(deeds), list(deeds.values()))[0]()

    def write(self) -> None:
        with self.rt.transaction() as tx:
            for _ in range(self.random.randint(1, 3)):
                tx.set(source(self.random.randrange(SOURCES)), self.random.randrange(MODULUS + 2))

    def relink(self) -> None:
        far = self.program.cyclic and self.random.random() < 0.5  # a link to an output may close a cycle
        target = out(self.random.randrange(self.program.made + 1)) if far else source(self.random.randrange(SOURCES))
        self.rt.set(pointer(self.random.randrange(SOURCES)), weft.link(target))

    def add_computation(self) -> None:
        n, spec = self.program.computation()
        self.nodes[f"c{n}"] = self.rt.register(spec).id

    def add_effect(self) -> None:
        n, spec = self.program.effect()
        self.nodes[f"e{n}"] = self.rt.register(spec).id

    def add_materializer(self) -> None:
        n, spec = self.program.materializer()
        self.nodes[f"m{n}"] = self.rt.register(spec).id

    def remove(self) -> None:
        if self.nodes:
            name = self.random.choice(sorted(self.nodes))
            self.rt.remove(self.nodes.pop(name))

    def pull(self) -> None:
        with suppress(weft.NodeFailed, weft.NotSettled):
            self.rt.pull(out(self.random.randrange(self.program.made + 1)))

    def foreign(self) -> None:
        self._peer(self.random.randrange(SOURCES))
        parts(self.rt).desks.pump()

    def race(self) -> None:
        """The peer writes first, and this runtime does not know when it runs."""
        cell = self.random.randrange(SOURCES)
        self.rt.set(source((cell + 1) % SOURCES), self.random.randrange(MODULUS))
        self._peer(cell)

    def _peer(self, n: int) -> None:
        transaction = Transaction(self.peer, "main")
        transaction.set(*place(source(n), "main"), self.random.randrange(MODULUS + 2))
        self.peer.commit(transaction.finish()[0])

    def advance(self) -> None:
        self.clock.advance(self.random.choice([0.1, 0.3, 1.0]))

    def sink(self) -> None:
        self.sinks.append(self.rt.sink(out(self.random.randrange(self.program.made + 1)), lambda value: None))

    def unsink(self) -> None:
        if self.sinks:
            self.sinks.pop(self.random.randrange(len(self.sinks))).cancel()

    # What must hold

    def hold(self) -> None:
        core = parts(self.rt).core
        core.check()
        for node in core.registry.nodes.values():
            if node.live and node.status is Status.CLEAN and not node.passive:
                self._true(node)

    def _true(self, node: Node) -> None:
        """I1: a live clean node shows what it would show now."""
        if node.failed is not None:
            return  # what it wrote was dropped, and its output is an earlier run's
        if any(read.entity == output.entity for read in node.reads for output in node.surface.outputs):
            return  # it reads what it writes: running it again may well give something else
        kind, n = node.id[0], int(node.id[1:]) if node.id[1:].isdigit() else -1
        if kind == "c" and n in self.program.computations:
            expected = evaluated(self.rt, self.program.computations[n].value)
            assert self.rt.get(out(n), weft.MISSING) == expected, f"{node} shows {self.rt.get(out(n))} and should {expected}"
        elif kind == "e" and n in self.program.effects:
            expected = evaluated(self.rt, self.program.effects[n].value)
            if expected is not weft.MISSING:
                assert self.program.shown.get(n) == expected, f"{node} showed {self.program.shown.get(n)} and should {expected}"
        elif kind == "m" and n in self.program.materializers:
            assert self.rt.get(table[f"m{n}"]) == evaluated(self.rt, self.program.materializers[n].value)


def play(seed: int, steps: int = STEPS) -> None:
    """Raises if anything does not hold. Replay: `python -c "from harness.whole import play; play(SEED)"` in tests/."""
    world = World(seed)
    try:
        for _ in range(steps):
            for _ in range(world.random.randint(1, 4)):
                world.step()
            world.rt.idle()
            world.hold()
        if not world.program.cyclic:
            world.rt.idle(gated=True)
            world.clock.advance(60.0)
            world.rt.settled()
            world.hold()
            _from_scratch(world)
    except BaseException as error:
        error.add_note(f'replay: cd tests && python -c "from harness.whole import play; play({seed})"')
        raise


def _from_scratch(world: World) -> None:
    """Every live node, once settled, is clean, so that `hold` has looked at it: what it shows is what evaluating it on the documents gives."""
    for node in parts(world.rt).core.registry.nodes.values():
        if node.live and not node.passive:
            assert node.status is Status.CLEAN, f"{node} is not settled: {node.causes}"


