"""Loading: from what `rt.load` is given to the specs in it. It decides what belongs to a load and whether it can stand together; it registers nothing.

- A module gives what is defined there, in order: specs of its own functions, not those it imported. One that still needs arguments is a template, and is left for `bind`.
- A text is the import path of a module. Lists and tuples are flattened.
- The same spec twice is taken once. Two specs under one id, two handlers of one stream and two writers of one address are errors that name both.
"""
from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import FunctionType, ModuleType

from ..scheduler.errors import Misuse, NotImportable
from ..scheduler.ids import shown
from .claims import Claims, Spec
from .parameters import where
from .specs import HandlerSpec, NodeSpec


def specs_of(what: object) -> list[Spec]:
    """The specs in a spec, a module, an import path, or lists of these."""
    taken: dict[str, Spec] = {}
    for spec in _found(what):
        if (other := taken.setdefault(spec.id, spec)) is not spec and other != spec:
            raise Misuse(f"{other!r} and {spec!r} are two things under one id; give one of them another with id=, or bind(id=…)")
    specs = list(taken.values())
    Claims().add(specs)
    return specs


def imported(path: str) -> ModuleType:
    """The module at an import path. Raises NotImportable with the reason behind it."""
    if not path or not all(step.isidentifier() for step in path.split(".")):
        raise Misuse(f"{shown(path)} is no import path; write it as in an import: 'shop' or 'company.shop'")
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name is not None and (path == error.name or path.startswith(f"{error.name}.")):
            raise NotImportable(f"there is no module {error.name!r}, so {path!r} cannot be loaded; is its folder on sys.path, or the package installed?") from error
        raise NotImportable(f"the module {path!r} was found, but it imports {error.name!r}, which is not there; install that, or mend the import") from error
    except Exception as error:
        raise NotImportable(f"the module {path!r} was found, but importing it failed with {type(error).__name__}: {error}") from error


def _found(what: object) -> Iterator[Spec]:
    if isinstance(what, NodeSpec):
        if what.unbound:
            raise Misuse(f"{what.id} cannot run yet: its parameter {what.unbound[0]!r} has no argument; load {what.fn.__name__}.bind(args={{{what.unbound[0]!r}: …}})")
        yield what
    elif isinstance(what, HandlerSpec):
        yield what
    elif isinstance(what, str):
        yield from _defined_in(imported(what))
    elif isinstance(what, ModuleType):
        yield from _defined_in(what)
    elif isinstance(what, (list, tuple)):
        for part in what:
            yield from _found(part)
    elif isinstance(what, FunctionType):
        raise Misuse(f"{where(what)} is a plain function; declare what it is with @weft.computation, @weft.effect or @weft.handler")
    else:
        raise Misuse(f"{shown(what)} cannot be loaded; load takes specs, a module, its import path, or a list of these")


def _defined_in(module: ModuleType) -> Iterator[Spec]:
    for value in list(vars(module).values()):
        if isinstance(value, (NodeSpec, HandlerSpec)) and value.fn.__module__ == module.__name__ and not (isinstance(value, NodeSpec) and value.unbound):
            yield value
