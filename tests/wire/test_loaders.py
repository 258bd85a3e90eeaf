"""The loaders and dumpers that are written out do exactly what the plain checks do, and are what would be written today."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from weft.scheduler.values import MISSING, Link, ReadOnlyDict, ReadOnlyList, freeze
from weft.wire import checks, drafting, dumpers, loaders
from weft.wire.checks import Wrong
from weft.wire.codec import Codec
from weft.wire.messages import TABLE, Failed
from weft.wire.shapes import Shape
from weft.wire.table import Table

SAMPLES: dict[type, st.SearchStrategy[Any]] = {
    type(None): st.none(),
    bool: st.booleans(),
    int: st.integers(-3, 3),
    float: st.sampled_from([0.0, 1.0, -0.0, float("nan")]),
    str: st.sampled_from(["", "a", "value", "commit", "ab", "abc", "abcd"]),
    bytes: st.sampled_from([b"", b"ab", b"abc"]),
    Link: st.just(Link(None, "space", "x", ())),
    type(MISSING): st.just(MISSING),
    ReadOnlyDict: st.sampled_from([freeze({}), freeze({"a": 1, "b": 2})]),
    ReadOnlyList: st.sampled_from([freeze([]), freeze([1, 2]), freeze(["a", "b", "c"])]),
}
JUNK = st.recursive(st.one_of(*SAMPLES.values()), lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=6)


class Odd(NamedTuple):
    """What no message of the ring holds."""

    mood: Literal["good", "bad"] | None
    pair: tuple[int, str]
    pairs: tuple[tuple[int, str], ...]
    rows: tuple[tuple[int, ...], ...]
    number: int | float | None
    perhaps: tuple[Failed, ...] | None
    failed: tuple[Failed | None, ...]


def bodies(shape: Shape) -> st.SearchStrategy[Any]:
    """Bodies that fit, before loading."""
    choices: list[st.SearchStrategy[Any]] = []
    for kind in shape.kinds:
        if kind is str and shape.words is not None:
            choices.append(st.sampled_from(sorted(shape.words)))
        elif kind is not tuple:
            choices.append(SAMPLES[kind])
        elif shape.item is not None:
            choices.append(st.lists(bodies(shape.item), max_size=3).map(tuple))
        else:
            choices.append(st.tuples(*map(bodies, shape.fields)))
    return st.one_of(choices)


def spoiled(draw: st.DrawFn, body: Any) -> Any:
    """One part, somewhere, replaced, dropped or repeated."""
    if type(body) is not tuple or not body or draw(st.integers(0, 3)) == 0:
        return draw(JUNK)
    i = draw(st.integers(0, len(body) - 1))
    middle = draw(st.sampled_from([0, 1, 1, 1, 1, 2]))
    return (*body[:i], *([spoiled(draw, body[i])] if middle == 1 else [body[i]] * middle), *body[i + 1:])


def exactly(left: Any, right: Any) -> bool:
    """Equal and of the same types all the way down."""
    if type(left) is not type(right):
        return False
    if isinstance(left, (tuple, list)):
        return len(left) == len(right) and all(map(exactly, left, right))
    return left is right or repr(left) == repr(right)


def outcome(load: Any, body: Any) -> tuple[str, Any]:
    try:
        return "fits", load(body)
    except (Wrong, ValueError):
        return "does not fit", None


def imported(path: Path, text: str) -> ModuleType:
    path.write_text(text)
    spec = spec_from_file_location(f"weft.wire.{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def drafted(tmp_path_factory: pytest.TempPathFactory) -> dict[int, tuple[Shape, Any, Any]]:
    """Shape, loader and dumper of every message of the table and of one more, written for this test."""
    table, folder = TABLE.extended({100: Odd}), tmp_path_factory.mktemp("drafted")
    kinds = tuple(table.codes)
    text = drafting.loaders(table, kinds).replace("new(test_loaders.Odd, ", "(").replace(", test_loaders", "")
    loads = imported(folder / "drafted_loaders.py", text).LOADERS
    dumps = imported(folder / "drafted_dumpers.py", drafting.dumpers(table, kinds)).DUMPERS
    return {code: (table.shapes[code], loads[code][1], dumps.get(code, (None, None))[1]) for code in table.kinds}


@pytest.mark.parametrize(("module", "text"), [(loaders, drafting.loaders), (dumpers, drafting.dumpers)], ids=["loaders", "dumpers"])
def test_what_is_written_is_what_would_be_written_now(module: ModuleType, text: Any) -> None:
    assert module.__file__ is not None
    assert Path(module.__file__).read_text() == text(), "run: python -m weft.wire.drafting"


@settings(max_examples=600, deadline=None)
@given(st.data())
def test_written_loaders_take_exactly_what_the_plain_checks_take(drafted: dict[int, tuple[Shape, Any, Any]], data: st.DataObject) -> None:
    code = data.draw(st.sampled_from(sorted(drafted)))
    shape, load, _ = drafted[code]
    body = data.draw(bodies(shape))
    for _ in range(data.draw(st.integers(0, 2))):
        body = data.draw(st.composite(spoiled)(body))
    if type(body) is not tuple:
        return  # the envelope's business
    word, plain = outcome(lambda body: checks.load(shape, body), body)
    assert outcome(load, body)[0] == word
    if word == "fits":
        assert exactly(tuple(outcome(load, body)[1]), tuple(plain))
        assert type(plain) is shape.record


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_written_dumpers_wrap_exactly_what_the_plain_one_wraps(drafted: dict[int, tuple[Shape, Any, Any]], data: st.DataObject) -> None:
    code = data.draw(st.sampled_from(sorted(code for code, (_, _, dump) in drafted.items() if dump)))
    shape, _, dump = drafted[code]
    message = checks.load(shape, data.draw(bodies(shape)))

    def tuples(value: Any) -> Any:
        """Lists and tuples are packed alike."""
        return tuple(map(tuples, value)) if isinstance(value, (tuple, list)) and type(value) is not ReadOnlyList else value

    def wrap(value: Any) -> tuple[str, Any]:
        return "wrapped", value

    assert exactly(tuples(dump(message, wrap)), tuples(checks.dump(shape, message, wrap)))


def test_a_codec_uses_what_was_written_for_the_ring_and_for_no_other_shape() -> None:
    written = {code: loader for code, (_, loader) in loaders.LOADERS.items()}
    assert [Codec(TABLE)._loads[code] for code in written] == list(written.values())
    other = Table({code: Failed if code == 16 else TABLE.kinds[code] for code in (16, 17)})
    assert Codec(other)._loads[16] is not written[16]
    assert Codec(other)._loads[17] is written[17]
