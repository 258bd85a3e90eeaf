"""How commands end: the exit codes, which are stable, and the errors of a tree that have one of their own.

0 done · 1 it failed · 2 called wrongly · 3 no tree is running there · 4 another tree has the run folder · 5 the app cannot be imported · 6 a process was lost that the tree
cannot do without
"""
from __future__ import annotations

from ..scheduler.errors import AlreadyBound, NotImportable, WeftError

DONE, FAILED, USAGE, NOT_RUNNING, OWNED, APP, LOST = range(7)


class NotRunning(WeftError):
    """No tree has this run folder."""
    code = "not-running"


class ProcessLost(WeftError):
    """A process of the tree died, or did not become ready; the message says which and of what."""
    code = "process-lost"


_CODES = {NotRunning: NOT_RUNNING, AlreadyBound: OWNED, NotImportable: APP, ProcessLost: LOST}


def code_of(error: BaseException) -> int:
    return next((code for kind, code in _CODES.items() if isinstance(error, kind)), FAILED)
