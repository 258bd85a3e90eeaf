"""What no placement has yet: members of a client that need supervision, pieces, branches or a durable inbox. Each says so when it is called.

One table: the name, and what to do instead.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from ..scheduler.errors import Misuse


def _absent(name: str, instead: str) -> Callable[..., Any]:
    def member(self: Any, *args: object, **kwargs: object) -> NoReturn:
        raise Misuse(f"{name}: a runtime with placement={self._shared.placement!r} has none of this; {instead}")

    member.__name__ = member.__qualname__ = name
    member.__doc__ = f"Not with this version: {instead}."
    return member


_PIECES = "register nodes with rt.register, and bind them to their arguments with spec.bind"
_BRANCHES = "use another space: rt.in_space(name)"
_LETTERS = "an event that cannot be handled stays at the head of its lane; diagnose() says why"
_ACTORS = "look with stats(), trace() and diagnose()"


class Absent:
    """The members that a client without actors, pieces, branches and inbox still has by name."""

    start = _absent("start", _PIECES)
    resume = _absent("resume", _PIECES)
    stop = _absent("stop", _PIECES)
    branch = _absent("branch", _BRANCHES)
    on_branch = _absent("on_branch", _BRANCHES)
    retry_dead_letter = _absent("retry_dead_letter", _LETTERS)
    discard_dead_letter = _absent("discard_dead_letter", _LETTERS)
    mailbox = _absent("mailbox", _ACTORS)
    pause = _absent("pause", _ACTORS)
    step_actor = _absent("step_actor", _ACTORS)
    unpause = _absent("unpause", _ACTORS)
    kill = _absent("kill", _ACTORS)

    def actors(self) -> list[Any]:
        """There are none."""
        return []

    def dead_letters(self) -> list[Any]:
        """There are none."""
        return []
