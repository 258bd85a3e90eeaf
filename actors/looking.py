"""Who looks on at the inline loop: what ran and why, how often and how long, what went wrong. It observes and never takes part (P10); everything it keeps is bounded.

The core and the loop tell it what happens; a client asks it afterwards. What it answers the loop with, the number of a node's runs and their mean, does not depend on what is
traced or reset. What has to be looked up to judge I4 and I9 is noted from the first snapshot on: who never checks does not pay for it. A listener that raises is a listener's
matter: it is counted, and the others hear all the same.
"""
from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..scheduler.constants import EVENT_TRACE, HOLD_PASSES, RUN_TRACE
from ..scheduler.errors import ErrorInfo
from ..scheduler.explanation import LOOK
from ..scheduler.invariants import Evidence, Handling, RunRecord, Snapshot
from ..scheduler.model import VALUE, Entity, Read
from ..scheduler.records import Node, Status
from ..scheduler.runs import Run as Made
from ..scheduler.settle import PassEnd
from ..scheduler.unsettled import Unsettled
from ..storage.commit import Operation, Provenance, Set
from ..storage.place import spoken
from ..storage.proposal import Seen
from ..storage.ticket import Answer, Refused
from .event import Event
from .execution import Ran
from .results import Run
from .sent import Outcome
from .statistics import Statistics
from .surfaces import strays
from .traces import Traces
from .violations import Violations

if TYPE_CHECKING:
    from ..scheduler.core import Core
    from ..storage.replica import Replica
    from .rechecking import Rechecking

_CLEAN = Status.CLEAN
RECENT = 100_000  # ids that `ran` remembers between two calls; a test that lets more run asks in between


class Note(NamedTuple):
    """One run of a node, as it is kept. Nearly all are dropped unread: what a reader wants is made when he asks, and nothing is held that a run leaves behind anyway."""

    made: Made
    version: int
    error: ErrorInfo | None
    signed: Provenance
    anew: bool
    wanted: bool
    number: int
    iteration: int
    late: tuple[str, ...]

    @property
    def shown(self) -> Run:
        node, id, causes = self.made
        return Run(id.node, self.version, tuple(spoken(cause.entity, cause.path or VALUE, node.space) for cause in causes), self.error)


