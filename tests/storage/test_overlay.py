"""One document: confirmed state and the layers over it."""

from harness.replica_stand import delivered, entity, patch, whole
from weft.scheduler.model import CommitId
from weft.scheduler.values import Value, freeze
from weft.storage.commit import Accepted, Operation
from weft.storage.document import operate
from weft.storage.overlay import Overlay, Part
from weft.storage.patch import Append, Increment, Replace

A = entity("a")


def layer(overlay: Overlay, local_seq: int, *operations: Operation) -> CommitId:
    """Pushes a layer as a commit does."""
    after = overlay.seen.document
    for operation in operations:
        after = operate(after, operation)
    id = CommitId("me", local_seq)
    overlay.push(Part(id, operations, after), overlay.seen.n + 1)
    return id


def shown(overlay: Overlay) -> Value:
    overlay.show(overlay.render(), overlay.seen.n)
    return overlay.seen.document["value"]


def accepted(overlay: Overlay, id: CommitId, seq: int) -> None:
    overlay.accepted(Accepted(id, seq, "", ()))


def test_what_is_seen_is_every_layer_over_the_confirmed_document() -> None:
    overlay = Overlay(delivered("a", 1, {"n": 0}), 1)
    one = layer(overlay, 1, patch("a", Increment(("value", "n"), 1)))
    two = layer(overlay, 2, patch("a", Increment(("value", "n"), 10)))
    assert overlay.seen == (freeze({"value": {"n": 11}}), 3)
    assert overlay.layers() == (one, two)
    assert overlay.shown_stamp == two
    assert (overlay.confirmed["value"]["n"], overlay.seq) == (0, 1)


def test_folding_the_lowest_layer_reuses_what_was_rendered() -> None:
    overlay = Overlay(delivered("a", 1, {"n": 0}), 1)
    one = layer(overlay, 1, patch("a", Increment(("value", "n"), 1)))
    layer(overlay, 2, patch("a", Increment(("value", "n"), 10)))
    before, rendered = overlay.seen, overlay.parts[0].after
    accepted(overlay, one, 2)
    assert overlay.fold(one)
    assert overlay.confirmed is rendered
    assert (overlay.seq, overlay.stamp) == (2, one)
    assert not overlay.stale
    assert overlay.seen is before


def test_a_fold_over_changed_ground_applies_the_operations_again() -> None:
    """C1 is dropped and C2 folded in one step: what C2 was rendered over is gone."""
    overlay = Overlay(delivered("a", 1, [0]), 1)
    one = layer(overlay, 1, patch("a", Append(("value",), (1,))))
    two = layer(overlay, 2, patch("a", Append(("value",), (2,))))
    accepted(overlay, two, 2)
    overlay.drop(one)
    assert overlay.fold(two)
    assert overlay.confirmed["value"] == [0, 2]
    assert shown(overlay) == [0, 2]


def test_a_delivered_document_holds_the_accepted_layers_up_to_its_sequence() -> None:
    overlay = Overlay(delivered("a", 1, [0]), 1)
    one = layer(overlay, 1, patch("a", Append(("value",), (1,))))
    two = layer(overlay, 2, patch("a", Append(("value",), (2,))))
    accepted(overlay, one, 2)
    assert overlay.rebase(delivered("a", 3, [0, 1, 9]))
    assert overlay.layers() == (two,)
    assert shown(overlay) == [0, 1, 9, 2]
    assert overlay.fold(one), "naming it later changes nothing"
    assert shown(overlay) == [0, 1, 9, 2]


def test_confirmed_state_never_moves_back() -> None:
    overlay = Overlay(delivered("a", 5, 5), 1)
    assert not overlay.rebase(delivered("a", 4, 4))
    assert not overlay.rebase(delivered("a", 5, 0))
    assert (overlay.seq, shown(overlay)) == (5, 5)


def test_a_layer_that_is_already_in_a_newer_document_folds_without_being_applied_twice() -> None:
    """The verdict comes after the document that holds the commit."""
    overlay = Overlay(delivered("a", 1, 0), 1)
    one = layer(overlay, 1, patch("a", Increment(("value",), 1)))
    overlay.rebase(delivered("a", 3, 1))
    accepted(overlay, one, 2)
    assert overlay.fold(one)
    assert (overlay.seq, shown(overlay)) == (3, 1)


def test_a_patch_that_no_longer_applies_is_passed_over_and_comes_back_when_it_does() -> None:
    overlay = Overlay(delivered("a", 1, {"n": 0}), 1)
    one = layer(overlay, 1, patch("a", Replace(("value", "n"), 7)))
    overlay.rebase(delivered("a", 2, False))
    assert shown(overlay) is False
    assert overlay.shown_stamp == CommitId("other", 2)
    assert overlay.layers() == (one,), "the engine decides its fate"
    overlay.rebase(delivered("a", 3, {"n": 1}))
    assert shown(overlay) == {"n": 7}
    assert overlay.shown_stamp == one


def test_an_accepted_patch_that_does_not_apply_says_that_the_ground_is_wrong() -> None:
    overlay = Overlay(delivered("a", 1, {"n": 0}), 1)
    one = layer(overlay, 1, patch("a", Replace(("value", "n"), 7)))
    overlay.rebase(delivered("a", 2, False))
    accepted(overlay, one, 3)
    assert not overlay.fold(one)


def test_a_set_hides_whatever_lies_below() -> None:
    overlay = Overlay(delivered("a", 1, 0), 1)
    layer(overlay, 1, whole("a", 5))
    before = overlay.seen.document
    overlay.rebase(delivered("a", 2, 9))
    assert overlay.render() is before
