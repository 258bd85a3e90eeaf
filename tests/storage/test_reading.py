"""Reads of a transaction: what they return, what they record, how they follow links (semantics C.3)."""
from __future__ import annotations

import pytest
from harness.view import HOME, Documents, at, begin, doc, linked, reads_of
from weft.scheduler.cells import cell, link
from weft.scheduler.errors import LinkLoop, Misuse
from weft.scheduler.matching import matches_naive
from weft.scheduler.model import Path, Read
from weft.scheduler.readset import ReadSet
from weft.scheduler.values import MISSING, Value, freeze
from weft.storage.commit import Patch, Set
from weft.storage.patch import Add, Append, Replace
from weft.storage.place import named, place
from weft.storage.proposal import Use
from weft.storage.reading import MAX_HOPS, Reading

D = doc("d")


def fires(reads: dict[Read, Use], id: str, before: Value, after: Value) -> bool:
    """Would a run with these reads run again if the document's value changed so?"""
    old, new = freeze({"value": before}), freeze({"value": after})
    return any(use & Use.SCHEDULING and read.entity == doc(id) and matches_naive(old, new, read.path, read.deep) for read, use in reads.items())


def test_a_read_returns_the_value_and_records_its_path_deep() -> None:
    tx = begin(Documents(d={"a": {"x": [1, None]}}))
    assert tx.get(D, at("a", "x")) == [1, None]
    assert tx.get(D, at("a", "x", 1)) is None
    assert tx.get(D, at("a", "x", 2)) is MISSING
    assert tx.get(D, at("a", "y", "z")) is MISSING
    assert tx.get(D, at("a", "x", 0, "below")) is MISSING
    assert tx.get(doc("none"), at("a")) is MISSING
    paths = [at("a", "x"), at("a", "x", 1), at("a", "x", 2), at("a", "y", "z"), at("a", "x", 0, "below")]
    assert tx.reads == {**{Read(D, path, True): Use.BOTH for path in paths}, Read(doc("none"), at("a"), True): Use.BOTH}


def test_the_position_of_a_cell_is_in_the_documents_value_and_of_its_metadata_beside_it() -> None:
    items = cell("cart")["items"][0]
    assert place(items, "here") == (doc("cart", "here"), at("items", 0))
    assert place(cell("cart", "there").meta["slug"], "here") == (doc("cart", "there"), ("slug",))
    assert place(link(items), "stored") == (doc("cart", "stored"), at("items", 0))
    assert [named(*place(what, "s")) for what in (items, cell("cart"), cell("cart").meta["slug"])] == ["s:cart#/items/0", "s:cart", "s:cart#meta/slug"]


def test_an_untracked_read_is_validated_but_no_dependency_and_a_tracked_one_is_both() -> None:
    tx = begin(Documents(d={"a": 1}))
    assert tx.get(D, at("a"), track=False) == 1
    assert tx.reads == {Read(D, at("a"), True): Use.CONFLICT}
    tx.track(D, at("a"))
    assert tx.reads == {Read(D, at("a"), True): Use.BOTH}


def test_tracking_alone_is_a_dependency_that_does_not_conflict() -> None:
    tx = begin(Documents(d={"a": 1}))
    tx.track(D, at("a"))
    assert tx.reads == {Read(D, at("a"), True): Use.SCHEDULING}


def test_keys_length_and_exists_are_shallow() -> None:
    tx = begin(Documents(d={"o": {"x": 1, "y": 2}, "l": [1, 2, 3]}))
    assert tx.keys(D, at("o")) == ["x", "y"]
    assert tx.keys(D, at("l")) == ["0", "1", "2"]
    assert (tx.length(D, at("l")), tx.length(D, at("o"))) == (3, 2)
    assert (tx.exists(D, at("o")), tx.exists(D, at("none"))) == (True, False)
    assert (tx.keys(D, at("none")), tx.length(D, at("none"))) == ([], 0)
    assert tx.reads == {Read(D, at(step), False): Use.BOTH for step in ("o", "l", "none")}


def test_what_has_no_keys_says_so_and_is_read() -> None:
    tx = begin(Documents(d="text"))
    with pytest.raises(Misuse, match="main:d holds 'text', which has no keys"):
        tx.keys(D, at())
    assert tx.reads == {Read(D, at(), False): Use.BOTH}


def test_READ_004_READ_005_READ_006_a_read_of_length_depends_on_the_length() -> None:
    tx = begin(Documents(d=[1, 2]))
    assert tx.get(D, at("length")) == 2
    assert fires(tx.reads, "d", [1, 2], [1, 2, 3])
    assert not fires(tx.reads, "d", [1, 2], [1, 9])
    assert fires(tx.reads, "d", [1, 2], [1])


