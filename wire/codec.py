"""Bytes and back: msgpack with limits. The only file that imports msgpack.

Invariants
- `Values.decode` accepts exactly what `Values.encode` makes: it encodes again and compares, so that repeated keys, padded numbers and short floats are refused, not guessed at.
- What comes back is frozen (ReadOnlyDict, ReadOnlyList, Link) and type-strict: True, 1 and 1.0 stay apart, NaN and -0.0 survive, bytes are bytes.
- No decode costs more than its limits allow, and none lets anything out but Undecodable with a reason word.
- In a message, tuples are the message's own; a document is one ext inside it, encoded as it is stored.
Called by mailboxes, links and loopback (a `Codec` each: its packer is used by one thread), and by storage (`VALUES`, which any thread may use).
"""
from __future__ import annotations

from typing import Any, NoReturn

import msgpack  # type: ignore[import-untyped]

from ..scheduler.errors import Misuse, NotStorable, Undecodable
from ..scheduler.values import MISSING, Link, MissingType, ReadOnlyDict, ReadOnlyList, Value, freeze
from .envelope import Frame
from .limits import DOCUMENT, MESSAGE, SMALL, Limits, examine, excess, is_flat, is_small, suspects
from .records import Wrong
from .table import Message, Table

_LINK, _DOCUMENT, _ABSENT = 1, 2, 3  # ext codes; every other is refused
_FROZEN = frozenset({ReadOnlyDict, ReadOnlyList})
_pack, _unpack = msgpack.packb, msgpack.unpackb


class Values:
    """The stored form of documents and their parts."""

    def __init__(self, limits: Limits = DOCUMENT) -> None:
        self.limits = limits

    def encode(self, value: Value) -> bytes:
        """The bytes of a value. NotStorable if it is none, or more than may be read back."""
        frozen = value if type(value) in _FROZEN else freeze(value)
        try:
            data: bytes = _pack(frozen, default=_extend_link)
            if len(data) > self.limits.bytes:
                raise excess("oversized", f"{len(data)} bytes in one document, where {self.limits.bytes} are allowed")
            if not is_flat(suspects(data), len(data), self.limits):
                examine(frozen, self.limits)
        except Undecodable as error:
            raise NotStorable(str(error)) from None
        except ValueError as error:
            raise NotStorable(f"nested too deep, or not a value: {error}") from None
        return data

    def decode(self, data: bytes) -> Value:
        """The frozen value of its bytes. Undecodable if they are not exactly what `encode` makes."""
        if len(data) > self.limits.bytes:
            raise excess("oversized", f"{len(data)} bytes in one document, where {self.limits.bytes} are allowed")
        return _decode_value(data, self.limits, None)


class Codec:
    """Frames of one table of messages. One thread uses it."""

    def __init__(self, table: Table, limits: Limits = MESSAGE) -> None:
        self.table = table
        self.limits = limits
        self._packer = msgpack.Packer(default=_extend)
        self._codes = table.codes
        self._loads = table.loads
        self._dumps = table.dumps

    def encode(self, sender: str, sender_epoch: int, receiver_epoch: int, seq: int, ask: int, message: Message) -> bytes:
        kind = type(message)
        try:
            dump = self._dumps.get(kind)
            body = dump(message, _wrap) if dump else message
            data: bytes = self._packer.pack((self._codes[kind], sender, sender_epoch, receiver_epoch, seq, ask, body))
        except KeyError:
            raise Misuse(f"{kind.__name__} is no message of the table; declare it there") from None
        except (TypeError, ValueError, OverflowError) as error:
            raise Misuse(f"{kind.__name__} cannot be sent: {error}") from error
        if len(data) > self.limits.bytes:
            raise Misuse(f"{kind.__name__} takes {len(data)} bytes, and a message may take {self.limits.bytes}: send it in parts")
        return data

    def decode(self, data: bytes) -> Frame:
        """The frame, checked field by field; Undecodable otherwise."""
        raw = self._unpack_small(data) if len(data) <= SMALL else self._unpack_large(data)
        if type(raw) is not tuple or tuple(map(type, raw)) != _ENVELOPE:
            raise Undecodable("a frame is an array of seven: type, sender, two epochs, sequence number, ask, body", reason="envelope")
        code, sender, sender_epoch, receiver_epoch, seq, ask, body = raw
        load = self._loads.get(code)
        if load is None:
            raise Undecodable(f"from {sender[:40]!r}: no message has type code {code}", reason="unknown-type")
        try:
            frame: Frame = _new(Frame, (sender, sender_epoch, receiver_epoch, seq, ask, load(body)))
            return frame
        except Wrong as wrong:
            raise wrong.undecodable(self.table.kinds[code].__name__) from None

    def _unpack_small(self, data: bytes) -> Any:
        try:
            return _unpack(data, use_list=False, ext_hook=_extension, max_map_len=0)
        except Exception as error:
            _refuse(error)

    def _unpack_large(self, data: bytes) -> Any:
        if len(data) > self.limits.bytes:
            raise excess("oversized", f"a frame of {len(data)} bytes, where {self.limits.bytes} are allowed")
        room = _Room(self.limits)
        most = self.limits
        try:
            return _unpack(
                data, use_list=False, list_hook=room.take, ext_hook=room.extension, max_map_len=0, max_array_len=most.collection, max_str_len=most.text, max_bin_len=most.text
            )
        except Exception as error:
            _refuse(error)


