"""Cells, streams, links and families: what they are, what they refuse, and how they are spelled (API.md, weft.pyi)."""
from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from weft.scheduler.cells import Cell, Family, Link, Stream, cell, family, link, parse, stream
from weft.scheduler.errors import BadAddress, Misuse
from weft.scheduler.ids import MAX_ID, MAX_STEPS, META
from weft.scheduler.model import Address
from weft.scheduler.values import freeze

letters = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)
marked = st.text(st.sampled_from("a~:#@/0123%"), min_size=1, max_size=8)
ids = letters | marked
cells = st.builds(
    lambda space, scope, name, steps, meta: _inside(cell(name, space, scope).meta if meta else cell(name, space, scope), steps),
    st.none() | ids, ids | st.just("space"), ids, st.lists(ids | st.just("") | st.integers(0, 99), max_size=4).map(lambda steps: ["k", *steps] if steps else []), st.booleans(),
)  # fmt: skip


def _inside(start: Cell[Any], steps: list[str | int]) -> Cell[Any]:
    for step in steps:
        start = start[step]
    return start


def type_of(value: object) -> str:
    """A test's id: some of these values cannot be printed, which is why they are tried."""
    return type(value).__name__


class Index(IntEnum):
    ONE = 1


class Text(str):
    pass


def test_a_cell_is_a_plain_value_of_four_parts() -> None:
    price = cell("cart", of=dict)["items"]["0"]["price"]
    assert (price.space, price.scope, price.id, price.path) == (None, "space", "cart", ("items", "0", "price"))
    assert cell("cart")["items"][0]["price"] == price
    assert hash(cell("cart")["items"][0]["price"]) == hash(price)
    assert price.doc == cell("cart")
    assert price.parent == cell("cart")["items"]["0"]
    assert cell("cart").parent is None
    assert {cell("cart"): 1}[cell("cart", of=int)] == 1


def test_equality_is_on_the_four_parts_alone() -> None:
    assert cell("a", of=int) == cell("a", of=str) == cell("a")
    different = [cell("a"), cell("b"), cell("a", "s"), cell("a", scope="user:x"), cell("a")["a"], cell("a").meta]
    assert len(set(different)) == len(different)
    assert cell("a") != "a"
    assert cell("a") != link(cell("a"))
    assert cell("a") != stream("a")


def test_cells_sort_by_their_parts() -> None:
    mixed = [cell("b", "main"), cell("a")["x"], cell("a", "main"), cell("b"), cell("a")]
    assert sorted(mixed) == [cell("a"), cell("a")["x"], cell("b"), cell("a", "main"), cell("b", "main")]
    assert cell("a") < cell("b") <= cell("b")
    with pytest.raises(TypeError):
        _ = cell("a") < 1  # type: ignore[operator]


def test_a_cell_has_no_truth_value_no_elements_and_does_not_change() -> None:
    total = cell("total")
    with pytest.raises(BadAddress, match=r"total is an address and has no truth value; read it with tx\.get\(cell\)"):
        bool(total)
    addresses: list[Any] = [total, stream("s")]
    for address in addresses:
        with pytest.raises(TypeError):
            iter(address)
        with pytest.raises(TypeError):
            operator.contains(address, "a")
    things: list[Any] = [total, stream("s"), link(total), family("f", "x")]
    for thing in things:
        with pytest.raises(BadAddress, match="does not change"):
            thing.id = "other"
        with pytest.raises(BadAddress, match="does not change"):
            del thing.id
        with pytest.raises(BadAddress):
            thing.novel = 1


@pytest.mark.parametrize("step", [-1, -(10**6000), 10**15, 10**6000, True, 1.0, None, slice(0, 1), ("a",), b"a", Index.ONE, Text("a"), "a\0b", "\ud800", cell("x")], ids=type_of)
def test_a_step_that_is_neither_text_nor_index_is_refused(step: Any) -> None:
    with pytest.raises(BadAddress) as caught:
        cell("cart")[step]
    assert str(caught.value).startswith("cart[")
    str(caught.value).encode()
    assert isinstance(caught.value, (TypeError, ValueError, Misuse))
    with pytest.raises(BadAddress):
        stream("cart")[step]


def test_a_path_has_a_longest_length() -> None:
    deepest = _inside(cell("a"), ["x"] * MAX_STEPS)
    with pytest.raises(BadAddress, match=f"at most {MAX_STEPS} steps"):
        deepest["x"]


