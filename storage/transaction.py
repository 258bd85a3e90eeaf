"""The optimistic transaction: reads and writes over a view, then one proposal for each space it wrote.

- It sees one state of each document, with its own writes on top; nothing is sent and nothing blocks before `finish`.
- It reports what it read and what it wants written. Whether that still holds is storage's to decide (PROTOCOL rule 4).
- It writes one space; a second raises at the write, unless it was opened for several: then there is a proposal for each, the home space's last (decision 22).
- An aborted or failed transaction proposes its reads and nothing else, so that a node runs again when one of them changes (decisions 7, 30).
- After `finish` or `abort` it is over: every further call says so.
Positions are `(entity, document path)`; the public `tx` gets them from cells by `place`.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, NoReturn

from ..scheduler.errors import Aborted, Misuse, NotStorable, SecondSpace
from ..scheduler.ids import checked_id
from ..scheduler.model import VALUE, Address, Entity, Path, Read, parse_pointer
from ..scheduler.values import MAX_DEPTH, MISSING, ReadOnlyDict, Value, freeze, height, same
from .commit import EntityAbsent, Operation, Precondition, Provenance, Put, ValueHash
from .draft import Draft
from .emission import emit, replacement
from .merging import merge
from .patch import AddUnique, Append, Increment, RemoveByValue
from .place import named
from .proposal import Proposal, Seen, Use, View
from .reading import Reading
from .writing import remove, write

_NOBODY = Provenance()
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_EMPTY: Any = _NOTHING  # what a transaction holds that is over
_KEY = VALUE[0]
_BIG = 2**63
_new: Any = tuple.__new__  # what the class of a named tuple calls in the end; a proposal is made for every run, and this is half of what it costs


class Transaction(Reading):
    """`seed` is what `new` derives ids from: the event's or the node's identity, so that a retry mints the same ones.

    There is a transaction for every run, so what few of them use is made when it is used; until then the class answers for it."""

    _minted: dict[str, int] | None = None
    _spaces: tuple[str, ...] = ()  # written or required, in this order
    _preconditions: Mapping[str, Sequence[Precondition]] = _NOTHING
    _over: Callable[[], Exception] | None = None
    _dropped: dict[Entity, Seen] | None = None  # what an abort has put aside

    def __init__(
        self, view: View, home: str, multi_space: bool = False, provenance: Provenance = _NOBODY, group: str | None = None, seed: str | tuple[str, ...] = ""
    ) -> None:
        self.home = home  # here and below what Reading.__init__ does, spared the call
        self.reads = {}
        self._view = view
        self._seen, self._drafts, self._whole = {}, {}, {}
        self._multi_space = multi_space
        self._provenance = provenance
        self._group = group
        self._seed = seed

    @property
    def open(self) -> bool:
        return self._over is None

    def set(self, entity: Entity, path: Path, value: Value, *, through: bool = False) -> bool:
        """Put the value there. A link at the very position is replaced; `through` writes where it leads. False if the value was there already."""
        if path == VALUE and not through and entity not in self._whole and entity not in self._drafts:
            before = (self._seen.get(entity) or self._pin(entity)).document
            if before is MISSING or (len(before) == 1 and _KEY in before):
                return self._replace(entity, before, value)
        draft, path = self._way(entity, path, through)
        return write(draft, path, _storable(draft.entity, path, value))

    def _replace(self, entity: Entity, before: Value, value: Value) -> bool:
        """The whole value of a document without metadata, which nothing was done to yet. It comes to the same as a write into a draft."""
        if not (type(value) is int and -_BIG <= value < _BIG) and not _is_plain(value):
            value = _storable(entity, VALUE, value)
        if before is not MISSING:
            old = before[_KEY]
            if old == value if type(old) is int and type(value) is int else same(old, value):
                self._whole[entity] = before
                return False
        self._claim(entity.space)
        self._whole[entity] = ReadOnlyDict(value=value)
        return True

    def delete(self, entity: Entity, path: Path, *, through: bool = False) -> bool:
        """Nothing is there any more. False if nothing was."""
        draft, path = self._way(entity, path, through)
        return remove(draft, path)

    def append(self, entity: Entity, path: Path, *values: Value) -> bool:
        """Add to the end of the list, made if there is none. Appending runs do not conflict with each other."""
        draft, path = self._way(entity, path, True)
        return merge(draft, Append(path, _all(draft.entity, path, values)))

    def add_unique(self, entity: Entity, path: Path, *values: Value) -> bool:
        """Add those values to the list that are not in it."""
        draft, path = self._way(entity, path, True)
        return merge(draft, AddUnique(path, _all(draft.entity, path, values)))

    def remove_value(self, entity: Entity, path: Path, *values: Value) -> bool:
        """Take every element that equals one of the values out of the list."""
        draft, path = self._way(entity, path, True)
        changed = [merge(draft, RemoveByValue(path, value)) for value in _all(draft.entity, path, values)]
        return True in changed

    def increment(self, entity: Entity, path: Path, by: int | float = 1) -> bool:
        """Count; nothing there counts as 0. Counting runs do not conflict with each other."""
        draft, path = self._way(entity, path, True)
        return merge(draft, Increment(path, _storable(draft.entity, path, by)))

    def new(self, name: str) -> Entity:
        """A document of this transaction's own: the n-th of this name has the same id in every attempt, and no other transaction mints it."""
        self.check_open()
        if not self._seed:
            raise Misuse("this transaction belongs to no event and no node, so it has nothing to derive ids from; choose the id yourself")
        if self._minted is None:
            self._minted = {}
        n = self._minted[name] = self._minted.get(name, 0) + 1
        digest = blake2b(digest_size=12)
        for part in (self._seed if isinstance(self._seed, str) else "\0".join(self._seed), name, str(n)):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(b"%d:%s" % (len(data), data))
        return Entity(self.home, "space", checked_id(f"{name}/{digest.hexdigest()}"))

    def require(self, precondition: Precondition, space: str | None = None) -> None:
        """The commit holds only under this condition. It is sent even if nothing is written."""
        self.check_open()
        if isinstance(precondition, (EntityAbsent, ValueHash)):
            space = precondition.entity.space
        space = space or self.home
        self._claim(space)
        self._preconditions = {**self._preconditions, space: (*self._preconditions.get(space, ()), precondition)}

    def drop(self) -> None:
        """What was written and required so far never was; what was read stays read, and the transaction stays open. For a run that failed and still has to say so."""
        self.check_open()
        self._drafts, self._whole = {}, {}
        self._spaces, self._preconditions = (), _NOTHING

    def abort(self, reason: str) -> NoReturn:
        """Drop what was written. Swallowing the exception does not undo it."""
        self.check_open()
        self._over = lambda: Aborted(reason)
        self._dropped, self._seen, self._whole, self._drafts = self._seen, {}, {}, {}
        raise Aborted(reason)

    def finish(self, *, failed: bool = False) -> tuple[Proposal, ...]:
        """The proposals, in the order in which they are to be committed. With `failed`, and after an abort, reads only."""
        seen, drafts, whole = self._seen, self._drafts, self._whole
        if self._over is not None:
            if self._dropped is None:
                raise self._over()
            seen, self._dropped, failed = self._dropped, None, True
        self._seen = self._drafts = self._whole = _EMPTY
        self._over = _finished
        if failed or not (whole or drafts or self._preconditions):
            return (_new(Proposal, (None, seen, self.reads, (), (), (), self._provenance, self._group)),)
        if len(whole) == 1 and not (drafts or self._preconditions):
            return (self._only(seen, *whole.popitem()),)
        return self._proposals(seen, drafts, whole)

    def _only(self, seen: dict[Entity, Seen], entity: Entity, document: Value) -> Proposal:
        """The whole value of one document, and nothing else: what most runs write. It comes to the same as `_proposals`."""
        if document is seen[entity][0]:
            return _new(Proposal, (None, seen, self.reads, (), (entity.at(VALUE),), (), self._provenance, self._group))  # type: ignore[no-any-return]
        return _new(Proposal, (entity[0], seen, self.reads, (_new(Put, (entity, document)),), (), (), self._provenance, self._group))  # type: ignore[no-any-return]

    def _proposals(self, seen: dict[Entity, Seen], drafts: dict[Entity, Draft], whole: dict[Entity, Value]) -> tuple[Proposal, ...]:
        operations: dict[str, list[Operation]] = {}
        elided: dict[str, list[Address]] = {}
        for entity in seen if drafts or len(whole) > 1 else whole:  # in the order of first touch
            if entity in whole:
                operation, dropped = replacement(entity, seen[entity].document, whole[entity])
            else:
                draft = drafts.get(entity)
                if draft is None or not (draft.writes or draft.merges or draft.idle):
                    continue
                operation, dropped = emit(draft)
            if operation is not None:
                operations.setdefault(entity.space, []).append(operation)
            here = elided.setdefault(entity.space, [])  # spaces in the order of what was written in them, left out or not
            if dropped:
                here.extend(entity.at(path) for path in dropped)
        if len(self._spaces) < 2:
            space = next((space for space in self._spaces if space in operations or space in self._preconditions), None)
            return (self._proposal(space, seen, self.reads, operations, _joined(elided)),)
        spaces = sorted((space for space in self._spaces if space in operations or space in self._preconditions), key=lambda space: space == self.home)
        if len(spaces) < 2:
            return (self._proposal(spaces[0] if spaces else None, seen, self.reads, operations, _joined(elided)),)
        return tuple(self._part(space, spaces, seen, operations, elided) for space in spaces)

    def _part(self, space: str, spaces: list[str], pinned: dict[Entity, Seen], operations: dict[str, list[Operation]], elided: dict[str, list[Address]]) -> Proposal:
        """One of several. Each answers for the reads of its own space, the last one also for those of spaces that are not written: what an earlier part wrote is no longer
        as it was read."""
        others = set(spaces) - {space}
        mine = (lambda entity: entity.space not in others) if space == spaces[-1] else (lambda entity: entity.space == space)
        seen = {entity: found for entity, found in pinned.items() if mine(entity)}
        reads = {read: use for read, use in self.reads.items() if mine(read.entity)}
        dropped = tuple(address for addresses in elided.values() for address in addresses if mine(address.entity))
        return self._proposal(space, seen, reads, operations, dropped)

    def _proposal(self, space: str | None, seen: dict[Entity, Seen], reads: dict[Read, Use], operations: dict[str, list[Operation]], elided: tuple[Address, ...]) -> Proposal:
        written = tuple(operations.get(space, ())) if space is not None else ()
        required = tuple(self._preconditions.get(space, ())) if space is not None else ()
        return Proposal(space, seen, reads, written, elided, required, self._provenance, self._group)

    def _way(self, entity: Entity, path: Path, last: bool) -> tuple[Draft, Path]:
        """Where a write goes: links on the way are followed, and what they say must still hold."""
        entity, path, _ = self.arrive(entity, path, Use.BOTH, last=last)
        return self._draft(entity), path

    def _pin(self, entity: Entity) -> Seen:
        if self._over is not None:  # what is over has let go of all it had pinned, so every call comes here
            raise self._over()
        seen = self._seen[entity] = self._view.read(entity)
        return seen

    def _claim(self, space: str) -> None:
        if space in self._spaces:
            return
        if self._spaces and not self._multi_space:
            raise SecondSpace(f"this transaction writes space {self._spaces[0]!r} and cannot write space {space!r} too; send an event there, or open it with multi_space=True")
        self._spaces = (*self._spaces, space)

    def check_open(self) -> None:
        """Raises what an aborted or finished transaction answers to every call."""
        if self._over is not None:
            raise self._over()


