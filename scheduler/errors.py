"""Every error of weft, split by who has to act.

    WeftError
    ├── yours: the program misuses weft; change the program
    │   ├── Misuse: BadAddress, NotStorable, NotImportable, InsideRun, SecondSpace, LinkLoop
    │   ├── Missing, Misfit, HistoryCollected      what is stored is not what the program expects
    │   └── Aborted, RetryLater                    raised on purpose by user code
    ├── a lost race: nobody is wrong; what lost is tried again
    │   ├── ConflictError, StorageTransactionInconsistent
    │   └── PreconditionFailedError                permanent: somebody else was first
    ├── the world's: wait, or look at the machine
    │   ├── WaitTimeout, Stuck, NotSettled, NodeFailed, EventFailed, EventDropped
    │   ├── AlreadyBound, Busy, ActorDead
    │   └── StorageUnavailable: StorageFull; StaleEpoch, SessionError, NewerSchema
    └── our bug, or hostile input
        ├── ProtocolError, PatchApplyError (TooLarge, which is NotStorable too), CorruptRow, BrokenInvariant
        └── Undecodable

`code` is stable and is what crosses a boundary together with the class name, so that a rejection is classified the same on both sides (`by_name`, `describe`).
What comes back from a boundary is not trusted: `by_name` gives an error for whatever it is handed, and never raises one of its own.
"""
from __future__ import annotations

from typing import Any, NamedTuple


class ErrorInfo(NamedTuple):
    """An error as it survives the wire."""

    code: str
    message: str
    where: str
    trace: str


class WeftError(Exception):
    """The root of the tree above. `carries` names the attributes that must survive a boundary beside the message."""
    code = "weft"
    carries: tuple[str, ...] = ()

    def fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.carries}


class Misuse(WeftError):
    """The program calls weft in a way that cannot work; the message says what to do instead."""
    code = "misuse"


class BadAddress(Misuse, TypeError, ValueError):
    """A path step, id or address text that names nothing."""
    code = "bad-address"


class Missing(WeftError, KeyError):
    """`tx[cell]` of nothing."""
    code = "missing"

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class NotStorable(Misuse, TypeError):
    """A value that is not JSON, bytes or a link; names the path."""
    code = "not-storable"


class NotImportable(Misuse, TypeError):
    """A function that a worker could not import."""
    code = "not-importable"


class Misfit(WeftError, TypeError):
    """A stored value that does not have the type its cell declares; names the path."""
    code = "misfit"


class InsideRun(Misuse, RuntimeError):
    """The runtime was called from inside a run."""
    code = "inside-run"


class SecondSpace(Misuse):
    """A transaction that writes one space writes another, without having said that it may."""
    code = "second-space"


class LinkLoop(Misuse):
    """A link that leads back to itself, or further than anybody follows."""
    code = "link-loop"


class WaitTimeout(WeftError, TimeoutError):
    """A `timeout=` ran out."""
    code = "timeout"


class Aborted(WeftError):
    """`tx.abort(reason)`."""
    code = "aborted"

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


class RetryLater(WeftError):
    """Raised by user code: run me again, through a queued tick."""
    code = "retry-later"


class NodeFailed(WeftError):
    """`pull`: the writer, or something above it, failed last."""
    code = "node-failed"
    carries = ("node",)

    def __init__(self, message: str = "", node: str = "") -> None:
        super().__init__(message)
        self.node = node


class NotSettled(WeftError):
    """`pull`: something above is in convergence backoff."""
    code = "not-settled"


class Stuck(WeftError):
    """`idle()` on a clock that may not jump; names what it waits for."""
    code = "stuck"


class _EventEnded(WeftError):
    """An event that ended without being handled; `error` says why."""

    def __init__(self, error: ErrorInfo) -> None:
        super().__init__(error.message)
        self.error = error

    def fields(self) -> dict[str, Any]:
        return {"error": list(self.error)}


class EventFailed(_EventEnded):
    """The event's handler failed for good."""
    code = "event-failed"


class EventDropped(_EventEnded):
    """The event was dropped before a handler took it."""
    code = "event-dropped"


class ConflictError(WeftError):
    """The engine: a read of this commit is stale. Retried off budget."""
    code = "conflict"
    carries = ("entity", "basis", "seq")

    def __init__(self, message: str = "", *, entity: str = "", basis: int = 0, seq: int = 0) -> None:
        super().__init__(message)
        self.entity, self.basis, self.seq = entity, basis, seq


