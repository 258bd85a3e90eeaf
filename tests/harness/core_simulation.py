"""Random programs on a `LedgerCore`, one seed one run: nodes of many shapes come and go, data changes from all sides, commits fall, time passes; after each step all is checked.

`simulate(seed)` raises AssertionError or BrokenInvariant with a line that plays the seed again. A seed names its flavour too: acyclic, cyclic, or without a single root of demand.
"""
from __future__ import annotations

import random
import sys
from collections.abc import Callable

from harness.core_model import CoreModel, live
from harness.ledger_core import STALE, Body, LedgerCore, Tx, deep, place
from weft.scheduler.gates import GateConfig
from weft.scheduler.records import Kind
from weft.scheduler.rejection import Rejection

LOCAL, FOREIGN, OUTPUTS = ("s0", "s1", "s2"), ("f0", "f1", "p0"), tuple(f"c{i}" for i in range(8))
PERMANENT = Rejection("PreconditionFailedError", "it may not be written", {})


class Simulation:
    renews = True  # a node may be registered again while it runs

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.flavour = ("acyclic", "cyclic", "acyclic", "rootless", "cyclic")[seed % 5]
        self.ledger = LedgerCore(**dict.fromkeys(LOCAL, 0))
        self.ledger.integrate(**dict.fromkeys(FOREIGN, 0))
        self.model = CoreModel(self.ledger)
        self.observers: list[str] = []
        self.refusals = 0
        self.ledger.refuse = self._refusal
        self.steps: list[Callable[[], None]] = [self.commit, self.integrate, self.register, self.again, self.remove, self.gate, self.advance, self.reject, self.accept]
        self.steps += [self.turn] * 3
        if self.flavour != "rootless":
            self.steps += [self.observe, self.unobserve, self.quiet]

    def run(self, steps: int) -> None:
        for _ in range(8):
            self.register()
        for _ in range(steps):
            self.chance.choice(self.steps)()
            self.check()
        self.refusals = 1_000_000
        self.quiet()
        self.check()
        if self.flavour == "rootless":
            assert self.ledger.log == [], "I2: something ran, and nothing is observed"

    def check(self) -> None:
        core = self.ledger.core
        core.check()
        self.model.compare()
        assert {node.id for node in core.registry.nodes.values() if node.live} == live(core.registry.nodes)

    # Steps

    def commit(self) -> None:
        self.ledger.commit_in(self.chance.choice([None, "g"]), **{self.chance.choice(LOCAL): self.chance.randrange(4)})

    def integrate(self) -> None:
        if self.chance.random() < 0.25:
            self.ledger.integrate(r0={key: self.chance.randrange(3) for key in self.chance.sample("ab", k=self.chance.choice([1, 2, 2]))})
        else:
            self.ledger.integrate(**{self.chance.choice(FOREIGN): self.chance.randrange(4)})

    def register(self) -> None:
        number = self.chance.randrange(len(OUTPUTS))
        kind = self.chance.choice(["computation", "computation", "effect", "effect", "materializer"]) if self.flavour != "rootless" else "computation"
        known = self.ledger.core.registry.get(f"n{number}")
        if known is not None and known.kind is Kind.EFFECT:
            kind = "effect"
        body = self._body(number, kind)
        gates = GateConfig(debounce=self.chance.choice([None, None, None, 0.2]), throttle=self.chance.choice([None, None, None, 0.3]))
        self.ledger.register(
            f"n{number}",
            body,
            Kind.EFFECT if kind == "effect" else Kind.COMPUTATION,
            (place(OUTPUTS[number]),) if kind == "computation" else (),
            (place(OUTPUTS[number]),) if kind == "materializer" else (),
            self.chance.sample(self._inputs(number), k=self.chance.choice([0, 0, 1, 2])),
            gates,
            self.chance.choice([None, "g"]) if kind == "effect" else None,
        )

    def again(self) -> None:
        """A node that is registered, and others read already, is registered anew."""
        id = self._some_node()
        if id is not None:
            self.ledger.remove(id)
            self.check()
        self.register()

    def remove(self) -> None:
        id = self._some_node()
        if id is not None:
            self.ledger.remove(id)

    def observe(self) -> None:
        self.observers.append(self.ledger.core.observe([deep(self.chance.choice(OUTPUTS))]).id)

    def unobserve(self) -> None:
        if self.observers:
            self.ledger.core.unobserve(self.ledger.core.registry.nodes[self.observers.pop(self.chance.randrange(len(self.observers)))])

    def gate(self) -> None:
        id = self._some_node()
        if id is not None:
            gate = self.ledger.core.gates.gate_of(id, self.ledger.node(id))
            gate.set_debounce(self.chance.choice([0.0, 0.1, 0.5]), self.ledger.now)

    def advance(self) -> None:
        self.ledger.now += self.chance.choice([0.05, 0.1, 0.3, 1.0])

    def reject(self) -> None:
        if self.ledger.pending:
            self.ledger.reject(self.chance.choice(self.ledger.pending[-3:]).id)

    def accept(self) -> None:
        self.ledger.accept()

    def turn(self) -> None:
        self.ledger.turn()
        self.model.passed()

    def quiet(self) -> None:
        """Everything runs that will run, however long it takes."""
        ledger = self.ledger
        for _ in range(200):
            while ledger.core.idle.runnable(ledger.now):
                self.turn()
            wake = ledger.core.idle.wake(ledger.now)
            if wake is None:
                self.model.quiet()
                return
            assert wake > ledger.now, f"it is {ledger.now}, nothing is runnable, and the next wake is at {wake}"
            ledger.now = wake
        raise AssertionError("200 wakes, and still there is something to run")

    # Nodes

    def _inputs(self, number: int) -> list[str]:
        reach = OUTPUTS[:number] if self.flavour == "acyclic" else [*OUTPUTS[:number], *OUTPUTS[number + 1 :]]
        return [*LOCAL, *FOREIGN, *reach, *reach]

    def _body(self, number: int, kind: str) -> Body:
        chance, output = self.chance, OUTPUTS[number]
        inputs = chance.choices(self._inputs(number), k=3)
        shape = chance.choice(["sum", "choose", "follow", "field", "field", "fail", "own", "own", "parent"]) if self.flavour != "cyclic" else chance.choice(["grow", "parent"])

        def body(tx: Tx) -> None:
            if shape == "choose":
                value = tx.get(inputs[1 + tx.get(inputs[0]) % 2])
            elif shape == "follow":
                value = tx.get(inputs[tx.get("p0") % 3])
            elif shape == "field":
                value = tx.get("r0", "ab"[tx.get(inputs[0]) % 2]) + len(tx.shape("r0") or ()) * (number % 2)
            elif shape == "own":
                value = max(tx.get(inputs[0]), tx.get(output))
            elif shape == "grow":
                value = min(3, max(tx.get(name) for name in inputs) + 1)
            elif shape == "parent":
                value = self._family(tx, number, inputs)
            else:
                value = sum(tx.get(name) for name in inputs) % 3
            self._disturb(tx)
            if shape == "fail" and value == 2:
                raise ArithmeticError("it is two")
            if kind != "effect":
                tx.set(output, value)

        return body

    def _family(self, tx: Tx, number: int, inputs: list[str]) -> int:
        """A node that makes a child, and takes it away again, as its input says."""
        wanted = tx.get(LOCAL[number % 3]) % 2 == 0
        child = f"k{number}"
        if not tx.dry and wanted and child not in self.ledger.core.registry:

            def body(tx: Tx) -> None:
                tx.set(f"d{number}", min(3, tx.get(inputs[1]) + 1))

            debounce = None if number % 2 else 0.1
            self.ledger.register(child, body, Kind.COMPUTATION, (place(f"d{number}"),), gates=GateConfig(debounce=debounce))
        elif not tx.dry and not wanted:
            self.ledger.remove(child)
        return int(tx.get(f"d{number}")) if wanted and number % 3 else 0

    def _disturb(self, tx: Tx) -> None:
        """Something arrives, or the node is registered again, while it runs."""
        if tx.dry or self.refusals > 40:
            return
        if self.chance.random() < 0.1:
            self.refusals += 1
            self.integrate()
        if self.chance.random() < 0.05:
            self.refusals += 1
            node = tx.run.node
            if self.renews and self.ledger.core.registry.current(node, tx.run.id.generation):
                self.ledger.register(node.id, node.spec, node.kind, node.surface.outputs, node.surface.envelope)

    def _refusal(self, tx: Tx) -> Rejection | None:
        if self.refusals > 40 or self.chance.random() > 0.05:
            return None
        self.refusals += 1
        return STALE

    def _some_node(self) -> str | None:
        ids = [id for id, node in self.ledger.core.registry.nodes.items() if not node.passive]
        return self.chance.choice(ids) if ids else None


def simulate(seed: int, steps: int = 30) -> Simulation:
    simulation = Simulation(seed)
    try:
        simulation.run(steps)
    except Exception as error:
        raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}\nreplay: cd tests && ../.venv/bin/python -m harness.core_simulation {seed} {steps}") from error
    return simulation


if __name__ == "__main__":
    done = simulate(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 30)
    print(f"seed {sys.argv[1]} ({done.flavour}): {len(done.ledger.log)} runs, {len(done.ledger.ends)} passes")
