"""What differs between two states of a document, as compact change records (semantics C.1.2, DESIGN section 4).

Invariants
- A record's `before` and `after` are never the same value; equal documents give no record.
- Above a record's path both documents have containers of the same kind, so whatever reads above it sees a changed subtree, and a shape changed only by a key that came or went.
- Applying all records to `before` gives `after` (`applied`): no difference is left out, whatever reads it.
- Subtrees that both sides share (`is`) are not entered, so the cost follows the containers on the way to what differs, not the document.
"""
from __future__ import annotations

from typing import Any

from .errors import BrokenInvariant
from .model import ROOT, Change, Entity, Path, index_of
from .values import MISSING, ReadOnlyDict, ReadOnlyList, Value, same

COALESCE = 16  # changed positions of one array beyond which one record of the whole array is smaller, and quicker to match, than a record for each


def diff(entity: Entity, before: Value, after: Value, path: Path = ROOT) -> list[Change]:
    """The records that lead from `before` to `after`, the values at `path` of the document."""
    records: list[Change] = []
    if before is not after:
        _differ(entity, path, before, after, records)
    return records


def _differ(entity: Entity, path: Path, before: Value, after: Value, records: list[Change]) -> None:
    if isinstance(before, dict) and isinstance(after, dict):
        _objects(entity, path, before, after, records)
    elif isinstance(before, list) and isinstance(after, list):
        _arrays(entity, path, before, after, records)
    elif not same(before, after):
        records.append(Change(entity, path, before, after))


def _objects(entity: Entity, path: Path, before: dict[str, Any], after: dict[str, Any], records: list[Change]) -> None:
    common = len(before)
    for key, old in before.items():
        new = after.get(key, MISSING)
        if old is not new:
            common -= new is MISSING
            _differ(entity, (*path, key), old, new, records)
    if common != len(after):  # else every key of `after` has been met
        records.extend(Change(entity, (*path, key), MISSING, new) for key, new in after.items() if key not in before)


def _arrays(entity: Entity, path: Path, before: list[Any], after: list[Any], records: list[Change]) -> None:
    kept = min(len(before), len(after))
    start = len(records)
    if len(before) != len(after):
        records.append(Change(entity, path, ReadOnlyList(before[kept:]), ReadOnlyList(after[kept:]), kept))
    changed = 0
    for index in range(kept):
        old, new = before[index], after[index]
        if old is not new:
            known = len(records)
            _differ(entity, (*path, str(index)), old, new, records)
            changed += len(records) > known
            if changed > COALESCE:
                records[start:] = [Change(entity, path, before, after)]
                return


def applied(document: Value, change: Change) -> Value:
    """The document after one record of it; what the record does not touch is shared. Raises BrokenInvariant where nothing could have changed so: it is another document."""
    return _applied(document, change, 0)


def _applied(value: Value, change: Change, depth: int) -> Value:
    path = change.path
    if depth == len(path):
        if change.kept < 0:
            return change.after
        if not isinstance(value, list) or len(value) != change.kept + len(change.before):
            raise _other(change)
        return ReadOnlyList([*value[: change.kept], *change.after])
    step = path[depth]
    if isinstance(value, dict):
        below = _applied(value.get(step, MISSING), change, depth + 1)
        copy = dict(value)
        if below is MISSING:
            copy.pop(step, None)
        else:
            copy[step] = below
        return ReadOnlyDict(copy)
    index = index_of(step)
    if not isinstance(value, list) or index is None or index >= len(value):
        raise _other(change)
    items = list(value)
    items[index] = _applied(items[index], change, depth + 1)
    return ReadOnlyList(items)


def _other(change: Change) -> BrokenInvariant:
    return BrokenInvariant(f"the change of {change.entity.at(change.path)} does not fit the document it is applied to; it was made of another state of it")
