"""Fitting a stored value to a class of msgspec or pydantic, by the library itself; what it complains about becomes the path and the reason of an Unfit.

`conversion` finds the libraries among the loaded modules and hands them in; nothing here imports them.
"""
from __future__ import annotations

import re
from typing import Any

from ..scheduler.values import Value
from .unfit import Unfit

_AT = re.compile(r"(.*) - at `(\$.*)`$", re.DOTALL)  # how msgspec says where: "Expected `int`, got `str` - at `$.items[0].price`"
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")


def fit_struct(msgspec: Any, kind: Any, value: Value) -> Any:
    try:
        return msgspec.convert(value, type=kind)
    except msgspec.ValidationError as error:
        said = _AT.match(str(error))
        if said is None:
            raise Unfit(str(error)) from None
        raise Unfit(said[1], tuple(key or index for key, index in _STEP.findall(said[2]))) from None


def fit_model(kind: Any, value: Value) -> Any:
    try:
        return kind.model_validate(value)
    except ValueError as error:  # pydantic's ValidationError is one
        first: list[Any] = getattr(error, "errors", list)()[:1]
        if not first:
            raise Unfit(f"{kind.__name__}: {error}") from None
        raise Unfit(str(first[0]["msg"]), tuple(str(step) for step in first[0]["loc"])) from None
