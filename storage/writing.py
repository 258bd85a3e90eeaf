"""Plain writes into a draft: a value, or nothing, is put at a position that no link stands before.

- Missing objects on the way are made, lists and their elements never. What was decided by looking at what is there becomes a read that the engine validates:
  a write that makes objects on the way rests on the nearest one that exists having no such key; a change of a list's length rests on that list. Any other write rests on nothing.
- A list changes its length by the index behind its end, by removal of an element, and by its key `length`; each is a write of the whole list, so that no position shifts unseen.
- Every function says whether what can be seen has changed. Where a write cannot be made because of what is there, that is recorded as read: the run is made again when it changes.
"""
from __future__ import annotations

from typing import NoReturn

from ..scheduler.errors import Misuse, NotStorable
from ..scheduler.ids import shown
from ..scheduler.matching import LENGTH
from ..scheduler.model import Path, index_of
from ..scheduler.values import MISSING, Value, same
from .draft import Draft
from .place import named
from .proposal import Use
from .spine import at, child

MAX_GROWTH = 2**20  # elements that one write of `length` may add: a slip of the keyboard shall not fill the memory


def write(draft: Draft, path: Path, value: Value) -> bool:
    """The position takes the frozen value."""
    parent = at(draft.document, path[:-1])
    if path and isinstance(parent, list):
        return _element(draft, path, parent, value)
    if not path and not isinstance(value, dict):
        raise NotStorable(f"{named(draft.entity, path)}: a document is an object, with the cell's value under 'value'")
    changed = not same(at(draft.document, path), value)
    if changed:
        if path and not isinstance(parent, dict):
            make_way(draft, path)
        draft.spine().put(path, value, create=True)
        draft.changed()
    draft.decide(path)
    return changed


def remove(draft: Draft, path: Path) -> bool:
    """Nothing is at the position any more. A document that would be left without value and metadata goes itself."""
    parent = at(draft.document, path[:-1])
    if path and isinstance(parent, list):
        return _drop(draft, path, parent)
    if at(draft.document, path) is MISSING:
        draft.decide(path)
        return False
    if not path or (len(path) == 1 and len(draft.document) == 1):
        draft.vanish()
    else:
        draft.spine().remove(path)
        draft.changed()
    draft.decide(path)
    return True


def make_way(draft: Draft, path: Path) -> None:
    """Objects on the way to the position are missing: see that they can be made, and that nobody else makes them meanwhile."""
    here = draft.document
    for taken, step in enumerate(path[:-1]):
        below = child(here, step)
        if below is MISSING:
            if isinstance(here, list):
                blocked(draft, path[:taken], f"a list of {len(here)} has no element {step!r}, and writes make no elements; append to it")
            draft.note(path[:taken], False, Use.CONFLICT)
            draft.made.add(path[: taken + 1])
            return
        if not isinstance(below, (dict, list)):
            blocked(draft, path[: taken + 1], f"{shown(below)} is neither an object nor a list, so nothing can be written below it")
        here = below


def blocked(draft: Draft, path: Path, why: str) -> NoReturn:
    draft.note(path, True, Use.BOTH)
    raise Misuse(f"{named(draft.entity, path)}: {why}")


def _no_length(draft: Draft, path: Path, why: str) -> NoReturn:
    """Because a list is there, and of that length: in an object `length` is a key like any other."""
    draft.note(path[:-1], False, Use.BOTH)
    raise Misuse(f"{named(draft.entity, path)}: {why}")


def _element(draft: Draft, path: Path, elements: list[Value], value: Value) -> bool:
    whole, step = path[:-1], path[-1]
    if step == LENGTH:
        return _resize(draft, path, elements, value)
    index = index_of(step)
    if index is None or index > len(elements):
        blocked(draft, whole, f"a list of {len(elements)} takes no element at {step!r}; write at most at its end, or append to it")
    if index == len(elements):
        return _splice(draft, whole, index, 0, (value,))
    changed = not same(elements[index], value)
    if changed:
        draft.spine().put(path, value)
        draft.changed()
    draft.decide(path)
    return changed


def _resize(draft: Draft, path: Path, elements: list[Value], length: Value) -> bool:
    if type(length) is not int or not 0 <= length <= len(elements) + MAX_GROWTH:
        _no_length(draft, path, f"{shown(length)} is no length; it is an integer from 0, and at most {MAX_GROWTH} more than there are")
    if length == len(elements):
        draft.decide(path)
        return False
    return _splice(draft, path[:-1], min(length, len(elements)), max(0, len(elements) - length), (None,) * (length - len(elements)))


def _drop(draft: Draft, path: Path, elements: list[Value]) -> bool:
    if path[-1] == LENGTH:
        _no_length(draft, path, "a list always has a length; write 0 to empty it")
    index = index_of(path[-1])
    if index is None or index >= len(elements):
        draft.decide(path)
        return False
    return _splice(draft, path[:-1], index, 1, ())


def _splice(draft: Draft, whole: Path, index: int, gone: int, fresh: tuple[Value, ...]) -> bool:
    draft.spine().splice(whole, index, gone, fresh)
    draft.changed()
    draft.note(whole, True, Use.CONFLICT)
    draft.decide(whole, whole=False)
    return True
