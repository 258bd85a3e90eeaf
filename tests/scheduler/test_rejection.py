"""What a refused commit means for whoever sent it (decision 4)."""
from __future__ import annotations

import pytest
from weft.scheduler.errors import (
    Aborted,
    BadAddress,
    ConflictError,
    CorruptRow,
    Misuse,
    NotStorable,
    PatchApplyError,
    PreconditionFailedError,
    ProtocolError,
    SessionError,
    StaleEpoch,
    StorageFull,
    StorageTransactionInconsistent,
    StorageUnavailable,
    Undecodable,
    WeftError,
)  # fmt: skip
from weft.scheduler.rejection import Fate, Rejection, rejection

FATES = {
    Fate.STALE_BASIS: (ConflictError, StorageTransactionInconsistent),
    Fate.PERMANENT: (PreconditionFailedError,),
    Fate.TERMINAL: (ProtocolError, PatchApplyError, Misuse, BadAddress, NotStorable, CorruptRow, Aborted, StaleEpoch),
    Fate.TRANSIENT: (StorageUnavailable, StorageFull, SessionError, Undecodable, WeftError, OSError),
}


@pytest.mark.parametrize(("kind", "fate"), [(kind, fate) for fate, kinds in FATES.items() for kind in kinds], ids=lambda value: getattr(value, "__name__", str(value)))
def test_each_error_has_its_fate(kind: type[Exception], fate: Fate) -> None:
    refused = rejection(kind("why"))
    assert refused == Rejection(kind.__name__, "why", refused.fields)
    assert refused.fate is fate


def test_no_retry_helps_against_misuse() -> None:
    kinds = [Misuse]
    for kind in kinds:
        kinds += kind.__subclasses__()
    assert len(kinds) > 6
    assert {Rejection(kind.__name__, "why", {}).fate for kind in kinds} == {Fate.TERMINAL}


def test_the_fate_is_the_same_on_both_sides_of_a_boundary() -> None:
    for kinds in FATES.values():
        for kind in kinds:
            here = rejection(kind("why"))
            there = rejection(here.error())
            assert there.fate is here.fate


def test_the_error_comes_back_with_its_fields() -> None:
    error = rejection(ConflictError("stale", entity="main:a", basis=3, seq=5)).error()
    assert isinstance(error, ConflictError)
    assert (str(error), error.entity, error.basis, error.seq) == ("stale", "main:a", 3, 5)


def test_an_unknown_name_is_transient() -> None:
    assert Rejection("Unheard", "why", {}).fate is Fate.TRANSIENT
    assert str(Rejection("Unheard", "why", {}).error()) == "Unheard: why"
