"""The runtime as programs open it, with every placement: `tree` and `isolated` beside those that live in the caller's process; and `connect`, for clients of a tree.

The tree is owned: it ends with the program, however that ends, and its run folder is one of its own. Loads neither sockets nor processes before a placement needs them.
"""
from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from ..actors import runtime
from ..actors.client import Client

if TYPE_CHECKING:
    from ..actors.clock import VirtualClock
    from ..actors.site import Site


class Runtime(runtime.Runtime):
    __doc__ = runtime.Runtime.__doc__

    def _site(
        self, placement: str, storage: str, space: str, clock: VirtualClock | None, workers: int, app: str | None, max_iterations: int, run_budget: int, principal: str,
        full: bool, strict: bool,
    ) -> Site:  # fmt: skip
        if placement in ("inline", "embedded"):
            return super()._site(placement, storage, space, clock, workers, app, max_iterations, run_budget, principal, full, strict)
        from .connecting import attached
        from .folder import owned_by, sweep
        from .launching import Owned
        from .placement import children_of
        from .plan import Plan

        options: dict[str, Any] = {"max_iterations": max_iterations, "run_budget": run_budget, "principal": principal}
        options |= {"durability": "full" if full else "normal", "driven": clock is not None}
        path = tuple(os.path.abspath(entry) for entry in sys.path)
        plan = Plan(app or "", str(owned_by(app or '')), storage, placement, workers, False, space, path, options=options)
        children_of(plan)
        sweep()
        tree = Owned(plan)
        try:
            return attached(tree.run, clock, tree.close).site
        except BaseException:
            tree.close()
            raise


def connect(url: str) -> Client:
    """A client of the tree at this address: `ipc:FOLDER`, or the path of the run folder (`folder`). Closing it leaves the tree alone."""
    from .connecting import attached
    from .folder import folder_of

    site = attached(folder_of(url)).site
    return Client(site, site.home, False)
