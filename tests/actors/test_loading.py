"""Loading: which specs a spec, a module, an import path or a list of these gives, and which cannot stand together."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import weft
from weft.actors.loading import specs_of

total = weft.cell("total", of=int)
values = weft.family("value", "at", of=int)
clicks = weft.stream("clicks")

SHOP = """
import weft
total = weft.cell("total", of=int)
values = weft.family("value", "at", of=int)
clicks = weft.stream("clicks")

@weft.effect
def zebra(tx): ...

@weft.computation(output=total)
def add_up(tx): return 1

@weft.computation
def scale(tx, by): return by

@weft.handler(clicks)
def on_click(tx, event): ...

twice = scale.bind(args={"by": 2}, output=weft.cell("twice"))
alias = add_up

@weft.computation(output=values)
def evaluate(tx, at): return 1

def helper(tx): ...
listed = [weft.effect(helper)]
"""


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """Writes a module that can be imported until the test ends."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def put(name: str, text: str) -> None:
        (tmp_path / f"{name}.py").write_text(text)

    yield put
    for name in set(sys.modules) - before:
        del sys.modules[name]


def ids(what: object) -> list[str]:
    return [spec.id for spec in specs_of(what)]


def node(tx: Any) -> int:
    return 1


def event(tx: Any, event: object) -> None: ...


def writer(id: str, output: weft.Cell[Any] | weft.Family[Any] | None = None, *also: weft.Cell[Any]) -> Any:
    declare: Any = weft.computation
    fn = (lambda tx, **member: 1) if isinstance(output, weft.Family) else node
    return declare(fn, output=output, also_writes=also, id=id)


def test_a_module_gives_what_is_defined_there_in_the_order_of_its_text(write: Callable[[str, str], None]) -> None:
    write("weft_test_shop", SHOP)
    expected = [f"weft_test_shop:{name}" for name in ("zebra", "add_up", "on_click", "scale[2]", "evaluate")]
    assert ids("weft_test_shop") == expected
    assert ids(sys.modules["weft_test_shop"]) == expected


def test_what_a_module_imported_from_another_is_not_its_own(write: Callable[[str, str], None]) -> None:
    write("weft_test_shop", SHOP)
    write("weft_test_front", "import weft\nfrom weft_test_shop import *\n@weft.effect\ndef show(tx): ...\n")
    assert ids("weft_test_front") == ["weft_test_front:show"]


def test_lists_are_flattened_and_the_same_spec_is_taken_once(write: Callable[[str, str], None]) -> None:
    write("weft_test_one", "import weft\n@weft.effect\ndef show(tx): ...\n")
    mine = weft.effect(id="mine")(node)
    assert ids([mine, ("weft_test_one", [mine]), weft.effect(id="mine")(node)]) == ["mine", "weft_test_one:show"]
    assert specs_of([mine, mine]) == [mine]
    assert specs_of([]) == []


def test_a_module_without_specs_gives_none() -> None:
    assert specs_of(ModuleType("empty")) == []


@pytest.mark.parametrize(
    ("what", "complaint"),
    [
        (node, r":node is a plain function; declare what it is with @weft\.computation, @weft\.effect or @weft\.handler"),
        (total, "<cell total> cannot be loaded; load takes specs, a module, its import path, or a list of these"),
        ([None], "None cannot be loaded"),
        ({"a": 1}, "cannot be loaded"),
        ("", "'' is no import path"),
        (".shop", "'.shop' is no import path; write it as in an import"),
        ("shop.py:x", "is no import path"),
        (weft.computation(lambda tx, by: by, id="scale"), r"scale cannot run yet: its parameter 'by' has no argument; load <lambda>\.bind\(args={'by': …}\)"),
    ],
)
def test_what_is_nothing_to_load_is_refused(what: object, complaint: str) -> None:
    with pytest.raises(weft.Misuse, match=complaint):
        specs_of(what)


@pytest.mark.parametrize("path", ["weft_test_nowhere", "weft_test_nowhere.inner", "json.weft_test_nowhere"])
def test_a_module_that_is_not_there_is_named(path: str) -> None:
    with pytest.raises(weft.NotImportable, match=rf"there is no module '.*weft_test_nowhere', so '{path}' cannot be loaded; is its folder on sys\.path") as caught:
        specs_of(path)
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


