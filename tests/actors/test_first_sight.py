"""What a sink, a watch or an effect sees first is up to date (API.md "Reading"), also of members of families, which are made by demand and forgotten."""
from __future__ import annotations

from typing import Any

import weft
from harness.scene import Scene, cells

S, M, OUT, P = cells("s m o p")
total = weft.family("total", "user")


@weft.computation(output=total, id="total")
def double(tx: weft.Tx, user: str) -> Any:
    return tx[S] * (2 if user == "ann" else 3)


def test_a_sink_that_comes_late_is_told_the_fresh_value_alone() -> None:
    scene = Scene(s=1)
    scene.C("w1", M, lambda tx: tx[S] * 10)
    scene.C("w2", OUT, lambda tx: tx[M], reads=[M])
    assert scene.pull(OUT) == 10
    scene.commit(s=2)
    told = scene.sink(OUT)  # the one that it reads is clean, and the one above that is not
    scene.idle()
    assert (told, dict(scene.runs)) == ([20], {"w1": 2, "w2": 2})
    scene.commit(s=3)
    scene.idle()
    assert told == [20, 30]


def test_a_sink_behind_a_link_is_told_the_fresh_value_alone() -> None:
    scene = Scene(s=1, p=weft.link(OUT))
    scene.C("w", OUT, lambda tx: tx[S] * 10)
    scene.pull(OUT)
    scene.commit(s=2)
    told = scene.sink(P)
    scene.idle()
    assert told == [20]


def test_a_sink_whose_links_lead_in_a_circle_reports_it_and_goes_on_when_they_no_longer_do() -> None:
    scene = Scene(p=weft.link(OUT), o=weft.link(P))
    told = scene.sink(P)
    scene.idle()
    assert (told, len(scene.errors)) == ([], 1)
    scene.commit(o=5)
    scene.idle()
    assert told == [5]


def test_the_first_update_of_a_watch_is_up_to_date() -> None:
    scene = Scene(s=1)
    scene.C("w", OUT, lambda tx: tx[S] * 10)
    scene.pull(OUT)
    scene.commit(s=2)
    with scene.rt.watch(S, OUT) as watch:
        assert next(iter(watch)).value == (2, 20)


def test_a_sink_on_a_member_of_a_family_is_told_what_the_member_is_and_never_that_it_is_not_there() -> None:
    scene = Scene(s=1)
    scene.rt.load(double)
    told = scene.sink(total("ann"))
    scene.idle()
    assert (told, scene.rt.ran()) == ([2], ["total[ann]"])


def test_an_effect_that_reads_a_member_that_is_not_there_yet_gives_way_to_it() -> None:
    scene = Scene(s=1)
    scene.rt.load(double)
    seen: list[Any] = []

    @weft.effect(id="show")
    def show(tx: weft.Tx) -> None:
        seen.append(tx.get(total(tx.get(P, "ann"))))

    scene.rt.load(show)
    scene.idle()
    assert seen == [2]
    scene.commit(p="bob")
    scene.idle()
    assert seen == [2, 3]
    assert [node["id"] for node in scene.rt.graph()["nodes"]] == ["show", "total[bob]"]  # nobody reads ann's any more


def test_a_member_that_was_pulled_is_forgotten_when_everything_is_idle() -> None:
    scene = Scene(s=1)
    scene.rt.load(double)
    assert scene.pull(total("ann")) == 2
    scene.idle()
    assert scene.rt.graph()["nodes"] == []
    sink = scene.rt.sink(total("ann"), lambda value: None)
    scene.idle()
    assert scene.rt.node("total[ann]").live
    sink.cancel()
    scene.idle()
    assert scene.rt.graph()["nodes"] == []
