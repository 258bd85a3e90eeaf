"""A submitted commit, looked at once: its shape is checked, its values are frozen, its operations encoded, and its digest taken.

- The digest is over everything that was submitted, so it is the identity by which a repeated `(session, local_seq)` is told from a forged one. It is taken of a text in which
  every string stands behind its length, so that no two commits give the same.
- What passes here has the types that `commit` declares, and can be stored; what does not is a ProtocolError, or NotStorable for a value. Nothing of the store is looked at.
Called by the commit algorithm, once for each commit.
"""
from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, NamedTuple

from ..scheduler.errors import ProtocolError
from ..scheduler.ids import MAX_ID, MAX_STEPS, encodable, shown
from ..scheduler.model import VALUE, Address, CommitId, Entity
from ..scheduler.values import ReadOnlyDict, Value
from .codec import Codec
from .commit import Commit, ConfirmedRead, Delete, EntityAbsent, Operation, OriginCommitted, Patch, PendingRead, Precondition, Provenance, Put, Set, ValueHash
from .document import checked_document
from .forms import operations
from .tables import DELETE, MAX_OPERATIONS, PATCH, SET

DIGEST_BYTES = 16  # 128 bits: nobody gains by a collision but the session whose own key it is
MOST = 2**63 - 1  # what a backend's integers hold
MAX_NAME = 16_384  # characters of a node or an event in the provenance: names, of which every commit keeps its own
MAX_PATH = 4 * MAX_STEPS  # of a read: what a link leads to and what is read below it
_TUPLE_FIELDS = ("operations", "confirmed", "pending", "preconditions")
_NO_PROVENANCE = Provenance()
PUT = "put"  # no word of a row: what the document is decides whether a set or a patch is stored
_BARE = {VALUE[0]}


class SealedOperation(NamedTuple):
    """`payload`: the frozen document of a set or put, the operations of a patch, None for a delete. `data`: its stored form."""

    entity: Entity
    op: str
    payload: Value
    data: bytes | None


class Sealed(NamedTuple):
    commit: Commit
    operations: list[SealedOperation]
    digest: bytes


def seal(codec: Codec, space: str, commit: Commit) -> Sealed:
    """Raises ProtocolError (NotStorable for a value) for what no correct client sends."""
    _check_frame(commit)
    id, given, confirmed, pending, preconditions, provenance, branch = commit
    session, local_seq = id
    text = f"{len(session)}:{session}{local_seq} {len(branch)}:{branch}"
    sealed: list[SealedOperation] = []
    parts: list[bytes] = [b""]
    for operation in given:
        item = _sealed(codec, space, operation)
        (_, scope, name), op, _, data = item
        text += f"{op}{len(scope)}:{scope}{len(name)}:{name}"
        if data is not None:
            text += f"{len(data)} "
            parts.append(data)
        sealed.append(item)
    if confirmed or pending or preconditions:
        text += "".join([*(_confirmed(space, read) for read in confirmed), *(_pending(space, read) for read in pending), *(_precondition(space, item) for item in preconditions)])
    if provenance != _NO_PROVENANCE:
        text += _provenance(provenance)
    try:
        parts[0] = text.encode()
    except UnicodeEncodeError as error:
        raise ProtocolError(f"malformed commit {id}: a lone surrogate in {text[max(error.start - 20, 0) : error.end]!r}, which has no UTF-8 form") from None
    return Sealed(commit, sealed, blake2b(b"".join(parts), digest_size=DIGEST_BYTES).digest())


def _check_frame(commit: Commit) -> None:
    if type(commit) is not Commit or not is_commit_id(commit.id):
        raise ProtocolError(f"malformed commit: its id is a session and a local sequence number from 0, not {shown(getattr(commit, 'id', commit))}")
    if type(commit.branch) is not str:
        raise ProtocolError(f"malformed branch {shown(commit.branch)}")
    _, operations, confirmed, pending, preconditions, _, _ = commit
    if not (type(operations) is tuple and type(confirmed) is tuple and type(pending) is tuple and type(preconditions) is tuple):
        wrong = next(name for name in _TUPLE_FIELDS if type(getattr(commit, name)) is not tuple)
        raise ProtocolError(f"malformed {wrong}: a tuple is expected, not {shown(getattr(commit, wrong))}")
    if len(operations) > MAX_OPERATIONS:
        raise ProtocolError(f"a commit has at most {MAX_OPERATIONS} operations, not {len(commit.operations)}; write in several commits")


def _sealed(codec: Codec, space: str, operation: Operation) -> SealedOperation:
    if isinstance(operation, Set):
        check_entity(space, operation.entity)
        document = operation.document
        if type(document) is not ReadOnlyDict:  # else it is frozen, and how deep it is the codec looks at
            document = checked_document(document)
        if type(operation) is Put and document.keys() != _BARE:
            raise ProtocolError(f"malformed operation {shown(operation)}: a Put holds a value and nothing else; use a Set for a whole document")
        return SealedOperation(operation.entity, PUT if type(operation) is Put else SET, document, codec.encode(document))
    if isinstance(operation, Patch):
        check_entity(space, operation.entity)
        ops, listed = operations(operation.ops)
        return SealedOperation(operation.entity, PATCH, ops, codec.encode(listed))
    if isinstance(operation, Delete):
        check_entity(space, operation.entity)
        return SealedOperation(operation.entity, DELETE, None, None)
    raise ProtocolError(f"malformed operation {shown(operation)}: it is a Set, a Patch or a Delete")


