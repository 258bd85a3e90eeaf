"""`of=` types: what is stored, as the type that its cell declares, or a Misfit that names the place.

- What a type checker accepts for a type fits it: a bool is an int, an int is a float, an object may have more keys than its TypedDict.
- Builtins, TypedDicts, unions, literals and containers of these are checked, and the stored value itself is returned.
- Dataclasses, enumerations, msgspec structs and pydantic models are made anew for every reader, because a program may change them. Containers that hold such are read-only too;
  they are classes of their own so that `freeze` does not take them for stored values.
- Keys that a dataclass does not have are passed over, as msgspec and pydantic do, so that old data can be read.
One `Conversion` for each runtime: it remembers how each type is fitted, and for each position the value that was last found to fit.
"""
from __future__ import annotations

import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import fields, is_dataclass
from enum import Enum
from operator import is_
from typing import Any, Literal, TypeAlias, Union

import typing_extensions

from ..scheduler.cells import Link
from ..scheduler.errors import Misfit, Misuse
from ..scheduler.ids import shown
from ..scheduler.model import Entity, Path
from ..scheduler.values import ReadOnlyDict, ReadOnlyList, Value
from ..storage.place import named
from .foreign import fit_model, fit_struct
from .plain import model_class, struct_class
from .unfit import Unfit

Fit: TypeAlias = Callable[[Value], Any]
MOST = 4096  # positions whose value is remembered to fit; each holds on to one stored value

_ACCEPTED: dict[Any, tuple[type, ...]] = {
    int: (int,), float: (float, int), bool: (bool,), str: (str,), bytes: (bytes,), type(None): (type(None),), Link: (Link,),
    dict: (dict,), Mapping: (dict,), list: (list,), Sequence: (list,),
}  # fmt: skip
_ANYTHING = (None, Any, object, typing_extensions.Any)
_WRAPPERS = (typing.Annotated, typing.Required, typing.NotRequired, typing_extensions.ReadOnly, typing.Final)


class ConvertedDict(ReadOnlyDict):
    """An object that holds what conversion has made."""

    __slots__ = ()


class ConvertedList(ReadOnlyList):
    """A list that holds what conversion has made."""

    __slots__ = ()


class Conversion:
    def __init__(self) -> None:
        self._fits: dict[Any, Fit] = {}
        self._known: dict[tuple[Entity, Path, Any], Value] = {}

    def read(self, of: Any, value: Value, entity: Entity, path: Path) -> Any:
        """The stored value of a position as its type. Raises Misfit."""
        if type(value) is of:
            return value
        held = isinstance(value, (dict, list))
        try:
            if held and self._known.get((entity, path, of)) is value:
                return value
            made = self.fit(of)(value)
        except Unfit as unfit:
            raise Misfit(f"{named(entity, path + unfit.path())}: {unfit.why}") from None
        if held and made is value:
            if len(self._known) >= MOST:
                self._known.clear()
            self._known[entity, path, of] = value
        return made

    def fit(self, of: Any) -> Fit:
        """How values become this type. Raises Misuse for a type that nothing stored can become."""
        known = self._fits.get(of)
        if known is None:
            self._fits[of] = lambda value: self._fits[of](value)  # a type that holds itself finds this while it is being looked at
            try:
                known = self._fits[of] = self._made(of)
            except BaseException:
                del self._fits[of]
                raise
        return known

    def _made(self, of: Any) -> Fit:
        if of in _ANYTHING or isinstance(of, typing.TypeVar):
            return _as_it_is
        origin, args = typing.get_origin(of), typing.get_args(of)
        if origin in _WRAPPERS:
            return self.fit(args[0])
        if isinstance(of, typing.NewType):
            return self.fit(of.__supertype__)
        if isinstance(of, typing_extensions.TypeAliasType):
            return self.fit(of.__value__)
        if origin is Union or origin is types.UnionType:
            return self._union(of, args)
        if origin is Literal or origin is typing_extensions.Literal:
            return _literal(args)
        kind = origin or of
        accepted = _ACCEPTED.get(kind)
        if accepted is None:
            return self._record(kind)
        if kind in (dict, Mapping) and args:
            if args[0] not in (str, *_ANYTHING):
                raise Misuse(f"{shown(of)}: the keys of a stored object are strings; declare dict[str, …]")
            return self._items(self.fit(args[1]))
        return self._elements(self.fit(args[0])) if kind in (list, Sequence) and args else _builtin(kind, accepted)

    def _record(self, kind: Any) -> Fit:
        if typing_extensions.is_typeddict(kind):
            return self._typed_dict(kind)
        if isinstance(kind, type):
            struct, model = struct_class(), model_class()
            if struct is not None and issubclass(kind, struct):
                return lambda value: fit_struct(sys.modules["msgspec"], kind, value)
            if model is not None and issubclass(kind, model):
                return lambda value: fit_model(kind, value)
            if is_dataclass(kind):
                return self._dataclass(kind)
            if issubclass(kind, Enum):
                return lambda value: _called(kind, value)
        raise Misuse(f"of={shown(kind)}: nothing stored becomes that; declare a builtin, list[…], dict[str, …], a union, a TypedDict, a dataclass, a Struct or a model")

    def _union(self, of: Any, args: tuple[Any, ...]) -> Fit:
        others = [self.fit(arg) for arg in args if arg is not type(None)]
        optional = len(others) < len(args)

        def fit(value: Value) -> Any:
            if value is None and optional:
                return None
            if len(others) == 1:
                return others[0](value)  # so that what does not fit is named inside
            made = [found for found in (_tried(other, value) for other in others) if found is not _NOTHING]
            if not made:
                raise Unfit(f"{shown(value)} is none of {shown(of)}")
            return next((found for found in made if found is value), made[0])

        return fit

    def _elements(self, each: Fit) -> Fit:
        def fit(value: Value) -> Any:
            if not isinstance(value, list):
                raise Unfit(f"a list was declared, and {shown(value)} is there")
            made = [_below(each, item, str(index)) for index, item in enumerate(value)]
            return value if all(map(is_, made, value)) else ConvertedList(made)

        return fit

    def _items(self, each: Fit) -> Fit:
        def fit(value: Value) -> Any:
            if not isinstance(value, dict):
                raise Unfit(f"an object was declared, and {shown(value)} is there")
            made = {key: _below(each, item, key) for key, item in value.items()}
            return value if all(made[key] is item for key, item in value.items()) else ConvertedDict(made)

        return fit

    def _typed_dict(self, kind: Any) -> Fit:
        hints = _hints(kind)
        known = {name: self.fit(hint) for name, hint in hints.items()}
        needed = frozenset(name for name, hint in hints.items() if _needed(hint, name in kind.__required_keys__))

        def fit(value: Value) -> Any:
            made = dict(_fields(kind, known, needed, value))
            return value if all(made[name] is value[name] for name in made) else ConvertedDict({**value, **made})

        return fit

    def _dataclass(self, kind: Any) -> Fit:
        hints, taken = _hints(kind), [field for field in fields(kind) if field.init]
        known = {field.name: self.fit(hints[field.name]) for field in taken}
        needed = frozenset(field.name for field in taken if field.default is NO_DEFAULT and field.default_factory is NO_DEFAULT)
        return lambda value: _called(kind, **dict(_fields(kind, known, needed, value)))


