"""Why a part of a value does not fit its type, and the steps to it, gathered on the way out so that a value that fits pays nothing for them. `conversion` makes a Misfit of it."""
from __future__ import annotations

from ..scheduler.model import Path


class Unfit(Exception):
    def __init__(self, why: str, path: Path = ()) -> None:
        self.why = why
        self.steps = list(reversed(path))  # innermost first

    def path(self) -> Path:
        return tuple(reversed(self.steps))
