"""The worker: runs nodes, wave by wave, each run in a transaction of its own over documents exactly as of the version named (DESIGN section 5).

- A wave waits in a list until its feed has come; no handler waits for it (PROTOCOL H2). Inside a run the worker waits for one thing only, the first look at a document.
- Members run in order; each sees what those before it wrote. Results leave every few milliseconds, in order, so that a long wave neither starves nor loses much (H12).
- Every member has a result, whatever its function does: raise, exit, ask to run later, read what has moved.
"""
from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from ..scheduler.errors import ActorDead, WaitTimeout, WeftError
from ..scheduler.log import RunId
from ..scheduler.model import Address, Entity, Read, Version
from ..scheduler.trie import PathIndex
from ..scheduler.values import freeze
from ..wire.edge import News, Question, Told
from ..wire.feeding import Feed, Fetch, Fetched
from ..wire.ring import CommitRuns, Declared, Finished, Run, RunWave
from ..wire.table import Message
from .bodies import Bodies
from .console import Console
from .declared import Runnable, declared_of
from .documents import Documents
from .execution import Body, Execution, Ran
from .functions import Functions
from .homes import Homes
from .inquiry import Inquirer
from .outlet import Departures
from .questions import failure
from .reporting import broken, finished
from .surfaces import outcome
from .telling import told
from .topics import unknown

STORAGE = "storage"
FLUSH = 0.005  # seconds after which results leave: far above what a message costs, far below what anybody notices
FETCH_WITHIN = 30.0  # seconds; a storage that does not answer for so long is being replaced


