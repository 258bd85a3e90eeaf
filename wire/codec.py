"""Bytes and back: msgpack with limits. The only file that imports msgpack.

Invariants
- `Values.decode` accepts exactly what `Values.encode` makes: it encodes again and compares, so that repeated keys, padded numbers and short floats are refused, not guessed at.
- What comes back is frozen (ReadOnlyDict, ReadOnlyList, Link) and type-strict: True, 1 and 1.0 stay apart, NaN and -0.0 survive, bytes are bytes.
- No decode costs more than its limits allow, and none lets anything out but Undecodable with a reason word.
- In a message, tuples are the message's own; a document is one ext inside it, encoded as it is stored.
Called by mailboxes, links and loopback (a `Codec` each: its packer is used by one thread), and by storage (`VALUES`, which any thread may use).
"""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import msgpack  # type: ignore[import-untyped]

from ..scheduler.errors import Misuse, NotStorable, Undecodable
from ..scheduler.values import MISSING, Link, MissingType, ReadOnlyDict, ReadOnlyList, Value, freeze
from .checks import Dump, Load, Wrong, dump, load
from .dumpers import DUMPERS
from .envelope import Frame
from .limits import DOCUMENT, MESSAGE, SMALL, Limits, examine, excess, is_flat, is_small, suspects
from .loaders import LOADERS
from .table import Message, Table

_LINK, _DOCUMENT, _ABSENT = 1, 2, 3  # ext codes; every other is refused
_FROZEN = frozenset({ReadOnlyDict, ReadOnlyList})
_pack, _unpack = msgpack.packb, msgpack.unpackb


class Values:
    """The stored form of documents and their parts."""

    def __init__(self, limits: Limits = DOCUMENT, pack: Callable[[Value], bytes] | None = None) -> None:
        """`pack` is for whoever uses this from one thread only: a packer that is kept is cheaper than a new one for each value."""
        self.limits = limits
        self.pack = pack or _pack_value

    def encode(self, value: Value) -> bytes:
        """The bytes of a value. NotStorable if it is none, or more than may be read back."""
        frozen = value if type(value) in _FROZEN else freeze(value)
        try:
            data = self.pack(frozen)
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
        return self.decode_within(data, None)

    def decode_within(self, data: bytes, room: _Room | None) -> Value:
        """`room` is shared by the documents of one large message; a small message has none."""
        limits, found = self.limits, suspects(data)
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
            if self.pack(value) != data:
                raise Undecodable("the bytes are not the encoding of what they decode to: a repeated key, or a number in a form weft does not write", reason="not-canonical")
        except Exception as error:
            _refuse(error)
        return value


class Codec:
    """Frames of one table of messages. One thread uses it."""

    def __init__(self, table: Table, limits: Limits = MESSAGE) -> None:
        self.table = table
        self.limits = limits
        self._pack = msgpack.Packer(default=_extend).pack
        self._documents = Documents()
        self._wrap, self._extension = self._documents.wrap, self._documents.extension
        self._loads = {code: _loader(table, code) for code in table.kinds}
        self._dumps = {kind: (code, _dumper(table, code)) for code, kind in table.kinds.items()}

    def encode(self, sender: str, sender_epoch: int, receiver_epoch: int, seq: int, ask: int, message: Message) -> bytes:
        kind = type(message)
        try:
            code, dump = self._dumps[kind]
            data: bytes = self._pack((code, sender, sender_epoch, receiver_epoch, seq, ask, dump(message, self._wrap) if dump else message))
        except KeyError:
            raise Misuse(f"{kind.__name__} is no message of the table; declare it there") from None
        except (TypeError, ValueError, OverflowError, AttributeError, RecursionError) as error:
            raise Misuse(f"{kind.__name__} cannot be sent: {error}") from error
        if len(data) > self.limits.bytes:
            raise Misuse(f"{kind.__name__} takes {len(data)} bytes, and a message may take {self.limits.bytes}: send it in parts")
        return data

    def decode(self, data: bytes) -> Frame:
        """The frame, checked field by field; Undecodable otherwise."""
        try:
            raw = _unpack(data, use_list=False, ext_hook=self._extension, max_map_len=0) if len(data) <= SMALL else self._unpack_large(data)
        except Exception as error:
            _refuse(error)
        try:
            code, sender, sender_epoch, receiver_epoch, seq, ask, body = raw
            if (
                type(raw) is tuple and type(body) is tuple and type(sender) is str
                and type(code) is int and type(sender_epoch) is int and type(receiver_epoch) is int and type(seq) is int and type(ask) is int
            ):  # fmt: skip
                frame: Frame = _new(Frame, (sender, sender_epoch, receiver_epoch, seq, ask, self._loads[code](body)))
                return frame
        except (TypeError, ValueError, KeyError, Wrong):
            pass
        return self._named(raw)

    def _named(self, raw: Any) -> Frame:
        """What did not fit, looked at again at leisure, to say why."""
        if type(raw) is not tuple or tuple(map(type, raw)) != _ENVELOPE:
            raise Undecodable("a frame is an array of seven: type, sender, two epochs, sequence number, ask, body", reason="envelope")
        code, sender, sender_epoch, receiver_epoch, seq, ask, body = raw
        if code not in self.table.kinds:
            raise Undecodable(f"from {sender[:40]!r}: no message has type code {code}", reason="unknown-type")
        try:
            return Frame(sender, sender_epoch, receiver_epoch, seq, ask, load(self.table.shapes[code], body))
        except Wrong as wrong:
            raise wrong.undecodable(self.table.kinds[code].__name__) from None

    def _unpack_large(self, data: bytes) -> Any:
        if len(data) > self.limits.bytes:
            raise excess("oversized", f"a frame of {len(data)} bytes, where {self.limits.bytes} are allowed")
        most = self.limits
        if is_small(suspects(data), len(data), most):  # what cannot hold too much need not be counted; the documents inside are among its bytes
            return _unpack(
                data, use_list=False, ext_hook=self._extension, max_map_len=0, max_array_len=min(len(data), most.collection), max_str_len=most.text, max_bin_len=most.text,
            )  # fmt: skip
        room = _Room(most)
        return _unpack(
            data, use_list=False, list_hook=room.take, ext_hook=partial(self._extension, room=room), max_map_len=0,
            max_array_len=most.collection, max_str_len=most.text, max_bin_len=most.text,
        )  # fmt: skip


