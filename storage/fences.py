"""Which runs storage still takes: none of a removed registration, none under another token than settle's present one (PROTOCOL rule 5, H10, C3).

A token is never repeated: repeating one would exclude nothing. A storage that has heard none refuses every run that carries one.
"""
from __future__ import annotations

from ..scheduler.errors import Misuse, StaleEpoch
from ..scheduler.log import RunId


class Fences:
    """`token` is settle's newest; `removed` maps a node to its newest removed generation."""

    def __init__(self) -> None:
        self.token = 0
        self.removed: dict[str, int] = {}

    def raise_to(self, token: int) -> None:
        if token <= self.token:
            raise Misuse(f"the fence stands at token {self.token}; a new one must be higher, not {token}")
        self.token = token

    def remove(self, node: str, generation: int) -> None:
        self.removed[node] = max(generation, self.removed.get(node, generation))

    def refusal(self, run: RunId) -> StaleEpoch | None:
        """Why this run's commit is not taken."""
        if run.generation <= self.removed.get(run.node, -1):
            return StaleEpoch(f"{run}: generation {run.generation} of {run.node!r} was removed; what it still sends is dropped")
        if run.token != self.token:
            return StaleEpoch(f"{run} was started under token {run.token} and the fence stands at {self.token}; it is planned again")
        return None
