"""Specs as registrations that travel, and back: what a client declares or a run makes, and what a worker runs.

- A function that can be imported travels by its name with its arguments; any other only inside its process, by its place in a table (`functions`).
- Arguments that are addresses travel as such. The type that a cell declares does not travel with an argument; an output has that of its declaration.
"""
from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ..scheduler.cells import Cell, Family, Stream
from ..scheduler.errors import NotImportable, NotStorable, ProtocolError, WeftError
from ..scheduler.ids import shown
from ..scheduler.values import ReadOnlyDict, ReadOnlyList, Value, freeze
from ..wire.ring import Declared
from .execution import Body
from .functions import LOCAL, Functions
from .nodes import surface_of
from .parameters import parameters_of
from .specs import NodeSpec

_VALUE, _CELL, _STREAM, _FAMILY, _LIST, _OBJECT = "value", "cell", "stream", "family", "list", "object"


class Runnable(NamedTuple):
    """What a worker knows of a registration."""

    body: Body
    space: str
    group: str | None


def declared_of(
    spec: NodeSpec[..., Any], id: str, space: str, functions: Functions | None, *, group: str | None = None, demanded: bool = False, hidden: bool = False
) -> Declared:
    """A node's registration. Without a table of functions the spec has to be importable; raises NotImportable, and says what to change."""
    surface = surface_of(spec, space)
    kind = "family" if isinstance(spec.output, Family) else spec.kind
    automatic = spec.auto_debounce or spec.kind == "computation"
    what = _told(spec, id, space, functions, group, hidden)
    times = (spec.debounce, spec.max_wait, spec.throttle, automatic)
    return Declared(id, kind, space, surface.outputs, surface.envelope, surface.declared, *times, group, demanded, what)


def _told(spec: NodeSpec[..., Any], id: str, space: str, functions: Functions | None, group: str | None, hidden: bool) -> Value:
    if functions is not None:
        return freeze({"fn": functions.add(id, spec), "args": {}, "id": spec.id, "space": space, "group": group, "hidden": hidden})
    plain: dict[str, Value] = {}
    places: dict[str, Value] = {}
    for name, value in spec.args.items():
        try:
            plain[name] = freeze(value)
        except NotStorable:
            places[name] = _tagged(value)
    output = None if spec.output is None else _tagged(spec.output)
    told = {"fn": spec.importable(), "args": plain, "places": places, "kind": spec.kind, "output": output, "id": spec.id, "space": space, "group": group, "hidden": hidden}
    return freeze(told)


def runnable(told: Value, functions: Functions) -> Runnable:
    """What a registration says is to be run. Raises NotImportable, or ProtocolError for what nobody declares."""
    try:
        name, space, group, hidden = told["fn"], told["space"], told["group"], told.get("hidden") is True
        found = functions.find(name)
        spec = found if isinstance(found, NodeSpec) and name.startswith(LOCAL) else _bound(found, told)
    except WeftError:
        raise
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise ProtocolError(f"{shown(told)} describes nothing that can be run: {error}") from None
    return Runnable(Body.of(spec, space, hidden), space, group)


def _bound(found: Any, told: Mapping[str, Any]) -> NodeSpec[..., Any]:
    """The declared spec with these arguments and this output; or one for a plain function."""
    args = ReadOnlyDict({**told["args"], **{name: _untagged(value) for name, value in told.get("places", {}).items()}})
    of = found.output.of if isinstance(found, NodeSpec) and found.output is not None else None
    place = told.get("output")
    output = None if place is None else _untagged(place, of)
    if isinstance(found, NodeSpec):
        return replace(found, id=told["id"], args=args, output=output)
    if told["kind"] not in ("computation", "effect"):
        raise NotImportable(f"{shown(told['kind'])} is no kind of node")
    asynchronous = inspect.iscoroutinefunction(found)
    return NodeSpec(id=told["id"], kind=told["kind"], fn=found, parameters=parameters_of(found, "a worker"), output=output, args=args, is_async=asynchronous, stem=told["id"])


def _tagged(value: Any) -> Value:
    """An argument with addresses in it, as a value."""
    if isinstance(value, Cell):
        return [_CELL, value.space, value.scope, value.id, list(value.path)]
    if isinstance(value, Stream):
        return [_STREAM, *_tagged(value.cell)[1:]]
    if isinstance(value, Family):
        return [_FAMILY, value.id, list(value.params), value.space]
    if isinstance(value, list):
        return [_LIST, [_tagged(item) for item in value]]
    if isinstance(value, dict):
        return [_OBJECT, {key: _tagged(item) for key, item in value.items()}]
    return [_VALUE, value]


def _untagged(value: Any, of: Any = None) -> Any:
    kind, *rest = value
    if kind in (_CELL, _STREAM):
        space, scope, id, path = rest
        cell: Cell[Any] = Cell(space, scope, id, tuple(path), of)
        return cell if kind == _CELL else Stream(cell)
    if kind == _FAMILY:
        id, params, space = rest
        return Family(id, tuple(params), space, None)
    (inner,) = rest
    if kind == _LIST:
        return ReadOnlyList([_untagged(item) for item in inner])
    if kind == _OBJECT:
        return ReadOnlyDict({key: _untagged(item) for key, item in inner.items()})
    return inner