_NOTHING = object()


def _as_it_is(value: Value) -> Value:
    return value


def _builtin(kind: Any, accepted: tuple[type, ...]) -> Fit:
    def fit(value: Value) -> Value:
        if isinstance(value, accepted):
            return value
        raise Unfit(f"{_name(kind)} was declared, and {shown(value)} is there")

    return fit


def _literal(options: tuple[Any, ...]) -> Fit:
    """An option that is an enumeration's member is stored as its value."""
    stored = [(option, option.value if isinstance(option, Enum) else option) for option in options]

    def fit(value: Value) -> Any:
        for option, plain in stored:
            if type(plain) is type(value) and plain == value:
                return value if option is plain else option
        raise Unfit(f"{shown(value)} is none of {', '.join(shown(plain) for _, plain in stored)}")

    return fit


def _tried(fit: Fit, value: Value) -> Any:
    try:
        return fit(value)
    except Unfit:
        return _NOTHING


def _below(fit: Fit, value: Value, step: str) -> Any:
    try:
        return fit(value)
    except Unfit as unfit:
        unfit.steps.append(step)
        raise


def _fields(kind: Any, known: dict[str, Fit], needed: frozenset[str], value: Value) -> Iterator[tuple[str, Any]]:
    """The fields that are there, each as its type."""
    if not isinstance(value, dict):
        raise Unfit(f"{_name(kind)} was declared, and {shown(value)} is there")
    absent = sorted(needed - value.keys())
    if absent:
        raise Unfit(f"{_name(kind)} needs {', '.join(map(repr, absent))}, and {shown(value)} is there")
    for name, fit in known.items():
        if name in value:
            yield name, _below(fit, value[name], name)


def _called(kind: Any, *args: Any, **named: Any) -> Any:
    """The class may have an opinion of its own."""
    try:
        return kind(*args, **named)
    except (TypeError, ValueError) as error:
        raise Unfit(f"{_name(kind)} refuses it: {error}") from None


def _hints(kind: Any) -> dict[str, Any]:
    try:
        return typing_extensions.get_type_hints(kind, include_extras=True)
    except NameError as error:
        raise Misuse(f"of={_name(kind)}: its annotations cannot be resolved ({error}); define what they name at the top of the module") from None


def _needed(hint: Any, otherwise: bool) -> bool:
    """The class itself does not see NotRequired where annotations are texts."""
    origin = typing.get_origin(hint)
    return origin is typing.Required or (origin is not typing.NotRequired and otherwise)


def _name(kind: Any) -> str:
    return str(getattr(kind, "__name__", kind))
