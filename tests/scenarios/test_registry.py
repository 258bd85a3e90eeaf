"""Scenarios REG and TXID: who is registered, whose child it is, and whose commits it hears."""
from __future__ import annotations

import pytest
import weft
from harness.scene import Scene, cells
from weft import Tx

OC, S, V = cells("o s v")


def test_REG_001_a_removed_node_is_not_enumerated_and_others_still_are() -> None:
    scene = Scene()
    scene.E("e", lambda tx: None)
    scene.C("c", OC, lambda tx: 1)
    scene.rt.remove("e")
    stats = scene.rt.stats()
    assert (stats["computations"], stats["effects"]) == (1, 0)
    with pytest.raises(weft.WeftError):
        scene.rt.node("e")
    assert scene.rt.node("c").kind == "computation"


def test_REG_002_a_handle_of_a_removed_node_does_not_find_it_registered() -> None:
    scene = Scene()
    node = scene.E("e", lambda tx: None)
    node.cancel()
    with pytest.raises(weft.WeftError):
        node.view()
    node.cancel()


def test_REG_003_the_first_ordinal_survives_removal_and_registering_again() -> None:
    scene = Scene()
    scene.E("a", lambda tx: None)
    scene.E("b", lambda tx: None)
    ordinal = scene.rt.node("a").ordinal
    scene.rt.remove("a")
    scene.E("a", lambda tx: None)
    assert scene.rt.node("a").ordinal == ordinal < scene.rt.node("b").ordinal
    scene.idle()
    assert scene.order() == ["a", "b"]


def test_REG_004_parent_and_children_resolve() -> None:
    scene = Scene(s=1)
    child = scene.effect("child", lambda tx: None)
    parent = scene.E("parent", lambda tx: tx.register(child))
    assert scene.rt.node("parent").children == ()
    scene.idle()
    assert scene.rt.node("child").parent == "parent"
    assert scene.rt.node("parent").children == ("child",)
    parent.cancel()
    assert scene.rt.node("child").parent == "parent"  # whom it belongs to is known, registered or not


def test_REG_006_registering_in_another_run_overwrites_the_parent() -> None:
    scene = Scene()
    y = scene.effect("y", lambda tx: None)
    scene.E("p", lambda tx: tx.register(y))
    scene.idle()
    assert scene.rt.node("y").parent == "p"
    scene.E("r", lambda tx: tx.register(y))
    scene.idle()
    assert scene.rt.node("y").parent == "r"
    assert scene.rt.node("p").children == ()


def test_REG_008_a_child_registered_during_the_run_of_its_parent_keeps_its_ordinal() -> None:
    scene = Scene(s=1)
    child = scene.effect("child", lambda tx: None)

    def parent(tx: Tx) -> None:
        tx.get(S)
        tx.register(child)

    scene.E("parent", parent)
    scene.E("other", lambda tx: None)
    scene.idle()
    ordinal = scene.rt.node("child").ordinal
    scene.rt.remove("child")
    scene.commit(s=2)
    scene.idle()
    assert scene.rt.node("child").ordinal == ordinal
    assert scene.rt.node("child").parent == "parent"


def test_TXID_003_a_sink_of_a_change_group_ignores_its_commits_and_sees_others() -> None:
    scene = Scene(v=0)
    told = scene.sink(V, group="g")
    scene.idle()
    assert told == [0]
    scene.commit("g", v=1)
    scene.idle()
    assert told == [0]
    scene.commit(v=2)
    scene.idle()
    assert told == [0, 2]


def test_TXID_two_nodes_hear_each_other_but_not_themselves() -> None:
    scene = Scene(v=0)

    def up_to(limit: int) -> weft.NodeSpec[..., object]:
        def body(tx: Tx) -> None:
            value = tx[V]
            if value < limit:
                tx.set(V, value + 1)

        return scene.effect(f"to{limit}", body)

    scene.rt.register(up_to(3))
    scene.idle()
    assert (scene.get("v"), scene.runs["to3"]) == (1, 1)
    scene.rt.register(up_to(2))
    scene.idle()
    assert scene.get("v") == 3
