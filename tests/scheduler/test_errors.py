"""Errors: the tree, and what survives a boundary."""
from __future__ import annotations

import re
from typing import Any

import pytest
from weft.scheduler import errors
from weft.scheduler.errors import (
    Aborted,
    BadAddress,
    ConflictError,
    ErrorInfo,
    EventDropped,
    EventFailed,
    InsideRun,
    Missing,
    NodeFailed,
    NotStorable,
    PreconditionFailedError,
    WaitTimeout,
    WeftError,
    by_name,
    describe,
)  # fmt: skip

PUBLIC = {name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, WeftError) and not name.startswith("_")}
INFO = ErrorInfo("code", "message", "where", "trace")


def made(kind: type[WeftError]) -> WeftError:
    return kind(INFO) if issubclass(kind, (EventFailed, EventDropped)) else kind("what happened")


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    assert errors.__doc__ is not None
    tree = errors.__doc__.split("`code`")[0]
    named = set(re.findall(r"\b[A-Z][A-Za-z]+\b", tree)) - {"Every"}
    assert named == set(PUBLIC)


def test_every_error_has_its_own_code() -> None:
    codes = [kind.code for kind in PUBLIC.values()]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch("[a-z-]+", code) for code in codes)


@pytest.mark.parametrize("kind", PUBLIC.values(), ids=PUBLIC)
def test_every_error_survives_a_boundary(kind: type[WeftError]) -> None:
    back = by_name(*describe(made(kind)))
    assert type(back) is kind
    assert str(back) == str(made(kind))
    assert back.fields() == made(kind).fields()


def test_fields_survive_a_boundary() -> None:
    conflict = by_name(*describe(ConflictError("stale", entity="main:a", basis=3, seq=5)))
    assert isinstance(conflict, ConflictError)
    assert (conflict.entity, conflict.basis, conflict.seq) == ("main:a", 3, 5)
    failed = by_name(*describe(NodeFailed("boom", node="app:total")))
    assert isinstance(failed, NodeFailed)
    assert failed.node == "app:total"
    refused = by_name(*describe(PreconditionFailedError("exists", precondition="entity-absent")))
    assert isinstance(refused, PreconditionFailedError)
    assert refused.precondition == "entity-absent"
    ended = by_name(*describe(EventFailed(INFO)))
    assert isinstance(ended, EventFailed)
    assert ended.error == INFO
    aborted = by_name(*describe(Aborted("enough")))
    assert isinstance(aborted, Aborted)
    assert aborted.reason == "enough"


@pytest.mark.parametrize("name", [*PUBLIC, "Unheard", "_EventEnded", "object", ""])
@pytest.mark.parametrize(
    "fields",
    [{}, {"basis": "x", "node": 5, "error": 1, "precondition": None}, {"error": ["a"]}, {"error": [1, 2, 3, 4]}, {"self": 1, "args": 2, "unknown": []}, {"basis": True}],
)
def test_whatever_comes_back_from_a_boundary_is_an_error_of_weft(name: str, fields: dict[str, Any]) -> None:
    back = by_name(name, "message", fields)
    assert type(back) is PUBLIC.get(name, WeftError)
    assert "message" in str(back)
    assert {key: type(value) for key, value in back.fields().items()} == ({key: type(value) for key, value in made(PUBLIC[name]).fields().items()} if name in PUBLIC else {})


def test_a_foreign_error_keeps_its_name_in_front_of_its_message() -> None:
    assert describe(ZeroDivisionError("by zero")) == ("ZeroDivisionError", "by zero", {})
    assert str(by_name("ZeroDivisionError", "by zero", {})) == "ZeroDivisionError: by zero"


def test_errors_are_also_what_programs_expect_them_to_be() -> None:
    for kind, builtin in ((Missing, KeyError), (NotStorable, TypeError), (BadAddress, ValueError), (BadAddress, TypeError), (InsideRun, RuntimeError), (WaitTimeout, TimeoutError)):
        assert issubclass(kind, builtin)
    assert str(Missing("cart is not there")) == "cart is not there"
    assert str(Missing()) == ""


def test_a_failed_and_a_dropped_event_are_not_caught_as_each_other() -> None:
    assert not issubclass(EventDropped, EventFailed)
    assert not issubclass(EventFailed, EventDropped)
