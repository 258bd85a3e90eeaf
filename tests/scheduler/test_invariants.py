"""The invariants as functions over a snapshot: each holds on a sound one and is named when it is broken."""
from __future__ import annotations

from collections.abc import Callable

import pytest
from weft.scheduler.errors import BrokenInvariant
from weft.scheduler.invariants import INVARIANTS, Evidence, Handling, RunRecord, Snapshot, check
from weft.scheduler.log import RunId
from weft.scheduler.model import Address, Entity, Read
from weft.scheduler.readset import ReadSet
from weft.scheduler.records import EFFECT, Kind, Node, Status, Surface
from weft.scheduler.values import Value, freeze
from weft.storage.commit import Provenance
from weft.storage.proposal import Seen

IN = Entity("main", "space", "in")
OUT = Entity("main", "space", "out")
CAUSE = Address(*IN, ("value",))


def effect(status: Status = Status.CLEAN, reads: tuple[Read, ...] = (Read(IN, ("value",)),)) -> Node:
    node = Node("e", Kind.EFFECT, "main", Surface(), None, 1, 1)
    node.status, node.roots, node.reads, node.run = status, EFFECT, ReadSet(reads), 1
    return node


def record(run: int = 2, *, causes: tuple[Address, ...] = (CAUSE,), signed: Provenance | None = None, **more: object) -> RunRecord:
    parts = {"wanted": True, "anew": False, "number": 1, "iteration": 1, "late": (), **more}
    return RunRecord(RunId("e", 1, run), causes, signed=signed or Provenance("e", run, causes), **parts)  # type: ignore[arg-type]


def sound(node: Node | None = None, *, was: Value = 1, now: Value = 1, wrote: frozenset[Entity] = frozenset(), **more: object) -> Snapshot:
    node = node or effect()
    documents = {IN: freeze({"value": now, "other": 5}), OUT: freeze({"value": 0})}
    evidence = {"e": Evidence(1, {IN: Seen(freeze({"value": was, "other": 4}), 3), OUT: Seen(documents[OUT], 3)}, wrote, 7)}
    parts = {"runs": (record(),), "evidence": evidence, "shows": documents.__getitem__, "run_budget": 2, "max_iterations": 3, **more}
    return Snapshot({node.id: node}, **parts)  # type: ignore[arg-type]


def blamed(snapshot: Snapshot) -> str:
    with pytest.raises(BrokenInvariant) as caught:
        check(snapshot)
    return caught.value.number


def test_a_sound_snapshot_breaks_nothing() -> None:
    check(sound())
    check(Snapshot({}))
    assert list(INVARIANTS) == ["I1", "I2", "I3", "I4", "I5", "I6", "I8", "I9"]


def test_I1_a_live_clean_node_whose_input_is_another_now() -> None:
    assert blamed(sound(now=2)) == "I1"


@pytest.mark.parametrize(
    "excuse",
    [
        lambda: sound(effect(Status.INVALID), now=2),
        lambda: sound(effect(reads=(Read(IN, ("value",), False),)), was={"a": 1}, now={"a": 2}),
        lambda: sound(now=2, wrote=frozenset({IN})),
        lambda: sound(now=2, evidence={}),
    ],
    ids=["it is invalid", "its shallow read sees no difference", "it wrote it itself", "nothing was seen of it"],
)
def test_I1_does_not_speak_of_what_is_excused(excuse: Callable[[], Snapshot]) -> None:
    check(excuse())


def test_I1_does_not_speak_of_what_nobody_observes_nor_of_another_registration_nor_of_a_change_group() -> None:
    dormant, other, grouped = effect(), effect(), effect()
    dormant.roots, other.generation, grouped.group = 0, 2, "editor"
    for node in (dormant, other, grouped):
        check(sound(node, now=2))


def test_I2_a_run_that_nobody_demanded() -> None:
    assert blamed(sound(runs=(record(wanted=False),))) == "I2"


def test_I3_a_run_without_a_cause() -> None:
    assert blamed(sound(runs=(record(causes=()),))) == "I3"
    check(sound(runs=(record(causes=(), anew=True),)))


def test_I4_events_out_of_order_or_on_what_is_not_up_to_date() -> None:
    first, second = Handling("1", "", 1.0), Handling("2", "", 2.0)
    check(sound(handled=(first, second)))
    check(sound(handled=(second, Handling("1", "elsewhere", 1.0))))
    assert blamed(sound(handled=(second, first))) == "I4"
    assert blamed(sound(handled=(first._replace(unclean=("c",)),))) == "I4"


def test_I5_a_node_that_its_own_write_made_invalid() -> None:
    node = effect(Status.INVALID)
    node.causes = {Address(*OUT, ("value",)): 7}
    assert blamed(sound(node, wrote=frozenset({OUT}))) == "I5"
    node.causes = {Address(*OUT, ("value",)): 8}  # somebody else's, later
    check(sound(node, wrote=frozenset({OUT})))


def test_I6_more_runs_than_the_budget_and_more_iterations_than_a_pass_has() -> None:
    check(sound(runs=(record(2), record(3), record(4, number=2))))
    assert blamed(sound(runs=(record(2), record(3), record(4)))) == "I6"
    assert blamed(sound(runs=(record(iteration=4),))) == "I6"


@pytest.mark.parametrize("signed", [Provenance(None, 2, (CAUSE,)), Provenance("e", 1, (CAUSE,)), Provenance("e", 2, ())], ids=["no node", "another run", "no causes"])
def test_I8_a_transaction_that_does_not_say_where_it_comes_from(signed: Provenance) -> None:
    assert blamed(sound(runs=(record(signed=signed),))) == "I8"


def test_I9_a_reader_that_ran_before_its_writer() -> None:
    assert blamed(sound(runs=(record(late=("c",)),))) == "I9"