def _confirmed(space: str, read: ConfirmedRead) -> str:
    if type(read) is not ConfirmedRead or not (read.branch is None or type(read.branch) is str):
        raise ProtocolError(f"malformed confirmed read {shown(read)}")
    branch = "-" if read.branch is None else f"{len(read.branch)}:{read.branch}"
    return f"C{_read(space, read)}{branch}"


def _pending(space: str, read: PendingRead) -> str:
    if type(read) is not PendingRead:
        raise ProtocolError(f"malformed pending read {shown(read)}")
    if type(read.layers) is not tuple or not read.layers or not all([is_commit_id(layer) for layer in read.layers]):  # noqa: C419
        raise ProtocolError(f"malformed layers of a pending read of {read.entity}: it names at least one commit, each by session and local sequence, not {shown(read.layers)}")
    layers = "".join([f"{len(session)}:{session}{local_seq} " for session, local_seq in read.layers])
    return f"P{_read(space, read)}{len(read.layers)} {layers}"


def _read(space: str, read: ConfirmedRead | PendingRead) -> str:
    entity = read.entity
    check_entity(space, entity)
    if not is_sequence(read.basis):
        raise ProtocolError(f"malformed basisSeq {shown(read.basis)}: it is the sequence number, from 0, at which the document was read")
    if type(read.deep) is not bool:
        raise ProtocolError(f"malformed read of {entity}: deep or shallow, not {shown(read.deep)}")
    return f"{len(entity.scope)}:{entity.scope}{len(entity.id)}:{entity.id}{read.basis} {'D' if read.deep else 'S'}{_path(read.path)}"


def _precondition(space: str, precondition: Precondition) -> str:
    if isinstance(precondition, OriginCommitted) and is_commit_id(precondition.origin):
        session, local_seq = precondition.origin
        return f"O{len(session)}:{session}{local_seq} "
    if isinstance(precondition, EntityAbsent):
        check_entity(space, precondition.entity)
        return f"A{_strings(precondition.entity[1:])}"
    if isinstance(precondition, ValueHash) and (precondition.hash is None or type(precondition.hash) is bytes):
        check_entity(space, precondition.entity)
        return f"H{_strings(precondition.entity[1:])}{'-' if precondition.hash is None else precondition.hash.hex()} "
    raise ProtocolError(f"malformed precondition {shown(precondition)}: it is origin-committed of a commit, entity-absent or value-hash of a document")


def _provenance(given: Provenance) -> str:
    if type(given) is not Provenance or type(given.run) is not int or not 0 <= given.run <= MOST or type(given.triggers) is not tuple:
        raise ProtocolError(f"malformed provenance {shown(given)}: the run is a number from 0, the triggers are a tuple")
    node, event = given.node, given.event
    if not (node is None or type(node) is str) or not (event is None or type(event) is str):
        raise ProtocolError(f"malformed provenance {shown(given)}: node and event are texts or None")
    if len(node or "") > MAX_NAME or len(event or "") > MAX_NAME:
        raise ProtocolError(f"malformed provenance {shown(given)}: node and event have at most {MAX_NAME} characters")
    text = f"V{'-' if node is None else f'{len(node)}:{node}'}{given.run} {'-' if event is None else f'{len(event)}:{event}'}"
    for trigger in given.triggers:
        if type(trigger) is not Address or not all(type(part) is str for part in trigger[:3]):
            raise ProtocolError(f"malformed trigger read {shown(trigger)}")
        text += f"T{_strings(trigger[:3])}{_path(trigger.path)}"
    return text


def is_sequence(seq: Any) -> bool:
    return type(seq) is int and 0 <= seq <= MOST


def is_commit_id(id: Any) -> bool:
    return type(id) is CommitId and type(id.session) is str and len(id.session) <= MAX_ID and is_sequence(id.local_seq)


def check_entity(space: str, entity: Any) -> None:
    if type(entity) is not Entity or type(entity.scope) is not str or type(entity.id) is not str:
        raise ProtocolError(f"malformed entity {shown(entity)}: it is space, scope and id")
    if not (encodable(entity.scope) and encodable(entity.id)):
        raise ProtocolError(f"malformed entity {shown(entity)}: a lone surrogate has no UTF-8 form")
    if _bytes(entity.scope) > MAX_ID or _bytes(entity.id) > MAX_ID:
        raise ProtocolError(f"malformed entity {shown(entity)}: a scope and an id have at most {MAX_ID} bytes")
    if entity.space != space:
        raise ProtocolError(f"{shown(entity)} is of space {shown(entity.space)}, and this is the engine of {space!r}; send it to that space's engine")


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _path(path: Any) -> str:
    if type(path) is not tuple or not all([type(step) is str for step in path]):  # noqa: C419
        raise ProtocolError(f"malformed path {shown(path)} of a read")
    if len(path) > MAX_PATH:
        raise ProtocolError(f"malformed path {shown(path)} of a read: it has {len(path)} steps, and {MAX_PATH} are more than links can make of one")
    return f"{len(path)} {_strings(path)}"


def _strings(texts: Iterable[str]) -> str:
    return "".join([f"{len(text)}:{text}" for text in texts])
