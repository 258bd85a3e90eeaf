"""The commit algorithm (semantics D.2), written once over the table port.

Goal: what is accepted is a serial history. Every read of an accepted commit still holds at the place in the log that it is given, and sending it twice is sending it once.
Steps, in this order, each against all that was decided before it:
 1. replay: a commit under the same key is answered as it was then; a different one under it is refused
 2. it holds an operation or a precondition
 3. its branch is there and takes commits
 4. preconditions
 5. (its structure was looked at when it was sealed)
 6. confirmed reads: nothing that touches one was committed in (basis, head]
 7. pending reads: each layer named is an accepted commit, and beside those nothing that touches the read was committed in (basis, head]. The basis is the true confirmed one: to
    begin at the topmost layer would miss what others committed beneath it
 8. the next sequence number, one for all branches
 9. commit row, revisions in operation order, heads
10. a snapshot where one is due
Nothing is written here: the outcome is staged in the batch. A refusal is an error that was raised before anything was staged.
"""
from __future__ import annotations

from collections.abc import Callable

from ..scheduler.errors import ConflictError, NotStorable, PatchApplyError, ProtocolError, TooLarge
from ..scheduler.model import VALUE, CommitId, Entity, pointer
from ..scheduler.values import CONTAINER, MAX_WEIGHT, MISSING, Value, weight
from . import faults as at
from .batch import Batch, Entry, Written
from .branches import readable, writable
from .codec import Codec
from .commit import Accepted, Commit, ConfirmedRead, PendingRead, Revision
from .current import Bound, Key
from .faults import Faults
from .forms import decode_resolution, encode_resolution, encode_triggers, operations
from .patch import Replace, apply
from .preconditions import require
from .reach import NOTHING, reach_of
from .seal import PUT, Sealed, SealedOperation, seal
from .snapshots import SnapshotPolicy
from .tables import PATCH, SENT_ONCE, SET, CommitRow, Head, Resolved, RevisionRow, SnapshotRow

_NOBODY: frozenset[int] = frozenset()
_BARE = {VALUE[0]}
_LIGHT = MAX_WEIGHT // CONTAINER  # bytes: what takes no more than these is never too much


class Algorithm:
    """Decides commits of one space."""

    def __init__(self, space: str, codec: Codec, policy: SnapshotPolicy, faults: Faults, clock: Callable[[], float]) -> None:
        self._space = space
        self._codec = codec
        self._policy = policy
        self._faults = faults
        self._clock = clock

    def decide(self, batch: Batch, commit: Commit) -> Accepted:
        """Stages the commit, or raises why it is refused."""
        sealed = seal(self._codec, self._space, commit)
        stored = batch.commit(commit.id)
        self._faults.point(at.AFTER_REPLAY_CHECK)
        if stored is not None:
            return self._replayed(batch, sealed, stored)
        if not commit.operations and not commit.preconditions:
            raise ProtocolError("a commit requires at least one operation, or a precondition")
        writable(batch.branches, commit.branch)
        for precondition in commit.preconditions:
            require(batch, commit.branch, precondition)
        for confirmed in commit.confirmed:
            check_confirmed(batch, commit.branch, confirmed)
        resolved = check_pending(batch, commit) if commit.pending else ()
        return self._staged(batch, sealed, resolved)

    def _replayed(self, batch: Batch, sealed: Sealed, stored: CommitRow) -> Accepted:
        """What was answered then: an equal digest means equal operations."""
        id = sealed.commit.id
        if stored.digest == SENT_ONCE:
            raise ProtocolError(f"commit replay mismatch: {id} was accepted as seq {stored.seq} of a sender who sends each commit once; a local sequence number is used once")
        if stored.digest != sealed.digest:
            raise ProtocolError(f"commit replay mismatch: {id} was accepted as seq {stored.seq} with different content; a local sequence number is used once")
        items = [self._as_stored(item, batch.stored_op(stored, item.entity, index)) if item.op == PUT else item for index, item in enumerate(sealed.operations)]
        revisions = tuple([Revision(item.entity, stored.branch, stored.seq, index, item.op, item.payload) for index, item in enumerate(items)])
        return Accepted(id, stored.seq, stored.branch, revisions, decode_resolution(self._codec, stored.resolution, f"commit {stored.seq}"), True)

    def _staged(self, batch: Batch, sealed: Sealed, resolved: Resolved) -> Accepted:
        """Operations apply one after another to the documents as the ones before left them. Nothing is kept if one does not apply."""
        (id, _, _, _, _, provenance, branch), given, digest = sealed
        seq, number = batch.seq + 1, batch.number
        written: Written = {}
        weights: dict[int, Bound] = {}
        entries: list[Entry] = []
        revisions: list[Revision] = []
        for index, item in enumerate(given):
            key = (branch, item.entity)
            before = written.get(key)
            head = batch.head(key) if before is None else before[0]
            if item.op == PUT:
                met = batch.document(branch, item.entity) if before is None else before[1]
                item = self._as_stored(item, SET if met is MISSING or met.keys() == _BARE else PATCH)
            entity, op, payload, data = item
            if head is None:
                number += 1
                head = _first(batch, number, key)
            document, reach = payload if op == SET else MISSING, NOTHING
            if op == PATCH:
                met = batch.document(branch, entity) if before is None else before[1]
                document, reach = _patched(met, item, head), reach_of(payload, met)
            moved = _moved(head, item, seq, index, id)
            if op == PATCH and moved.size + moved.weight > _LIGHT:
                weights[moved.number] = _weighed(batch, weights, head, moved, document, item)
            written[key] = moved, document
            entries.append((RevisionRow(head.number, seq, index, op, data), payload if op == PATCH else None, reach))
            revisions.append(Revision(entity, branch, seq, index, op, payload))
        snapshots = self._snapshots(written, seq)
        triggers = encode_triggers(self._codec, provenance.triggers) if provenance.triggers else None
        resolution = encode_resolution(self._codec, resolved) if resolved else None
        row = CommitRow(seq, branch, id.session, id.local_seq, digest, resolution, provenance.node, provenance.run, triggers, provenance.event, self._clock())
        self._faults.point(at.AFTER_DECISION)
        batch.stage(row, entries, written, snapshots)
        batch.weights.update(weights)
        return Accepted(id, seq, branch, tuple(revisions), resolved)

    def _as_stored(self, item: SealedOperation, op: str | None) -> SealedOperation:
        """A put is a set where there is nothing but a value, and else a patch of it."""
        if op != PATCH:
            return item._replace(op=SET)
        ops, listed = operations((Replace(VALUE, item.payload[VALUE[0]]),))
        return item._replace(op=PATCH, payload=ops, data=self._codec.encode(listed))

    def _snapshots(self, written: Written, seq: int) -> list[SnapshotRow]:
        """Those that are due; the heads then begin to count anew."""
        snapshots: list[SnapshotRow] = []
        for key, (head, document) in written.items():
            if head.op == PATCH and self._policy.due(head):
                data = self._whole(key[1], document)
                written[key] = head._replace(size=len(data), weight=0, patches=0), document
                snapshots.append(SnapshotRow(head.number, seq, data))
        return snapshots

    def _whole(self, entity: Entity, document: Value) -> bytes:
        try:
            return self._codec.encode(document)
        except NotStorable as error:
            raise TooLarge(f"with this patch {entity} cannot be stored whole: {error}") from error


