"""Values, documents and paths to try the words on: a few words that collide on purpose (an index that is also a key, `length` as a key), and everything equality can get wrong.

`pairs` gives two states of one document; half the time the second is the first with some parts replaced, so that the two share the rest, as stored documents do.
"""
from __future__ import annotations

import random

from hypothesis import strategies as st
from weft.scheduler.cells import cell, link
from weft.scheduler.model import Entity, Path, Read
from weft.scheduler.values import MISSING, Value, freeze, is_container

STEPS = ("a", "b", "0", "1", "2", "length", "01")
LEAVES: tuple[Value, ...] = (None, True, False, 0, 1, 2, 1.0, 0.0, -0.0, float("nan"), "", "a", "1", b"a", b"", link(cell("x")), link(cell("x")["a"]))

leaves = st.sampled_from(LEAVES)
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(STEPS), inner, max_size=4), max_leaves=12).map(freeze)
documents = values | st.just(MISSING)
paths = st.lists(st.sampled_from(STEPS), max_size=4).map(tuple)


def edited(value: Value, seed: int) -> Value:
    """The value with some parts replaced, added or taken away, and the rest shared."""
    return _edited(value, random.Random(seed), 0)


def _edited(value: Value, chance: random.Random, depth: int) -> Value:
    if not is_container(value) or chance.random() < 0.1:
        return freeze(chance.choice([*LEAVES, [1, 2], {"a": 1}, {}, []]))
    if isinstance(value, dict):
        out = dict(value)
        for key in list(out):
            if chance.random() < 0.3:
                out[key] = _edited(out[key], chance, depth + 1)
            elif chance.random() < 0.1:
                del out[key]
        if chance.random() < 0.2:
            out[chance.choice(STEPS)] = freeze(chance.choice(LEAVES))
        return freeze(out)
    items = [_edited(item, chance, depth + 1) if chance.random() < 0.3 else item for item in value]
    if chance.random() < 0.3:
        items.insert(chance.randint(0, len(items)), freeze(chance.choice([*LEAVES, {"a": 1}])))
    if items and chance.random() < 0.3:
        items.pop(chance.randrange(len(items)))
    return freeze(items)


pairs = st.tuples(documents, documents) | st.builds(lambda value, seed: (value, edited(value, seed)), values, st.integers(0, 2**32))


def reads_of(entities: st.SearchStrategy[Entity]) -> st.SearchStrategy[Read]:
    return st.builds(Read, entities, paths, st.booleans())


def universe() -> list[Value]:
    """Every document over a few inner values: one key or two, none to two elements, no container, no document."""
    inner: list[Value] = [1, [], {}, [1], {"a": 1}, {"length": 1}]
    objects = [{key: value for key, value in (("a", a), ("0", b)) if value is not MISSING} for a in [*inner, MISSING] for b in [*inner, MISSING]]
    arrays = [[], *([a] for a in inner), *([a, b] for a in inner for b in inner)]
    return [MISSING, 1, 2, *(freeze(value) for value in (*objects, *arrays))]


def paths_of_the_universe() -> list[Path]:
    steps = ("a", "0", "1", "length")
    one = [(step,) for step in steps]
    two = [(first, second) for first in steps for second in steps]
    return [(), *one, *two, *((*path, "a") for path in two)]
