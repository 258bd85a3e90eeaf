"""Which documents there are: in order, of one scope, page by page, of one moment, through branches."""
from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness.engines import BACKENDS, doc
from harness.ledger import Ledger, ledger
from weft.scheduler.errors import ConflictError, ProtocolError
from weft.storage import listing
from weft.storage.listing import PAGE_LIMIT, Listing
from weft.storage.tables import DELETE


@pytest.fixture(params=BACKENDS)
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    with ledger(request.param, tmp_path) as made:
        yield made


def ids(log: Ledger, branch: str = "", size: int = 1) -> list[str]:
    """All pages, put together."""
    page = log.engine.list(branch=branch, limit=size)
    found = [*page.ids]
    while page.after is not None:
        page = log.engine.list(branch=branch, limit=size, after=page.after, seq=page.seq)
        found += page.ids
    return found


def test_STO_011_live_ids_are_listed_in_order_for_one_scope(log: Ledger) -> None:
    log.set("second", 2)
    log.set("first", 1)
    log.set("user-only", 3, scope="user")
    assert log.engine.list() == Listing(("first", "second"), 3, None)
    assert log.engine.list(limit=1) == Listing(("first",), 3, "first")
    assert log.engine.list(limit=1, after="first") == Listing(("second",), 3, None)
    assert log.engine.list(scope="user").ids == ("user-only",)
    assert log.engine.list(scope="nobody").ids == ()
    assert log.engine.exists(doc("first"))
    assert not log.engine.exists(doc("missing"))
    assert not log.engine.exists(doc("user-only"))


def test_STO_011_a_deleted_document_is_left_out_and_its_head_row_remains(log: Ledger) -> None:
    log.set("second", 2)
    log.set("first", 1)
    gone = log.delete("first")
    assert log.engine.list().ids == ("second",)
    assert not log.engine.exists(doc("first"))
    head = log.engine.tables.head("", doc("first"))
    assert head is not None
    assert (head.op, head.seq) == (DELETE, gone)
    log.set("first", 3)
    assert log.engine.list().ids == ("first", "second")
    assert log.engine.exists(doc("first"))


def test_STO_012_a_page_of_another_moment_is_refused(log: Ledger) -> None:
    for id in "abc":
        log.set(id, 0)
    page = log.engine.list(limit=2)
    assert page == Listing(("a", "b"), 3, "b")
    log.set("a", 1)
    with pytest.raises(ConflictError, match="entity identifier snapshot changed") as caught:
        log.engine.list(limit=2, after=page.after, seq=page.seq)
    assert (caught.value.basis, caught.value.seq) == (3, 4)
    assert log.engine.list(limit=2, after=page.after, seq=4).ids == ("c",)


def test_STO_012_an_unpaged_listing_over_the_page_limit_is_refused_with_an_instruction_to_paginate(log: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "PAGE_LIMIT", 3)
    for id in "abc":
        log.set(id, 0)
    assert log.engine.list().ids == ("a", "b", "c")
    log.set("d", 0)
    with pytest.raises(ProtocolError, match="paginate"):
        log.engine.list()
    assert ids(log, size=3) == ["a", "b", "c", "d"]
    log.delete("b")
    assert log.engine.list().ids == ("a", "c", "d")


@pytest.mark.parametrize("limit", [0, -1, PAGE_LIMIT + 1, True, "5", 1.5])
def test_STO_012_a_page_has_a_sensible_size(log: Ledger, limit: object) -> None:
    with pytest.raises(ProtocolError, match="its limit is an integer"):
        log.engine.list(limit=limit)  # type: ignore[arg-type]


@pytest.mark.parametrize("what", [{"scope": 5}, {"scope": "\ud800"}, {"after": 5}, {"after": "\ud800"}], ids=str)
def test_a_listing_of_what_is_no_text_is_refused(log: Ledger, what: dict[str, Any]) -> None:
    log.set("a", 0)
    with pytest.raises(ProtocolError, match="texts without lone surrogates"):
        log.engine.list(**what)


def test_STO_011_ids_are_ordered_by_code_point_on_every_backend(log: Ledger) -> None:
    names = ["Z", "a", "aa", "a\u00e9", "\u00e9", "\uffff", "\U0001f600", "10", "9"]
    for name in names:
        log.set(name, 0)
    assert list(log.engine.list().ids) == sorted(names) == ids(log)


def test_STO_011_a_branch_lists_what_it_inherits_and_what_it_has(log: Ledger) -> None:
    for id in "abc":
        log.set(id, 0)
    log.engine.fork("side")
    log.set("late", 0)
    log.delete("c")
    log.set("own", 0, branch="side")
    log.delete("a", branch="side")
    assert ids(log, "side") == ["b", "c", "own"]
    assert ids(log) == ["a", "b", "late"]
    assert log.engine.exists(doc("c"), "side")
    assert not log.engine.exists(doc("c"))
    assert not log.engine.exists(doc("a"), "side")
    assert not log.engine.exists(doc("late"), "side")
    with pytest.raises(ProtocolError, match="no branch"):
        log.engine.list(branch="nowhere")


@pytest.mark.parametrize("seed", range(4))
def test_STO_011_pages_of_any_size_show_what_reading_shows_in_every_branch(log: Ledger, seed: int) -> None:
    chance = random.Random(seed)
    names = [f"d{n}" for n in range(12)]
    branches = [""]
    for _ in range(60):
        branch, id = chance.choice(branches), chance.choice(names)
        if chance.random() < 0.1:
            log.engine.fork(f"b{len(branches)}", branch)
            branches.append(f"b{len(branches)}")
        elif chance.random() < 0.4:
            log.delete(id, branch)
        else:
            log.set(id, 0, branch=branch)
    for branch in branches:
        shown = sorted(id for id in names if log.value(id, branch) == 0)
        assert ids(log, branch, chance.randint(1, 5)) == shown == [id for id in sorted(names) if log.engine.exists(doc(id), branch)]