@pytest.mark.parametrize("id", ["", "a\0", "\ud800", "x" * (MAX_ID + 1), "ü" * (MAX_ID // 2 + 1), 5, None, b"a", Text("a"), ("a",)], ids=type_of)
def test_an_id_a_scope_or_a_space_that_names_nothing_is_refused(id: Any) -> None:
    makes: list[Callable[[], object]] = [lambda: cell(id), lambda: cell("a", scope=id), lambda: stream(id), lambda: family(id, "x")]
    makes += [lambda: Link(None, "space", id, ()), lambda: Link(None, id, "a", ())]
    for make in makes:
        with pytest.raises(BadAddress, match=r"is no (id|scope): it is a non-empty string"):
            make()
    if id is not None:
        with pytest.raises(BadAddress, match="is no space"):
            cell("a", id)
    assert cell("x" * MAX_ID).id == "x" * MAX_ID


def test_where_a_cell_is_in_its_document() -> None:
    assert cell("cart")["a"].address("main") == Address("main", "space", "cart", ("value", "a"))
    assert cell("cart", "far").address("main") == Address("far", "space", "cart", ("value",))
    assert cell("cart", scope="user:ann").address("main").scope == "user:ann"
    assert cell("cart")["x"].meta["made"].address("main") == Address("main", "space", "cart", ("made",))
    assert cell("cart").meta.parent is None
    assert cell("cart").meta["made"].parent == cell("cart").meta


def test_the_value_is_no_metadata() -> None:
    with pytest.raises(BadAddress, match="metadata has no key 'value'"):
        cell("cart").meta["value"]
    assert cell("cart").meta["made"]["value"].path == (META, "made", "value")


@pytest.mark.parametrize(
    ("address", "text"),
    [
        (cell("cart"), "cart"),
        (cell("id", "space")["items"][0]["price"], "space:id#/items/0/price"),
        (cell("cart", "main", "user:ann"), "main:cart@user~1ann"),
        (cell("a:b#c@d~e"), "a~1b~2c~3d~0e"),
        (cell("cart")["a/b"]["~"][""], "cart#/a~1b/~0/"),
        (cell("cart").meta, "cart#meta"),
        (cell("cart").meta["made"], "cart#meta/made"),
        (cell("cart")["meta"], "cart#/meta"),
        (cell("total/ann%20x"), "total/ann%20x"),
    ],
)
def test_a_cell_is_spelled_and_read_back(address: Cell[Any], text: str) -> None:
    assert str(address) == text
    assert repr(address) == f"<cell {text}>"
    assert parse(text) == address


@given(cells)
def test_parse_is_the_inverse_of_str(address: Cell[Any]) -> None:
    assert parse(str(address)) == address
    assert str(parse(str(address))) == str(address)
    assert link(address).cell == address


@settings(max_examples=500)
@given(marked)
def test_a_text_that_parse_reads_is_spelled_in_one_way_only(text: str) -> None:
    try:
        read = parse(text)
    except BadAddress:
        return
    assert str(read) == (text[:-1] if text.find("#") == len(text) - 1 else text)  # a mark with nothing behind it is the document itself


@pytest.mark.parametrize(
    "text",
    ["", ":", "a:", ":a", "a:b:c", "a@", "a@b@c", "@a", "#/a", "a#b", "a#/~", "a#/~2", "a~", "a~4", "a~~0", "a#metal", "a#meta/value", "a\0", "x" * 2000, "\ud800", 5, None, b"a"],
    ids=type_of,
)
def test_a_text_that_is_no_address_is_refused(text: Any) -> None:
    with pytest.raises(BadAddress) as caught:
        parse(text)
    assert len(str(caught.value).encode()) < 400


def test_copies_are_equal() -> None:
    for thing in (cell("a", "s", of=int)["x"], stream("s")["x"], link(cell("a")["x"]), family("f", "x", of=int)):
        assert copy.copy(thing) == copy.deepcopy(thing) == thing
        assert hash(copy.deepcopy(thing)) == hash(thing)
    assert copy.deepcopy(cell("a", of=int)).of is int
    assert copy.deepcopy(family("f", "x", of=int)).of is int


def test_a_stream_is_its_own_type() -> None:
    checkout = stream("checkout", "main")
    assert (checkout.id, checkout["a"].id, str(checkout["a"]), repr(checkout)) == ("checkout", "checkout", "main:checkout#/a", "<stream main:checkout>")
    assert stream("a")["x"] == stream("a")["x"] != stream("a")
    assert not isinstance(checkout, Cell)
    assert isinstance(checkout["a"], Stream)


def test_a_link_is_a_value_that_refers_to_a_cell() -> None:
    order = cell("order", "main", of=int)["total"]
    stored = link(order)
    assert stored.parts() == ("main", "space", "order", ("total",))
    assert stored.cell == order
    assert freeze({"order": stored})["order"] is stored
    assert (str(stored), repr(stored)) == ("main:order#/total", "<link main:order#/total>")
    assert link(cell("a").meta["x"]).cell == cell("a").meta["x"]
    for wrong in ("order", stream("order"), stored, None):
        with pytest.raises(BadAddress, match=r"weft\.link takes a cell"):
            link(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("path", [["a"], "a", None, (1,), ("a", None), ("a\0",), ("a", META), (META, "value"), ("\ud800",), ("x",) * (MAX_STEPS + 1), (Text("a"),)], ids=type_of)
def test_a_link_with_a_path_that_names_nothing_is_refused(path: Any) -> None:
    with pytest.raises(BadAddress):
        Link(None, "space", "a", path)


def test_a_family_gives_a_member_for_each_choice_of_arguments() -> None:
    totals = family("total", "user", "year", of=int, space="main")
    member = totals("ann", 2024)
    assert member == totals(user="ann", year=2024) == totals("ann", year="2024") == cell("total/ann/2024", "main")
    assert member.of is int
    assert totals.match(member) == totals.match(member["x"]) == {"user": "ann", "year": "2024"}
    assert repr(totals) == "<family total(user, year)>"
    assert totals == family("total", "user", "year", space="main") != family("total", "user", "year")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.integers(-(2**63), 2**64 - 1), min_size=2, max_size=2), st.none() | st.just("main"))
def test_a_member_is_matched_back(arguments: list[str | int], space: str | None) -> None:
    pair = family("pair", "a", "b", space=space)
    assert pair.match(pair(*arguments)) == {"a": str(arguments[0]), "b": str(arguments[1])}


@given(st.lists(st.tuples(marked, marked), min_size=2, max_size=2, unique=True))
def test_two_choices_of_arguments_are_two_members(choices: list[tuple[str, str]]) -> None:
    pair = family("pair", "a", "b")
    assert pair(*choices[0]) != pair(*choices[1])


def test_what_is_no_member_is_not_matched() -> None:
    totals = family("total", "user")
    wrong = ["total", "total/a/b", "totals/a", "other/a", "total/%61", "total/a b", "total/%ff", "total/a%", "total/ä", "tota/l"]
    assert [id for id in wrong if totals.match(cell(id)) is not None] == []
    assert totals.match(cell("total/a", scope="user:x")) is None
    assert totals.match(cell("total/a", "anywhere")) == {"user": "a"}
    assert family("total", "user", space="main").match(cell("total/a", "far")) is None
    assert family("total", "user", space="main").match(cell("total/a")) == {"user": "a"}


@pytest.mark.parametrize(
    ("values", "named", "message"),
    [
        ((), {}, r"missing: \['user'\], unexpected: none"),
        (("a", "b"), {}, r"missing: none, unexpected: .*'b'"),
        (("a",), {"user": "b"}, r"unexpected: \['user'\]"),
        ((), {"usr": "a"}, r"missing: \['user'\], unexpected: \['usr'\]"),
        ((None,), {}, "takes strings and integers"),
        ((True,), {}, "takes strings and integers"),
        ((1.5,), {}, "takes strings and integers"),
        ((Index.ONE,), {}, "takes strings and integers"),
        ((Text("a"),), {}, "takes strings and integers"),
        (("\ud800",), {}, "takes strings and integers"),
        ((10**6000,), {}, "takes strings and integers"),
        ((cell("x"),), {}, "takes strings and integers"),
        (("x" * 2000,), {}, "is no id"),
    ],
    ids=type_of,
)
def test_a_family_refuses_other_arguments(values: tuple[Any, ...], named: dict[str, Any], message: str) -> None:
    with pytest.raises(BadAddress, match=message):
        family("total", "user")(*values, **named)


@pytest.mark.parametrize("params", [(), ("a", "a"), (1,), ("",)])
def test_a_family_needs_parameters_each_named_once(params: tuple[Any, ...]) -> None:
    with pytest.raises(BadAddress, match="needs at least one parameter, each named once"):
        family("total", *params)
    assert isinstance(family("total", "user"), Family)
