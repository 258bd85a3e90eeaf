"""What an id, a space, a scope and a path may be, and how an address is spelled.

- An id is a non-empty str of at most MAX_ID bytes that UTF-8 can spell, without NUL: it is an index key in every backend, and NUL is kept for weft's own marks.
- The text of an address is `[space:]id[@scope][#/path]`. Its marks inside the parts are escaped as RFC 6901 escapes "/": `~` and a digit. Each text is read in one way only.
Whoever makes an address calls this; nothing downstream checks again.
"""
from __future__ import annotations

import re

from .errors import BadAddress
from .model import VALUE, Path, parse_pointer, pointer

MAX_ID = 1024  # bytes; SQLite and PostgreSQL both index keys of this size without overflow pages
MAX_STEPS = 64  # of a path; documents themselves are at most values.MAX_DEPTH deep
MAX_INDEX = 10**15  # model.index_of reads indices below this; no array comes near it
META = "\0meta"  # first step of a metadata path; no step of a program can hold NUL

_ESCAPES = (("~", "~0"), (":", "~1"), ("#", "~2"), ("@", "~3"))
_BROKEN = re.compile(r"~(?![0-3])")


def checked_id(id: object, what: str = "id") -> str:
    if type(id) is not str or not id or "\0" in id or not encodable(id) or len(id.encode()) > MAX_ID:
        raise BadAddress(f"{shown(id)} is no {what}: it is a non-empty string of at most {MAX_ID} bytes, without NUL and lone surrogates")
    return id


def checked_space(space: object) -> str | None:
    return None if space is None else checked_id(space, "space")


def checked_step(step: object, owner: object) -> str:
    """A path step: a string, or an index as its decimal. `owner` is what the step is taken from, for the message."""
    if type(step) is int:
        if step < 0:
            raise BadAddress(f"{owner}[{shown(step)}]: an index counts from the start; read the length and subtract")
        if step >= MAX_INDEX:
            raise BadAddress(f"{owner}[{shown(step)}]: no array is that long")
        return str(step)
    if type(step) is not str:
        raise BadAddress(f"{owner}[{shown(step)}]: a path step is a string or an index from 0")
    if "\0" in step or not encodable(step):
        raise BadAddress(f"{owner}[{shown(step)}]: a path step holds no NUL and no lone surrogate")
    return step


def encodable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def checked_path(path: object) -> Path:
    """The path of a stored link, which may come from anywhere."""
    if type(path) is not tuple or len(path) > MAX_STEPS or not all(type(step) is str for step in path):
        raise BadAddress(f"{shown(path)} is no path: it is a tuple of at most {MAX_STEPS} strings")
    for step in path[1:] if path[:1] == (META,) else path:
        checked_step(step, "path")
    if path[:2] == (META, *VALUE):
        raise BadAddress(f"{shown(path)} is no path: the metadata of a document has no key {VALUE[0]!r}")
    return path


def stored_path(path: Path) -> Path:
    """Where a cell's path leads inside the document `{value, ...metadata}`."""
    return path[1:] if path[:1] == (META,) else VALUE + path


def spelled(space: str | None, scope: str, id: str, path: Path) -> str:
    """The text of an address."""
    ahead = "" if space is None else f"{_escaped(space)}:"
    behind = "" if scope == "space" else f"@{_escaped(scope)}"
    tail = f"#meta{pointer(path[1:])}" if path[:1] == (META,) else f"#{pointer(path)}" if path else ""
    return f"{ahead}{_escaped(id)}{behind}{tail}"


def unspelled(text: str) -> tuple[str | None, str, str, Path]:
    """The inverse of `spelled`. Raises ValueError for what it never spells; what the parts may be is still to be checked."""
    head, _, tail = text.partition("#")
    space, colon, rest = head.rpartition(":")
    id, at, scope = rest.partition("@")
    meta = tail == "meta" or tail.startswith("meta/")
    path = (META, *parse_pointer(tail[4:])) if meta else parse_pointer(tail)
    return _plain(space) if colon else None, _plain(scope) if at else "space", _plain(id), path


def _escaped(text: str) -> str:
    for plain, escaped in _ESCAPES:
        text = text.replace(plain, escaped)
    return text


def _plain(text: str) -> str:
    if _BROKEN.search(text) or any(mark in text for mark in ":#@"):
        raise ValueError(f"in {shown(text)} a mark is not escaped: ~ : # @ are spelled ~0 ~1 ~2 ~3")
    for plain, escaped in reversed(_ESCAPES):
        text = text.replace(escaped, plain)
    return text


def shown(value: object, limit: int = 80) -> str:
    """A value inside a message: one short line, whatever it is. A repr that fails, or that no terminal can print, must not hide the error it belongs to."""
    try:
        text = repr(value)
    except Exception:
        return f"<{type(value).__name__}>"
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"
