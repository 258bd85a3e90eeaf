"""Functions by name: how a node's function reaches whoever runs it.

- `module:qualname` is found by importing it: a function, or what a decorator made of one.
- `local:N` is a spec of this process, kept here; an embedded runtime shares one table between clients and workers, so that closures can run. No other process finds it.
- Of each node the newest two are kept: a run of the one before may be under way. So the table is as large as there are nodes.
Any thread may use it.
"""
from __future__ import annotations

import importlib
import threading
from types import FunctionType
from typing import Any

from ..scheduler.errors import NotImportable
from ..scheduler.ids import shown
from .parameters import Function
from .specs import NodeSpec

LOCAL = "local:"


class Functions:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next = 0
        self._specs: dict[str, NodeSpec[..., Any]] = {}
        self._of: dict[str, list[str]] = {}  # by node: the names of its newest specs

    def __len__(self) -> int:
        return len(self._specs)

    def add(self, node: str, spec: NodeSpec[..., Any]) -> str:
        """The name under which this process finds the spec of the node."""
        with self._lock:
            names = self._of.setdefault(node, [])
            if names and self._specs[names[-1]] == spec:
                return names[-1]
            self._next += 1
            name = f"{LOCAL}{self._next}"
            self._specs[name] = spec
            names.append(name)
            if len(names) > 2:
                del self._specs[names.pop(0)]
            return name

    def forget(self, node: str) -> None:
        """The node is gone."""
        with self._lock:
            for name in self._of.pop(node, ()):
                del self._specs[name]

    def find(self, name: str) -> NodeSpec[..., Any] | Function:
        """Raises NotImportable."""
        if name.startswith(LOCAL):
            spec = self._specs.get(name)
            if spec is None:
                raise NotImportable(f"{name} is a function of another process, or of a node that is gone; make it a function of a module to run it elsewhere")
            return spec
        return imported(name)


def imported(name: str) -> NodeSpec[..., Any] | Function:
    """What `module:qualname` stands for."""
    module, mark, way = name.partition(":")
    if not mark or not module or not way:
        raise NotImportable(f"{shown(name)} names no function; it is written module:qualname")
    try:
        found: Any = importlib.import_module(module)
    except BaseException as error:  # whatever a module does while it is imported, it is not there
        raise NotImportable(f"{name}: the module cannot be imported here: {type(error).__name__}: {error}") from error
    for step in way.split("."):
        found = getattr(found, step, None)
    if not isinstance(found, (NodeSpec, FunctionType)):
        raise NotImportable(f"{name}: the module has no such function")
    return found
