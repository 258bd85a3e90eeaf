"""The lane of the inline runtime: events wait in order and are handled one after another on consistent data (seed 000 section 7.5; decisions 25, 30; I4, I11).

- The head's closure (what its handler declares, what its preflight reads, what the last dispatch read) is observed; while something above it is invalid the head waits.
- After the body has run, what it really read is looked at: if something above that is invalid the attempt is dropped, and the event comes again with that closure.
- Every handling makes a receipt under a precondition, so an event that was handled anywhere is not handled again.
- A handler that raises fails its event, once. A stale basis brings the event back to the head.
"""
from __future__ import annotations

from asyncio import CancelledError
from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..scheduler.errors import ErrorInfo, Misuse
from ..scheduler.model import Address, Read
from ..scheduler.records import Node, Status
from ..scheduler.rejection import Fate, Rejection
from ..storage.commit import EntityAbsent, Provenance, Rejected, Verdict
from ..storage.place import place
from ..storage.proposal import Proposal, Use
from ..storage.ticket import Committed, Refused
from ..storage.transaction import Transaction
from .context import Reader, Tx
from .event import Event
from .loop import Loop
from .nodes import Nodes
from .outlet import Departing, Departures
from .sent import Outcome, Sent
from .specs import HandlerSpec
from .telling import told


class Queued:
    """One event on its way. `closure` grows with what its attempts read."""

    __slots__ = ("attempt", "closure", "event", "home", "not_before", "sent")

    def __init__(self, event: Event, home: str, sent: Sent, not_before: float) -> None:
        self.event, self.home, self.sent, self.not_before = event, home, sent, not_before
        self.attempt = 0
        self.closure: dict[Read, None] = {}


class Attempt(NamedTuple):
    proposal: Proposal
    value: Any
    error: ErrorInfo | None
    departures: Departures


