"""Work beside the graph: what is under way and no node's status shows (seed 000 section 8.4, semantics C.9; pitfalls B-42 to B-44).

- A task that `holds_idle` is part of what a caller of `idle` waits for, as a piece that is being started is. Any other holds `settled` alone: loads, write-backs, jobs.
- A task ends once, however it went: what failed is over, and whose it was has said so. A barrier neither hangs on it nor raises.
- A source is asked whether it has anything under way, by `settled` and never by `idle`.
- This holds barriers and nothing else: nobody asks here whether a node may run.
Idle has it; whoever works beside the graph tells it.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Self


class Task:
    """One piece of work. `end` it when it is done or has failed; leaving a `with` block does."""

    __slots__ = ("_end", "holds_idle", "what")

    def __init__(self, what: str, holds_idle: bool, end: Callable[[Task], object]) -> None:
        self.what, self.holds_idle, self._end = what, holds_idle, end

    def end(self) -> None:
        self._end(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.end()


class Background:
    """`ended` is called whenever a task has: whoever waits looks again."""

    def __init__(self) -> None:
        self._tasks: dict[Task, None] = {}
        self._sources: dict[str, Callable[[], bool]] = {}
        self.ended: Callable[[], object] = lambda: None

    def begin(self, what: str, *, holds_idle: bool = False) -> Task:
        task = Task(what, holds_idle, self._over)
        self._tasks[task] = None
        return task

    def ask(self, what: str, pending: Callable[[], bool]) -> Callable[[], None]:
        """From now on this source is asked; until what is returned is called."""
        self._sources[what] = pending

        def stop() -> None:
            self._sources.pop(what, None)

        return stop

    def holding(self, *, settled: bool = False) -> list[str]:
        """What holds `idle`, by name; with `settled`, what holds that."""
        tasks = [task.what for task in list(self._tasks) if settled or task.holds_idle]
        return tasks + [what for what, pending in list(self._sources.items()) if pending()] if settled else tasks

    def _over(self, task: Task) -> None:
        if task in self._tasks:
            del self._tasks[task]
            self.ended()
