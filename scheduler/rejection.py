"""The rejection taxonomy: what a refused commit means for whoever sent it (decision 4).

Rejections are values that the caller must look at, not exceptions. Classification is by class name, so it is the same on both sides of a wire.
"""
from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from .errors import WeftError, by_name, describe


class Fate(Enum):
    """What to do with the run or event whose commit was refused."""

    STALE_BASIS = "stale-basis"  # a lost race on data: again after repair, off budget
    PERMANENT = "permanent"  # a precondition failed: never again
    TERMINAL = "terminal"  # no retry can help: the request itself is wrong
    TRANSIENT = "transient"  # the world: bounded retries for nodes, none for events


_FATES = {
    "ConflictError": Fate.STALE_BASIS,
    "StorageTransactionInconsistent": Fate.STALE_BASIS,
    "PreconditionFailedError": Fate.PERMANENT,
    "ProtocolError": Fate.TERMINAL,
    "PatchApplyError": Fate.TERMINAL,
    "TooLarge": Fate.TERMINAL,
    "Misuse": Fate.TERMINAL,
    "BadAddress": Fate.TERMINAL,
    "NotStorable": Fate.TERMINAL,
    "NotImportable": Fate.TERMINAL,
    "InsideRun": Fate.TERMINAL,
    "SecondSpace": Fate.TERMINAL,
    "LinkLoop": Fate.TERMINAL,
    "CorruptRow": Fate.TERMINAL,
    "Aborted": Fate.TERMINAL,
    "StaleEpoch": Fate.TERMINAL,
}


class Rejection(NamedTuple):
    """A refused commit: the error's class name and message, with the fields that survive the wire."""

    name: str
    message: str
    fields: dict[str, Any]

    @property
    def fate(self) -> Fate:
        return _FATES.get(self.name, Fate.TRANSIENT)

    def error(self) -> WeftError:
        return by_name(self.name, self.message, self.fields)


def rejection(error: BaseException) -> Rejection:
    """The rejection that stands for an error."""
    return Rejection(*describe(error))
