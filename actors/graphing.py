"""The graph actor: entries of the log in, what settle needs to know out (DESIGN section 3; PROTOCOL rules 1 and 6). Thin over `scheduler.fold`.

- One Invalidated for each Changes, also when nothing follows from it: settle counts versions (PROTOCOL H5).
- Storage hears how far the log is applied, so that it knows what to keep and how far clients may run ahead.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..scheduler.core import Registration
from ..scheduler.errors import ErrorInfo, WeftError
from ..scheduler.fold import Fold, Told
from ..scheduler.gates import GateConfig
from ..scheduler.log import Outcome, RunId, RunResult
from ..scheduler.model import Version
from ..scheduler.records import Kind, Surface
from ..scheduler.rows import Done
from ..wire.edge import Enter
from ..wire.entries import entry_of
from ..wire.messages import Presence
from ..wire.ring import Applied, Born, Changes, Declared, Invalidated, Logged, Reads, Structure, Undemand
from ..wire.table import Message
from .asked import Asked
from .chronicle import Chronicle
from .functions import Functions
from .members import Members

SAY_EVERY = 64  # versions between two words to storage: far fewer than clients may be ahead
WITHIN = 60.0  # seconds for storage to take a registration
UNDEMANDED = -1  # the number of the wave in the answer to Undemand
_new: Any = tuple.__new__  # what the class of a named tuple calls in the end, at half the cost
_COMMITTED = Outcome.COMMITTED


class Graphing(Asked):
    """`errors` takes what a person should know of a run, beside those who listen. `functions` and `home` are for members of families."""

    def __init__(
        self, *given: Any, errors: Callable[[ErrorInfo], None] = lambda error: None, functions: Functions | None = None, home: str = "main", **more: Any,
    ) -> None:  # fmt: skip
        super().__init__(*given, **more)
        self._errors = errors
        self.fold = Fold(self._report)
        self.members = Members(self.fold, functions, home)
        self.chronicle = Chronicle(self.fold)
        self.answers = self.chronicle.answers()
        self._said = Version(0, 0)  # what storage has heard of
        self.version = Version(0, 0)
        self._declared: dict[str, Declared] = {}  # of those that settle has not heard of

    def presence(self) -> Presence:
        return Presence(version=self.version)

    def on_changes(self, message: Changes, sender: str) -> None:
        token, version, wave, entries, served, last = message
        done: list[Done] = []
        for entry in entries:
            self._apply(entry, version.epoch, done)
        self.version = version
        if self.members.any:
            self.members.fell(self.fold.graph.liveness.fallen)
        told = self.fold.take()
        structure = self._structure(told) if told.came or told.gone or told.edges or told.reads else None
        self._enter()
        self.tell("settle", Invalidated(token, version, wave, told.rows, tuple(done), structure, served, len(self.members.owed), last))
        if version.epoch != self._said.epoch or version.n - self._said.n >= SAY_EVERY:
            self._said = version
            self.tell("storage", Applied(version))
        self.seen()

    def on_undemand(self, message: Undemand, sender: str) -> None:
        self.fold.undemand(message.nodes)
        self.members.fell(self.fold.graph.liveness.fallen)
        told = self.fold.take()
        structure = self._structure(told) if told.edges or told.reads else None
        self._enter()
        self.tell("settle", Invalidated(message.token, self.version, UNDEMANDED, told.rows, (), structure, (), len(self.members.owed), True))

    def _enter(self) -> None:
        """Members that somebody demands, or nobody any more."""
        asked, given_up = self.members.take()
        if asked or given_up:
            self.ask("storage", Enter(asked, given_up), self._entered, within=WITHIN)

    def _entered(self, outcome: Message | WeftError) -> None:
        """They come by the log. If they do not, nobody waits for them."""
        if isinstance(outcome, WeftError):
            self.members.owed.clear()
            raise outcome

    def _apply(self, entry: Logged, epoch: int, done: list[Done]) -> None:
        n, kind, node, generation, number, reads, changes, moved, took, unusual = entry
        fold = self.fold
        if reads and self.members.any:
            self.members.read(reads)
        if unusual is None and number and node is not None and kind == "commit":  # what nearly every run comes to
            run = _new(RunId, (node, generation, number, 0))
            fold.ran(_new(RunResult, (run, _COMMITTED, reads, (), moved, (), None)), n)
            fold.changed(changes, n, run)
            done.append(_new(Done, (node, number, took, False)))
            self.chronicle.ran(node, n, changes)
        elif kind == "registration" and unusual is not None and unusual.declared is not None:
            self._register(unusual.declared, generation, unusual.parent)
        else:
            fold.apply(entry_of(entry, epoch))
            if kind == "removal" and node is not None:
                self.members.remove(node)
            if number and node is not None and kind in ("commit", "result"):
                done.append(self._judged(entry, RunId(node, generation, number)))

    def _judged(self, entry: Logged, run: RunId) -> Done:
        """A run that did not end as most do."""
        fault = None if entry.unusual is None else entry.unusual.fault
        error: ErrorInfo | None = None
        if fault is not None:
            error = ErrorInfo(fault.code, fault.message, fault.where, fault.trace)
            if fault.kind == "unready":
                self.fold.unready(run)
            elif fault.kind == "later":
                self.fold.later(run, error)
            else:
                self.fold.failed(run, error)
        self.chronicle.ran(run.node, entry.n, entry.changes, None if fault is None or fault.kind == "unready" else error)
        return Done(run.node, run.run, entry.took, fault is not None and fault.kind == "unready")

    def _report(self, error: ErrorInfo) -> None:
        self._errors(error)
        self.spread(error)

    def _register(self, declared: Declared, generation: int, parent: str | None) -> None:
        if declared.kind == "observer":
            self.fold.observe(declared.node, generation, declared.declared, declared.group)
            if self.members.any:
                self.members.read(declared.declared)
        elif declared.kind == "family":
            self.members.declare(declared)
        else:
            self.fold.register(declared.node, generation, registration(declared, parent))
            self.members.registered(declared.node)
        self._declared[declared.node] = declared

    def _structure(self, told: Told) -> Structure:
        born = tuple([Born(came.node.generation, came.node.ordinal, came.node.parent, self._declared[came.node.id]) for came in told.came])
        self._declared.clear()
        return Structure(born, told.gone, told.edges, tuple([Reads(node.id, tuple(node.reads)) for node in told.reads]))


def registration(declared: Declared, parent: str | None) -> Registration:
    """What scheduling takes of it."""
    kind = Kind.EFFECT if declared.kind in ("effect", "observer") else Kind.COMPUTATION
    gates = GateConfig(declared.debounce, declared.max_wait, declared.throttle, declared.auto_debounce)
    surface = Surface(declared.outputs, declared.envelope, declared.declared)
    return Registration(kind, declared.space, surface, gates, declared.spec, parent, declared.group, None, declared.demanded)
