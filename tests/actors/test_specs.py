"""Specs: what the decorators return, what binding makes of it, and what they refuse."""

import ast
import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError
from typing import Any, NewType, assert_type

import pytest
import weft
from harness.source import ROOT
from hypothesis import given
from hypothesis import strategies as st
from weft.actors.specs import HandlerSpec, NodeSpec

TX: Any = object()  # specs hand it on and never look at it
HERE = __name__
total = weft.cell("total", of=int)
other = weft.cell("other", of=int)
values = weft.family("value", "at", of=str)
pages = weft.family("page", "book", "number", of=str)
clicks = weft.stream("clicks", of=str)
Number = NewType("Number", int)


@weft.computation(output=values)
def evaluate(tx: Any, at: str) -> str:
    return f"value of {at}"


@weft.computation(output=pages)
def read_page(tx: Any, book: str, number: "int") -> str:
    return f"{book} {number!r}"


@weft.computation
def scale(tx: Any, by: float, label: str = "", *, unit: str = "m") -> str:
    return f"{by}{unit} {label}"


@weft.effect
def show(tx: Any) -> None:
    assert tx is TX


@weft.handler(clicks, reads=[total])
def on_click(tx: Any, event: str) -> str:
    return event.upper()


def plain(tx: Any) -> int:
    return 1


def test_a_spec_is_named_by_its_module_and_its_function() -> None:
    assert (evaluate.id, show.id, on_click.id) == (f"{HERE}:evaluate", f"{HERE}:show", f"{HERE}:on_click")


def test_a_spec_keeps_what_was_declared() -> None:
    spec = weft.computation(
        plain, output=total, also_writes=[other], envelope=[values("A1")], declared_reads=[other], id="sum", debounce=1, max_wait=2.5, throttle=0.5, deadline=9, version="2"
    )
    assert (spec.id, spec.kind, spec.fn, spec.output, spec.also_writes) == ("sum", "computation", plain, total, (other,))
    assert (spec.envelope, spec.declared_reads, dict(spec.args)) == ((values("A1"),), (other,), {})
    assert (spec.debounce, spec.max_wait, spec.throttle, spec.deadline, spec.version) == (1.0, 2.5, 0.5, 9.0, "2")
    assert (spec.auto_debounce, spec.is_async, spec.unbound) == (False, False, ())


def test_an_effect_debounces_itself_unless_told_not_to_and_a_computation_never_does() -> None:
    assert [show.auto_debounce, weft.effect(auto_debounce=False)(plain).auto_debounce, evaluate.auto_debounce] == [True, False, False]
    assert (show.kind, show.output) == ("effect", None)


def test_a_handler_keeps_what_was_declared() -> None:
    def look(tx: Any, event: str) -> None: ...

    spec = weft.handler(clicks, reads=[total], preflight=look, id="click", retry=False, multi_space=True, deadline=3)(on_click.fn)
    assert (spec.id, spec.stream, spec.reads, spec.preflight) == ("click", clicks, (total,), look)
    assert (spec.retry, spec.multi_space, spec.deadline, spec.is_async) == (False, True, 3.0, False)
    assert (on_click.retry, on_click.multi_space, on_click.deadline, on_click.preflight) == (True, False, None, None)


def test_a_spec_called_as_a_function_is_the_plain_function() -> None:
    assert evaluate(TX, "A1") == evaluate(TX, at="A1") == "value of A1"
    assert on_click(TX, "ok") == "OK"
    assert scale.bind(args={"by": 2.0})(TX) == "2.0m "
    assert weft.computation(scale.fn, args={"by": 2.0})(TX, 3.0) == "3.0m "


def test_an_async_function_is_known_as_one_and_called_gives_its_coroutine() -> None:
    @weft.computation(output=total)
    async def later(tx: Any) -> int:
        return 7

    @weft.handler(clicks)
    async def taken(tx: Any, event: str) -> None: ...

    awaited: Any = later(TX)
    assert (later.is_async, taken.is_async, asyncio.run(awaited)) == (True, True, 7)


