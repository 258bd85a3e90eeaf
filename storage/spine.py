"""Reaching one position of a frozen document, and rebuilding the containers above it and nothing else.

A `Spine` is one document under change. It copies a container the first time that it changes it, so what it was given never changes, untouched subtrees
are the identical objects, and a hundred changes in one list copy that list once. `patch` and the transaction's drafts work on it.
Steps are strings; in a list they are canonical decimals. What cannot be reached raises PatchApplyError with the path of the whole operation;
what would have more items than can be stored, TooLarge.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from ..scheduler.errors import PatchApplyError, TooLarge
from ..scheduler.model import Path, index_of, pointer
from ..scheduler.values import MAX_ITEMS, MISSING, ReadOnlyDict, ReadOnlyList, Value

_put_key: Callable[[Any, str, Value], None] = dict.__setitem__  # the read-only containers refuse the plain spelling
_put_index: Callable[[Any, int, Value], None] = list.__setitem__
_drop_key: Callable[[Any, str], None] = dict.__delitem__
_put_slice: Callable[[Any, slice, Iterable[Value]], None] = list.__setitem__


def child(container: Value, step: str) -> Value:
    """What a step leads to; MISSING where there is nothing, or where a step has no meaning."""
    if isinstance(container, dict):
        return container.get(step, MISSING)
    if isinstance(container, list):
        index = index_of(step)
        return container[index] if index is not None and index < len(container) else MISSING
    return MISSING


def at(document: Value, path: Path) -> Value:
    """The value at a path, MISSING if it cannot be reached. Links are not followed."""
    for step in path:
        document = child(document, step)
        if document is MISSING:
            return MISSING
    return document


def missing(path: Path) -> NoReturn:
    raise PatchApplyError(f"missing path at {pointer(path) or '/'}: nothing is there to change")


def untraversable(path: Path) -> NoReturn:
    raise PatchApplyError(f"path is not traversable at {pointer(path) or '/'}: something on the way is neither an object nor a list")


def too_many(path: Path) -> NoReturn:
    raise TooLarge(f"{pointer(path) or '/'}: more than {MAX_ITEMS} items in one object or array; put parts into documents of their own and link them")


class Spine:
    """`document` is always a whole, frozen document; `_own` holds the containers that were made here and are not yet known to anybody else."""

    __slots__ = ("_own", "document")

    def __init__(self, document: Value) -> None:
        self.document = document
        self._own: dict[int, Value] = {}

    def share(self) -> Value:
        """The document, for keeping: what is in it is copied before the next change."""
        self._own.clear()
        return self.document

    def put(self, path: Path, value: Value, *, create: bool = False) -> None:
        """The position takes the value: a key old or new, or an index that exists. With `create`, absent objects on the way are made."""
        if not path:
            self.document = value
            return
        parent, step = self._reach(path, create), path[-1]
        if isinstance(parent, dict):
            if len(parent) >= MAX_ITEMS and step not in parent:
                too_many(path[:-1])
            _put_key(parent, step, value)
            return
        index = index_of(step)
        if index is None or index >= len(parent):
            missing(path)
        _put_index(parent, index, value)

    def insert(self, path: Path, value: Value) -> None:
        """As `put` with `create`, but in a list the elements from there on move up; "-" is the end."""
        if not path:
            self.document = value
            return
        parent, step = self._reach(path, True), path[-1]
        if len(parent) >= MAX_ITEMS and not (isinstance(parent, dict) and step in parent):
            too_many(path[:-1])
        if isinstance(parent, dict):
            _put_key(parent, step, value)
            return
        index = len(parent) if step == "-" else index_of(step)
        if index is None or index > len(parent):
            missing(path)
        _put_slice(parent, slice(index, index), (value,))

    def remove(self, path: Path) -> None:
        """The key or element goes; later elements move down."""
        if at(self.document, path) is MISSING:
            self._check_way(path)
            missing(path)
        parent, step = self._reach(path, False), path[-1]
        if isinstance(parent, dict):
            _drop_key(parent, step)
        else:
            index = index_of(step) or 0
            _put_slice(parent, slice(index, index + 1), ())

    def splice(self, path: Path, index: int, remove: int, add: Sequence[Value]) -> None:
        """In the list at `path`, `remove` elements from `index` on give way to `add`. The caller has seen that it is a list."""
        here = self._owned(path)
        if len(here) + len(add) > MAX_ITEMS + max(0, min(remove, len(here) - index)):
            too_many(path)
        _put_slice(here, slice(index, index + remove), add)

    def _owned(self, path: Path) -> Value:
        """The container at a path that exists, ready to be changed."""
        here = self.document = self._mine(self.document)
        for step in path:
            below = self._mine(child(here, step))
            _set(here, step, below)
            here = below
        return here

    def _reach(self, path: Path, create: bool) -> Value:
        """The container that holds the last step, ready to be changed."""
        here = self.document
        for step in path[:-1]:  # look before copying: a change that does not apply leaves no copies
            below = child(here, step)
            if below is MISSING:
                if create and isinstance(here, dict):
                    break
                (missing if isinstance(here, (dict, list)) else untraversable)(path)
            here = below
        else:
            if not isinstance(here, (dict, list)):
                untraversable(path)
            return self._owned(path[:-1])
        return self._created(path)

    def _created(self, path: Path) -> Value:
        here = self.document = self._mine(self.document)
        for step in path[:-1]:
            below = child(here, step)
            if below is MISSING and len(here) >= MAX_ITEMS:
                too_many(path)
            below = self._mine(ReadOnlyDict() if below is MISSING else below)
            _set(here, step, below)
            here = below
        return here

    def _check_way(self, path: Path) -> None:
        here = self.document
        for step in path:
            if here is not MISSING and not isinstance(here, (dict, list)):
                untraversable(path)
            here = child(here, step)

    def _mine(self, container: Value) -> Value:
        if id(container) in self._own:
            return container
        copy = ReadOnlyDict(container) if isinstance(container, dict) else ReadOnlyList(container)
        self._own[id(copy)] = copy  # held, so that no other object gets its id
        return copy


def _set(container: Value, step: str, value: Value) -> None:
    if isinstance(container, dict):
        _put_key(container, step, value)
    else:
        _put_index(container, int(step), value)
