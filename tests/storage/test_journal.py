"""The log as it is kept: one order, no gap, everybody hears before it goes on."""

import pytest
from weft.scheduler.errors import Misuse
from weft.scheduler.log import Entry, FenceEntry
from weft.scheduler.model import Version
from weft.storage.journal import Journal


def add(journal: Journal, token: int = 0) -> Entry:
    entry = FenceEntry(journal.next(), token)
    journal.append(entry)
    return entry


def test_versions_are_the_epoch_and_a_count_without_gaps() -> None:
    journal = Journal(4)
    assert journal.version == Version(4, 0)
    assert [add(journal).version for _ in range(3)] == [Version(4, 1), Version(4, 2), Version(4, 3)]
    assert journal.version == Version(4, 3)


def test_an_entry_numbered_for_another_place_is_refused() -> None:
    journal = Journal(4)
    with pytest.raises(Misuse, match="has no place"):
        journal.append(FenceEntry(Version(4, 2), 1))


def test_every_subscriber_has_an_entry_before_append_returns() -> None:
    journal = Journal(1)
    first: list[Entry] = []
    second: list[Entry] = []
    journal.subscribe(first.append)
    stop = journal.subscribe(second.append)
    entry = add(journal)
    assert first == second == [entry]
    stop()
    add(journal)
    assert (len(first), len(second)) == (2, 1)


def test_an_entry_made_inside_a_delivery_comes_after_it_for_everybody() -> None:
    journal = Journal(1)
    heard: list[tuple[str, int]] = []

    def eager(entry: Entry) -> None:
        heard.append(("eager", entry.version.n))
        if entry.version.n == 1:
            add(journal)

    journal.subscribe(eager)
    journal.subscribe(lambda entry: heard.append(("calm", entry.version.n)))
    add(journal)
    assert heard == [("eager", 1), ("calm", 1), ("eager", 2), ("calm", 2)]


def test_entries_of_one_step_are_numbered_before_the_first_is_heard() -> None:
    journal = Journal(1)
    heard: list[int] = []

    def eager(entry: Entry) -> None:
        heard.append(entry.version.n)
        if entry.version.n == 1:
            add(journal)

    journal.subscribe(eager)
    journal.append(FenceEntry(Version(1, 1), 1), FenceEntry(Version(1, 2), 2))
    assert heard == [1, 2, 3]


def test_a_subscriber_that_raises_keeps_nothing_from_the_others() -> None:
    journal = Journal(1)
    heard: list[Entry] = []

    def broken(entry: Entry) -> None:
        raise ValueError("no")

    journal.subscribe(broken)
    journal.subscribe(heard.append)
    with pytest.raises(ValueError, match="no"):
        add(journal)
    assert len(heard) == 1
    journal.subscribe(broken)
    with pytest.raises(ExceptionGroup):
        add(journal)
    assert len(heard) == 2


def test_entries_are_kept_until_every_holder_has_acknowledged_them() -> None:
    journal = Journal(1)
    add(journal)
    assert journal.after(0) is None, "nobody held it"
    journal.hold("graph")
    journal.hold("registry")
    two, three = add(journal), add(journal)
    assert journal.after(1) == (two, three)
    journal.acknowledge("graph", 3)
    assert journal.after(1) == (two, three)
    journal.acknowledge("registry", 2)
    assert journal.after(1) is None
    assert journal.after(2) == (three,)
    journal.acknowledge("registry", 1)
    assert journal.after(2) == (three,), "a late acknowledgement takes nothing back"
    journal.release("registry")
    assert journal.after(2) is None
    assert journal.after(3) == ()