def test_a_run_calls_the_function_with_what_is_bound() -> None:
    assert scale.bind(args={"by": 2.0, "unit": "km"}).call(TX) == "2.0km "


def test_a_spec_does_not_change_and_neither_do_its_arguments() -> None:
    bound = scale.bind(args={"by": 1.0, "label": "x"})
    with pytest.raises(FrozenInstanceError):
        bound.id = "other"  # type: ignore[misc]
    with pytest.raises(weft.NotStorable):
        bound.args["by"] = 2.0  # type: ignore[index]


# ── ids of instances ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("args", "inside"),
    [
        ({"by": 2}, "2"),
        ({"by": 2.0}, "2.0"),
        ({"label": "a b", "by": 1}, "1,a b"),
        ({"by": True, "label": "é"}, "true,é"),
        ({"by": None, "label": "17"}, "null,17"),
        ({"by": [1, {"b": 2, "a": "x"}]}, '[1,{"a":"x","b":2}]'),
        ({"by": weft.cell("cart", "shop")["items"][0]}, "shop:cart#/items/0"),
        ({"by": [total]}, '["total"]'),
        ({"by": clicks}, "clicks"),
        ({"by": 1, "unit": "km"}, "1,unit=km"),
        ({"by": "a,b"}, "a,b"),
        ({"by": "a,b", "label": "c"}, '"a,b",c'),
        ({"by": "17"}, '"17"'),
        ({"by": "null"}, '"null"'),
        ({"by": '"x"'}, r'"\"x\""'),
        ({"by": "label=x"}, '"label=x"'),
        ({"by": "q=x"}, "q=x"),
        ({"by": "a\0b"}, r'"a\u0000b"'),
        ({"by": b"\x01\x02"}, '{"bytes":"0102"}'),
        ({"by": weft.link(total)}, '{"link":"total"}'),
    ],
)
def test_the_id_of_an_instance_holds_its_arguments_in_the_order_of_the_parameters(args: dict[str, Any], inside: str) -> None:
    assert scale.bind(args=args).id == f"{HERE}:scale[{inside}]"


def test_an_id_that_was_given_is_taken_as_it_is() -> None:
    assert scale.bind(id="mine", args={"by": 1}).id == "mine"
    assert weft.computation(scale.fn, id="mine", args={"by": 1}).id == "mine"


def test_members_of_a_family_whose_spec_was_given_an_id_are_told_apart() -> None:
    spec = weft.computation(evaluate.fn, output=values, id="cell")
    assert [spec.bind(args={"at": "A1"}).id, member_id(spec, values("B2"))] == ["cell[A1]", "cell[B2]"]


def test_arguments_that_are_too_long_for_a_key_end_in_a_digest_of_the_whole() -> None:
    one, two = (scale.bind(args={"by": "é" * 5000 + end}).id for end in "ab")
    assert one != two
    assert one.startswith(f"{HERE}:scale[éé")
    named = weft.computation(scale.fn, id="x" * 512)
    longest = named.bind(args={"by": "\U0001f9f6" * 200})
    assert max(len(id.encode()) for id in (one, two, longest.id)) < 1024


