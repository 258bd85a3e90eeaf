"""`placement="embedded"`: every actor of the runtime in this process, each in a thread of its own, with one client among them. Closures are allowed: workers find them here.

Several runtimes live beside each other in one process; each has a context of its own.
"""
from __future__ import annotations

from collections.abc import Sequence

from ..scheduler.constants import MAX_ITERATIONS, RUN_BUDGET
from .caller import Ear
from .clock import Clock, RealClock, VirtualClock
from .functions import Functions
from .distant import Distant
from .ensemble import Ensemble, Member
from .gating import Gating
from .graphing import Graphing
from .topics import question
from .insiders import Insiders
from .registering import Registering
from .settling import Settling


class Shop:
    """What the actors of one process share besides messages: the time, the functions, and who runs user code."""

    def __init__(self, clock: VirtualClock | None) -> None:
        self.virtual = clock
        self.clock: Clock = clock or RealClock()
        self.functions = Functions()
        self.insiders = Insiders()


def open_embedded(
    shop: Shop, space: str, storage: Member, workers: Sequence[Member], *, max_iterations: int = MAX_ITERATIONS, run_budget: int = RUN_BUDGET, strict: bool = False,
    placement: str = "embedded",
) -> Distant:  # fmt: skip
    """Opened, with a client of its own; nothing is left behind if it cannot be."""
    driven = shop.virtual is not None
    members = [
        storage,
        Member("graph", lambda post: Graphing.start(post, "graph")),
        Member("registry", lambda post: Registering.start(post, "registry")),
        Member("gates", lambda post: Gating.start(post, "gates", now=None if driven else shop.clock.now)),
        Member(
            "settle",
            lambda post: Settling.start(post, "settle", now=shop.clock.now, driven=driven, max_iterations=max_iterations, run_budget=run_budget),
        ),
        *workers,
    ]
    ear = Ear()
    ensemble = Ensemble(members, ear)
    try:
        site = Distant(ensemble.line, ensemble.client, placement, space, shop.virtual, shop.functions, shop.insiders, ensemble.close, strict=strict)
        ear.of = site
        for name in ("graph", "settle", "storage", *(worker.name for worker in workers)):
            ensemble.line.ask(name, question("listen", site.covered.version))
    except BaseException:
        ensemble.close()
        raise
    return site
