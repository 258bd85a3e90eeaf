"""One replica whose engine's side is moved by hand, with the short words that replica tests speak."""
from __future__ import annotations

from collections.abc import Iterable, Mapping

from weft.scheduler.errors import ConflictError, WeftError
from weft.scheduler.log import RunId
from weft.scheduler.model import Address, CommitId, Entity, Path, Read
from weft.scheduler.rejection import rejection
from weft.scheduler.values import Value, freeze
from weft.storage.commit import Accepted, Commit, Delete, Operation, Patch, Precondition, Provenance, Rejected, Set, Verdict
from weft.storage.link import Delivered, Frame, Receiver
from weft.storage.patch import PatchOp
from weft.storage.proposal import Proposal, Seen, Use
from weft.storage.replica import Replica
from weft.storage.ticket import Answer, Committed, Ticket

from .replica_model import Mirror
from .toy_engine import SPACE, ToyEngine, ToyLink

EPOCH = 3
VALUE: Path = ("value",)


def entity(id: str, space: str = SPACE) -> Entity:
    return Entity(space, "space", id)


def whole(id: str, value: Value) -> Set:
    return Set(entity(id), freeze({"value": value}))


def patch(id: str, *ops: PatchOp) -> Patch:
    return Patch(entity(id), ops)


def gone(id: str) -> Delete:
    return Delete(entity(id))


class Stand:
    """`replica` on a toy engine that starts with `documents`; `log` mirrors its entries; `warnings` is what it said."""

    def __init__(self, documents: Mapping[str, Value] | None = None, *, session: str = "me", engine: ToyEngine | None = None) -> None:
        self.engine = engine or ToyEngine()
        if documents:
            self.foreign(*(whole(id, value) for id, value in documents.items()))
        self.warnings: list[str] = []
        self.log = Mirror(EPOCH)
        self.links: dict[str, ToyLink] = {}
        self._session = session
        self.replica = Replica(self._connect, EPOCH, warn=self.warnings.append)
        self.replica.journal.subscribe(self.log)

    def _connect(self, space: str, receiver: Receiver) -> ToyLink:
        engine = self.engine if space == SPACE else ToyEngine(space)
        self.links[space] = ToyLink(engine, receiver, self._session)
        return self.links[space]

    @property
    def link(self) -> ToyLink:
        return self.links[SPACE]

    @property
    def sent(self) -> list[Commit]:
        return self.links[SPACE].sent if SPACE in self.links else []

    def foreign(self, *operations: Operation) -> Accepted:
        """Another session commits."""
        verdict = self.engine.apply([Commit(CommitId("other", self.engine.head() + 1), operations)])[0]
        assert isinstance(verdict, Accepted)
        return verdict

    def pin(self, *ids: str) -> dict[Entity, Seen]:
        return {entity(id): self.replica.read(entity(id)) for id in ids}

    def propose(self, *operations: Operation, reads: Iterable[str | Read] = (), seen: dict[Entity, Seen] | None = None, elided: Iterable[Address] = (),
                require: Iterable[Precondition] = (), node: str | None = None, use: Use = Use.BOTH) -> Proposal:
        """What a transaction that read and wrote this would propose now; `seen` if it had read earlier."""
        found = {read if isinstance(read, Read) else Read(entity(read), VALUE): use for read in reads}
        left = tuple(elided)
        touched = dict.fromkeys([*(read.entity for read in found), *(operation.entity for operation in operations), *(place.entity for place in left)])
        pinned = {each: (seen or {}).get(each) or self.replica.read(each) for each in touched}
        required = tuple(require)
        return Proposal(SPACE if operations or required else None, pinned, found, operations, left, required, Provenance(node, 1 if node else 0))

    def commit(self, *operations: Operation, run: RunId | None = None, reads: Iterable[str | Read] = (), seen: dict[Entity, Seen] | None = None,
               elided: Iterable[Address] = (), require: Iterable[Precondition] = (), node: str | None = None) -> Answer:
        return self.replica.commit(self.propose(*operations, reads=reads, seen=seen, elided=elided, require=require, node=node), run)

    def stack(self, *operations: Operation, reads: Iterable[str | Read] = (), elided: Iterable[Address] = (), node: str | None = None,
              require: Iterable[Precondition] = ()) -> Ticket:
        """A commit that must be taken."""
        answer = self.commit(*operations, reads=reads, elided=elided, node=node, require=require)
        assert isinstance(answer, Committed), answer
        return answer.ticket

    def value(self, id: str) -> Value:
        """The visible value; None if there is no document."""
        document = self.replica.read(entity(id)).document
        return document["value"] if document else None

    def accept(self, ticket: Ticket, seq: int) -> None:
        """Only the verdict, by hand."""
        self.replica.on_verdict(Accepted(ticket.id, seq, "", ()))

    def reject(self, ticket: Ticket, error: WeftError | None = None) -> None:
        """Only the verdict, by hand."""
        self.replica.on_verdict(Rejected(ticket.id, rejection(error or ConflictError("stale confirmed read")), 0))

    def frame(self, *decided: Ticket, documents: Iterable[Delivered] = (), head: int = 0) -> None:
        self.replica.on_frame(Frame(SPACE, head, tuple(documents), tuple(ticket.id for ticket in decided)))

    def fell(self, ticket: Ticket) -> Verdict | None:
        """The rejection, if it settled with one."""
        return ticket.verdict if ticket.settled and isinstance(ticket.verdict, Rejected) else None


def delivered(id: str, seq: int, value: Value, stamp: CommitId | None = None) -> Delivered:
    return Delivered(entity(id), seq, stamp or CommitId("other", seq), freeze({"value": value}))
