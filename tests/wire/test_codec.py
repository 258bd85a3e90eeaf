"""Values survive the codec type-strictly, and hostile bytes are refused with a reason word at a bounded price."""

import math
import struct
import tracemalloc
from typing import Any

import msgpack  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st
from weft.scheduler.errors import Misuse, NotStorable, Undecodable
from weft.scheduler.model import Change, Entity, Version
from weft.scheduler.values import MISSING, Link, ReadOnlyDict, ReadOnlyList, freeze, same
from weft.wire.codec import VALUES, Codec, Documents, Values
from weft.wire.feeding import Fed, Feed
from weft.wire.limits import DOCUMENT
from weft.wire.messages import TABLE
from weft.wire.ring import Changes, Logged

LINK: Link[Any] = Link(None, "space", "item/1", ("value", "name"))
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | TEXT | st.binary(max_size=20) | st.just(LINK)
VALUE = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXT, inner, max_size=5), max_leaves=30)


def reason(data: bytes, values: Values = VALUES) -> str:
    with pytest.raises(Undecodable) as caught:
        values.decode(data)
    return caught.value.reason


@given(VALUE)
def test_every_value_comes_back_the_same_and_frozen(value: Any) -> None:
    frozen = freeze(value)
    back = VALUES.decode(VALUES.encode(frozen))
    assert same(back, frozen)
    assert freeze(back) is back


@pytest.mark.parametrize("value", [True, 1, 1.0, 0.0, -0.0, math.nan, math.inf, "1", b"1", None, 2**64 - 1, -(2**63)], ids=repr)
def test_a_scalar_keeps_its_type(value: Any) -> None:
    back = VALUES.decode(VALUES.encode(value))
    assert type(back) is type(value)
    assert same(back, value)


def test_containers_come_back_read_only() -> None:
    back = VALUES.decode(VALUES.encode(freeze({"a": [1, {"b": LINK}]})))
    assert (type(back), type(back["a"]), type(back["a"][1]), back["a"][1]["b"]) == (ReadOnlyDict, ReadOnlyList, ReadOnlyDict, LINK)


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "truncated"),
        (b"\x92\x01", "truncated"),
        (b"\xdb\xff\xff\xff\xff", "truncated"),
        (b"\x01\x02", "trailing"),
        (b"\xc1", "malformed"),
        (b"\x81\x01\x02", "malformed"),
        (b"\x81\xc4\x01a\x01", "key"),
        (b"\xa2\xff\xfe", "text"),
        (b"\xa3\xed\xa0\x80", "text"),
        (b"\xdd\xff\xff\xff\xff", "too-many"),
        (b"\xdf\xff\xff\xff\xff", "too-many"),
        (b"\x91" * 101 + b"\xc0", "too-deep"),
        (b"\x91" * 5000 + b"\xc0", "too-deep"),
        (b"\xd6\xff\x00\x00\x00\x01", "ext"),
        (b"\xc7\x00\x05", "ext"),
        (b"\x82\xa1a\x01\xa1a\x02", "not-canonical"),
        (b"\xcd\x00\x05", "not-canonical"),
        (b"\xca\x3f\x80\x00\x00", "not-canonical"),
        (b"\xd9\x01a", "not-canonical"),
        (msgpack.packb(msgpack.ExtType(1, b"\xc0")), "link"),
        (msgpack.packb(msgpack.ExtType(1, msgpack.packb([None, "space", "x", [1]]))), "link"),
        (msgpack.packb(msgpack.ExtType(1, msgpack.packb([None, "space", "x", [], 1]))), "link"),
    ],
)
def test_what_is_not_exactly_an_encoding_is_refused_by_its_word(data: bytes, word: str) -> None:
    assert reason(data) == word


def test_links_inside_links_do_not_nest_decoders() -> None:
    data = b"\xc0"
    for _ in range(3000):
        data = msgpack.packb(msgpack.ExtType(1, data))
    assert reason(data) == "ext"


def test_one_hundred_levels_pass_and_one_more_does_not() -> None:
    value: Any = 1
    for _ in range(100):
        value = [value]
    assert VALUES.decode(VALUES.encode(freeze(value))) == value
    deeper = ReadOnlyList([freeze(value)])
    with pytest.raises(NotStorable, match="100"):
        VALUES.encode(deeper)


def test_what_may_not_be_read_back_is_not_written() -> None:
    small = Values(DOCUMENT._replace(bytes=100, text=50))
    with pytest.raises(NotStorable, match="where 100 are allowed"):
        small.encode("x" * 200)
    with pytest.raises(NotStorable, match="where 50 are allowed"):
        small.encode("x" * 60)
    assert reason(VALUES.encode("x" * 200), small) == "oversized"


