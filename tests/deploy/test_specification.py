"""Child specifications: plain data that crosses to a process and back, and names that are told apart."""

import pytest
from weft.deploy.intensity import Intensity
from weft.deploy.placement import children_of
from weft.deploy.plan import Plan, read, written
from weft.deploy.specification import Actor, Child, Start, checked, decoded, encoded
from weft.scheduler.errors import Misuse, NotStorable


def test_a_start_crosses_as_plain_bytes() -> None:
    start = Start("/run/x", Child("core", (Actor("graph", "a:b", {"depth": 3, "names": ["x"], "deep": {"y": None}}), Actor("settle", "c:d")), "restart", 0.5), 4)
    assert decoded(encoded(start)) == start


def test_a_parameter_that_is_not_plain_is_refused() -> None:
    with pytest.raises(NotStorable):
        encoded(Start("/run/x", Child("core", (Actor("graph", "a:b", {"fn": len}),)), 1))


@pytest.mark.parametrize(
    ("children", "sentence"),
    [
        ((Child("core", ()), Child("core", ())), "two of the tree's processes are called 'core'; give each a name of its own"),
        ((Child("one", (Actor("graph", "a:b"),)), Child("two", (Actor("graph", "a:b"),))), "two of the tree's actors are called 'graph'; give each a name of its own"),
    ],
    ids=["processes", "actors"],
)
def test_two_of_one_name_are_refused(children: tuple[Child, ...], sentence: str) -> None:
    with pytest.raises(Misuse) as caught:
        checked(children)
    assert str(caught.value) == sentence


def test_a_plan_crosses_as_one_line() -> None:
    plan = Plan("shop", "/run/x", workers=3, path=("/a", "/b"), options={"run_budget": 4}, children=(["core", [["graph", "a:b", {}]]],))
    assert "\n" not in written(plan)
    assert read(written(plan)) == plan


@pytest.mark.parametrize("text", ["", "[]", '{"app": "x"}', '{"app": "x", "run": "y", "colour": "red"}'])
def test_what_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises(Misuse, match="the plan of a tree is one JSON object"):
        read(text)


def shape(plan: Plan) -> list[tuple[str, list[str], str]]:
    return [(child.name, [actor.name for actor in child.actors], child.lost) for child in checked(children_of(plan))]


def test_the_tree_has_a_storage_a_core_and_its_workers() -> None:
    core = ["graph", "registry", "gates", "settle"]
    assert shape(Plan("shop", "/run/x", workers=2)) == [
        ("storage", ["storage"], "stop"), ("core", core, "stop"), ("worker-1", ["worker-1"], "restart"), ("worker-2", ["worker-2"], "restart"), ("load", ["client-load"], "done"),
    ]  # fmt: skip


def test_isolated_has_one_process_an_actor() -> None:
    assert shape(Plan("shop", "/run/x", placement="isolated", load=False)) == [
        *((name, [name], "stop") for name in ("storage", "graph", "registry", "gates", "settle")), ("worker-1", ["worker-1"], "restart"),
    ]  # fmt: skip


@pytest.mark.parametrize("plan", [Plan("shop", "/x", placement="forest"), Plan("shop", "/x", workers=0), Plan("shop", "/x", workers=65)], ids=["placement", "none", "too many"])
def test_a_plan_that_cannot_be_is_refused(plan: Plan) -> None:
    with pytest.raises(Misuse):
        children_of(plan)


def test_five_deaths_in_ten_seconds_are_borne_and_a_sixth_is_not() -> None:
    intensity = Intensity()
    assert [intensity.allows(now) for now in (0.0, 1.0, 2.0, 3.0, 4.0)] == [True] * 5
    assert not intensity.allows(5.0)
    assert str(intensity) == "6 times in 10 s"


def test_deaths_of_long_ago_are_forgotten() -> None:
    intensity = Intensity()
    assert all(intensity.allows(now) for now in (0.0, 1.0, 2.0, 3.0, 4.0, 10.0, 11.0, 12.0))
