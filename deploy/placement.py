"""Placements: which process hosts which actors, as data (DESIGN section 8).

- tree: storage alone, so that the engine's disk does not hold up the ring; the core, whose actors talk most, in one process; each worker, where user code may do anything, alone.
- isolated: one process an actor.
The order is the order of the start: who is told things starts before those who tell it.
"""
from __future__ import annotations

import hashlib
from collections.abc import Callable

from ..scheduler.errors import Misuse
from .plan import Plan
from .specification import Actor, Child

MOST_WORKERS = 64  # each takes 15 MB and more; a higher number is a slip of the finger


def children_of(plan: Plan) -> tuple[Child, ...]:
    if plan.children:
        return tuple(Child(name, tuple(Actor(*actor) for actor in actors), *rest) for name, actors, *rest in plan.children)
    make = PLACEMENTS.get(plan.placement)
    if make is None:
        raise Misuse(f"placement {plan.placement!r}: it is one of {', '.join(sorted(PLACEMENTS))}")
    if not 1 <= plan.workers <= MOST_WORKERS:
        raise Misuse(f"workers={plan.workers}: a tree has 1 to {MOST_WORKERS}")
    return make(plan)


def tree(plan: Plan) -> tuple[Child, ...]:
    return (Child("storage", (storage(plan),)), Child("core", core(plan)), *workers(plan), *loading(plan))


def isolated(plan: Plan) -> tuple[Child, ...]:
    return (Child("storage", (storage(plan),)), *(Child(actor.name, (actor,)) for actor in core(plan)), *workers(plan), *loading(plan))


def storage(plan: Plan) -> Actor:
    return _actor("storage", "storage", plan)


def core(plan: Plan) -> tuple[Actor, ...]:
    return tuple(_actor(name, name, plan) for name in ("graph", "registry", "gates", "settle"))


def workers(plan: Plan) -> tuple[Child, ...]:
    return tuple(Child(name, (_actor(name, "worker", plan),), "restart") for name in names(plan))


def loading(plan: Plan) -> tuple[Child, ...]:
    """Who loads the app when the tree comes up by itself; it is gone when it has."""
    if not plan.app or not plan.load:
        return ()
    actor = _actor("client-load", "worker", plan)._replace(start="weft.deploy.connecting:loader")
    return (Child("load", (actor,), "done"),)


def _actor(name: str, role: str, plan: Plan) -> Actor:
    """Every actor is told all of it, and looks at what concerns it. `runtime` is what the store knows this tree by: the same after a restart in its folder, and no other's."""
    runtime = f"tree-{hashlib.blake2b(plan.run.encode(), digest_size=8).hexdigest()}"
    given = {"app": plan.app, "store": plan.store, "space": plan.space, "workers": names(plan), "runtime": runtime}
    return Actor(name, f"weft.deploy.roles:{role}", {**given, **plan.options})


def names(plan: Plan) -> list[str]:
    return [f"worker-{number}" for number in range(1, plan.workers + 1)]


PLACEMENTS: dict[str, Callable[[Plan], tuple[Child, ...]]] = {"tree": tree, "isolated": isolated}
