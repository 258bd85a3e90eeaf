"""`of=` types: what is stored comes back as the type its cell declares, or as a Misfit that names the place (API.md "Addresses and values")."""
from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, NewType, NotRequired, TypedDict

import pytest
import weft
from harness.stage import Stage
from weft.actors.conversion import Conversion, ConvertedDict, ConvertedList
from weft.scheduler.model import VALUE, Entity
from weft.scheduler.values import freeze


class Colour(Enum):
    RED = "red"


class Article(TypedDict):
    price: int
    left: NotRequired[int]


@dataclass
class Line:
    sku: str
    n: int = 1


@dataclass
class Order:
    by: str
    lines: list[Line] = field(default_factory=list)
    colour: Colour | None = None
    total: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if not self.by:
            raise ValueError("somebody orders")
        self.total = sum(line.n for line in self.lines)


@dataclass
class Tree:
    name: str
    below: list[Tree] = field(default_factory=list)


class Shelf(TypedDict):
    line: Line


class Point(NamedTuple):
    x: int


Sku = NewType("Sku", str)
X = weft.cell("x")
_POSITION = (Entity("main", "space", "x"), VALUE)


def fitted(of: Any, value: Any) -> Any:
    return Conversion().read(of, freeze(value), *_POSITION)


@pytest.mark.parametrize(
    ("of", "value"),
    [
        (int, 1), (int, True), (float, 1.5), (float, 1), (str, "s"), (bytes, b"b"), (bool, False), (dict, {"a": 1}), (list, [1, "x"]), (Any, {"a": [1]}), (object, 1),
        (list[int], [1, 2]), (dict[str, int], {"a": 1}), (dict[str, Any], {"a": []}), (dict[str, list[float | None]], {"a": [1.0, None]}), (float | str, "s"), (float | str, 2),
        (int | None, None), (int | None, 3), (Literal["a", 1], 1), (Article, {"price": 1}), (Article, {"price": 1, "left": 2, "more": 3}),
        (dict[str, Article], {"t": {"price": 1}}), (Annotated[int, "even"], 2), (Sku, "s"), (list[weft.Link[Any]], [weft.link(X)]),
    ],
)  # fmt: skip
def test_what_a_type_checker_accepts_fits_and_is_the_stored_value_itself(of: Any, value: Any) -> None:
    stored = freeze(value)
    assert Conversion().read(of, stored, *_POSITION) is stored


@pytest.mark.parametrize(
    ("of", "value", "where"),
    [
        (int, "s", r"main:x: int was declared, and 's' is there"), (int, 1.5, "main:x: int"), (bool, 1, "main:x: bool"), (str, b"b", "main:x: str"), (dict, [], "main:x: dict"),
        (list[int], [1, "s"], r"main:x#/1: int was declared, and 's' is there"), (list[int], {}, "main:x: a list was declared"),
        (dict[str, int], 1, "main:x: an object was declared"),
        (dict[str, list[int]], {"a": [1, 2, None]}, r"main:x#/a/2: int was declared, and None is there"),
        (Article, {"left": 1}, r"main:x: Article needs 'price'"), (Article, {"price": "1"}, r"main:x#/price: int was declared"),
        (Article, {"price": 1, "left": None}, "main:x#/left: int"),
        (Literal["a", 1], True, r"main:x: True is none of 'a', 1"), (float | str, None, "main:x: None is none of float | str"), (int | None, "s", "main:x: int was declared"),
        (Order, {"by": "ann", "lines": [{"sku": "t"}, {"sku": 1}]}, r"main:x#/lines/1/sku: str was declared, and 1 is there"), (Order, {}, "main:x: Order needs 'by'"),
        (Order, {"by": ""}, "main:x: Order refuses it: somebody orders"), (Order, {"by": "a", "colour": "blue"}, r"main:x#/colour: Colour refuses it: 'blue'"),
        (Tree, {"name": "a", "below": [{"name": "b", "below": [{"name": 3}]}]}, r"main:x#/below/0/below/0/name: str was declared"),
        (list[Line], [weft.link(X)], r"main:x#/0: Line was declared, and <link x> is there"),
    ],
)  # fmt: skip
def test_a_misfit_names_the_place(of: Any, value: Any, where: str) -> None:
    with pytest.raises(weft.Misfit, match=f"^{where}"):
        fitted(of, value)


def test_dataclasses_are_made_with_what_they_hold_and_keys_they_do_not_have_are_passed_over() -> None:
    order = fitted(Order, {"by": "ann", "lines": [{"sku": "t", "n": 2, "old": 1}], "colour": "red", "total": 99})
    assert (order, order.total) == (Order("ann", [Line("t", 2)], Colour.RED), 2)
    assert fitted(Tree, {"name": "a", "below": [{"name": "b"}]}) == Tree("a", [Tree("b")])
    assert fitted(Line | None, {"sku": "t"}) == Line("t")
    assert fitted(list[Line] | str, [{"sku": "t"}]) == [Line("t")]


def test_every_reader_gets_its_own_instances_in_containers_that_refuse_writes() -> None:
    conversion, stored = Conversion(), freeze([{"sku": "t"}])
    first, second = (conversion.read(list[Line], stored, *_POSITION) for _ in range(2))
    assert first == second == [Line("t")]
    assert first[0] is not second[0]
    assert type(first) is ConvertedList
    with pytest.raises(weft.NotStorable, match="read-only"):
        first.append(Line("u"))
    shelf = fitted(Shelf, {"line": {"sku": "t"}, "more": 1})
    assert (type(shelf), shelf) == (ConvertedDict, {"line": Line("t"), "more": 1})


