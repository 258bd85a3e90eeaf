"""Random patch operations, most of which fit the document they meet."""
from __future__ import annotations

import random
from typing import Any

from harness.values import LEAVES, STEPS
from weft.scheduler.model import Path
from weft.scheduler.values import Value, freeze, is_container
from weft.storage.patch import Add, AddUnique, Append, Increment, Move, PatchOp, Remove, RemoveByValue, Replace, Splice

VALUES: tuple[Value, ...] = tuple(freeze(value) for value in (*LEAVES, [], {}, [1, 2, {"a": 1}], {"a": {"b": 1}, "0": [1]}))


def positions(value: Value, path: Path = ()) -> list[tuple[Path, Value]]:
    """Every position of a document."""
    found = [(path, value)]
    if isinstance(value, dict):
        for key, item in value.items():
            found += positions(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += positions(item, (*path, str(index)))
    return found


def drawn(document: Value, chance: random.Random, *, indexed: bool = True) -> PatchOp:
    """One operation for the document; without `indexed` none that adds, removes or moves an element of a list by its index, as writers never do."""
    places = positions(document)
    path, value = chance.choice(places)
    lists = [place for place, item in places if isinstance(item, list)]
    inside = chance.choice(lists) if lists else ("value", "l")
    element = any(path[:-1] == place for place in lists)
    below = (*path, chance.choice(STEPS))
    keyed = indexed or not isinstance(value, list)
    options: list[PatchOp] = [
        Replace(path or ("value",), chance.choice(VALUES)),
        Append(inside, (chance.choice(VALUES),), True),
        AddUnique(inside, (chance.choice(VALUES), chance.choice(VALUES)), True),
        RemoveByValue(inside, chance.choice(VALUES)),
        Splice(inside, chance.randrange(3), chance.randrange(3), tuple(chance.choice(VALUES) for _ in range(chance.randrange(3)))),
        Increment(path or ("n",), chance.choice((1, -1, 0.5)), True),
    ]
    if is_container(value) and keyed:
        options.append(Add(below, chance.choice(VALUES)))
    if path and (indexed or not element):
        options.append(Remove(path))
        target = chance.choice(places)
        if indexed or not isinstance(target[1], list):
            options.append(Move(path, (*target[0], chance.choice(STEPS))))
    return chance.choice(options)


def thawed(value: Value) -> Any:
    """A copy that shares nothing."""
    if isinstance(value, dict):
        return {key: thawed(item) for key, item in value.items()}
    return [thawed(item) for item in value] if isinstance(value, list) else value
