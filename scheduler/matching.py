"""Which readers does a change invalidate? (semantics C.1.4-C.1.8)

Definition (`matches_naive`): walk the reader's path through the whole document before and after. A path is reachable if every proper prefix is a container; a last key that
is absent there reads as MISSING. The reader is hit if the values differ, if one side only is reachable, or if neither is and the deepest container lies at another depth.

The same from one compact record (`matches`), with no document at hand. Goal: for all records of one difference, "some record matches" equals the definition.
1. Above a record both documents have containers of the same kind (an invariant of `changes`). So a deep reader at or above it is hit without a look at any value, and a shallow
   reader above it only if it is the parent and the child came or went: nothing else changes a key set.
2. A reader below walks both values in step. While both are containers the two depths are equal. Where exactly one is, everything below is hit: either one side alone is
   reachable, or the other's deepest container lies deeper. Where neither is, nothing below is hit. So no depth needs to be counted.
3. An array whose length changed answers for its length and for the positions beyond `kept`; the kept positions have records of their own.

`readers` uses the same steps on many readers at once.
"""
from __future__ import annotations

from .model import Change, Path, index_of
from .values import MISSING, Value, is_container, same

LENGTH = "length"  # addressable as a key of every array; in an object it is a key like any other


def child(value: Value, step: str) -> Value:
    """What a step leads to inside a container; MISSING if nothing is there."""
    if isinstance(value, dict):
        return value.get(step, MISSING)
    if step == LENGTH:
        return len(value)
    index = index_of(step)
    return value[index] if index is not None and index < len(value) else MISSING


def reshaped(before: Value, after: Value) -> bool:
    """Shallow comparison: containers by kind and key set or length, everything else by value."""
    if isinstance(before, dict) and isinstance(after, dict):
        return before.keys() != after.keys()
    if isinstance(before, list) and isinstance(after, list):
        return len(before) != len(after)
    return not same(before, after)


def differ(before: Value, after: Value, deep: bool) -> bool:
    return not same(before, after) if deep else reshaped(before, after)


def matches(change: Change, path: Path, deep: bool) -> bool:
    """Does this record hit a reader of this path of its document?"""
    at = change.path
    below = len(path) - len(at)
    if below <= 0:
        if at[: len(path)] != path:
            return False
        if deep:
            return True
        if below:
            return below == -1 and appeared(change)
        return change.kept >= 0 or reshaped(change.before, change.after)
    if path[: len(at)] != at:
        return False
    if change.kept >= 0:
        return _matches_length(change, path, deep)
    return _matches_below(change.before, change.after, path, len(at), deep)


def appeared(change: Change) -> bool:
    """The position itself came or went, which changes its parent's key set."""
    return change.kept < 0 and (change.before is MISSING or change.after is MISSING)


def tail(values: list[Value], kept: int, index: int) -> Value:
    """A position of an array of which only the part beyond `kept` is at hand."""
    return values[index - kept] if index - kept < len(values) else MISSING


def _matches_length(change: Change, path: Path, deep: bool) -> bool:
    start = len(change.path) + 1
    step = path[start - 1]
    if step == LENGTH:
        return len(path) == start
    index = index_of(step)
    if index is None or index < change.kept:
        return False
    return _matches_below(tail(change.before, change.kept, index), tail(change.after, change.kept, index), path, start, deep)


def _matches_below(before: Value, after: Value, path: Path, start: int, deep: bool) -> bool:
    for position in range(start, len(path)):
        if before is after:
            return False
        held = is_container(before)
        if held != is_container(after):
            return True
        if not held:
            return False
        step = path[position]
        before, after = child(before, step), child(after, step)
    return differ(before, after, deep)


def matches_naive(before_doc: Value, after_doc: Value, path: Path, deep: bool) -> bool:
    """The definition, over whole documents: the oracle for everything above."""
    reachable, before, depth = _walk(before_doc, path)
    still, after, depth_after = _walk(after_doc, path)
    if reachable and still:
        return differ(before, after, deep)
    return reachable or still or depth != depth_after


def _walk(document: Value, path: Path) -> tuple[bool, Value, int]:
    """Is the path reachable, what is there, and how many containers lie on the way."""
    value = document
    for depth, step in enumerate(path):
        if not is_container(value):
            return False, MISSING, depth
        value = child(value, step)
    return True, value, len(path)