def test_READ_009_asking_for_the_length_is_a_tracked_read_of_the_array() -> None:
    tx = begin(Documents(d=[1, 2]))
    assert tx.length(D, at()) == 2
    assert tx.reads == {Read(D, at(), False): Use.BOTH}


def test_READ_001_two_views_of_one_cell_depend_on_their_own_fields() -> None:
    before = {"profile": {"name": "Alice"}, "stats": {"n": 100}}
    profile, stats = begin(Documents(d=before)), begin(Documents(d=before))
    profile.get(D, at("profile"))
    stats.get(D, at("stats"))
    after = {"profile": {"name": "Bob"}, "stats": {"n": 100}}
    assert (fires(profile.reads, "d", before, after), fires(stats.reads, "d", before, after)) == (True, False)


def test_READ_008_a_shape_read_fires_for_a_sibling_key() -> None:
    tx = begin(Documents(d={"theme": "dark"}))
    tx.keys(D, at())
    assert fires(tx.reads, "d", {"theme": "dark"}, {"theme": "dark", "size": 1})
    assert not fires(tx.reads, "d", {"theme": "dark"}, {"theme": "light"})


def chain() -> Documents:
    return Documents(a=linked("b", "foo", "bar"), b={"foo": linked("c")}, c={"baz": 1, "bar": 2})


def test_CORE_025_a_value_behind_links_depends_on_the_links_and_on_the_final_path() -> None:
    tx = begin(chain())
    assert tx.get(doc("a"), at()) == 2
    assert tx.reads == {Read(doc("a"), at(), False): Use.BOTH, Read(doc("b"), at("foo"), False): Use.BOTH, Read(doc("c"), at("bar"), True): Use.BOTH}
    assert not fires(tx.reads, "c", {"baz": 1, "bar": 2}, {"baz": 2, "bar": 2})
    assert fires(tx.reads, "c", {"baz": 1, "bar": 2}, {"baz": 1, "bar": 3})
    assert fires(tx.reads, "b", {"foo": linked("c")}, {"foo": linked("x")})


def test_CORE_024_shallow_reads_along_a_link_chain_see_new_keys_only() -> None:
    tx = begin(chain())
    tx.keys(doc("c"), at())
    tx.resolve(doc("b"), at("foo"))
    assert not fires(tx.reads, "c", {"baz": 1, "bar": 2}, {"baz": 2, "bar": 2})
    assert fires(tx.reads, "c", {"baz": 1, "bar": 2}, {"baz": 1, "bar": 2, "fiz": 2})


def test_links_inside_a_value_stay_links_and_a_raw_read_gives_the_link_itself() -> None:
    tx = begin(Documents(d={"to": linked("x"), "l": [linked("y")]}, x=5))
    assert tx.get(D, at()) == {"to": linked("x"), "l": [linked("y")]}
    assert tx.get(D, at("to")) == 5
    assert tx.get(D, at("to"), raw=True) == linked("x")


def test_a_link_without_a_space_means_the_space_it_is_stored_in() -> None:
    view = Documents()
    view.put(doc("a", "far"), {"value": linked("b")})
    view.put(doc("b", "far"), {"value": "far"})
    view.put(doc("b"), {"value": "near"})
    assert begin(view).get(doc("a", "far"), at()) == "far"


def test_a_link_to_metadata_leads_there() -> None:
    view = Documents(d=link(cell("x").meta["slug"]))
    view.put(doc("x"), {"value": 1, "slug": "s"})
    assert begin(view).get(D, at()) == "s"


def test_a_missing_document_behind_a_link_is_read_as_missing_and_depended_on() -> None:
    tx = begin(Documents(d=linked("gone", "x")))
    assert tx.get(D, at()) is MISSING
    assert not tx.exists(D, at())
    assert Read(doc("gone"), at("x"), True) in tx.reads


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ({"d": linked("d")}, at()),
        ({"d": {"x": linked("d", "x", "y")}}, at("x")),
        ({"d": linked("e"), "e": linked("d")}, at()),
        ({"d": {"x": linked("e", "y")}, "e": {"y": linked("d", "x")}}, at("x")),
        ({"d": linked("e", "a"), "e": linked("d", "b")}, at()),
    ],
    ids=["itself", "its own part", "two documents", "two positions", "paths that grow for ever"],
)
def test_links_that_lead_nowhere_raise_and_what_was_read_stays_recorded(values: dict[str, Value], path: Path) -> None:
    tx = begin(Documents(**values))
    with pytest.raises(LinkLoop, match="main:d"):
        tx.get(D, path)
    assert Read(D, path, False) in tx.reads
    with pytest.raises(LinkLoop):
        tx.set(D, (*path, "below"), 1)


def test_a_link_passed_twice_on_the_way_down_is_no_circle() -> None:
    assert begin(Documents(d={"self": linked("d"), "x": 1})).get(D, at("self", "self", "self", "x")) == 1


