"""`placement="embedded"`: every actor of the runtime in this process, each in a thread of its own, with one client among them. Closures are allowed: workers find them here.

Several runtimes live beside each other in one process; each has a context of its own.
"""
from __future__ import annotations

import time
from collections.abc import Sequence
from secrets import token_hex
from typing import Any

from ..scheduler.constants import MAX_ITERATIONS, RUN_BUDGET
from ..scheduler.errors import ErrorInfo
from ..scheduler.ids import checked_id
from ..storage.desks import Desks
from ..storage.engine import Engine, open_engine
from ..storage.spaces import Store
from ..wire.codec import VALUES
from .caller import Ear
from .clock import Clock, RealClock, VirtualClock
from .distant import Distant
from .ensemble import Ensemble, Member
from .functions import Functions
from .gating import Gating
from .graphing import Graphing
from .insiders import Insiders
from .registering import Registering
from .settling import Settling
from .storing import Storing
from .topics import question
from .worker import Worker


class Shop:
    """What the actors of one process share besides messages: the time, the functions, and who runs user code."""

    def __init__(self, clock: VirtualClock | None) -> None:
        self.virtual = clock
        self.clock: Clock = clock or RealClock()
        self.functions = Functions()
        self.insiders = Insiders()


GROUP_WITHIN = 0.01  # seconds a run's commit may wait for others to share its transaction; a client's waits for less


class HousedStorage(Storing):
    """Storage with its engines in its own thread: desks that are served whenever no message waits."""

    def __init__(self, *given: Any, store: Store, principal: str, **more: Any) -> None:
        self._name, self._store = f"embedded-{token_hex(6)}", store
        desks = Desks(self._engine, report=self._broken, principal=principal)
        self._closing = desks.close
        super().__init__(*given, engine=desks, **more)

    def end(self) -> None:
        super().end()
        self._closing()

    def _engine(self, space: str) -> Engine:
        return open_engine(self._store, space, runtime=self._name, codec=VALUES)

    def _broken(self, error: Exception) -> None:
        self.spread(ErrorInfo(getattr(error, "code", type(error).__name__), str(error), "storage", ""))


class HousedWorker(Worker):
    """A worker in the program's own process. Its thread runs user code and nothing else: whoever calls the runtime from there is inside a run."""

    def __init__(self, *given: Any, insiders: Insiders, **more: Any) -> None:
        super().__init__(*given, **more)
        self._insiders = insiders

    def begin(self) -> None:
        self._insiders.enter()
        super().begin()

    def end(self) -> None:
        super().end()
        self._insiders.leave()


def embedded(
    storage: str, space: str, clock: VirtualClock | None, workers: int, max_iterations: int, run_budget: int, principal: str, full: bool, strict: bool
) -> Distant:
    """What `Runtime(placement="embedded")` opens."""
    shop = Shop(clock)
    checked_id(space, "space")
    store = Store(storage, full_sync=full)
    watch = clock.now if clock is not None else time.perf_counter
    patience = GROUP_WITHIN if clock is None else 0.0

    def worker(name: str) -> Member:
        return Member(name, lambda post: HousedWorker.start(post, name, insiders=shop.insiders, functions=shop.functions, home=space, watch=watch))

    return open_embedded(
        shop, space, Member("storage", lambda post: HousedStorage.start(post, "storage", store=store, principal=principal, patience=patience)),
        [worker(f"worker-{number}") for number in range(1, workers + 1)], max_iterations=max_iterations, run_budget=run_budget, strict=strict,
    )  # fmt: skip


def open_embedded(
    shop: Shop, space: str, storage: Member, workers: Sequence[Member], *, max_iterations: int = MAX_ITERATIONS, run_budget: int = RUN_BUDGET, strict: bool = False,
    placement: str = "embedded",
) -> Distant:  # fmt: skip
    """Opened, with a client of its own; nothing is left behind if it cannot be."""
    driven = shop.virtual is not None
    members = [
        storage,
        Member("graph", lambda post: Graphing.start(post, "graph", functions=shop.functions, home=space)),
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
        names = [worker.name for worker in workers]
        site = Distant(ensemble.line, ensemble.client, placement, space, shop.virtual, shop.functions, shop.insiders, ensemble.close, strict=strict, workers=names)
        ear.of = site
        for name in ("graph", "settle", "storage"):
            ensemble.line.ask(name, question("listen", site.covered.version))
    except BaseException:
        ensemble.close()
        raise
    return site
