"""Rows that say what cannot be: they are refused by name, and cost nobody but those who need them."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from harness.engines import Author, Rig, doc, put, rig_on, value
from weft.scheduler.errors import CorruptRow
from weft.storage.commit import Accepted, Rejected

A, B = doc("a"), doc("b")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Rig]:
    with rig_on("sqlite", tmp_path) as made:
        engine = made.open()
        Author(engine).commit(put(A, 1))
        engine.fork("b1")
        engine.fork("b2", "b1")
        yield made


BROKEN_LINES = [
    ("UPDATE branches SET parent = 'b2' WHERE name = 'b1'", "branch 'b2' leads to more than 64 branches"),
    ("UPDATE branches SET parent = 'gone' WHERE name = 'b1'", "branch 'b1' names 'gone' as its parent"),
]


@pytest.mark.parametrize(("statement", "named"), BROKEN_LINES)
def test_a_branch_whose_row_leads_nowhere_is_named_and_the_others_go_on(disk: Rig, statement: str, named: str) -> None:
    disk.sql(statement)
    engine = disk.open("other")
    with closing(engine.reader()) as reader:
        looks = (lambda: engine.read(B, "b2"), lambda: engine.exists(B, "b2"), lambda: engine.list(branch="b2"), lambda: reader.read(B, "b2"), lambda: engine.fork("b3", "b2"))
        for look in looks:
            with pytest.raises(CorruptRow, match=named):
                look()
    author = Author(engine, "t")
    bad, good = engine.apply([author.draft(put(B, 1), branch="b2"), author.draft(put(A, 2))])
    assert isinstance(bad, Rejected)
    assert (bad.rejection.name, named in bad.rejection.message) == ("CorruptRow", True)
    assert isinstance(good, Accepted)
    assert value(engine, A) == 2
    assert engine.collect(engine.head()).horizon == 2


def test_a_store_without_its_default_branch_says_so(disk: Rig) -> None:
    disk.sql("DELETE FROM branches WHERE name = ''")
    with pytest.raises(CorruptRow, match="the row of the default branch is not there"):
        disk.open("other").read(A)


WRONG_NUMBERS = [
    ("DELETE FROM horizon", "the row of table horizon, which says where history begins, holds None"),
    ("UPDATE horizon SET seq = -1", "the row of table horizon, which says where history begins, holds -1"),
    ("UPDATE commits SET seq = 4611686018427387904", "has a commit 4611686018427387904"),
    ("UPDATE heads SET number = 9223372036854775807", "a document 9223372036854775807"),
]


@pytest.mark.parametrize(("statement", "named"), WRONG_NUMBERS)
def test_a_number_that_cannot_be_is_named_when_the_store_is_opened(disk: Rig, statement: str, named: str) -> None:
    disk.sql(statement)
    with pytest.raises(CorruptRow, match=named):
        disk.open("other")


def test_a_row_whose_number_leads_out_of_the_log_is_refused_when_it_is_read(disk: Rig) -> None:
    Author(disk.open()).commit(put(B, 2), local=2)
    for table in ("commits", "heads"):
        disk.sql(f"UPDATE {table} SET seq = -4611686018427387904 WHERE seq = 1")
    disk.sql("UPDATE heads SET born = seq")
    engine = disk.open("other")
    with pytest.raises(CorruptRow, match="holds a number that no row can hold"):
        engine.read(A)
    assert value(engine, B) == 2