class StorageTransactionInconsistent(WeftError):
    """The replica: a document this transaction read has changed before it committed. Retried off budget."""
    code = "inconsistent"


class PreconditionFailedError(WeftError):
    """The engine: a commit precondition does not hold. Permanent."""
    code = "precondition"
    carries = ("precondition",)

    def __init__(self, message: str = "", *, precondition: str = "") -> None:
        super().__init__(message)
        self.precondition = precondition


class ProtocolError(WeftError):
    """A request that no correct client sends."""
    code = "protocol"


class PatchApplyError(WeftError):
    """A patch operation that does not apply to the document it meets."""
    code = "patch"


class TooLarge(NotStorable, PatchApplyError):
    """A patch that would make a document, or a part of it, larger than can be stored; names the path."""
    code = "too-large"


class CorruptRow(WeftError):
    """A stored row that does not decode to what it must be; it is refused and never guessed."""
    code = "corrupt"


class SessionError(WeftError):
    """A session that is not open here, was taken over, or has expired."""
    code = "session"


class StaleEpoch(WeftError):
    """This runtime was replaced by a newer epoch of itself; nothing it sends is taken any more."""
    code = "stale-epoch"


class StorageUnavailable(WeftError):
    """The store could not take the commit (read-only, locked, gone). Earlier commits stay readable."""
    code = "unavailable"


class StorageFull(StorageUnavailable):
    """No room on the disk. Earlier commits stay readable; it works again when there is room."""
    code = "full"


class HistoryCollected(WeftError):
    """A question about a sequence number whose history was removed by garbage collection. `horizon` is the first that can be asked about."""
    code = "collected"
    carries = ("horizon",)

    def __init__(self, message: str = "", *, horizon: int = 0) -> None:
        super().__init__(message)
        self.horizon = horizon


class NewerSchema(WeftError):
    """The database was made by a newer version of weft."""
    code = "newer-schema"


class Undecodable(WeftError):
    """Bytes that are not a message of weft: malformed, oversized, too deep, truncated, of an unknown type. `reason` is the word under which it is counted."""
    code = "undecodable"
    carries = ("reason",)

    def __init__(self, message: str = "", *, reason: str = "malformed") -> None:
        super().__init__(message)
        self.reason = reason


class AlreadyBound(WeftError):
    """Another process already runs this actor, or this tree, in the same folder; `pid` names it."""
    code = "already-bound"
    carries = ("pid",)

    def __init__(self, message: str = "", *, pid: int = 0) -> None:
        super().__init__(message)
        self.pid = pid


class Busy(WeftError):
    """A sender at the edge has as many unhandled messages under way as it may; it waits, or drops something of its own."""
    code = "busy"


class ActorDead(WeftError):
    """The actor that was asked stopped, or was replaced, before it answered."""
    code = "actor-dead"


class BrokenInvariant(WeftError):
    """A component's `check()` found its own state wrong; the message begins with the number of the invariant."""
    code = "invariant"

    @property
    def number(self) -> str:
        """Of the invariant: "I1", "L1", "" if it has none."""
        number, colon, _ = str(self).partition(":")
        return number if colon and number.isalnum() else ""


def describe(error: BaseException) -> tuple[str, str, dict[str, Any]]:
    """Class name, message and fields: what crosses a boundary."""
    return type(error).__name__, str(error), error.fields() if isinstance(error, WeftError) else {}


def by_name(name: str, message: str, fields: dict[str, Any]) -> WeftError:
    """The error that `describe` described. An unknown name is kept in front of the message; fields that the class does not have, or not of that type, are left out."""
    kind = _NAMED.get(name)
    if kind is None:
        return WeftError(f"{name}: {message}")
    if issubclass(kind, _EventEnded):
        told = fields.get("error")
        if isinstance(told, (list, tuple)) and len(told) == len(ErrorInfo._fields) and all(type(part) is str for part in told):
            return kind(ErrorInfo(*told))
        return kind(ErrorInfo(kind.code, message, "", ""))
    known = kind(message).fields()
    return kind(message, **{field: fields[field] for field, blank in known.items() if type(fields.get(field)) is type(blank)})


def _tree(kind: type[WeftError]) -> dict[str, type[WeftError]]:
    named = {} if kind.__name__.startswith("_") else {kind.__name__: kind}
    for below in kind.__subclasses__():
        named.update(_tree(below))
    return named


_NAMED = _tree(WeftError)
