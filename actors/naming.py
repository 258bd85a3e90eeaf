"""Arguments as values, and the ids of instances.

- An argument is a value that could be stored, or an address (a cell, stream or family), or lists and objects of these. It is frozen, so that whoever shares a spec sees one value.
- The id of an instance is the stem and, in brackets, its arguments in the order of the parameters: `shop:add_up[ann]`. Texts stand as they are, other values as compact JSON, an
  address as its text. A text is quoted where it could be read in two ways, so that instances of one function with different values never share an id.
- An id fits a key of every backend: arguments that are too long are cut and end in a digest of the whole.
`specs` calls this.
"""
from __future__ import annotations

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from ..scheduler.cells import Cell, Family, Link, Stream
from ..scheduler.errors import Misuse, NotStorable
from ..scheduler.ids import encodable, shown
from ..scheduler.values import ReadOnlyDict, ReadOnlyList, freeze
from .parameters import Parameters

LONGEST_STEM = 512  # bytes of an id before its arguments
LONGEST = 400  # bytes of the arguments in an id; both together stay below ids.MAX_ID, also when they are cut
KEPT = 100  # characters of longer arguments that are kept in front of the digest, for people
ADDRESS_DEPTH = 4  # lists and objects around an address; values without addresses may be as deep as any

_ADDRESSES = (Cell, Stream, Family)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_JSON_WORDS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?\Z")


def checked_node_id(id: object, owner: str) -> str:
    """An id as programs give it."""
    if type(id) is not str or not id or "\0" in id or not encodable(id) or len(id.encode()) > LONGEST_STEM:
        raise Misuse(f"{owner}: id={shown(id)} is no id; it is a non-empty text of at most {LONGEST_STEM} bytes, without NUL and lone surrogates")
    return id


def frozen_args(args: object, owner: str) -> dict[str, Any]:
    """Arguments as they are kept: by name, checked, read-only."""
    if not isinstance(args, Mapping) or not all(type(name) is str for name in args):
        raise Misuse(f"{owner}: args={shown(args)} is no mapping of parameter names to values; write args={{'name': value}}")
    kept = {}
    for name, value in args.items():
        try:
            kept[name] = _frozen(value, ADDRESS_DEPTH)
        except NotStorable as refused:
            raise NotStorable(f"{owner}: the argument {name!r} is neither storable nor an address: {refused}") from None
    return kept


def instance_id(stem: str, args: Mapping[str, Any], parameters: Parameters, texts: frozenset[str]) -> str:
    """The stem, and the arguments in brackets. `texts` are the parameters that only ever take texts, so that "17" needs no quotes to differ from 17."""
    if not args:
        return stem
    ordered = parameters.ordered(args)
    parts = []
    for place, (name, value) in enumerate(ordered.items()):
        gap = parameters.names[place : place + 1] != (name,)  # behind a parameter that was left out, a value alone would not say whose it is
        spelled = _spelled(value, name in texts, len(ordered) > 1, parameters)
        parts.append(f"{name}={spelled}" if gap else spelled)
    inside = ",".join(parts)
    if len(inside.encode()) > LONGEST:
        inside = f"{inside[:KEPT]}…{sha256(inside.encode()).hexdigest()[:32]}"
    return f"{stem}[{inside}]"


def exact(args: Mapping[str, Any]) -> str:
    """Arguments as one text that is equal for equal arguments only, types included."""
    return json.dumps(dict(args), ensure_ascii=False, sort_keys=True, default=_tagged)


def _frozen(value: Any, room: int) -> Any:
    if isinstance(value, _ADDRESSES):
        return value
    try:
        return freeze(value)
    except NotStorable:
        if not room or not _addressed(value, room):
            raise
    if isinstance(value, list):
        return ReadOnlyList([_frozen(item, room - 1) for item in value])
    return ReadOnlyDict({key: _frozen(item, room - 1) for key, item in value.items()})


def _addressed(value: Any, room: int) -> bool:
    """A list or object with an address inside, which is all that `freeze` may have against it so far."""
    if type(value) not in (list, dict) or not room:
        return False
    items = value if isinstance(value, list) else value.values()
    return all(type(key) is str for key in value if isinstance(value, dict)) and any(isinstance(item, _ADDRESSES) or _addressed(item, room - 1) for item in items)


def _spelled(value: Any, only_text: bool, several: bool, parameters: Parameters) -> str:
    if not isinstance(value, (str, Cell, Stream)):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=_told)
    text = str(value)
    named = "=" in text and text.partition("=")[0] in parameters.names
    if text[:1] == '"' or named or _CONTROL.search(text) or (several and "," in text) or (not only_text and _reads_as_json(text)):
        return json.dumps(text, ensure_ascii=False)
    return text


def _reads_as_json(text: str) -> bool:
    return text[:1] in ("[", "{") or text in _JSON_WORDS or _NUMBER.match(text) is not None


def _told(value: Any) -> Any:
    """What JSON has no form for, inside an id."""
    return {"bytes": value.hex()} if isinstance(value, bytes) else {"link": str(value)} if isinstance(value, Link) else repr(value) if isinstance(value, Family) else str(value)


def _tagged(value: Any) -> Any:
    return {f"\0{type(value).__name__}": [value.hex()] if isinstance(value, bytes) else [str(value), repr(value)]}
