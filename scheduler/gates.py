"""Time gates of all nodes: policies write into a node's one gate, the gate decides (seed 000 section 8, semantics C.11).

- Nobody here reads a clock; `now` comes with each question or event, once a decision.
- A debounce is armed by an invalidation, never by asking. Effects and children under provisional demand are gated before their first run too, other computations are not.
- What is set before a node registers waits for it (`staged`) and is adopted at registration.
- Opening a gate early returns True: the caller then asks for a tick, which finds the next wake anew (pitfall B-35).
"""
from __future__ import annotations

from typing import NamedTuple

from .constants import AUTO_DEBOUNCE, AUTO_DEBOUNCE_MEAN, AUTO_DEBOUNCE_RUNS
from .gate import Gate
from .records import Kind, Node, Status

_EFFECT, _NEVER_RAN = Kind.EFFECT, Status.NEVER_RAN  # asking the enumeration costs as much as the comparison


class GateConfig(NamedTuple):
    debounce: float | None = None
    max_wait: float | None = None
    throttle: float | None = None
    auto_debounce: bool = True


class Gates:
    def __init__(self) -> None:
        self._staged: dict[str, Gate] = {}

    def gate_of(self, id: str, node: Node | None) -> Gate:
        """The gate to change: the node's, or the one that waits for it."""
        if node is not None:
            if node.gate is None:
                node.gate = Gate()
            return node.gate
        return self._staged.setdefault(id, Gate())

    def look(self, id: str, node: Node | None) -> Gate | None:
        return node.gate if node is not None else self._staged.get(id)

    def adopt(self, node: Node, config: GateConfig, now: float) -> None:
        """At registration: what the specification says, over what was set before."""
        staged = self._staged.pop(node.id, None)
        if staged is not None:
            node.gate = staged
        if config != _PLAIN:
            gate = self.gate_of(node.id, node)
            gate.max_wait = config.max_wait
            gate.auto = config.auto_debounce
            if config.debounce is not None:
                gate.set_debounce(config.debounce, now)
            if config.throttle is not None:
                gate.set_throttle(config.throttle, node.ended)
        if node.status is not Status.CLEAN:
            self.invalidated(node, now)

    def invalidated(self, node: Node, now: float) -> None:
        gate = node.gate
        if gate is not None and (node.kind is _EFFECT or node.status is not _NEVER_RAN or node.provisional):
            gate.arm(now)

    def ran(self, node: Node, ended: float, runs: int, mean: float) -> None:
        """A run has ended: `runs` and `mean` seconds are its statistics, this one included."""
        node.ended = ended
        gate = node.gate
        if gate is not None:
            gate.ran(ended)
        if runs >= AUTO_DEBOUNCE_RUNS and node.kind is _EFFECT and mean >= AUTO_DEBOUNCE_MEAN:
            gate = self.gate_of(node.id, node)
            if gate.auto and gate.debounce is None:
                gate.debounce, gate.auto_debounced = AUTO_DEBOUNCE, True

    def forget(self, node: Node) -> None:
        self._staged.pop(node.id, None)


def eligible_at(node: Node) -> float:
    return 0.0 if node.gate is None else node.gate.eligible_at


_PLAIN = GateConfig()
