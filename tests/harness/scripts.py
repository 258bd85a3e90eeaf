"""Transactions as data: a script is a list of steps that can be performed on a transaction, and by an obvious model on a plain document.

A script writes what it was told, and here and there what it has read before, so that its writes depend on its reads.
"""
from __future__ import annotations

import random
from typing import Any, NamedTuple

from harness.operations import VALUES, positions, thawed
from harness.values import STEPS
from harness.view import doc
from weft.scheduler.errors import WeftError
from weft.scheduler.model import VALUE, Path, index_of
from weft.scheduler.values import MISSING, Link, Value, freeze, same
from weft.storage.transaction import Transaction

D = doc("d")
PLAIN = tuple(value for value in VALUES if not isinstance(value, Link))  # a script of one document does not follow links


class Step(NamedTuple):
    word: str
    path: Path
    value: Value = None


def script(document: Value, seed: int, length: int = 5) -> list[Step]:
    """Steps that mostly fit the document."""
    chance = random.Random(seed)
    places = [path for path, _ in positions(document) if path] if document is not MISSING else []
    words = ("get", "keys", "set", "set", "set", "delete", "append", "add_unique", "remove_value", "increment", "copy", "length")
    steps = []
    for _ in range(chance.randint(1, length)):
        path = chance.choice(places) if places and chance.random() < 0.8 else VALUE
        path += tuple(chance.choice((*STEPS, "3")) for _ in range(chance.choice((0, 0, 1, 1, 2))))
        steps.append(Step(chance.choice(words), path, chance.choice(PLAIN)))
    return steps


def perform(tx: Transaction, steps: list[Step]) -> list[Any]:
    """What each step returned; an error stands for itself and the script goes on."""
    found: list[Any] = []
    last: Value = None
    for word, path, value in steps:
        try:
            if word == "get":
                last = tx.get(D, path)
                found.append(last)
            elif word == "keys":
                found.append(sorted(tx.keys(D, path)))
            elif word == "copy":
                found.append(tx.set(D, path, last if last is not MISSING else "missing"))
            elif word == "length":
                found.append(tx.set(D, (*path, "length"), 2))
            elif word == "delete":
                found.append(tx.delete(D, path))
            elif word == "increment":
                found.append(tx.increment(D, path, 2))
            else:
                found.append(getattr(tx, word)(D, path, value))
        except WeftError as error:
            found.append(type(error).__name__)
    return found


class Model:
    """The same on nested dictionaries and lists, copied at every step."""

    def __init__(self, document: Value) -> None:
        self.document: Any = MISSING if document is MISSING else thawed(document)

    def perform(self, steps: list[Step]) -> None:
        last: Value = None
        for word, path, value in steps:
            here = self.at(path)
            if word == "get":
                last = freeze(here) if here is not MISSING else MISSING
            elif word == "set":
                self.put(path, thawed(value))
            elif word == "copy":
                self.put(path, thawed(last) if last is not MISSING else "missing")
            elif word == "length":
                self.resize(path)
            elif word == "delete":
                self.drop(path)
            elif word == "increment":
                if here is MISSING or type(here) in (int, float):
                    self.put(path, 2 if here is MISSING else here + 2, grow=False)
            elif word != "keys":
                self.merge(word, path, here, thawed(value))

    def at(self, path: Path) -> Any:
        here = self.document
        for step in path:
            if isinstance(here, list):
                index = index_of(step)
                here = len(here) if step == "length" else here[index] if index is not None and index < len(here) else MISSING
            else:
                here = here.get(step, MISSING) if isinstance(here, dict) else MISSING
        return here

    def merge(self, word: str, path: Path, here: Any, value: Any) -> None:
        if word == "remove_value":
            if isinstance(here, list):
                here[:] = [item for item in here if not same(item, value)]
        elif here is MISSING:
            self.put(path, [value], grow=False)
        elif isinstance(here, list) and (word == "append" or not any(same(item, value) for item in here)):
            here.append(value)

    def put(self, path: Path, value: Any, grow: bool = True) -> None:
        whole = {} if self.document is MISSING else self.document
        here: Any = whole
        for step in path[:-1]:
            below = Model.child(here, step)
            if below is MISSING:
                if not isinstance(here, dict):
                    return
                break
            here = below
        else:
            self.place(here, path[-1], value, grow)
            self.document = whole
            return
        here = whole
        for step in path[:-1]:
            here = here.setdefault(step, {}) if isinstance(here, dict) else Model.child(here, step)
        here[path[-1]] = value
        self.document = whole

    @staticmethod
    def child(here: Any, step: str) -> Any:
        if isinstance(here, dict):
            return here.get(step, MISSING)
        index = index_of(step)
        return here[index] if isinstance(here, list) and index is not None and index < len(here) else MISSING

    @staticmethod
    def place(here: Any, step: str, value: Any, grow: bool) -> None:
        if isinstance(here, dict):
            here[step] = value
        elif isinstance(here, list):
            index = index_of(step)
            if step == "length":
                if type(value) is int and value >= 0 and grow:
                    here[value:] = [None] * (value - len(here))
            elif index is not None and index < len(here):
                here[index] = value
            elif index == len(here) and grow:
                here.append(value)

    def resize(self, path: Path) -> None:
        self.put((*path, "length"), 2)

    def drop(self, path: Path) -> None:
        here = self.at(path[:-1])
        if isinstance(here, dict) and path[-1] in here:
            del here[path[-1]]
            if not self.document:
                self.document = MISSING
        elif isinstance(here, list):
            index = index_of(path[-1])
            if index is not None and index < len(here):
                del here[index]
