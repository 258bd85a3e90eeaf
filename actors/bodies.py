"""What a worker knows of the nodes it runs: told once for each registration, looked up for each run. What cannot be found or imported is found out when it is first run."""
from __future__ import annotations

from typing import NamedTuple

from ..scheduler.errors import StaleEpoch
from ..scheduler.values import Value
from ..wire.ring import Run
from .declared import Runnable, runnable
from .functions import Functions


class _Known(NamedTuple):
    generation: int
    told: Value
    found: Runnable | None


class Bodies:
    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._known: dict[str, _Known] = {}

    def find(self, run: Run) -> Runnable:
        """Raises what is wrong with it."""
        known = self._known.get(run.node)
        if run.spec is not None:
            known = self._known[run.node] = _Known(run.generation, run.spec, None)
        if known is None or known.generation != run.generation:
            raise StaleEpoch(f"generation {run.generation} of {run.node} is not known here; whoever plans it has to say what it is")
        if known.found is None:
            known = self._known[run.node] = known._replace(found=runnable(known.told, self._functions))
        assert known.found is not None
        return known.found
