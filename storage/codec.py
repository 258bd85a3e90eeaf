"""The port through which storage turns values into bytes. Storage knows no encoding: who opens an engine hands one in."""
from __future__ import annotations

from typing import Protocol

from ..scheduler.values import Value


class Codec(Protocol):
    """Both raise a WeftError on what they cannot take. `decode(encode(value))` is the same value, type-strictly; equal values in equal key order give equal bytes.

    `encode` is given frozen values only (see `scheduler.values.freeze`).
    """

    def encode(self, value: Value) -> bytes: ...

    def decode(self, data: bytes) -> Value: ...