@pytest.mark.parametrize(
    ("text", "complaint", "cause"),
    [
        ("import weft_test_nowhere", "'weft_test_broken' was found, but it imports 'weft_test_nowhere', which is not there", ModuleNotFoundError),
        ("1 / 0", "'weft_test_broken' was found, but importing it failed with ZeroDivisionError: division by zero", ZeroDivisionError),
        ("def", "'weft_test_broken' was found, but importing it failed with SyntaxError", SyntaxError),
    ],
)
def test_a_module_that_fails_while_it_is_imported_says_why(write: Callable[[str, str], None], text: str, complaint: str, cause: type[Exception]) -> None:
    write("weft_test_broken", text)
    with pytest.raises(weft.NotImportable, match=complaint) as caught:
        specs_of("weft_test_broken")
    assert type(caught.value.__cause__) is cause


# ── what cannot stand together ────────────────────────────────────────────────────────────────────


def test_two_things_under_one_id_are_refused() -> None:
    with pytest.raises(weft.Misuse, match=r"<effect x> and <computation x> are two things under one id; give one of them another with id="):
        specs_of([weft.effect(id="x")(node), writer("x", total)])


def test_two_handlers_of_one_stream_are_refused() -> None:
    with pytest.raises(weft.Misuse, match="one and two both handle <stream clicks>, and an event has one handler"):
        specs_of([weft.handler(clicks, id="one")(event), weft.handler(weft.stream("clicks"), id="two")(event)])


def test_handlers_of_different_streams_stand_together() -> None:
    streams = [clicks, clicks["left"], weft.stream("clicks", "elsewhere"), weft.stream("keys")]
    assert ids([weft.handler(stream, id=str(stream))(event) for stream in streams]) == [str(stream) for stream in streams]


CLASHES: tuple[tuple[Any, Any], ...] = (
    ((total,), (total,)),
    ((total,), (total["a"]["b"],)),
    ((total["a"]["b"],), (total,)),
    ((weft.cell("x"), total["a"]), (weft.cell("y"), total["a"]["b"])),
    ((values,), (weft.family("value", "other"),)),
    ((values,), (values("A1"),)),
    ((values("A1")["x"],), (values,)),
    ((values,), (weft.cell("z"), values("a/b").meta)),
    ((weft.family("page", "book", "number"),), (weft.family("page/b", "number"),)),
    ((weft.family("page/b", "number"),), (weft.family("page", "book", "number"),)),
)


@pytest.mark.parametrize(("one", "two"), CLASHES, ids=range(len(CLASHES)))
def test_two_writers_of_one_address_are_refused(one: Any, two: Any) -> None:
    with pytest.raises(weft.Misuse, match=r"(one and two|two and one) both write .*, and an address has one writer"):
        specs_of([writer("one", *one), writer("two", *two)])


APART: tuple[tuple[Any, Any], ...] = (
    ((total["a"],), (total["b"],)),
    ((total["a"],), (total["ab"],)),
    ((total,), (weft.cell("total", "elsewhere"),)),
    ((total,), (weft.cell("total", None, "user"),)),
    ((values,), (weft.cell("value"),)),
    ((values,), (weft.cell("value/a/b"),)),
    ((values,), (weft.cell("value/a b"),)),
    ((values,), (weft.family("value", "row", "column"),)),
    ((values,), (weft.family("value", "at", space="elsewhere"),)),
    ((values,), (weft.cell("value/A1", None, "user"),)),
)


@pytest.mark.parametrize(("one", "two"), APART, ids=range(len(APART)))
def test_writers_of_different_addresses_stand_together(one: Any, two: Any) -> None:
    assert ids([writer("one", *one), writer("two", *two)]) == ["one", "two"]


def test_envelopes_may_overlap() -> None:
    specs = [weft.computation(node, envelope=[total], id=name) for name in ("one", "two")]
    assert ids([*specs, writer("three", total)]) == ["one", "two", "three"]


def test_the_member_made_by_hand_stands_beside_its_family() -> None:
    @weft.computation(output=values)
    def evaluate(tx: Any, at: str) -> int:
        return 1

    by_hand = evaluate.bind(args={"at": "A1"})
    assert specs_of([evaluate, by_hand]) == [evaluate, by_hand]
    with pytest.raises(weft.Misuse, match=r"evaluate and special both write value/A1"):
        specs_of([evaluate, evaluate.bind(args={"at": "A1"}, id="special")])


def test_many_writers_in_one_document_are_compared_by_their_paths_alone() -> None:
    rows = [writer(str(number), total[number]["x"]) for number in range(3000)]
    assert len(specs_of(rows)) == 3000
    with pytest.raises(weft.Misuse, match="0 and all both write total"):
        specs_of([*rows, writer("all", total)])
