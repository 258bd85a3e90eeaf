"""A runtime of actors whose storage and worker are toys."""
from __future__ import annotations

import weft
from harness.toy_ring import Stand, ToyStorage, ToyWorker
from weft.actors.client import Client
from weft.actors.embedded import Shop, open_embedded
from weft.actors.ensemble import Member
from weft.actors.runtime import Runtime


def toy_runtime(clock: weft.VirtualClock | None) -> Runtime:
    shop = Shop(clock)
    stand = Stand(shop.functions, shop.insiders, now=shop.clock.now)
    storage = Member("storage", lambda post: ToyStorage.start(post, "storage", stand=stand))
    worker = Member("worker-1", lambda post: ToyWorker.start(post, "worker-1", stand=stand))
    rt = object.__new__(Runtime)
    Client.__init__(rt, open_embedded(shop, "main", storage, [worker]), "main", False)
    return rt