def _loader(table: Table, code: int) -> Load:
    """The one that was written for this shape, if there is one."""
    print_, loader = LOADERS.get(code, ("", None))
    return loader if loader and print_ == table.fingerprints[code] else partial(load, table.shapes[code])


def _dumper(table: Table, code: int) -> Dump | None:
    """None: it holds no documents and is packed as it is."""
    if not table.shapes[code].holds_values:
        return None
    print_, dumper = DUMPERS.get(code, ("", None))
    return dumper if dumper and print_ == table.fingerprints[code] else partial(dump, table.shapes[code])


class Documents:
    """Documents inside messages: each one ext, in its stored form.

    Small ones are remembered: what a node is called with goes out, and comes in, with every run. Sound, because a frozen value never changes, and because bytes that
    are equal decode alike. `_known` by their bytes; `_sent` by identity, beside the value itself, so that its identity is not given to another."""

    def __init__(self) -> None:
        self._values = Values(DOCUMENT, msgpack.Packer(default=_extend_link).pack)
        self._known: dict[bytes, Value] = {}
        self._sent: dict[int, tuple[Value, msgpack.ExtType]] = {}

    def wrap(self, value: Value) -> Any:
        """A value inside a message: containers as one ext."""
        sent = self._sent.get(id(value))
        if sent is not None:
            return sent[1]
        if not isinstance(value, (dict, list)):
            return value
        wrapped = msgpack.ExtType(_DOCUMENT, self._values.encode(value))
        if type(value) in _FROZEN and len(wrapped.data) <= _BRIEF:
            if len(self._sent) >= _REMEMBERED:
                self._sent.clear()
            self._sent[id(value)] = value, wrapped
        return wrapped

    def extension(self, code: int, data: bytes, room: _Room | None = None) -> Value:
        if code != _DOCUMENT:
            return MISSING if code == _ABSENT and not data else _link_only(code, data)
        known = self._known.get(data)
        if known is not None:
            return known
        if len(data) > DOCUMENT.bytes:
            raise excess("oversized", f"{len(data)} bytes in one document, where {DOCUMENT.bytes} are allowed")
        value = self._values.decode_within(data, room)
        if len(data) <= _BRIEF:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[data] = value
        return value


_BRIEF, _REMEMBERED = 128, 512  # bytes of a document that is remembered, and how many are: 5 MB if a hostile sender chooses them
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


def _pack_value(value: Value) -> bytes:
    data: bytes = _pack(value, default=_extend_link)
    return data


def _extend(value: object) -> msgpack.ExtType:
    if type(value) is MissingType:
        return msgpack.ExtType(_ABSENT, b"")
    return _extend_link(value)


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
