"""The tree of processes, from the root: started in order, each when the one before it is ready; watched; stopped in reverse (DESIGN section 8).

- A child is asked to stop, waited for, and then killed by its id; it is reaped before anybody takes its place.
- A death is noticed by its sentinel, and named with its cause. What the child's specification says then happens.
- Nothing is polled: one wait for children, signals and the owner.
Called by `root`, in the main thread.
"""
from __future__ import annotations

import logging
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import Any

from ..scheduler.errors import WeftError
from .codes import ProcessLost
from .intensity import Intensity
from .lifeline import Lifeline
from .orders import Orders
from .process import Process, end_fork_server, preload
from .remains import born
from .specification import Child, Start, checked

START = 60.0  # seconds a child has until it is ready: a worker imports the user's whole program
log = logging.getLogger("weft.deploy")


class Tree:
    """`say` is told what runs, whenever that changes."""

    def __init__(self, folder: str, children: tuple[Child, ...], orders: Orders, say: Callable[[list[dict[str, Any]]], None], epoch: int = 1) -> None:
        self.children = checked(children)
        self._folder = folder
        self._orders = orders
        self._say = say
        self._epoch = epoch
        self._lifeline = Lifeline()
        self._running: dict[str, Process] = {}  # in the order of their start
        self._restarts: dict[str, int] = {}
        self._deaths: dict[str, str] = {}  # what each died of last
        self._intensity = {child.name: Intensity() for child in children}

    def start(self) -> None:
        """All of them. Raises why one did not come up; returns early if it is told to stop."""
        preload(dict.fromkeys(actor.start.partition(":")[0] for child in self.children for actor in child.actors))
        for child in self.children:
            if self._orders.given:
                return
            self._launch(child)

    def serve(self) -> str:
        """Until it is told to stop; says by what. Raises ProcessLost if a process dies that the tree cannot do without."""
        while not self._orders.given:
            ready = self._wait([process.sentinel for process in self._running.values()])
            for process in [process for process in self._running.values() if process.sentinel in ready]:
                self._died(process)
        return self._orders.reason

    def stop(self) -> None:
        """All of them, in reverse; whoever asks again while it goes on has them killed at once. Nothing is left when this returns."""
        for process in reversed(list(self._running.values())):
            asked = self._orders.given
            process.ask_to_stop()
            deadline = time.monotonic() + process.child.shutdown
            while not (gone := process.sentinel in self._wait([process.sentinel], deadline)) and time.monotonic() < deadline and self._orders.given <= max(asked, 1):
                continue
            if not gone:
                log.warning("%s did not stop in time and is killed", process.child.name)
                process.kill()
            process.end()
            del self._running[process.child.name]
            self._tell()
        self._lifeline.release()
        end_fork_server()

    # Inside

    def _launch(self, child: Child) -> None:
        process = Process(Start(self._folder, child, self._epoch + self._restarts.get(child.name, 0)), self._lifeline)
        self._running[child.name] = process
        deadline = time.monotonic() + START
        speaks = process.control.fileno()
        ready: set[int] = set()
        while not self._orders.given and not ready & {speaks, process.sentinel}:
            if time.monotonic() >= deadline:
                raise ProcessLost(f"{child.name} is not ready after {START:g} s; its log says what it does")
            ready = self._wait([speaks, *(each.sentinel for each in self._running.values())], deadline)
            for other in [each for each in self._running.values() if each is not process and each.sentinel in ready]:
                self._died(other)
        if ready & {speaks, process.sentinel}:
            self._heard(process, speaks in ready)
            self._tell()

    def _heard(self, process: Process, speaks: bool) -> None:
        """Its first word. Raises if that is not that it is ready."""
        try:
            refused = process.said() if speaks else None
        except (EOFError, OSError):
            speaks, refused = False, None
        if refused is not None:
            raise refused if type(refused) is not WeftError else ProcessLost(f"{process.child.name} did not start: {refused}")
        if not speaks:
            raise ProcessLost(f"{process.child.name} {self._ended(process)} before it was ready")

    def _died(self, process: Process) -> None:
        child = process.child
        if child.lost == "done":
            self._ended(process)
            return
        cause = self._deaths[child.name] = self._ended(process)
        names = " and ".join(actor.name for actor in child.actors)
        if child.lost == "stop":
            raise ProcessLost(f"{child.name} {cause}, and with it {names}, without which the tree cannot go on")
        if not (intensity := self._intensity[child.name]).allows(time.monotonic()):
            raise ProcessLost(f"{child.name} {cause}, {intensity}: it is not started again, and the tree stops")
        log.warning("%s %s and is started again", child.name, cause)
        self._restarts[child.name] = self._restarts.get(child.name, 0) + 1
        self._launch(child)

    def _ended(self, process: Process) -> str:
        del self._running[process.child.name]
        cause = process.end()
        self._tell()
        return cause

    def _wait(self, sources: list[int], deadline: float | None = None) -> set[int]:
        """What is ready of these; orders are taken on the way."""
        timeout = None if deadline is None else max(0.0, deadline - time.monotonic())
        ready = {source for source in wait([*sources, *self._orders.sources], timeout) if isinstance(source, int)}
        self._orders.take(ready)
        return ready.intersection(sources)

    def _tell(self) -> None:
        self._say([self._described(process) for process in self._running.values()])

    def _described(self, process: Process) -> dict[str, Any]:
        name = process.child.name
        told = {"name": name, "pid": process.pid, "born": born(process.pid), "actors": [actor.name for actor in process.child.actors]}
        return told | {"epoch": process.start.epoch, "restarts": self._restarts.get(name, 0), "last_death": self._deaths.get(name)}
