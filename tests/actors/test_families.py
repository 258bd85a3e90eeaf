"""Families: a document finds the spec that writes it, at the cost of its own steps."""
from __future__ import annotations

from typing import Any

import pytest
import weft
from weft.actors.families import Families, splits
from weft.actors.specs import NodeSpec
from weft.scheduler.model import Entity


def spec(family: weft.Family[Any]) -> NodeSpec[..., Any]:
    names = ", ".join(family.params)
    return weft.computation(eval(f"lambda tx, {names}: '/'.join(map(str, ({names},)))"), output=family, id=f"of-{family.id}-{len(family.params)}")


def test_a_look_up_asks_only_the_family_whose_member_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    families = Families()
    for number in range(1_000):
        family = weft.family(f"f{number}", "a")
        families.add(f"n{number}", spec(family), family, "main")
    asked: list[str] = []
    member = NodeSpec.member

    def counted(self: NodeSpec[..., Any], cell: weft.Cell[Any]) -> NodeSpec[..., Any] | None:
        asked.append(self.id)
        return member(self, cell)

    monkeypatch.setattr(NodeSpec, "member", counted)
    found = families.find(Entity("main", "space", "f500/ann"))
    assert found is not None
    assert (found.member.args, found.home, asked) == ({"a": "ann"}, "main", ["of-f500-1"])
    for entity in (Entity("main", "space", "plain"), Entity("main", "space", "f500"), Entity("main", "space", "f500/ann/x"), Entity("tenant", "space", "f500/ann")):
        assert families.find(entity) is None
    assert families.find(Entity("main", "session", "f500/ann")) is None
    assert len(asked) == 1


def test_an_id_splits_where_arguments_may_begin() -> None:
    assert list(splits("total")) == []
    assert list(splits("total/a%20b/c")) == [("total/a%20b", 1), ("total", 2)]
    assert list(splits("total/a b/c")) == [("total/a b", 1)]


@pytest.mark.parametrize("placement", ["inline", "embedded"])
def test_a_family_of_another_space_is_found_there_and_its_nodes_are_at_home_where_it_was_declared(placement: Any) -> None:
    family = weft.family("total", "user", space="tenant")
    with weft.Runtime(placement=placement) as rt:
        rt.register(spec(family))
        assert rt.pull(family("ann")) == "ann"
        assert rt.pull(weft.cell("total/ann")) is None
        assert rt.in_space("tenant").pull(weft.cell("total/bob")) == "bob"
        assert rt.ran() == ["of-total-1[ann]", "of-total-1[bob]"]


@pytest.mark.parametrize("placement", ["inline", "embedded"])
def test_what_is_removed_makes_no_more_members_and_what_is_declared_again_takes_its_place(placement: Any) -> None:
    one, other = weft.family("one", "a"), weft.family("other", "a")

    def given(value: int, family: weft.Family[Any]) -> NodeSpec[..., Any]:
        def body(tx: weft.Tx, a: str) -> int:
            return value

        return weft.computation(body, output=family, id="made")

    with weft.Runtime(placement=placement) as rt:
        node = rt.register(given(1, one))
        told: list[Any] = []
        rt.sink(one("x"), told.append)
        rt.idle()
        rt.load([again := given(3, one)])
        rt.idle()
        rt.load([again])
        rt.idle()
        assert (told, rt.ran()) == ([1, 3], ["made[x]", "made[x]"])
        rt.register(given(2, other))
        assert (rt.pull(other("x")), rt.pull(one("y")), rt.ran()) == (2, None, ["made[x]"])
        node.cancel()
        assert (rt.pull(other("x")), rt.pull(other("z")), rt.ran()) == (2, None, [])
