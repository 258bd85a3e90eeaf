"""Whether another process can find a function by its name: workers import functions, they are never sent any.

A function is found as `module:qualname` if that name, in that module, stands for it or for a spec of it.
"""
from __future__ import annotations

import sys
from types import MethodType

from ..scheduler.errors import NotImportable
from .parameters import Function, where


def importable(fn: Function) -> str:
    """`module:qualname`. Raises NotImportable, and says what to change."""
    name = where(fn)
    if isinstance(fn, MethodType):
        raise NotImportable(f"{name} is a method bound to an object, which a worker does not have; make it a function of a module")
    if fn.__module__ == "__main__":
        raise NotImportable(f"{name} is in the script that was started, which a worker cannot import; move it into a module of its own and import that")
    if fn.__name__ == "<lambda>":
        raise NotImportable(f"{name} is a lambda, which has no name to import; write it as a def at the top of a module")
    if "<locals>" in fn.__qualname__:
        raise NotImportable(f"{name} is defined inside a function, where a worker cannot reach it; move it to the top of its module and pass what it needs with bind(args={{…}})")
    found: object = sys.modules.get(fn.__module__)
    for step in fn.__qualname__.split("."):
        found = getattr(found, step, None)
    if found is not fn and getattr(found, "fn", None) is not fn:
        raise NotImportable(f"{name} stands for something else by now, so a worker would import another function; give each function a name of its own")
    return name
