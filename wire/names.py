"""Actor names: what may stand in an envelope, a file name and a log line alike."""
from __future__ import annotations

import re

from ..scheduler.errors import Misuse
from ..scheduler.ids import shown

_NAME = re.compile(r"[a-z][a-z0-9_.:-]{0,63}\Z", re.ASCII)


def is_name(name: str) -> bool:
    return type(name) is str and _NAME.match(name) is not None


def checked_name(name: str) -> str:
    if not is_name(name):
        raise Misuse(f"{shown(name)} is no actor name: a small letter, then up to 63 of a-z 0-9 _ . : -")
    return name
