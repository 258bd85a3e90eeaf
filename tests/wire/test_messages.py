"""The table is closed, codes are stable, and a body of the wrong shape is refused with the field's name."""

from typing import Any, NamedTuple

import msgpack  # type: ignore[import-untyped]
import pytest
from weft.scheduler.errors import Misuse, Undecodable
from weft.scheduler.model import Version
from weft.wire.codec import Codec
from weft.wire.messages import TABLE, Fence, Presence
from weft.wire.table import Table, name_of

CODEC = Codec(TABLE)


def refusal(*frame: Any) -> tuple[str, str]:
    with pytest.raises(Undecodable) as caught:
        CODEC.decode(msgpack.packb(frame))
    return caught.value.reason, str(caught.value)


def body(code: int, *fields: Any) -> tuple[Any, ...]:
    return (code, "hand", 1, 1, 1, 0, fields)


def test_codes_never_change() -> None:
    assert {code: kind.__name__ for code, kind in TABLE.kinds.items()} == {
        1: "Hello", 2: "Ready", 3: "Probe", 4: "Heartbeat", 5: "Failed", 6: "Credit", 7: "Fence",
        16: "RunWave", 17: "CommitRuns", 18: "Changes", 19: "Invalidated", 20: "Feed", 21: "Fetch", 22: "Fetched", 23: "Undemand", 24: "Applied", 25: "Wake", 26: "Woken",
        32: "Submit", 33: "Submitted", 34: "Decided", 35: "Declare", 36: "Enter", 37: "Withdraw", 38: "Entered", 39: "Drain", 40: "Rested", 41: "Question", 42: "Told", 43: "News",
    }  # fmt: skip


def test_handlers_are_named_after_the_message() -> None:
    assert (name_of(Fence), TABLE.names[TABLE.kinds[16]], TABLE.names[TABLE.kinds[17]]) == ("fence", "run_wave", "commit_runs")


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ((1,), "Fence: field version: is missing"),
        ((1, (1, 2), 3), "Fence: field (all): 1 fields too many"),
        (("1", (1, 2)), "Fence: field token: is str, not int"),
        ((True, (1, 2)), "Fence: field token: is bool, not int"),
        ((1.0, (1, 2)), "Fence: field token: is float, not int"),
        ((1, None), "Fence: field version: is NoneType, not tuple"),
        ((1, ()), "Fence: field version/epoch: is missing"),
        ((1, (1, "2")), "Fence: field version/n: is str, not int"),
        ((1, "ab"), "Fence: field version: is str, not tuple"),
    ],
)
def test_a_wrong_field_is_named(fields: tuple[Any, ...], complaint: str) -> None:
    assert refusal(*body(7, *fields)) == ("field", complaint)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        (((1, 2), (("m", "space", "a"), ("m", "space")), ), "Fetch: field entities/1/id: is missing"),
        (((1, 2), (("m", "space", "a"), ("m", "space", 3))), "Fetch: field entities/1/id: is int, not str"),
        (((1, 2), ("abc",)), "Fetch: field entities/0: is str, not tuple"),
        (((1, 2), ((),)), "Fetch: field entities/0/space: is missing"),
    ],
)  # fmt: skip
def test_a_wrong_part_of_a_sequence_is_named(fields: tuple[Any, ...], complaint: str) -> None:
    assert refusal(*body(21, *fields)) == ("field", complaint)


def test_a_word_that_is_not_among_the_words_is_refused() -> None:
    assert refusal(*body(1, ("asleep", (0, 0), 0), 0, 0)) == ("field", "Hello: field presence/status: 'asleep' is none of paused, ready, starting, stopping")
    assert refusal(*body(1, ("", (0, 0), 0), 0, 0))[0] == "field"


def test_a_look_alike_is_not_taken_for_the_record_before_it() -> None:
    """True equals 1, and is refused all the same."""
    assert CODEC.decode(msgpack.packb(body(7, 1, (1, 1)))).message == Fence(1, Version(1, 1))
    assert refusal(*body(7, 1, (True, 1)))[0] == "field"


@pytest.mark.parametrize(
    "frame",
    [(), (1,), ("x",) * 7, (7, "hand", 1, 1, 1, 0), (7, "hand", 1, 1, 1, 0, [1, [1, 2]], 0), (7, 5, 1, 1, 1, 0, []), (7, "hand", 1.0, 1, 1, 0, []), (7, "hand", 1, 1, 1, True, [])],
)
def test_an_envelope_of_the_wrong_shape_is_refused(frame: tuple[Any, ...]) -> None:
    assert refusal(*frame)[0] == "envelope"


@pytest.mark.parametrize("code", [0, 8, 9999, -1])
def test_an_unknown_type_is_refused(code: int) -> None:
    assert refusal(*body(code))[0] == "unknown-type"


def test_a_map_in_a_message_is_refused() -> None:
    assert refusal(*body(7, 1, {"epoch": 1, "n": 2}))[0] == "too-many"


def test_a_message_is_declared_by_one_class() -> None:
    class Greeting(NamedTuple):
        text: str
        to: tuple[str, ...]
        mood: float | None

    table = TABLE.extended({100: Greeting})
    codec = Codec(table)
    sent = Greeting("hello", ("a", "b"), None)
    back = codec.decode(codec.encode("hand", 1, 1, 1, 0, sent)).message
    assert (type(back), back) == (Greeting, sent)


def test_a_table_refuses_a_code_that_is_taken_and_a_field_it_cannot_check() -> None:
    class Odd(NamedTuple):
        when: complex

    class Twin(NamedTuple):
        presence: Presence

    with pytest.raises(Misuse, match="taken"):
        TABLE.extended({7: Twin})
    with pytest.raises(Misuse, match="complex"):
        Table({1: Odd})
    with pytest.raises(Misuse, match="twice"):
        Table({1: Twin, 2: Twin})
