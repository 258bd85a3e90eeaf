"""How each actor of the tree is made, in the process that hosts it: from parameters that are plain to clocks, engines and functions, which are not.

A child specification names these as `weft.deploy.roles:NAME`; every one takes what a Component takes, and the parameters of the plan. What one does not need it does not look at.
`driven`: a client keeps the time of the tree. Nothing happens then between two calls of it, and storage looks for others' commits when it is asked.
"""
from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import islice
from typing import Any

from ..actors.clock import RealClock
from ..actors.embedded import HousedStorage
from ..actors.gating import Gating
from ..actors.graphing import Graphing
from ..actors.loading import imported
from ..actors.pages import listed
from ..actors.registering import Registering
from ..actors.reporter import Reporter
from ..actors.settling import Settling
from ..actors.storing import Storing
from ..actors.worker import Worker
from ..scheduler.constants import MAX_ITERATIONS, RUN_BUDGET
from ..storage.connect import Hosts, open_hosts
from ..storage.engine import Engine
from ..storage.spaces import Store
from ..wire.codec import VALUES
from ..wire.messages import Presence
from ..wire.transport import Transport


class Storage(Storing):
    """The storage actor with engines in threads of their own, which end when it does: what was sent is decided first."""

    def __init__(self, *given: Any, hosts: Hosts, principal: str = "", **more: Any) -> None:
        super().__init__(*given, engine=lambda deliver: hosts.connector(principal=principal, deliver=deliver), **more)
        self._hosts = hosts

    def end(self) -> None:
        super().end()
        self._hosts.close()

    def _listed(self, asked: Mapping[str, Any]) -> list[str]:
        space = asked["space"]
        host = self._hosts.host(space)

        def look(now: float) -> list[str]:
            desk = host.desk()
            desk.pump(now)
            assert isinstance(desk.engine, Engine)
            return list(islice(listed(desk.engine, space, asked["begins"], asked["after"]), asked["limit"]))

        return host.call(look)


class Stationed(Worker):
    """A worker in a process of its own, which may be the successor of one that died: storage hears of it first, and forgets what that one held; then settle."""

    def begin(self) -> None:
        super().begin()
        self.link("storage")

    def met(self, peer: str, epoch: int, presence: Presence) -> None:
        super().met(peer, epoch, presence)
        if peer == "storage":
            self.link("settle")


class Hand:
    """A clock that shows what it was set to."""

    def __init__(self) -> None:
        self.at = 0.0

    def now(self) -> float:
        return self.at


class Driven(Settling):
    """Settle whose time a client keeps, and says before anything that follows from it."""

    def __init__(self, *given: Any, hand: Hand, **more: Any) -> None:
        super().__init__(*given, now=hand.now, driven=True, **more)
        self._hand = hand
        self.answers["clock"] = self._moved

    def _moved(self, asked: Mapping[str, Any]) -> None:
        self._hand.at = asked["now"]


def storage(
    transport: Transport, name: str, epoch: int, *, reporter: Reporter, store: str, runtime: str, space: str, durability: str = "normal", principal: str = "",
    driven: bool = False, **more: Any,
) -> Any:  # fmt: skip
    """The home space is opened at once: a store that cannot be had is known before anybody is told that the tree is up."""
    full = durability == "full"
    if driven:
        return HousedStorage.start(transport, name, epoch, reporter=reporter, store=Store(store, full_sync=full), principal=principal)
    hosts = open_hosts(store, runtime=runtime, codec=VALUES, full_sync=full)
    try:
        hosts.host(space)
        return Storage.start(transport, name, epoch, reporter=reporter, hosts=hosts, principal=principal, storage_epoch=epoch)
    except BaseException:
        hosts.close()
        raise


def graph(transport: Transport, name: str, epoch: int, *, reporter: Reporter, **more: Any) -> Any:
    return Graphing.start(transport, name, epoch, reporter=reporter)


def registry(transport: Transport, name: str, epoch: int, *, reporter: Reporter, **more: Any) -> Any:
    return Registering.start(transport, name, epoch, reporter=reporter)


def gates(transport: Transport, name: str, epoch: int, *, reporter: Reporter, driven: bool = False, **more: Any) -> Any:
    return Gating.start(transport, name, epoch, reporter=reporter, now=None if driven else RealClock().now)


def settle(
    transport: Transport, name: str, epoch: int, *, reporter: Reporter, workers: list[str], max_iterations: int = MAX_ITERATIONS, run_budget: int = RUN_BUDGET,
    driven: bool = False, **more: Any,
) -> Any:  # fmt: skip
    given = {"reporter": reporter, "worker": workers[0], "max_iterations": max_iterations, "run_budget": run_budget}
    return Driven.start(transport, name, epoch, hand=Hand(), **given) if driven else Settling.start(transport, name, epoch, now=RealClock().now, **given)


def worker(transport: Transport, name: str, epoch: int, *, reporter: Reporter, app: str, space: str, driven: bool = False, **more: Any) -> Any:
    """It imports the app before it says that it is ready, so that one that cannot be imported is known at the start. On a clock that others keep a run takes no time."""
    if app:
        imported(app)
    return Stationed.start(transport, name, epoch, reporter=reporter, home=space, watch=_still if driven else time.perf_counter)


def _still() -> float:
    return 0.0
