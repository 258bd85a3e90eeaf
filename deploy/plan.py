"""What a tree is asked to be: the plan, as data. Made by the command line and by `Runtime`, given to the root as one line of JSON, turned into children by `placement`."""
from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from ..scheduler.errors import Misuse


class Plan(NamedTuple):
    """
    app        the module that workers import, "" for none yet
    load       whether the tree loads the app by itself, or whoever started it will
    store      "memory:", or "sqlite:FOLDER"
    run        the run folder
    path       sys.path as the starter has it, so that the app is found where the starter would find it
    detached   its output goes to `tree.log` in the run folder
    owner      a reading end of the starter's lifeline, by number, or -1: the tree stops when the starter has ended
    report     where to say that it is ready, or why not; by number, or -1
    options    whatever else the actors are made with, by name
    children   child specifications as they are, instead of a placement: for trees of other actors
    """

    app: str
    run: str
    store: str = "memory:"
    placement: str = "tree"
    workers: int = 1
    load: bool = True
    space: str = "main"
    path: tuple[str, ...] = ()
    detached: bool = False
    owner: int = -1
    report: int = -1
    options: Mapping[str, Any] = {}
    children: tuple[Any, ...] = ()


Placement = Literal["tree", "isolated"]


def written(plan: Plan) -> str:
    return json.dumps({name: value for name, value in plan._asdict().items() if value != Plan._field_defaults.get(name)}, ensure_ascii=True)


def read(text: str) -> Plan:
    try:
        found: Any = json.loads(text)
        given: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}
        return Plan(**given)
    except (ValueError, TypeError, AttributeError) as error:
        raise Misuse(f"the plan of a tree is one JSON object: {error}; `weft up` writes it") from None
