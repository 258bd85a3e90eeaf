"""The lifeline: a pipe into which nobody writes. Its writing end is held by one process, and whoever holds a reading end ends with that process, however it died.

Where the kernel can, it kills by itself when the writing end closes, so that a process that hangs in C code with the interpreter's lock ends as well. (PDEATHSIG does not serve: it
watches a thread.) Elsewhere a thread waits for the end of the pipe.
"""
from __future__ import annotations

import fcntl
import multiprocessing
import os
import select
import signal
import threading
import weakref
from collections.abc import Callable


class Lifeline:
    """The writing end, and a reading end to hand on. Forked copies of this process let go of it: it is this process that counts."""

    def __init__(self) -> None:
        self.end, self._held = multiprocessing.Pipe(duplex=False)
        os.register_at_fork(after_in_child=_release_of(weakref.ref(self)))

    def release(self) -> None:
        """Whoever hangs on it ends."""
        self.end.close()
        self._held.close()


def die_with(end: int) -> None:
    """This process ends when the other one does; at once, if it has ended already."""
    if hasattr(fcntl, "F_SETSIG"):
        fcntl.fcntl(end, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(end, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(end, fcntl.F_SETFL, fcntl.fcntl(end, fcntl.F_GETFL) | os.O_ASYNC)
        if select.select([end], [], [], 0)[0]:
            os.kill(os.getpid(), signal.SIGKILL)
    else:
        threading.Thread(target=_wait, args=(end,), name="weft-lifeline", daemon=True).start()


def _wait(end: int) -> None:
    os.read(end, 1)
    os.kill(os.getpid(), signal.SIGKILL)


def _release_of(lifeline: weakref.ref[Lifeline]) -> Callable[[], None]:
    def release() -> None:
        held = lifeline()
        if held is not None:
            held.release()

    return release