class InlineLane:
    """`handled` takes the id of every handler that ran; `departed` what it launched."""

    def __init__(self, loop: Loop, nodes: Nodes, ears: Any) -> None:
        self._loop, self._nodes, self._ears = loop, nodes, ears
        self._queue: deque[Queued] = deque()
        self._handlers: dict[Address, tuple[HandlerSpec[Any, Any], str]] = {}
        self._observer: Node | None = None

    def handle(self, spec: HandlerSpec[Any, Any], space: str, *, strict: bool = False) -> None:
        """From now on this is the stream's handler. There is one for each stream: another one takes its place, or is refused if that is `strict` (decision 11)."""
        at = spec.stream.cell.address(space)
        known = self._handlers.get(at)
        if known is not None and known[0] != spec:
            if strict:
                raise Misuse(f"{spec.stream} is handled by {known[0].id}, and a stream has one handler; {spec.id} needs a stream of its own")
            self._ears.report(ErrorInfo("replaced", f"{spec.stream} was handled by {known[0].id} and is handled by {spec.id} from now on", spec.id, ""))
        self._handlers[at] = (spec, space)

    def send(self, departing: Departing, home: str) -> None:
        now = self._loop.clock.now()
        event = Event(departing.sent.id, departing.stream, departing.payload, now, departing.session)
        departing.sent.attach(self._loop.wait)
        self._queue.append(Queued(event, home, departing.sent, now + departing.after))

    def __len__(self) -> int:
        """How many events wait."""
        return len(self._queue)

    def ready(self, now: float) -> bool:
        return bool(self._queue) and self._queue[0].not_before <= now

    def parked_until(self, now: float) -> float | None:
        return self._queue[0].not_before if self._queue and self._queue[0].not_before > now else None

    def step(self, now: float) -> bool:
        if not self.ready(now):
            return False
        head = self._queue[0]
        spec, space = self._handlers.get(head.event.stream.cell.address(head.home), (None, ""))
        if spec is None:
            self._end(head, Outcome("dropped", None, ErrorInfo("no-handler", f"nobody handles {head.event.stream}; load its handler first", str(head.event.stream), "")))
        elif not head.attempt and (error := self._preflight(head, spec, space)) is not None:
            self._ears.report(error)
            self._end(head, Outcome("failed", None, error))
        elif self._consistent(head, now):
            self._dispatch(head, spec, space, now)
        return True

    def _preflight(self, head: Queued, spec: HandlerSpec[Any, Any], space: str) -> ErrorInfo | None:
        head.closure.update(dict.fromkeys(Read(*place(cell, space)) for cell in spec.reads))
        if spec.preflight is not None:
            transaction = Transaction(self._loop.replica, space)
            reader = Reader(transaction, self._loop.homes[space], now=self._loop.clock.now(), version=self._loop.replica.version.n)
            try:
                with self._loop.inside():
                    spec.preflight(reader, head.event.payload)
            except (Exception, CancelledError) as error:
                return told(error, spec.id)
            head.closure.update(dict.fromkeys(_scheduled(transaction.finish(failed=True)[0])))
        return None

    def _consistent(self, head: Queued, now: float) -> bool:
        """Is everything above the closure clean? If it is only gated, the head is parked until the first gate opens."""
        core = self._loop.core
        if self._observer is None:
            self._observer = core.observe(head.closure)
        else:
            core.look(self._observer, head.closure)
        self._nodes.demand(head.closure)
        invalid = [node for node in core.graph.upstream_of([self._observer], envelopes=True) if node.status is not Status.CLEAN and not node.passive]
        if not invalid:
            return True
        if not any(core.settle.runnable(node, now) for node in invalid):
            later = [node.gate.eligible_at for node in invalid if node.gate is not None and node.gate.eligible_at > now]
            head.not_before = min(later, default=now)
        return False

    def _dispatch(self, head: Queued, spec: HandlerSpec[Any, Any], space: str, now: float) -> None:
        head.attempt += 1
        attempt = self._attempt(head, spec, space, now)
        reads = _scheduled(attempt.proposal)
        if any(read not in head.closure for read in reads):
            head.closure.update(dict.fromkeys(reads))
            if not self._consistent(head, now):
                return
        self._ears.handled(spec.id, head.event, attempt.error, self._loop.replica.version.n, reads)
        answer = self._loop.replica.commit(attempt.proposal)
        if isinstance(answer, Refused):
            self._refused(head, answer.rejection)
        elif attempt.error is not None:
            self._ears.report(attempt.error)
            self._end(head, Outcome("failed", None, attempt.error))
        else:
            self._end(head, None)
            self._loop.departed(spec.id, space, attempt.departures)
            if isinstance(answer, Committed):
                answer.ticket.on_settled(lambda verdict: self._decided(head, verdict, attempt.value))
            else:
                self._conclude(head, Outcome("handled", attempt.value, None))

    def _attempt(self, head: Queued, spec: HandlerSpec[Any, Any], space: str, now: float) -> Attempt:
        event = head.event
        seed = f"{head.sent.receipt}"
        transaction = Transaction(self._loop.replica, space, multi_space=spec.multi_space, provenance=Provenance(spec.id, head.attempt, (), event.id), seed=seed)
        departures = self._loop.departures(event.id, space)
        tx = Tx(transaction, self._loop.homes[space], now, self._loop.replica.journal.n, departures, spec.id, attempt=head.attempt, event=event)
        receipt, _ = place(head.sent.receipt, space)
        try:
            with self._loop.inside():
                value = spec.fn(tx, event.payload)
                if spec.is_async:
                    value = self._loop.complete(value)
            transaction.require(EntityAbsent(receipt))
            tx.set(head.sent.receipt, {"status": "handled", "value": value})
            return Attempt(transaction.finish()[-1], value, None, departures)
        except (Exception, CancelledError) as error:
            return Attempt(transaction.finish(failed=True)[0], None, told(error, spec.id), departures)

    def _decided(self, head: Queued, verdict: Verdict, value: Any) -> None:
        if not isinstance(verdict, Rejected):
            self._conclude(head, Outcome("handled", value, None))
        elif verdict.rejection.name == "PreconditionFailedError":
            self._conclude(head, Outcome("duplicate", None, None))
        else:
            self._queue.appendleft(head)
            self._refused(head, verdict.rejection)

    def _refused(self, head: Queued, why: Rejection) -> None:
        """Nothing of it was done. A lost race is tried again, from the head of the lane."""
        if why.fate is not Fate.STALE_BASIS:
            error = ErrorInfo(why.name, why.message, str(head.event.stream), "")
            self._ears.report(error)
            self._end(head, Outcome("failed", None, error))

    def _end(self, head: Queued, outcome: Outcome | None) -> None:
        self._queue.popleft()
        if self._observer is not None:
            self._loop.core.unobserve(self._observer)
            self._observer = None
        if outcome is not None:
            self._conclude(head, outcome)

    def _conclude(self, head: Queued, outcome: Outcome) -> None:
        head.sent.conclude(outcome)
        spec, _ = self._handlers.get(head.event.stream.cell.address(head.home), (None, ""))
        self._ears.concluded(head.event, spec.id if spec is not None else None, outcome, self._loop.clock.now())


def _scheduled(proposal: Proposal) -> Iterable[Read]:
    return [read for read, use in proposal.reads.items() if use & Use.SCHEDULING]