def _finished() -> Misuse:
    return Misuse("this transaction is finished; open another one")


def _joined(elided: dict[str, list[Address]]) -> tuple[Address, ...]:
    return tuple(address for addresses in elided.values() for address in addresses) if elided else ()


def _is_plain(value: Value) -> bool:
    """`freeze` would return it as it is. Most values that runs write are such, and asking is much cheaper than the whole door."""
    kind = type(value)
    if kind is int:
        return bool(-(2**63) <= value < 2**64)
    return kind is float or kind is bool or value is None or (kind is str and len(value) < 1000 and value.isascii())


def _storable(entity: Entity, path: Path, value: Value, inside: int = 0) -> Value:
    """The value, frozen; refused with its whole address."""
    try:
        value = freeze(value)
    except NotStorable as error:
        where, _, why = str(error).partition(": ")
        raise NotStorable(f"{named(entity, path + (() if where == '/' else parse_pointer(where)))}: {why}") from None
    if len(path) + inside + height(value) > MAX_DEPTH:
        raise NotStorable(f"{named(entity, path)}: the value would lie more than {MAX_DEPTH} levels deep; put inner parts into documents of their own and link them")
    return value


def _all(entity: Entity, path: Path, values: tuple[Value, ...]) -> tuple[Value, ...]:
    return tuple(_storable(entity, path, value, 1) for value in values)
