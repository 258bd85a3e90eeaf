"""What a draft sends to the engine: the fewest operations that make the same of the document, or none.

- Applied to the document as it was pinned, the operations give the document as the transaction sees it.
- A position that ends as it began is elided. A document that does has no operation.
- A write of the whole value of a document without metadata is a Put, of the whole document a Set, its removal a Delete. Any other write is a patch operation at the highest
  position that is new, or at the written position.
- Below a written position only what differs is sent if the engine is told to validate what was read there; else the whole value, because a blind write means all of it.
- Lists change their length by a splice or as a whole, never by an indexed add or remove, because only then do the touched paths say that other elements moved (STO-045, READ-015).
"""
from __future__ import annotations

from ..scheduler.model import VALUE, Entity, Path, index_of
from ..scheduler.values import MISSING, Value, same
from .commit import Delete, Operation, Patch, Put, Set
from .draft import Draft
from .patch import Add, PatchOp, Remove, Replace, Splice
from .spine import at

MANY = 16  # differing children of one container beyond which its whole value is the smaller patch


def emit(draft: Draft) -> tuple[Operation | None, list[Path]]:
    """The operation for the draft's document, and the paths of writes that were left out because the value was there."""
    before, after, entity = draft.seen.document, draft.document, draft.entity
    if before is after:
        return None, [*draft.writes, *draft.idle]
    if () in draft.writes or after is MISSING or (draft.writes.get(VALUE) and _bare(before) and _bare(after)):
        if same(before, after):
            return None, [*draft.writes, *draft.idle]
        return (Delete(entity) if after is MISSING else Set(entity, after) if () in draft.writes else Put(entity, after)), [*draft.idle]
    ops: list[PatchOp] = []
    elided = [*draft.idle]
    made: set[Path] = set()
    for path in draft.writes:
        found = _plain(draft, path, made)
        ops += found
        if not found and not made.intersection(path[:length] for length in range(len(path) + 1)):
            elided.append(path)
    for path, merges in draft.merges.items():
        if same(at(before, path), at(after, path)):
            elided.append(path)
        else:
            ops += merges
    return (Patch(entity, tuple(ops)) if ops else None), elided


def replacement(entity: Entity, before: Value, after: Value) -> tuple[Operation | None, list[Path]]:
    """The same for a document without metadata whose whole value was put in place and nothing else; `after` is `before` itself if that changed nothing."""
    return (None, [VALUE]) if after is before else (Put(entity, after), [])


def _bare(document: Value) -> bool:
    """No metadata."""
    return document is MISSING or document.keys() <= {VALUE[0]}


def _plain(draft: Draft, path: Path, made: set[Path]) -> list[PatchOp]:
    """`made` are the new positions that are already on their way."""
    before, after = draft.seen.document, draft.share()
    top = path
    for length in range(1, len(path) + 1):
        if at(before, path[:length]) is MISSING:
            top = path[:length]
            break
    old, new = at(before, top), at(after, top)
    if top in made or same(old, new):
        return []
    if old is MISSING:
        made.add(top)
        return [Replace(top, new) if _is_place(top[-1]) and isinstance(at(before, top[:-1]), dict) else Add(top, new)]
    if new is MISSING:
        return [Remove(top)]
    return refined(top, old, new) if draft.validated(top) else [Replace(top, new)]


def _is_place(step: str) -> bool:
    """Whether the step would name a place in a list, if one has come where the object was: an add would then move elements that the transaction never saw."""
    return step == "-" or index_of(step) is not None


def refined(path: Path, old: Value, new: Value) -> list[PatchOp]:
    """What leads from one value to another, where the first is known to be there still."""
    if old is new:
        return []
    if isinstance(old, dict) and isinstance(new, dict):
        ops: list[PatchOp] = [Remove((*path, key)) for key in old if key not in new]
        differing = [key for key in new if key not in old or not same(old[key], new[key])]
        if len(ops) + len(differing) > MANY or (old and len(differing) == len(new) and len(ops) + len(differing) > 1):
            return [Replace(path, new)]
        for key in differing:
            ops += refined((*path, key), old[key], new[key]) if key in old else [Add((*path, key), new[key])]
        return ops
    if isinstance(old, list) and isinstance(new, list):
        return _lists(path, old, new)
    return [] if same(old, new) else [Replace(path, new)]


def _lists(path: Path, old: list[Value], new: list[Value]) -> list[PatchOp]:
    if len(old) != len(new):
        head = _alike(old, new)
        tail = _alike(old[head:][::-1], new[head:][::-1])
        return [Splice(path, head, len(old) - head - tail, tuple(new[head : len(new) - tail]))]
    differing = [index for index, item in enumerate(new) if not same(old[index], item)]
    if len(differing) > MANY:
        return [Replace(path, new)]
    return [op for index in differing for op in refined((*path, str(index)), old[index], new[index])]


def _alike(old: list[Value], new: list[Value]) -> int:
    """How many elements both begin with."""
    for index, (a, b) in enumerate(zip(old, new, strict=False)):
        if a is not b and not same(a, b):
            return index
    return min(len(old), len(new))
