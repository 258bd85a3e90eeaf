"""Random programs for the whole-system simulation: nodes that read what they are told by data, so that a seed decides everything.

A node's recipe is a value in a document, or fixed at its making; its function only follows it. What it should show can therefore be computed from the documents alone.
"""
from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import weft
from weft.actors.context import Reader, Tx
from weft.actors.runtime import Runtime

SOURCES = 6
MODULUS = 5  # values are few, so that recomputing often changes nothing


def source(n: int) -> weft.Cell[Any]:
    return weft.cell(f"s{n}")


def out(n: int) -> weft.Cell[Any]:
    return weft.cell(f"c{n}")


def pointer(n: int) -> weft.Cell[Any]:
    return weft.cell(f"l{n}")


table = weft.cell("table")
doubled = weft.family("double", "of")


def number(value: Any) -> int:
    return value if type(value) is int else 0


class Recipe:
    """What one node does. `reads` are cells; `style` says how they are used."""

    def __init__(self, n: int, style: str, reads: tuple[weft.Cell[Any], ...], seed: int) -> None:
        self.n, self.style, self.reads, self.seed = n, style, reads, seed

    def value(self, tx: Reader) -> Any:
        """The value, from what is there. Deterministic in what it reads."""
        first, *rest = self.reads
        if self.style == "choose":
            chosen = rest[number(tx.get(first)) % len(rest)] if rest else first
            return (number(tx.get(chosen)) + self.seed) % MODULUS
        if self.style == "link":
            return (number(tx.get(pointer(self.seed % SOURCES))) * 2 + self.seed) % MODULUS
        if self.style == "cut":
            return number(tx.get(first)) // 3
        if self.style == "absent":
            return tx[first] if number(tx.get(first)) % 2 else weft.MISSING
        if self.style == "keys":
            return len(tx.keys(table)) % MODULUS
        if self.style == "double":
            return sum(number(tx.get(doubled(str(number(tx.get(cell)))))) for cell in self.reads) % MODULUS
        if self.style == "raise" and number(tx.get(first)) == 4:
            raise ValueError("four")
        return (sum(number(tx.get(cell)) for cell in self.reads) + self.seed) % MODULUS


class Program:
    """Nodes by number, as they were made; `shown` is what each effect saw last."""

    def __init__(self, random: Random, cyclic: bool) -> None:
        self.random, self.cyclic = random, cyclic
        self.computations: dict[int, Recipe] = {}
        self.effects: dict[int, Recipe] = {}
        self.materializers: dict[int, Recipe] = {}
        self.children: dict[int, int] = {}  # parent -> child, made in the parent's runs
        self.shown: dict[int, Any] = {}
        self.made = 0

    def recipe(self, n: int) -> Recipe:
        random = self.random
        style = random.choice(["sum", "sum", "sum", "choose", "link", "cut", "absent", "keys", "double", "raise"])
        above = [source(k) for k in range(SOURCES)] + [out(k) for k in (range(n + 3) if self.cyclic else range(n))][-8:]
        return Recipe(n, style, tuple(random.sample(above, min(len(above), random.randint(1, 4)))), random.randrange(7))

    def computation(self) -> tuple[int, weft.NodeSpec[..., Any]]:
        n = self.made
        self.made += 1
        recipe = self.computations[n] = self.recipe(n)
        declared = list(recipe.reads) if self.random.random() < 0.3 else []
        throttle = self.random.choice([None, None, None, 0.5])
        spec: weft.NodeSpec[..., Any] = weft.computation(output=out(n), id=f"c{n}", declared_reads=declared, throttle=throttle)(recipe.value)
        return n, spec

    def effect(self) -> tuple[int, weft.NodeSpec[..., Any]]:
        n = self.made
        self.made += 1
        recipe = self.effects[n] = self.recipe(n)
        parent = self.random.random() < 0.2
        if parent:
            child, spec_of_child = self.computation()
            self.children[n] = child
            recipe.reads = (*recipe.reads, out(child))

        def show(tx: Tx) -> None:
            if parent and number(tx.get(source(0))) % 2 == 0:
                tx.register(spec_of_child)
            self.shown[n] = recipe.value(tx)

        debounce = self.random.choice([None, None, 0.2])
        return n, weft.effect(id=f"e{n}", debounce=debounce, auto_debounce=False)(show)

    def materializer(self) -> tuple[int, weft.NodeSpec[..., Any]]:
        n = self.made
        self.made += 1
        recipe = self.materializers[n] = Recipe(n, "sum", (source(self.random.randrange(SOURCES)),), self.random.randrange(7))

        def fill(tx: Tx) -> None:
            tx.set(table[f"m{n}"], recipe.value(tx))

        return n, weft.computation(id=f"m{n}", envelope=[table[f"m{n}"]])(fill)


def double(tx: Tx, of: str) -> int:
    return number(tx.get(source(int(of) % SOURCES))) * 2


def family_spec() -> weft.NodeSpec[..., Any]:
    spec: weft.NodeSpec[..., Any] = weft.computation(output=doubled, id="double")(double)
    return spec


def evaluated(rt: Runtime, body: Callable[[Reader], Any]) -> Any:
    """What a function would give now, in a transaction that is dropped."""
    found: list[Any] = []

    def look(tx: Tx) -> None:
        try:
            found.append(body(tx))
        except weft.Missing:
            found.append(weft.MISSING)
        except ValueError:
            found.append(weft.MISSING)

    rt.transact(look)
    return found[0]
