"""What runs, as people and programs see it: the processes of a tree with their actors, and what each costs. Read from `tree.json` and from the kernel; the tree is not asked, so
that a tree that hangs is listed too."""
from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import psutil  # type: ignore[import-untyped]

from .remains import is_alive

MEGABYTE = 1_000_000


def processes(state: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The root first, then its children in the order of their start."""
    root = {"name": "supervisor", "actors": [], "restarts": 0, "last_death": None} | {key: state[key] for key in ("pid", "born")}
    for entry in (root, *state["processes"]):
        yield {"process": entry["name"], "actors": entry["actors"], "pid": entry["pid"], **_cost(entry), "restarts": entry["restarts"], "last_death": entry["last_death"]}


def _cost(entry: dict[str, Any]) -> dict[str, Any]:
    """`memory` in bytes: what it has for itself, and its part of what it shares, where the system tells. `cpu` in percent of one core since its start."""
    if not is_alive(entry):
        return {"state": "dead", "seconds": 0.0, "cpu": 0.0, "memory": 0}
    try:
        process = psutil.Process(entry["pid"])
        with process.oneshot():
            used, state = process.cpu_times(), process.status()
            spent, age = used.user + used.system, max(time.time() - entry["born"], 0.01)
            memory = process.memory_full_info()
    except psutil.Error:
        return {"state": "dead", "seconds": 0.0, "cpu": 0.0, "memory": 0}
    word = "stopped" if state == psutil.STATUS_STOPPED else "running"
    return {"state": word, "seconds": round(spent, 2), "cpu": round(100 * spent / age, 1), "memory": getattr(memory, "pss", memory.rss)}


def summary(state: dict[str, Any]) -> dict[str, Any]:
    """The tree in one object."""
    listed = list(processes(state))
    about = {key: state[key] for key in ("app", "placement", "store", "space", "run", "pid")}
    alive = [each for each in listed if each["state"] != "dead"]
    sums = {"seconds_up": round(time.time() - state["born"], 1), "processes": len(alive), "restarts": sum(each["restarts"] for each in listed)}
    return about | sums | {"memory": sum(each["memory"] for each in alive)}