VALUE = st.recursive(
    st.sampled_from([None, True, False, 1.0, -0.0, 0.0]) | st.integers(-9, 9) | st.text('ab,"=\\[]{}1', max_size=4) | st.sampled_from(["null", "true", "label=1", "-1", "1e5"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=3,
)
ARGS = st.fixed_dictionaries({"by": VALUE}, optional={"label": st.text('ab,"=[1', max_size=4), "unit": st.text('ab,"=[1', max_size=4)})


@given(ARGS, ARGS)
def test_instances_share_an_id_only_if_their_arguments_are_the_same(one: dict[str, Any], two: dict[str, Any]) -> None:
    a, b = scale.bind(args=one), scale.bind(args=two)
    same = json.dumps(one, sort_keys=True) == json.dumps(two, sort_keys=True)
    assert (a.id == b.id, a == b) == (same, same)


# ── binding ───────────────────────────────────────────────────────────────────────────────────────


def test_binding_leaves_the_spec_it_starts_from_as_it_was() -> None:
    bound = scale.bind(args={"by": 3}, output=weft.cell("scaled", of=str))
    assert (dict(bound.args), bound.output, bound.unbound) == ({"by": 3}, weft.cell("scaled"), ())
    assert (dict(scale.args), scale.output, scale.unbound) == ({}, None, ("by",))


def test_a_cell_inside_the_arguments_is_passed_as_it_is() -> None:
    seen = []
    spec = weft.effect(args={"source": total, "more": {"list": [other, 1]}})(lambda tx, source, more: seen.append((source, more)))
    spec.call(TX)
    assert seen == [(total, {"list": [other, 1]})]


def test_arguments_that_change_later_do_not_change_the_instance() -> None:
    given_list: list[Any] = [1, total]
    bound = scale.bind(args={"by": given_list})
    given_list.append(2)
    assert bound.args["by"] == [1, total]


@pytest.mark.parametrize(
    ("bind", "complaint"),
    [
        (lambda: scale.bind(args={"by": 1, "bye": 2}), r":scale has no parameter 'bye'; it takes \(by, label, unit\) behind tx"),
        (lambda: scale.bind(args={"label": "x"}), r"the parameter 'by' is left without an argument"),
        (lambda: weft.computation(scale.fn, args={"by": 1}).bind(args={"by": 2}), r"scale\[1\]: the parameter 'by' is bound already, to 1"),
        (lambda: scale.bind(args={"tx": 1, "by": 1}), "has no parameter 'tx'"),
        (lambda: scale.bind(args=["by"]), "is no mapping of parameter names"),  # type: ignore[arg-type]
        (lambda: scale.bind(args={"by": object}), "the argument 'by' is neither storable nor an address"),
        (lambda: scale.bind(args={"by": [total, {1}]}), "the argument 'by' is neither storable nor an address: .*sorted"),
        (lambda: scale.bind(args={"by": {1: total}}), "keys are strings"),
        (lambda: scale.bind(args={"by": 1}, output=clicks), "is a stream and takes events"),  # type: ignore[arg-type]
        (lambda: scale.bind(args={"by": 1}, output=values), "an instance writes one cell"),  # type: ignore[arg-type]
        (lambda: scale.bind(args={"by": 1}, id=""), "is no id"),
        (lambda: scale.bind(args={"by": 1}, id="a\0"), "is no id"),
        (lambda: show.bind(output=total), "is an effect and has no output"),  # type: ignore[arg-type]
        (lambda: read_page.bind(args={"book": "b"}), "'number' is missing; an instance names a member of .* by all of its parameters"),
        (lambda: read_page.bind(args={"book": "b", "number": "x"}), "names no member of .*; a parameter annotated int takes an integer"),
        (lambda: weft.computation(plain, also_writes=[total["a"]]).bind(output=total), "the outputs total and total#/a overlap"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_by_name(bind: Callable[[], object], complaint: str) -> None:
    with pytest.raises(weft.Misuse, match=complaint):
        bind()


# ── members of families ───────────────────────────────────────────────────────────────────────────


def member_id(spec: NodeSpec[..., Any], cell: weft.Cell[Any]) -> str | None:
    member = spec.member(cell)
    return None if member is None else member.id


def test_a_member_is_the_instance_that_its_address_names() -> None:
    member = evaluate.member(values("E1"))
    assert member is not None
    assert (member.id, member.output, dict(member.args), member.call(TX)) == (f"{HERE}:evaluate[E1]", values("E1"), {"at": "E1"}, "value of E1")


def test_a_cell_inside_a_member_belongs_to_the_member() -> None:
    assert member_id(evaluate, values("a/b")["x"]["y"]) == member_id(evaluate, values("a/b").meta) == f"{HERE}:evaluate[a/b]"
    inside = evaluate.member(values("E1")["x"])
    assert inside is not None
    assert inside.output == values("E1")


def test_a_parameter_annotated_int_gets_an_integer() -> None:
    member = read_page.member(pages("b", 7))
    assert member is not None
    assert (member.id, dict(member.args), member.call(TX)) == (f"{HERE}:read_page[b,7]", {"book": "b", "number": 7}, "b 7")
    renamed = weft.computation(lambda tx, book, number: "", output=pages)
    renamed.fn.__annotations__["number"] = Number
    told = weft.computation(renamed.fn, output=pages).member(pages("b", -3))
    assert told is not None
    assert told.args["number"] == -3


@pytest.mark.parametrize("number", ["x", "", "07", "+7", "-0", " 7", "7.0", "\u0667", "9" * 30])
def test_an_address_that_spells_no_integer_is_no_member_where_one_is_needed(number: str) -> None:
    assert read_page.member(pages("b", number)) is None


def test_what_is_no_member_has_no_node() -> None:
    assert [evaluate.member(total), evaluate.member(pages("b", 1)), scale.member(values("A1"))] == [None, None, None]


def test_the_member_made_by_hand_is_the_one_that_demand_makes() -> None:
    assert evaluate.bind(args={"at": "17"}) == evaluate.member(values("17")) == evaluate.bind(args={"at": 17})
    assert read_page.bind(args={"book": "b", "number": "7"}) == read_page.member(pages("b", 7))
    assert evaluate.bind(args={"at": "17"}).id == f"{HERE}:evaluate[17]"


def test_an_instance_of_a_family_may_write_elsewhere() -> None:
    assert evaluate.bind(args={"at": "A1"}, output=weft.cell("copy", of=str)).output == weft.cell("copy")


def test_a_family_with_a_further_argument_keeps_its_members() -> None:
    @weft.computation(output=values, args={"rate": 3})
    def rated(tx: Any, rate: int, at: str) -> str:
        return at * rate

    member = rated.member(values("x"))
    assert member is not None
    assert (rated.unbound, member.call(TX), member.id.rpartition(".")[2]) == ((), "xxx", "rated[3,x]")


@given(st.text(max_size=5), st.text(max_size=5), st.text(max_size=5), st.text(max_size=5))
def test_two_members_never_share_an_id(a: str, b: str, c: str, d: str) -> None:
    spec = weft.computation(lambda tx, book, number: "", output=pages)
    assert (member_id(spec, pages(a, b)) == member_id(spec, pages(c, d))) == ((a, b) == (c, d))


# ── equality ──────────────────────────────────────────────────────────────────────────────────────


def test_equal_specs_describe_the_same_node() -> None:
    assert weft.computation(plain, output=total) == weft.computation(plain, output=total)
    assert hash(weft.computation(plain, output=total)) == hash(weft.computation(plain, output=total))
    assert weft.handler(clicks)(on_click.fn) == weft.handler(clicks)(on_click.fn) != on_click


@pytest.mark.parametrize(
    "unlike",
    [
        weft.computation(plain, output=other, id="x"),
        weft.computation(plain, output=total, id="y"),
        weft.computation(plain, output=total, id="x", debounce=1),
        weft.computation(plain, output=total, id="x", version="2"),
        weft.computation(plain, output=total, also_writes=[other], id="x"),
        weft.computation(lambda tx: 1, output=total, id="x"),
        weft.effect(id="x")(plain),
        "x",
    ],
)
def test_specs_that_differ_in_anything_are_not_equal(unlike: object) -> None:
    assert weft.computation(plain, output=total, id="x") != unlike


def test_arguments_are_compared_with_their_types() -> None:
    def bound(by: object) -> object:
        return scale.bind(args={"by": by}, id="x")

    assert bound(1) == bound(1)
    assert bound([total]) == bound([total])
    assert [bound(1) == unlike for unlike in (bound(True), bound(1.0), bound("1"))] == [False] * 3
    assert [bound("total") == bound(total), bound(total) == bound(weft.link(total)), bound(total) == bound(weft.stream("total"))] == [False] * 3


# ── what is refused ───────────────────────────────────────────────────────────────────────────────


def yields(tx: Any) -> Iterator[int]:
    yield 1


async def yields_later(tx: Any) -> Any:
    yield 1


def declared(**options: Any) -> Callable[[], object]:
    untyped: Any = weft.computation
    return lambda: untyped(plain, **options)


REFUSED: tuple[tuple[Callable[[], object], str], ...] = (
    (lambda: weft.computation(print), "weft.computation takes a function, not <built-in function print>; write it above a def"),
    (lambda: weft.effect(show), "weft.effect takes a function, not <effect .*:show>"),
    (lambda: weft.effect(int), "weft.effect takes a function, not <class 'int'>"),  # type: ignore[arg-type]
    (lambda: weft.computation(yields), "yields is a generator, and weft.computation runs a function to its end"),
    (lambda: weft.effect(yields_later), "yields_later is a generator"),
    (lambda: weft.effect(lambda: None), r"must take the transaction first: def <lambda>\(tx\)"),  # type: ignore[arg-type, misc]
    (lambda: weft.effect(lambda *, tx: None), "must take the transaction first"),  # type: ignore[arg-type, misc]
    (lambda: weft.effect(lambda tx, at, /: None), "passes arguments by name, and 'at' takes none; remove the /"),
    (declared(output="total"), "output='total' is neither a cell nor a family"),
    (declared(output=clicks), "is a stream and takes events; send to it with tx.send"),
    (declared(output=total, also_writes=[total]), "the outputs total and total overlap"),
    (declared(also_writes=[total["a"], other, total["a"]["b"]]), "the outputs total#/a and total#/a/b overlap"),
    (declared(also_writes=total), "also_writes=<cell total> is no list of cells; write also_writes="),
    (declared(declared_reads="total"), "declared_reads='total' is no list of cells"),
    (declared(envelope=[values]), r"envelope holds <family value\(at\)>, which is no cell"),
    (declared(output=values), r"writes <family value\(at\)> and must take its parameters: def plain\(tx, at\); 'at' is missing"),
    (declared(debounce=-1), "debounce=-1 is no time"),
    (declared(throttle=float("nan")), "throttle=nan is no time"),
    (declared(max_wait="1"), "max_wait='1' is no time"),
    (declared(deadline=True), "deadline=True is no time"),
    (declared(id=""), "id='' is no id"),
    (declared(id="a\0b"), "is no id; it is a non-empty text of at most 512 bytes, without NUL"),
    (declared(id="x" * 513), "is no id"),
    (declared(version=2), "version=2 is no text; write version='2'"),
    (declared(args={"at": 1}), "has no parameter 'at'"),
    (lambda: weft.effect(auto_debounce=1)(plain), "auto_debounce=1 is neither True nor False"),  # type: ignore[call-overload]
    (lambda: weft.computation(evaluate.fn, output=values, also_writes=[values("A1")["x"]]), "also_writes holds value/A1#/x, which is a member of its output"),
    (lambda: weft.handler(plain), r"takes the stream it handles, not <function plain .*write @weft.handler\(weft.stream\('name'\)\)"),  # type: ignore[arg-type]
    (lambda: weft.handler(total), "takes the stream it handles, not <cell total>"),  # type: ignore[arg-type]
    (lambda: weft.handler(clicks)(plain), r"calls it with two arguments: def plain\(tx, event\)"),  # type: ignore[arg-type]
    (lambda: weft.handler(clicks)(print), "weft.handler takes a function"),
    (lambda: weft.handler(clicks, preflight=plain)(on_click.fn), r"preflight= calls it with two arguments"),  # type: ignore[arg-type]
    (lambda: weft.handler(clicks, retry="no")(on_click.fn), "retry='no' is neither True nor False"),  # type: ignore[arg-type]
)


@pytest.mark.parametrize(("declare", "complaint"), REFUSED, ids=range(len(REFUSED)))
def test_a_declaration_that_cannot_work_is_refused_where_it_stands(declare: Callable[[], object], complaint: str) -> None:
    with pytest.raises(weft.Misuse, match=complaint):
        declare()


def test_an_async_preflight_is_refused() -> None:
    async def look(tx: Any, event: str) -> None: ...

    with pytest.raises(weft.Misuse, match=r"look is async, and a preflight only reads what is stored"):
        weft.handler(clicks, preflight=look)(on_click.fn)


# ── what workers can import ───────────────────────────────────────────────────────────────────────


class Shelf:
    def count(self, tx: Any) -> None: ...

    @staticmethod
    def sort(tx: Any) -> None: ...


def test_a_function_of_a_module_is_importable_by_its_name_whether_decorated_bound_or_inside_a_class() -> None:
    specs: list[Any] = [evaluate, evaluate.bind(args={"at": "A1"}), weft.effect(plain), weft.effect(Shelf.sort), on_click]
    assert [spec.importable() for spec in specs] == [f"{HERE}:{name}" for name in ("evaluate", "evaluate", "plain", "Shelf.sort", "on_click")]


def hidden() -> Callable[[Any], None]:
    def inner(tx: Any) -> None: ...

    return inner


def started(tx: Any) -> None: ...


started.__module__ = "__main__"


def replaced(tx: Any) -> None: ...


first = replaced


def replaced(tx: Any) -> None: ...  # type: ignore[no-redef]


@pytest.mark.parametrize(
    ("fn", "complaint"),
    [
        (lambda tx: None, "is a lambda, which has no name to import; write it as a def at the top of a module"),
        (hidden(), "is defined inside a function, where a worker cannot reach it"),
        (started, "__main__:started is in the script that was started"),
        (Shelf().count, "is a method bound to an object"),
        (first, "replaced stands for something else by now"),
    ],
)
def test_what_a_worker_could_not_import_is_declared_all_the_same_and_refused_when_asked(fn: Callable[[Any], None], complaint: str) -> None:
    spec = weft.effect(fn)
    with pytest.raises(weft.NotImportable, match=complaint):
        spec.importable()


# ── types ─────────────────────────────────────────────────────────────────────────────────────────


def signatures(path: str, names: set[str]) -> list[str]:
    """The declared signatures of these functions in a file, overload by overload; of an overloaded one the implementation is left out."""
    found = [node for node in ast.parse((ROOT / path).read_text()).body if isinstance(node, ast.FunctionDef) and node.name in names]
    overloaded = {node.name for node in found if node.decorator_list}
    return [f"{node.name}({ast.unparse(node.args)}) -> {ast.unparse(node.returns or node)}" for node in found if node.decorator_list or node.name not in overloaded]


def test_the_decorators_have_exactly_the_signatures_that_were_promised() -> None:
    names = {"computation", "effect", "handler"}
    declared = signatures("actors/declaring.py", names)
    assert declared == signatures("tests/promised/weft.pyi", names)
    assert len(declared) == 7


def test_specs_have_the_types_that_were_promised() -> None:
    """What is asserted here is asserted by mypy; the run only shows that the lines work."""

    @weft.computation(output=total)
    async def waits(tx: weft.Tx) -> int:
        return 1

    @weft.computation
    async def waits_bare(tx: weft.Tx, by: int) -> int:
        return by

    @weft.handler(clicks, preflight=lambda tx, event: assert_type(tx.get(total), int | None))
    def clicked(tx: weft.Tx, event: str) -> int:
        return len(event)

    assert_type(clicked, HandlerSpec[str, int])
    assert_type(waits, NodeSpec[[], int])
    assert_type(waits_bare.bind(args={"by": 1}), NodeSpec[[], int])
    assert_type(evaluate(TX, "A1"), str)
    assert_type(evaluate.bind(args={"at": "A1"}), NodeSpec[[], str])
    assert_type(show, NodeSpec[[], None])
    assert_type(on_click, HandlerSpec[str, str])