def test_a_checked_value_is_not_checked_again_and_another_one_is() -> None:
    conversion, good = Conversion(), freeze([1, 2])
    conversion.read(list[int], good, *_POSITION)
    conversion._fits[list[int]] = lambda value: pytest.fail("checked again")
    assert conversion.read(list[int], good, *_POSITION) is good
    with pytest.raises(pytest.fail.Exception):
        conversion.read(list[int], freeze([1, 2]), *_POSITION)


@pytest.mark.parametrize("of", [tuple[int, int], Point, set, complex, dict[int, str]])
def test_a_type_that_nothing_stored_can_become_says_what_to_declare(of: Any) -> None:
    for _ in range(2):
        with pytest.raises(weft.Misuse, match="declare"):
            fitted(of, {})


def test_annotations_that_name_what_cannot_be_found_say_so() -> None:
    @dataclass
    class Inner:
        n: int

    @dataclass
    class Outer:
        inner: Inner

    with pytest.raises(weft.Misuse, match=r"of=Outer: its annotations cannot be resolved .*Inner.* at the top of the module"):
        fitted(Outer, {"inner": {"n": 1}})


def test_a_typed_cell_gives_back_what_was_written_and_the_store_holds_its_plain_form() -> None:
    stage, cell = Stage(), weft.cell("order", of=Order)
    stage.put(cell, Order("ann", [Line("t", 2)], Colour.RED))
    assert stage.stored(cell) == {"by": "ann", "lines": [{"sku": "t", "n": 2}], "colour": "red"}
    assert stage.tx().get(cell) == stage.tx()[cell] == Order("ann", [Line("t", 2)], Colour.RED)
    assert stage.tx().get(weft.cell("none", of=Order), "nobody") == "nobody"


def test_instances_inside_untyped_values_are_stored_in_their_plain_form_too() -> None:
    stage = Stage()
    stage.put(X, {"lines": [Line("t")], "c": Colour.RED})
    assert stage.stored(X) == {"lines": [{"sku": "t", "n": 1}], "c": "red"}
    tx, transaction = stage.begin()
    tx.append(X["lines"], Line("u"))
    stage.commit(transaction)
    assert stage.stored(X["lines"]) == [{"sku": "t", "n": 1}, {"sku": "u", "n": 1}]


def test_what_was_converted_can_be_written_elsewhere() -> None:
    stage, lines = Stage(), weft.cell("lines", of=list[Line])
    stage.put(lines, [Line("t")])
    stage.put(X, {"copy": stage.tx().get(lines)})
    assert stage.stored(X) == {"copy": [{"sku": "t", "n": 1}]}


def test_a_write_that_does_not_fit_its_cell_is_refused_and_writes_nothing() -> None:
    stage, cell = Stage(), weft.cell("n", of=list[int])
    tx, transaction = stage.begin()
    wrong: Any = [1, "s"]
    with pytest.raises(weft.Misfit, match=r"^main:n#/1: int was declared, and 's' is there"):
        tx.set(cell, wrong)
    assert transaction.finish()[0].operations == ()


def test_null_is_none_for_get_whatever_the_type_and_a_misfit_for_the_strict_read() -> None:
    stage, cell = Stage(), weft.cell("n", of=int)
    stage.put(weft.cell("n"), None)
    assert stage.tx().get(cell, 7) is None
    with pytest.raises(weft.Misfit, match=r"^main:n: int was declared, and None is there"):
        _ = stage.tx()[cell]


def test_a_tuple_in_a_dataclass_is_refused_with_its_address() -> None:
    @dataclass
    class Pair:
        both: tuple[int, int]

    with pytest.raises(weft.NotStorable, match=r"^main:x#/both: a tuple would come back as a list"):
        Stage().tx().set(X, Pair((1, 2)))


def test_a_struct_of_msgspec_is_converted_and_checked_by_msgspec() -> None:
    import msgspec

    line: Any = msgspec.defstruct("SLine", [("sku", str), ("n", int, 1)])
    order = msgspec.defstruct("SOrder", [("by", str), ("lines", list.__class_getitem__(line))])
    stage, cell = Stage(), weft.cell("order", of=order)
    stage.put(cell, order("ann", [line("t", 2)]))
    assert stage.stored(cell) == {"by": "ann", "lines": [{"sku": "t", "n": 2}]}
    assert stage.tx().get(cell) == order("ann", [line("t", 2)])
    stage.put(weft.cell("order")["lines"][0]["n"], "two")
    with pytest.raises(weft.Misfit, match=r"^main:order#/lines/0/n: Expected `int`, got `str`"):
        stage.tx().get(cell)


def test_a_model_of_pydantic_is_converted_and_checked_by_pydantic() -> None:
    import pydantic

    made: Any = pydantic.create_model
    line: Any = made("PLine", sku=(str, ...), n=(int, 1))
    order = made("POrder", by=(str, ...), lines=(list.__class_getitem__(line), ...))
    stage, cell = Stage(), weft.cell("order", of=order)
    stage.put(cell, order(by="ann", lines=[line(sku="t", n=2)]))
    assert stage.stored(cell) == {"by": "ann", "lines": [{"sku": "t", "n": 2}]}
    assert stage.tx().get(cell) == order(by="ann", lines=[line(sku="t", n=2)])
    stage.put(weft.cell("order")["lines"][0]["n"], "two")
    with pytest.raises(weft.Misfit, match=r"^main:order#/lines/0/n: Input should be a valid integer"):
        stage.tx().get(cell)


def test_conversion_loads_no_library_that_the_program_does_not_use() -> None:
    program = "import sys, weft.actors.conversion, weft.actors.plain as p; p.plain(object()); print([m for m in ('msgspec', 'pydantic') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"