def check_confirmed(batch: Batch, branch: str, read: ConfirmedRead) -> None:
    own = branch if read.branch is None else read.branch
    readable(batch.branches, own)
    _check_basis(batch, read.entity, read.basis)
    seq = batch.overwritten(own, read.entity, read.path, read.deep, read.basis, _NOBODY)
    if seq is not None:
        raise _stale("confirmed", read, seq)


def check_pending(batch: Batch, commit: Commit) -> Resolved:
    """The sequence numbers of all layers named."""
    resolved: dict[CommitId, int] = {}
    for read in commit.pending:
        _check_basis(batch, read.entity, read.basis)
        for layer in read.layers:
            seq = resolved.get(layer) or batch.seq_of(layer)
            if seq is None:
                name = layer.local_seq if layer.session == commit.id.session else layer
                raise ConflictError(f"pending dependency not resolved: {name}, a layer under {read.entity}, is no accepted commit", entity=str(read.entity), basis=read.basis)
            resolved[layer] = seq
        named = frozenset([resolved[layer] for layer in read.layers])
        seq = batch.overwritten(commit.branch, read.entity, read.path, read.deep, read.basis, named)
        if seq is not None:
            raise _stale("pending", read, seq)
    return tuple(resolved.items())


def _check_basis(batch: Batch, entity: Entity, basis: int) -> None:
    if basis > batch.seq:
        raise ProtocolError(f"basisSeq {basis} of a read of {entity} is ahead of the log, which ends at {batch.seq}")


def _stale(kind: str, read: ConfirmedRead | PendingRead, seq: int) -> ConflictError:
    message = f"stale {kind} read of {read.entity}{pointer(read.path)}: commit {seq} changed it after basis {read.basis}"
    return ConflictError(message, entity=str(read.entity), basis=read.basis, seq=seq)


def _patched(document: Value, item: SealedOperation, head: Head) -> Value:
    """A patch that does not apply met another document than its sender had: a lost race, which is tried again (decision 17)."""
    try:
        return apply(document, item.payload)
    except TooLarge as error:
        raise TooLarge(f"a patch of {item.entity} cannot be stored: {error}") from error
    except PatchApplyError as error:
        raise ConflictError(f"a patch of {item.entity} does not apply to what is there now: {error}", entity=str(item.entity), seq=head.seq) from error


def _weighed(batch: Batch, weights: dict[int, Bound], head: Head, moved: Head, document: Value, item: SealedOperation) -> Bound:
    """Refuses a patch that leaves more than can be stored whole. Weighing is dear, so what it weighs at most is carried along: a byte of a patch adds CONTAINER or less."""
    bound = batch.weighed(head, weights)
    bound = MAX_WEIGHT + 1 if bound is None else bound + CONTAINER * len(item.data or b"")
    if bound > MAX_WEIGHT:
        bound = weight(document)
        if bound > MAX_WEIGHT:
            raise TooLarge(f"{pointer(item.payload[-1].path) or '/'}: with this patch {item.entity} is too much for one document (at most {MAX_WEIGHT} leaves, an object or array "
                           f"counting as {CONTAINER}); put parts into documents of their own and link them")
    return moved.seq, moved.op_index, bound


def _first(batch: Batch, number: int, key: Key) -> Head:
    """What a document has before its first revision in a branch: nothing of its own, and the size of what it inherits."""
    inherited = batch.visible(*key)
    return Head(number, *key, 0, 0, "", 0, 0 if inherited is None else inherited.size + inherited.weight, 0, 0, None)


def _moved(head: Head, item: SealedOperation, seq: int, index: int, stamp: CommitId) -> Head:
    """The head after one more operation."""
    number, branch, entity, _, _, _, born, size, weight, patches, _ = head
    length = 0 if item.data is None else len(item.data)
    if item.op == PATCH:
        return Head(number, branch, entity, seq, index, PATCH, born or seq, size, weight + length, patches + 1, stamp)
    return Head(number, branch, entity, seq, index, item.op, born or seq, length, 0, 0, stamp)