@pytest.mark.parametrize("value", [(1, 2), {1: 2}, MISSING, {1}, 2**64, object()], ids=lambda value: repr(value).partition(" at ")[0])
def test_what_is_no_value_is_refused_at_the_write(value: Any) -> None:
    with pytest.raises(NotStorable):
        VALUES.encode(value)


@pytest.mark.parametrize("byte", [b"\x80", b"\x90"])
def test_a_hostile_megabyte_does_not_become_ninety(byte: bytes) -> None:
    rows = [b"\xdc\xff\xff" + byte * 65535] * 16
    data = b"\xdc" + struct.pack(">H", len(rows)) + b"".join(rows)
    assert len(data) > 1_000_000
    tracemalloc.start()
    try:
        assert reason(data) == "too-many"
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40_000_000


def test_documents_travel_inside_messages_and_come_out_frozen() -> None:
    codec = Codec(TABLE)
    entity = Entity("main", "space", "cart")
    feed = Feed(1, Version(1, 2), (), (Fed(entity, 1, freeze({"value": [1, {"a": LINK}]})), Fed(entity, 2, MISSING), Fed(entity, 3, b"raw")), False)
    back = codec.decode(codec.encode("storage", 1, 1, 1, 0, feed)).message
    assert back == feed
    assert type(back.documents[0].document["value"]) is ReadOnlyList
    assert back.documents[1].document is MISSING
    assert type(back.documents[0].entity) is Entity


def feed(document: Any) -> Feed:
    return Feed(1, Version(1, 2), (), (Fed(Entity("main", "space", "cart"), 1, document),), False)


@pytest.mark.parametrize("value", [{"a": 1}, {"a": True}, {"a": 1.0}, {"a": 0.0}, {"a": -0.0}, [1], [True]], ids=repr)
def test_a_document_that_equals_one_before_it_comes_out_as_it_is(value: Any) -> None:
    """Small documents are remembered, by identity when sent and by bytes when received; those that are merely equal are not confused."""
    codec = Codec(TABLE)
    for document in [*map(freeze, ({"a": 1}, {"a": True}, {"a": 1.0}, {"a": 0.0}, {"a": -0.0}, [1], [True])), freeze(value)] * 2:
        back = codec.decode(codec.encode("storage", 1, 1, 1, 0, feed(document))).message.documents[0].document
        assert same(back, document)
        assert type(back) is type(document)


def test_a_document_that_is_not_frozen_is_sent_as_it_is_now() -> None:
    codec, plain = Codec(TABLE), {"a": 1}
    first = codec.encode("storage", 1, 1, 1, 0, feed(plain))
    plain["a"] = 2
    second = codec.encode("storage", 1, 1, 2, 0, feed(plain))
    assert [codec.decode(data).message.documents[0].document for data in (first, second)] == [{"a": 1}, {"a": 2}]


def test_what_is_remembered_of_documents_is_bounded() -> None:
    documents = Documents()
    for number in range(5000):
        value = freeze([number, "x" * (number % 300)])
        assert documents.extension(2, documents.wrap(value).data) == value
        assert max(len(documents._known), len(documents._sent)) <= 512
    assert all(len(data) <= 128 for data in documents._known)


def test_a_refused_document_is_refused_again() -> None:
    codec = Codec(TABLE)
    frame = msgpack.packb([20, "storage", 1, 1, 1, 0, [[1, 2], [[["main", "space", "cart"], 1, msgpack.ExtType(2, b"\x82\xa1a\x01\xa1a\x02")]], False]])
    for _ in range(2):
        with pytest.raises(Undecodable) as caught:
            codec.decode(frame)
        assert caught.value.reason == "not-canonical"


def test_the_documents_of_one_message_share_one_budget() -> None:
    codec = Codec(TABLE)
    entity = Entity("main", "space", "cart")
    packed = b"\xdc\xff\xff" + b"\x90" * 65535
    documents = [[list(entity), 1, msgpack.ExtType(2, packed)] for _ in range(12)]
    with pytest.raises(Undecodable) as caught:
        codec.decode(msgpack.packb([20, "storage", 1, 1, 1, 0, [1, [1, 2], [], documents, False]]))
    assert caught.value.reason == "too-many"


def test_a_large_message_comes_back_whole() -> None:
    codec = Codec(TABLE)
    entity = Entity("main", "space", "rows")
    rows = freeze({"value": [{"id": i, "name": f"row {i}"} for i in range(10_000)]})
    changes = Changes(1, Version(1, 1), 0, (Logged(1, "pull", None, 0, 0, (), (Change(entity, (), MISSING, rows),), (), 0.0, None),), (), True)
    assert codec.decode(codec.encode("storage", 1, 1, 1, 0, changes)).message == changes


def test_a_message_that_cannot_be_packed_is_the_senders_mistake() -> None:
    with pytest.raises(Misuse, match="Fed is no message"):
        Codec(TABLE).encode("a", 1, 1, 1, 0, Fed(Entity("main", "space", "x"), 1, None))