class Worker(Inquirer):
    """`functions` finds what nodes run; shared with the clients of an embedded runtime. `home` is the runtime's own space. `listener` is told what user code prints, beside those
    who ask to be.
    `watch` tells how long runs take; results leave after `flush` seconds."""

    def __init__(
        self, *args: Any, functions: Functions | None = None, home: str = "main", listener: str | None = None, watch: Callable[[], float] = time.perf_counter,
        flush: float = FLUSH, **rest: Any,
    ) -> None:  # fmt: skip
        super().__init__(*args, **rest)
        self.documents = Documents(self._fetch)
        self._embedded = functions
        self._bodies = Bodies(Functions() if functions is None else functions)
        self._homes = Homes()
        self._execution = Execution(self.documents, self._homes, (BaseException,))  # sys.exit() of a node ends its run, not the worker
        self._home, self._watch, self.flush = home, watch, flush
        self._listeners: dict[str, None] = {} if listener is None else {listener: None}
        self._waves: deque[RunWave] = deque()
        self._token = 0
        self._awaited: PathIndex[Address] = PathIndex()
        self._printed: list[tuple[str, str]] = []
        self._console: Console | None = None  # as long as nobody listens, what is printed goes where it always went

    def begin(self) -> None:
        if self._listeners:
            self._listen()

    def end(self) -> None:
        if self._console is not None:
            self._console.close()
        self._execution.close()

    def on_question(self, message: Question, sender: str) -> Message:
        if message.about != "listen":
            return failure(unknown(message.about, self.name))
        self._listeners[sender] = None
        self._listen()
        return Told(None)

    def on_run_wave(self, message: RunWave, sender: str) -> None:
        if message.token > self._token:
            self._token = message.token
            self._waves.clear()  # nobody waits for those of an older token
        self._waves.append(message)
        self._go()

    def on_feed(self, message: Feed, sender: str) -> None:
        self.documents.receive(message)
        self._go()

    def missed(self, sender: str, missing: int) -> None:
        if sender == STORAGE:
            self.documents.clear()

    def _go(self) -> None:
        while self._waves and self.documents.reaches(self._waves[0].version, self._waves[0].fed):
            self._run(self._waves.popleft())

    def _run(self, wave: RunWave) -> None:
        token, version, _, number, now, runs, awaited = wave
        self.documents.advance(version, token)
        for address, pending in awaited:
            self._awaited.put(address, (address,)) if pending else self._awaited.take(address)
        self._prepare(runs)
        done: list[Finished] = []
        flushed = self.clock()
        left = len(runs)
        for member, run in enumerate(runs):
            done.append(self._one(member, run, now, version.n))
            left -= 1
            if left and self.clock() - flushed >= self.flush:
                self.tell(STORAGE, CommitRuns(token, version, number, tuple(done), False))
                done, flushed = [], self.clock()
        self.tell(STORAGE, CommitRuns(token, version, number, tuple(done), True))
        if self._printed:
            self._tell_printed(version)

    def _prepare(self, runs: tuple[Run, ...]) -> None:
        """The documents that the members will certainly touch, in one question, if there are any that are not held."""
        held = self.documents
        missing: dict[Entity, None] = {}
        for run in runs:
            for trigger in run.triggers:
                if trigger[:3] not in held:
                    missing[trigger.entity] = None
            if run.spec is not None:
                self._expect(run, missing)
        if missing:
            with suppress(WeftError):  # whoever reads it learns why
                held.load(missing)

    def _expect(self, run: Run, missing: dict[Entity, None]) -> None:
        try:
            body, space, _ = self._bodies.find(run)
        except Exception:
            return  # its run says so
        for cell in (*body.spec.declared_reads, *([body.output] if body.output is not None else [])):
            entity = Entity(cell.space or space, cell.scope, cell.id)
            if entity not in self.documents:
                missing[entity] = None

    def _one(self, member: int, run: Run, now: float, n: int) -> Finished:
        begun = self._watch()
        if self._console is not None:
            self._console.enter(run.node)
        try:
            return self._made(member, run, self._bodies.find(run), now, n, begun)
        except BaseException as error:  # whatever it is, the wave has to come to its end
            return broken(run, told(error, run.node), False, None, self._watch() - begun)
        finally:
            if self._console is not None:
                self._console.leave()

    def _made(self, member: int, run: Run, what: Runnable, now: float, n: int, begun: float) -> Finished:
        body, space, group = what
        node, generation, number, attempt, gives_way, demanded, _, triggers = run
        departures = Departures(RunId(node, generation, number), space)
        ready = partial(self._met_nothing, body, space) if gives_way else None
        ran = self._execution.run(body, space, node, number, triggers, group, attempt + 1, now, n, departures, ready)
        children: tuple[Declared, ...] = ()
        if departures.any and ran.error is None and not (ran.unready or ran.moved):
            try:
                children = tuple([self._child(spec, space, demanded) for spec in departures.children])
            except WeftError as error:
                ran = Ran(ran.proposal._replace(space=None, operations=(), elided=(), preconditions=()), told(error, node))
        result = finished(run, ran, self.documents.wrote, children, group, self._watch() - begun)
        for operation in ran.proposal.operations:
            entity = operation[0]
            self.documents.write(entity, outcome(operation, ran.proposal.seen[entity][0]), member)
        return result

    def _child(self, spec: Any, space: str, demanded: bool) -> Declared:
        id = spec.id if space == self._home else f"{space}:{spec.id}"
        return declared_of(spec, id, space, self._embedded, demanded=demanded)

    def _met_nothing(self, body: Body, space: str, read: Read) -> bool:
        """A node that gives way has found nothing there: is somebody else about to write?"""
        mine = {cell.address(space) for cell in (body.output, *body.spec.also_writes) if cell is not None}
        return any(address not in mine for address in self._awaited.touching(*read))

    def _fetch(self, version: Version, entities: tuple[Entity, ...]) -> Fetched:
        answer = self.inquire(STORAGE, Fetch(version, entities), within=FETCH_WITHIN)
        if isinstance(answer, Fetched):
            return answer
        if isinstance(answer, (ActorDead, WaitTimeout)) or not isinstance(answer, WeftError):
            return Fetched(version, (), entities)  # its successor answers when the run is made again
        raise answer

    def _tell_printed(self, version: Version) -> None:
        printed, self._printed = self._printed, []
        for listener in self._listeners:
            for node, line in printed:
                self.tell(listener, News("console", version, freeze({"node": node, "line": line})))

    def _listen(self) -> None:
        if self._console is None:
            self._console = Console(lambda node, line: self._printed.append((node, line)))
            self._console.open()
