"""Child specifications: what one process of the tree hosts, as data (design card: a supervised process tree).

Everything here is plain: it crosses to the child as msgpack, so that no object of ours is ever pickled. `start` of an actor names what makes it, as `module:name`: a Component, or
a function that is called as one (transport, name, epoch, reporter=…, and the parameters). Made by `placement`; read by `tree`, which starts children, and `hosting`, which is one.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from ..scheduler.errors import Misuse
from ..wire.codec import VALUES
from ..wire.names import checked_name

SHUTDOWN = 5.0  # seconds a process is given to stop: its actors handle what has arrived, which takes milliseconds, and an engine writes what it has accepted


class Actor(NamedTuple):
    """One actor: its name on the wire, what makes it, and what it is made with."""

    name: str
    start: str
    parameters: Mapping[str, Any] = {}


class Child(NamedTuple):
    """One process: its name, the actors in it in the order of their start, what its death means, and how long it may take to stop.

    lost   "restart": it is started again; "stop": the tree cannot do without it; "done": it does its work at its start and then ends, which is no loss
    """

    name: str
    actors: tuple[Actor, ...]
    lost: Literal["restart", "stop", "done"] = "stop"
    shutdown: float = SHUTDOWN


class Start(NamedTuple):
    """One start of a child: in which folder, and as which epoch its actors speak."""

    folder: str
    child: Child
    epoch: int


def encoded(start: Start) -> bytes:
    """Raises NotStorable if a parameter is not plain."""
    child = start.child
    actors = [{"name": checked_name(actor.name), "start": actor.start, "parameters": dict(actor.parameters)} for actor in child.actors]
    return VALUES.encode({"folder": start.folder, "epoch": start.epoch, "name": child.name, "lost": child.lost, "shutdown": child.shutdown, "actors": actors})


def decoded(data: bytes) -> Start:
    found: Any = VALUES.decode(data)
    actors = tuple(Actor(each["name"], each["start"], dict(each["parameters"])) for each in found["actors"])
    return Start(found["folder"], Child(found["name"], actors, found["lost"], found["shutdown"]), found["epoch"])


def checked(children: tuple[Child, ...]) -> tuple[Child, ...]:
    """Names are told apart: two processes, or two actors, of one name would be one on the wire."""
    for what, names in (("process", [child.name for child in children]), ("actor", [actor.name for child in children for actor in child.actors])):
        for name in names:
            if names.count(checked_name(name)) > 1:
                raise Misuse(f"two of the tree's {what}{'es' if what == 'process' else 's'} are called {name!r}; give each a name of its own")
    return children