def test_a_hundred_links_in_a_row_are_followed_and_one_more_is_not() -> None:
    view = Documents(**{f"n{n}": linked(f"n{n + 1}") for n in range(MAX_HOPS + 1)})
    view.put(doc(f"n{MAX_HOPS + 1}"), {"value": "end"})
    assert begin(view).get(doc("n1"), at()) == "end"
    with pytest.raises(LinkLoop, match="more than 100 links"):
        begin(view).get(doc("n0"), at())


def test_resolve_says_where_links_lead_and_does_not_conflict() -> None:
    tx = begin(chain())
    assert tx.resolve(doc("a"), at()) == doc("c").at(at("bar"))
    assert tx.resolve(D, at("plain")) == D.at(at("plain"))
    assert set(tx.reads.values()) == {Use.SCHEDULING}
    assert all(not read.deep for read in tx.reads)


def test_cells_gives_one_position_for_each_child_behind_links() -> None:
    tx = begin(Documents(d={"l": [linked("x"), 5], "o": {"k": linked("y", "z"), "m": {}}}))
    assert tx.cells(D, at("l")) == [doc("x").at(at()), D.at(at("l", 1))]
    assert tx.cells(D, at("o")) == [doc("y").at(at("z")), D.at(at("o", "m"))]
    assert tx.cells(D, at("none")) == []
    assert not any(read.deep for read in tx.reads)
    assert tx.reads[Read(D, at("l"), False)] is Use.BOTH
    assert tx.reads[Read(D, at("l", 0), False)] is Use.SCHEDULING


def test_a_write_follows_links_on_the_way_but_not_at_its_last_step() -> None:
    view = Documents(d={"to": linked("x", "part")}, x={"part": {"a": 1}})
    tx = begin(view)
    tx.set(D, at("to", "a"), 2)
    (proposal,) = tx.finish()
    assert proposal.operations == (Patch(doc("x"), (Replace(at("part", "a"), 2),)),)
    assert proposal.reads == {Read(D, at("to"), False): Use.BOTH}
    tx = begin(view)
    tx.set(D, at("to"), 7)
    assert tx.finish()[0].operations == (Patch(D, (Replace(at("to"), 7),)),)


def test_a_write_told_to_goes_through_the_last_link_too() -> None:
    tx = begin(Documents(d=linked("x"), x=1))
    tx.set(D, at(), 2, through=True)
    assert tx.finish()[0].operations == (Set(doc("x"), {"value": 2}),)


def test_mergeable_writes_go_where_the_value_is() -> None:
    tx = begin(Documents(d=linked("x"), x=[1]))
    tx.append(D, at(), 2)
    assert tx.finish()[0].operations == (Patch(doc("x"), (Append(at(), (2,)),)),)


def test_a_write_through_a_link_into_nothing_makes_the_document() -> None:
    tx = begin(Documents(d={"to": linked("fresh")}))
    tx.set(D, at("to", "a"), 1)
    assert tx.finish()[0].operations == (Patch(doc("fresh"), (Add(at(), {"a": 1}),)),)


def test_a_link_the_transaction_has_written_is_followed_and_is_no_dependency() -> None:
    tx = begin(Documents(d=1, x=5))
    tx.set(D, at(), linked("x"))
    assert tx.get(D, at()) == 5
    assert tx.reads == {Read(doc("x"), at(), True): Use.BOTH}


def test_STO_052_reads_of_one_depth_compact_and_a_reference_is_kept_for_reactivity_only() -> None:
    tx = begin(Documents(d={"s": {"f": 1}}))
    for path in (at(), at("s"), at("s", "f")):
        tx.get(D, path)
    assert ReadSet(tx.reads).reads() == (Read(D, at(), True),)
    tx = begin(Documents(d={"s": {"f": 1}}))
    tx.keys(D, at())
    tx.get(D, at("s", "f"))
    assert set(ReadSet(tx.reads)) == {Read(D, at(), False), Read(D, at("s", "f"), True)}
    tx = begin(Documents(d={"to": linked("x"), "n": 1}, x=1))
    tx.resolve(D, at("to"))
    tx.get(D, at("n"))
    tx.exists(D, at())
    (proposal,) = tx.finish()
    conflict, scheduling = reads_of(proposal, Use.CONFLICT), reads_of(proposal, Use.SCHEDULING)
    assert conflict == {Read(D, at("n"), True), Read(D, at(), False)}
    assert scheduling == conflict | {Read(D, at("to"), False), Read(doc("x"), at(), False)}


def test_the_reading_half_refuses_to_write() -> None:
    reader = Reading(Documents(d=1), HOME)
    assert reader.get(D, at()) == 1
    assert not hasattr(reader, "set")