class Looking:
    """`fallen` are nodes that ceased to be live, until somebody tidies up; `recheck` validates runs while that is on; `console` is told what user code in workers prints."""

    def __init__(self) -> None:
        self.statistics = Statistics()
        self.traces = Traces()
        self.violations = Violations()
        self.unsettled = Unsettled()
        self.fallen: list[Node] = []
        self.errors: list[Callable[[ErrorInfo], object]] = []
        self.console: list[Callable[[str, str], object]] = []
        self.recheck: Rechecking | None = None
        self.passes = self.failures = self.deaf = 0  # deaf: listeners that raised
        self._told = False  # that something does not settle, since everything last did
        self._notes: deque[tuple[Any, ...]] = deque(maxlen=RUN_TRACE)  # the parts of a Note, or a Run of a handler
        self._recent: deque[str] = deque(maxlen=RECENT)
        self._evidence: dict[str, tuple[int, dict[Entity, Seen], tuple[Operation, ...], int]] = {}
        self._handled: deque[Handling] = deque(maxlen=EVENT_TRACE)
        self._iterations: dict[int, list[str]] = {}  # of the pass that is being traced
        self._behind: dict[str, tuple[int, int]] = {}  # nodes that became invalid when their iteration had gone past them, and in which that was
        self._began = 0.0
        self._judging = False  # what I4 and I9 need is noted
        self._late: tuple[str, ...] = ()  # who should have run before the run that was started last, while that is noted

    def attach(self, core: Core, replica: Replica) -> None:
        """Whom it looks at."""
        self._core, self._settle, self._journal, self._replica = core, core.settle, replica.journal, replica

    # What the core and the loop tell

    def marked(self, node: Node) -> None:
        if self._judging and (node.height, node.ordinal) <= self._settle.cursor:
            self._behind[node.id] = (self._settle.number, self._settle.iteration)
        if self.traces.triggers is not None and not node.passive:
            newest = max(node.causes.values())
            causes = [str(spoken(cause.entity, cause.path or VALUE, node.space)) for cause, n in node.causes.items() if n == newest]
            entry = {"node": node.id, "causes": causes, "version": newest, "live": node.live, "eligible_at": node.gate.eligible_at if node.gate is not None else 0.0}
            self.traces.triggers.append(entry)

    def lost(self, node: Node) -> None:
        self.fallen.append(node)
        self._evidence.pop(node.id, None)

    def started(self, run: Made, now: float) -> None:
        settle = self._settle
        if settle.runs == 1:
            self._began = now  # of the pass
        if self.traces.settle is not None:
            self._iterations.setdefault(settle.iteration, []).append(run.node.id)
        if self._judging:
            self._late = self._overtaken(run.node, now)

    def ran(self, run: Made, ran: Ran, began: float, ended: float) -> tuple[int, float]:
        node, (id, generation, _, _), _ = run
        tally, settle = self.statistics.ran(id, began, ended), self._settle
        anew = tally.generation != generation or node.attempts > 0
        if not ran[3]:
            tally.generation = generation  # an attempt that gave way is no run of it yet
        number = settle.number
        wanted = node.live_refs > 0 or node.roots > 0 or node.demanded_in == number  # as when it began: nothing has reached the core since but loaded documents
        note = (run, self._journal.n, ran[1], ran[0][6], anew, wanted, number, settle.iteration, self._late)
        self._notes.append(note)
        if not node.spec[1]:
            self._recent.append(id)
            if self.traces.runs is not None:
                self.traces.runs.append(_traced(Note(*note).shown) | {"began": began, "ended": ended, "pass": number, "iteration": settle.iteration})
        return tally.runs, tally.seconds / tally.runs

    def made(self, run: Made, ran: Ran, answer: Answer, began: float) -> None:
        """The run is over, and its commit is in the log or refused."""
        node, proposal = run[0], ran[0]
        if type(answer) is Refused:
            self._evidence.pop(node.id, None)
            return
        if node.live_refs > 0 or node.roots > 0:
            self._evidence[node.id] = (node.generation, proposal[1], proposal[3], answer[0][1])
        if proposal[3] and not _usual(node, proposal[3]):
            for place in strays(node, proposal):
                self.violations.add("surface", node.id, str(spoken(place.entity, place.path, node.space)))
        if self.recheck is not None:
            self.recheck.check(run, ran, began, self._journal.n)

    def ended(self, end: PassEnd, now: float) -> None:
        self.passes += 1
        busy = self.unsettled.worked(self._began, now) if end.runs else None
        if self.traces.settle is not None:
            iterations = [self._iterations[at] for at in sorted(self._iterations)]
            marks = {"deferred": list(end.deferred), "busy": busy and busy._asdict()}
            self.traces.settle.append({"pass": end.number, "iterations": iterations, "runs": end.runs, "at": now, **marks})
            self._iterations = {}
        if self._behind:
            self._behind = {}
        if end.deferred and not self._told and any(node.streak >= HOLD_PASSES for node in self._settle.backoffs.backed if node.id in end.deferred):
            self._told = True
            self.report(unsettling(end))
        elif not self._settle.backoffs.backed:
            self._told = False

    def rested(self, now: float) -> None:
        """Nothing is runnable. What is demanded and held by a gate was passed over."""
        self.unsettled.rested()
        for node in self._settle.work:
            if node.status is not _CLEAN and node.live and node.gate is not None and node.gate.eligible_at > now:
                self.statistics.skip(node.id)

    def handled(self, handler: str, event: Event, error: ErrorInfo | None, version: int, reads: Iterable[Read]) -> None:
        """Its attempt was admitted; `reads` is what it read."""
        self._recent.append(handler)
        shown = Run(handler, version, (), error)
        self._notes.append(shown)
        self._handled.append(Handling(event.id, "", event.sent_at, self._unclean(reads) if self._judging else ()))
        if self.traces.runs is not None:
            self.traces.runs.append(_traced(shown))

    def concluded(self, event: Event, handler: str | None, outcome: Outcome, now: float) -> None:
        """An event has come to its end."""
        if self.traces.events is not None:
            error = outcome.error.message if outcome.error is not None else None
            entry = {"id": event.id, "stream": str(event.stream), "handler": handler, "status": outcome.status, "error": error, "version": self._journal.n, "at": now}
            self.traces.events.append(entry)

    def report(self, error: ErrorInfo) -> None:
        self.failures += 1
        if not self.errors:  # nobody listens: it is said where people look, once
            logging.getLogger("weft").error("%s: %s%s", error.where, error.message, f"\n{error.trace}" if error.trace else "")
        for told in list(self.errors):
            try:
                told(error)
            except Exception:
                self.deaf += 1

    # What a client asks

    def taken(self) -> list[str]:
        """What ran since the last call."""
        found = list(self._recent)
        self._recent.clear()
        return found

    def run_log(self) -> list[Run]:
        return [note if isinstance(note, Run) else Note(*note).shown for note in self._notes if isinstance(note, Run) or not note[0].node.spec.hidden]

    def snapshot(self) -> Snapshot:
        """What the invariants look at."""
        self._judging = self._judging or self._settle.over  # of the pass that is under way it is not known what went before
        notes = [Note(*note) for note in self._notes if not isinstance(note, Run)]
        runs = [RunRecord(n.made.id, n.made.causes, n.wanted, n.anew, n.number, n.iteration, n.late, n.signed) for n in notes]
        evidence = {
            id: Evidence(generation, seen, frozenset(operation.entity for operation in operations), n) for id, (generation, seen, operations, n) in self._evidence.items()
        }
        settle = self._settle
        return Snapshot(
            self._core.registry.nodes, runs, evidence, tuple(self._handled), lambda entity: self._replica.read(entity).document, settle.run_budget, settle.max_iterations
        )

    @property
    def unsettling(self) -> bool:
        """Something was put off, because it would run again and again, and still has to run."""
        return any(node.status is not Status.CLEAN for node in self._settle.backoffs.backed)

    def reset(self) -> None:
        self.statistics.reset()
        self.passes = self.failures = self.deaf = 0

    # Inside

    def _overtaken(self, node: Node, now: float) -> tuple[str, ...]:
        """Who should have run before it: asked of a node that is about to run. What became invalid, was registered again or got
        eligible only when the cursor had passed is another iteration's."""
        settle, back, here = self._settle, self._core.graph.heights.back, (self._settle.number, self._settle.iteration)

        def was_there(writer: Node) -> bool:
            renewed = writer.status is Status.INVALID and not writer.causes
            return not renewed and self._behind.get(writer.id) != here and (writer.gate is None or writer.gate.eligible_at <= self._began)

        return tuple(w.id for w in node.upstream if not w.materializer and (w, node) not in back and settle.runnable(w, now) and was_there(w))

    def _unclean(self, reads: Iterable[Read]) -> tuple[str, ...]:
        """Who had to run before what was read here was up to date."""
        graph, reads = self._core.graph, list(reads)
        nearest = [*(writer for read in reads for writer in graph.writers_of(read)), *graph.promoted_by(reads)]
        return tuple(node.id for node in graph.upstream_of(nearest, envelopes=True) if node.status is not Status.CLEAN)


def unsettling(end: PassEnd) -> ErrorInfo:
    """Said once, when passes in a row have put off the same nodes."""
    names = f"{', '.join(end.deferred[:5])}{f' and {len(end.deferred) - 5} more' if len(end.deferred) > 5 else ''}"
    message = f"pass {end.number} did not settle, nor did those before: {names} would run again and again, and is tried ever more rarely. {LOOK}"
    return ErrorInfo("not-settled", message, end.deferred[0], "")


def _traced(run: Run) -> dict[str, Any]:
    return {"node": run.node, "version": run.version, "causes": [str(cause) for cause in run.causes], "error": run.error.message if run.error is not None else None}


def _usual(node: Node, operations: tuple[Operation, ...]) -> bool:
    """It puts a whole value at its one output, as the runtime does with what a function returns: nothing of that can stray."""
    plain, first = node.spec[3], operations[0]
    return plain is not None and first[0] is plain[0] and len(operations) == 1 and isinstance(first, Set) and len(first[1]) == 1 and plain[1] == VALUE