_ENVELOPE = (int, str, int, int, int, int, tuple)
_new: Any = tuple.__new__  # without the keyword handling of Frame(...), which would cost as much as the look-up of the message


class _Room:
    """What a large piece may still hold, counted while it is being built."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.containers = limits.containers
        self.elements = limits.elements

    def take(self, items: Any) -> Any:
        self.containers -= 1
        self.elements -= len(items)
        if self.containers < 0 or self.elements < 0:
            raise excess("too-many", f"more than {self.limits.containers} containers or {self.limits.elements} elements in one piece")
        return items

    def take_dict(self, items: Any) -> ReadOnlyDict:
        return ReadOnlyDict(self.take(items))

    def take_list(self, items: Any) -> ReadOnlyList:
        return ReadOnlyList(self.take(items))

    def extension(self, code: int, data: bytes) -> Value:
        return _extension(code, data, self)


def _decode_value(data: bytes, limits: Limits, room: _Room | None) -> Value:
    """`room` is shared by the documents of one large message; a small message has none."""
    found = suspects(data)
    if room is None and not is_small(found, len(data), limits):
        room = _Room(limits)
    try:
        value = _unpack(
            data,
            object_hook=ReadOnlyDict if room is None else room.take_dict,
            list_hook=ReadOnlyList if room is None else room.take_list,
            ext_hook=_link_only,
            max_array_len=min(len(data), limits.collection),
            max_map_len=min(len(data), limits.collection),
            max_str_len=limits.text,
            max_bin_len=limits.text,
        )
        if not is_flat(found, len(data), limits):
            examine(value, limits)
        if _pack(value, default=_extend_link) != data:
            raise Undecodable("the bytes are not the encoding of what they decode to: a repeated key, or a number in a form weft does not write", reason="not-canonical")
    except Exception as error:
        _refuse(error)
    return value


def _refuse(error: Exception) -> NoReturn:
    """Whatever decoding raised, as Undecodable with a reason word."""
    if isinstance(error, Undecodable):
        raise error
    if isinstance(error, msgpack.StackError):
        raise excess("too-deep", "nested far too deep") from None
    if isinstance(error, msgpack.ExtraData):
        raise Undecodable(f"{len(error.extra)} bytes follow the end", reason="trailing") from None
    if isinstance(error, UnicodeError):
        raise Undecodable(f"a text is not UTF-8: {error.reason if isinstance(error, UnicodeDecodeError) else error}", reason="text") from None
    text = str(error)
    if "incomplete" in text:
        raise Undecodable("the bytes end in the middle", reason="truncated") from None
    if "exceeds" in text:
        raise excess("too-many", text) from None
    raise Undecodable(f"not msgpack as weft writes it: {text or type(error).__name__}", reason="malformed") from None


def _extend_link(value: object) -> msgpack.ExtType:
    if type(value) is Link:
        return msgpack.ExtType(_LINK, _pack(value.parts()))
    raise NotStorable(f"{type(value).__name__} is no value that can be stored")


def _extend(value: object) -> msgpack.ExtType:
    if type(value) is MissingType:
        return msgpack.ExtType(_ABSENT, b"")
    return _extend_link(value)


def _wrap(value: Value) -> Any:
    """A value inside a message: containers as one ext, in their stored form."""
    if isinstance(value, (dict, list)):
        return msgpack.ExtType(_DOCUMENT, VALUES.encode(value))
    return value


def _extension(code: int, data: bytes, room: _Room | None = None) -> Value:
    if code == _DOCUMENT:
        if len(data) > DOCUMENT.bytes:
            raise excess("oversized", f"{len(data)} bytes in one document, where {DOCUMENT.bytes} are allowed")
        return _decode_value(data, DOCUMENT, room)
    if code == _ABSENT and not data:
        return MISSING
    return _link_only(code, data)


def _link_only(code: int, data: bytes) -> Link[Any]:
    if code != _LINK:
        raise Undecodable(f"extension type {code} is not one of weft's", reason="ext")
    parts = _unpack(data, use_list=False, ext_hook=_no_extension, max_map_len=0)
    if type(parts) is tuple and len(parts) == 4:
        space, scope, id_, path = parts
        if (space is None or type(space) is str) and type(scope) is str and type(id_) is str and type(path) is tuple and all(type(step) is str for step in path):
            try:
                return Link(space, scope, id_, path)
            except Misuse as error:
                raise Undecodable(f"a link to nowhere: {error}", reason="link") from None
    raise Undecodable("a link is space or nil, scope, id and a path of texts", reason="link")


def _no_extension(code: int, data: bytes) -> NoReturn:
    """A link inside a link would nest decoders inside one another until the stack is gone."""
    raise Undecodable(f"extension type {code} inside a link", reason="ext")


VALUES = Values()
