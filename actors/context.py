"""What a run is given: `Tx`, and its reading half `Reader`. Cells in, values out, over the storage transaction.

- A read returns what is stored, read-only, as the type its cell declares; nothing there is the default, which is None. Null is a value: `get` gives None for it whatever the type.
- What is written has its plain form and fits the type of its cell; storage freezes it and names the address of what cannot be stored.
- A cell's space is the run's home where the cell names none. Cells that are handed out name no space where they are at home, so that they equal those the program wrote.
- When the run is over every call says so: storage's transaction raises, and what does not reach it asks it first.
The runtime makes one for each run, ends the storage transaction, and tells `Tx` the commit. Reading a plain cell adds one look-up to what storage does.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar, overload

from ..scheduler.cells import Cell, Link, Stream, link
from ..scheduler.errors import Missing, Misuse, NotStorable
from ..scheduler.ids import shown
from ..scheduler.model import Address, Entity, Path, Read
from ..scheduler.values import MISSING, Value, freeze
from ..storage.place import named, spoken
from ..storage.reading import Reading
from ..storage.transaction import Transaction
from .event import Event
from .homes import Home
from .places import misplaced, written
from .plain import plain
from .surface import checked_seconds

if TYPE_CHECKING:
    from .specs import NodeSpec

T = TypeVar("T")
D = TypeVar("D")
_NOTHING: Mapping[str, Any] = {}


class Outlet(Protocol):
    """What leaves a run besides data; the runtime gives one. The run is open, streams are streams and cells are cells when it is called; a payload has its plain form."""

    def register(self, spec: NodeSpec[..., Any]) -> None: ...

    def send(self, stream: Stream[Any], payload: Value, id: str | None, session: str, after: float) -> Any: ...

    def launch(self, pattern: Any, id: str | None, after_commit: bool, args: Mapping[str, Any]) -> Any: ...

    def job(self, fn: Any, args: Mapping[str, Any], into: Cell[Any]) -> Any: ...

    def outbox(self, fn: Any, args: Mapping[str, Any]) -> None: ...


class Unready(BaseException):
    """Ends an attempt that reads nothing where a node that never ran is about to write. No `except Exception` of user code catches it; it is never seen outside a run."""


class Moved(BaseException):
    """Ends a run that reads what cannot be had as of its version any more. No `except Exception` of user code catches it; it is never seen outside a run."""

    def __init__(self, entities: tuple[Entity, ...]) -> None:
        super().__init__(f"{', '.join(map(str, entities))} cannot be read as of this version any more")
        self.entities = entities


class Reader:
    """The reading half, for functions that only look."""

    __slots__ = ("_home", "_places", "_reading", "now", "version")
    now: float
    version: int

    def __init__(self, reading: Reading, home: Home, *, now: float, version: int) -> None:
        self._reading = reading
        self._home = home
        self._places = home.places
        self.now = now
        self.version = version

    @overload
    def get(self, cell: Cell[T] | Link[T], *, track: bool = True) -> T | None: ...
    @overload
    def get(self, cell: Cell[T] | Link[T], default: D, *, track: bool = True) -> T | D: ...
    def get(self, cell: Cell[Any] | Link[Any], default: Any = None, *, track: bool = True) -> Any:
        """The value, or the default if there is none. With `track=False` the run does not depend on it."""
        read = self._place(cell)
        value = self._reading.fetch(read) if track else self._reading.get(read.entity, read.path, track=False)
        if value is MISSING:
            if track:
                self._met_nothing(read)
            return default
        if value is None or type(cell) is Link or cell.of is None:  # type: ignore[union-attr]
            return value
        return self._home.conversion.read(cell.of, value, read.entity, read.path)  # type: ignore[union-attr]

    def __getitem__(self, cell: Cell[T] | Link[T]) -> T:
        """The value; raises Missing if there is none."""
        try:
            home, read = cell.placed  # type: ignore[union-attr]
        except AttributeError:
            home, read = None, None
        if home != self._home.name:
            read = self._place(cell)
        value = self._reading.fetch(read)
        if value is MISSING:
            self._met_nothing(read)
            raise Missing(f"{named(read.entity, read.path)}: nothing is there; tx.get(cell, default) reads what may be absent")
        of = cell.of if type(cell) is Cell else None
        found: T = value if of is None else self._home.conversion.read(of, value, read.entity, read.path)
        return found

    def track(self, cell: Cell[Any]) -> None:
        """Depend on the value without reading it."""
        entity, path, _ = self._place(cell)
        self._reading.track(entity, path)

    def keys(self, cell: Cell[Any]) -> list[str]:
        """The keys of an object, the indices of a list. The run depends on these, not on what they hold."""
        entity, path, _ = self._place(cell)
        return self._reading.keys(entity, path)

    def length(self, cell: Cell[Any]) -> int:
        """How many elements or keys; 0 where nothing is."""
        entity, path, _ = self._place(cell)
        return self._reading.length(entity, path)

    def exists(self, cell: Cell[Any]) -> bool:
        entity, path, _ = self._place(cell)
        return self._reading.exists(entity, path)

    def resolve(self, cell: Cell[T]) -> Cell[T]:
        """The cell behind the links; the cell itself if there are none."""
        entity, path, _ = self._place(cell)
        return self._spoken(self._reading.resolve(entity, path), cell, getattr(cell, "of", None))

    def cells(self, cell: Cell[Any]) -> list[Cell[Any]]:
        """One cell for each child, behind links. The run depends on which there are."""
        entity, path, _ = self._place(cell)
        return [self._spoken(address, cell) for address in self._reading.cells(entity, path)]

    def _met_nothing(self, read: Read) -> None:
        """A tracked read has found nothing."""

    def _place(self, cell: object) -> Read:
        try:
            read = self._places[cell]
        except TypeError:  # no hash, so no cell
            raise misplaced(cell) from None
        if type(cell) is Cell:
            object.__setattr__(cell, "placed", (self._home.name, read))  # the next look-up costs no hash
        return read

    def _spoken(self, address: Address, asked: Cell[Any], of: Any = None) -> Cell[Any]:
        """Whoever names its home space in a cell gets it named."""
        return spoken(address.entity, address.path, self._places.home if asked.space is None else None, of)


class Tx(Reader):
    """The transaction of one run. `home` is the runtime's, shared by all runs of that space; a lone transaction names it, and gets one of its own.
    `awaits` is told of reads that find nothing, with `asking`, and may end the run, so that another node runs first."""

    __slots__ = ("_asking", "_awaits", "_causes", "_commit", "_outlet", "_transaction", "attempt", "event", "node")
    node: str | None
    attempt: int
    event: Event | None

    def __init__(
        self, transaction: Transaction, home: Home | str, now: float, version: int, outlet: Outlet, node: str | None = None, causes: tuple[Address, ...] = (), attempt: int = 1,
        event: Event | None = None, awaits: Callable[[Any, Read], None] | None = None, asking: Any = None,
    ) -> None:  # fmt: skip
        if type(home) is str:
            home = Home(home)
        self._reading = self._transaction = transaction
        self._home: Home = home  # type: ignore[assignment]
        self._places = home.places  # type: ignore[union-attr]
        self._awaits, self._asking = awaits, asking
        self.now = now
        self.version = version
        self.node = node
        self._causes = causes
        self.attempt = attempt
        self.event = event
        self._outlet = outlet
        self._commit: Any = None

    @property
    def causes(self) -> tuple[Cell[Any], ...]:
        """What has changed, so that this runs."""
        return self._home.cells(self._causes)

    @property
    def commit(self) -> Any:
        """What became of the block of `rt.transaction()`, once it has ended."""
        if self._commit is None:
            raise Misuse("there is no commit yet: tx.commit can be asked after the block of rt.transaction() has ended; a run has none")
        return self._commit

    def conclude(self, commit: Any) -> None:
        """The block has ended with this commit. For the runtime."""
        self._commit = commit

    def set(self, cell: Cell[T], value: T) -> None:
        """Put the value there. Missing objects on the way are made; a link at the very position is replaced."""
        of = cell.of if type(cell) is Cell else written(cell).of
        read = self._place(cell)
        if of is not None and value is not None and type(value) is not of:
            value = self._fitting(of, value, read)
        try:
            self._transaction.set(read.entity, read.path, value)
        except NotStorable:
            self._store(self._transaction.set, read.entity, read.path, value)

    def delete(self, cell: Cell[Any]) -> None:
        """Nothing is there any more."""
        entity, path, _ = self._place(written(cell))
        self._transaction.delete(entity, path)

    def append(self, cell: Cell[Any], *values: Any) -> None:
        """Add to the end of the list, made if there is none."""
        entity, path, _ = self._place(written(cell))
        self._store(self._transaction.append, entity, path, *values)

    def add_unique(self, cell: Cell[Any], *values: Any) -> None:
        """Add those values to the list that are not in it."""
        entity, path, _ = self._place(written(cell))
        self._store(self._transaction.add_unique, entity, path, *values)

    def remove_value(self, cell: Cell[Any], *values: Any) -> None:
        """Take every element that equals one of the values out of the list."""
        entity, path, _ = self._place(written(cell))
        self._store(self._transaction.remove_value, entity, path, *values)

    def increment(self, cell: Cell[Any], by: int | float = 1) -> None:
        """Count; nothing there counts as 0."""
        entity, path, _ = self._place(written(cell))
        self._transaction.increment(entity, path, by)

    def new(self, name: str) -> Cell[Any]:
        """A document of this run's own; another attempt gets the same."""
        return Cell(None, *self._transaction.new(name)[1:])

    def link(self, cell: Cell[T]) -> Link[T]:
        """The stored reference to a cell."""
        self._transaction.check_open()
        return link(written(cell))

    def send(self, stream: Stream[T], payload: T, id: str | None = None, *, session: str = "", after: float = 0.0) -> Any:
        """An event that exists if this run commits."""
        self._transaction.check_open()
        if not isinstance(stream, Stream):
            raise Misuse(f"{shown(stream)} is no stream, and events go to streams; make one with weft.stream(id)")
        return self._outlet.send(stream, freeze(plain(payload)), id, session, checked_seconds(after, "after", "tx.send") or 0.0)

    def register(self, spec: NodeSpec[..., Any]) -> None:
        """A node that is this one's child, if this run commits."""
        self._transaction.check_open()
        self._outlet.register(spec)

    def launch(self, pattern: Any, id: str | None = None, *, after_commit: bool = False, **args: Any) -> Any:
        self._transaction.check_open()
        return self._outlet.launch(pattern, id, after_commit, args)

    def job(self, fn: Any, args: Mapping[str, Any] = _NOTHING, *, into: Cell[Any]) -> Any:
        """Work outside the transaction; its state now, and a dependency on it."""
        self._transaction.check_open()
        return self._outlet.job(fn, args, written(into))

    def outbox(self, fn: Any, args: Mapping[str, Any] = _NOTHING) -> None:
        """Work for when the commit is confirmed."""
        self._transaction.check_open()
        self._outlet.outbox(fn, args)

    def abort(self, reason: str) -> NoReturn:
        """Drop what this run has written. Swallowing the exception does not undo it."""
        self._transaction.abort(reason)

    def _met_nothing(self, read: Read) -> None:
        if self._awaits is not None:
            self._awaits(self._asking, read)

    def _fitting(self, of: Any, value: Any, read: Read) -> Any:
        """The plain form, if it fits the type. What cannot be stored at all is left for storage to refuse, which knows how to say it."""
        self._transaction.check_open()
        try:
            value = freeze(plain(value))
        except NotStorable:
            return value
        self._home.conversion.read(of, value, read.entity, read.path)
        return value

    def _store(self, how: Callable[..., Any], entity: Entity, path: Path, *values: Value) -> None:
        """Write the plain forms."""
        try:
            how(entity, path, *map(plain, values))
        except NotStorable as error:
            if str(error).startswith("/: "):  # a library's own refusal does not know the address
                raise NotStorable(f"{named(entity, path)}{str(error)[1:]}") from None
            raise
