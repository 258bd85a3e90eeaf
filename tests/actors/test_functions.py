"""Functions by name, and specs as registrations that travel."""

from collections.abc import Callable

import pytest
import weft
from weft.actors.declared import declared_of, runnable
from weft.actors.functions import Functions, imported
from weft.scheduler.errors import NotImportable, ProtocolError
from weft.scheduler.model import VALUE, Address
from weft.scheduler.values import freeze

out = weft.cell("out", of=int)


def plain(tx: weft.Tx, by: int = 1) -> int:
    return by


@weft.computation(output=out)
def decorated(tx: weft.Tx) -> int:
    return 1


def test_a_name_stands_for_the_function_or_for_what_a_decorator_made_of_it() -> None:
    assert imported(f"{__name__}:plain") is plain
    assert imported(f"{__name__}:decorated") is decorated


@pytest.mark.parametrize("name", ["plain", ":plain", "no_such_module:x", f"{__name__}:missing", f"{__name__}:out", "sys:path"])
def test_what_names_no_function_is_refused_with_a_sentence(name: str) -> None:
    with pytest.raises(NotImportable, match=r"module|names no function"):
        imported(name)


def test_a_local_spec_is_found_until_two_newer_ones_of_its_node_were_added() -> None:
    functions = Functions()
    specs = [weft.computation(id="n")(lambda tx, index=index: index) for index in range(3)]
    names = [functions.add("n", spec) for spec in specs]
    assert functions.add("n", specs[-1]) == names[-1], "an equal one is the same"
    assert functions.find(names[1]) is specs[1]
    with pytest.raises(NotImportable):
        functions.find(names[0])
    functions.forget("n")
    assert len(functions) == 0


@pytest.mark.parametrize("spec", [decorated, weft.computation(id="p", args={"by": 3}, output=out)(plain), weft.effect(id="e")(plain)], ids=["decorated", "plain", "effect"])
@pytest.mark.parametrize("local", [True, False], ids=["local", "imported"])
def test_a_registration_brings_back_what_is_to_be_run(spec: "weft.NodeSpec[..., int]", local: bool) -> None:
    functions = Functions()
    declared = declared_of(spec, "space:id", "s", functions if local else None, group="g", demanded=True)
    assert (declared.node, declared.kind, declared.space, declared.group, declared.demanded) == ("space:id", spec.kind, "s", "g", True)
    assert declared.outputs == ((Address("s", "space", "out", VALUE),) if spec.kind == "computation" else ())
    body, space, group = runnable(freeze(declared.spec), functions)
    assert (space, group) == ("s", "g")
    assert (body.spec.fn, dict(body.spec.args), body.output) == (spec.fn, dict(spec.args), spec.output)
    assert body.output is None or spec is not decorated or body.output.of is int


def test_arguments_that_are_addresses_travel() -> None:
    given = {"c": weft.cell("c", "other")["x"], "s": weft.stream("s"), "f": weft.family("f", "k"), "l": [weft.cell("a"), 1], "d": {"k": weft.cell("b")}, "v": {"cell": 1}}
    spec: weft.NodeSpec[..., None] = weft.computation(id="many", args=given)(taking)
    body, _, _ = runnable(freeze(declared_of(spec, "many", "main", None).spec), Functions())
    assert dict(body.spec.args) == dict(spec.args)


def taking(tx: weft.Tx, **rest: object) -> None: ...


def decorated_inside() -> "Callable[[weft.Tx], int]":
    def inside(tx: weft.Tx) -> int:
        return 1

    return inside


def test_a_closure_without_a_table_is_refused_where_it_is_declared() -> None:
    with pytest.raises(NotImportable):
        declared_of(weft.computation(decorated_inside()), "n", "main", None)


PLAIN = f"{__name__}:plain"


@pytest.mark.parametrize("told", [None, 3, {}, {"fn": PLAIN}, {"fn": PLAIN, "space": "s", "group": None, "id": "x", "args": {}, "kind": "cheese"}], ids=repr)
def test_what_nobody_declares_is_refused(told: object) -> None:
    with pytest.raises((ProtocolError, NotImportable)):
        runnable(told, Functions())
