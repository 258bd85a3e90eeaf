"""Why a node ran, or why it has not, in words; and what a person should look at (seed 003 "Common Issues"; P10).

Reads records and changes nothing. Called by whoever answers a client's questions.
"""
from __future__ import annotations

from collections.abc import Iterable

from .introspection import Speak
from .model import Address
from .records import EFFECT, MATERIALIZER, PROVISIONAL, Kind, Node, Status

_MOST = 3  # names in one sentence
LOOK = "check_idempotency(True) and violations() say whether its writes feed its reads."  # what to do about a node that does not settle


def why(node: Node, now: float, speak: Speak) -> str:
    """One paragraph: why it ran last, what has happened since, what it waits for, who observes it."""
    return " ".join(part for part in (_history(node, speak), _state(node, now, speak), _demand(node), _trouble(node)) if part)


def findings(nodes: Iterable[Node], now: float, speak: Speak) -> list[str]:
    """What deserves a look, one sentence each: what failed, what does not converge, what is refused, what two nodes write."""
    found: list[str] = []
    writers: dict[Address, list[str]] = {}
    for node in nodes:
        if node.passive:
            continue
        for place in node.surface.outputs:
            writers.setdefault(place, []).append(node.id)
        if node.failed is not None:
            found.append(f"{node.id} failed: {node.failed.message}. It runs again when something that it read changes.")
        if node.streak:
            found.append(f"{node.id} does not settle: it was put off {node.streak} times in a row. {LOOK}")
        if node.attempts:
            found.append(f"{node.attempts} commits of {node.id} in a row were refused: somebody else writes what it reads, or the store does not take them.")
        if node.live and node.status is not Status.CLEAN and not node.streak and (gates := _gates(node, now)):
            found.append(f"{node.id} has work to do and waits: {gates}.")
    for place, ids in writers.items():
        if len(ids) > 1:
            found.append(f"{_listed(ids)} write {speak(place, place.space)}: the one that runs last wins. Give each an output of its own.")
    return found


def _history(node: Node, speak: Speak) -> str:
    if node.status is Status.NEVER_RAN:
        return f"{node.id} has never run."
    if not node.run:
        return f"{node.id} was restored and has not run since."
    if node.taken:
        return f"{node.id} ran last (run {node.run}) because {_changed(node, node.taken, speak)}."
    return f"{node.id} ran last (run {node.run}) because it was registered, or asked for another run, not because something had changed."


def _state(node: Node, now: float, speak: Speak) -> str:
    if node.status is Status.CLEAN:
        return "Nothing that it read has changed since, so it does not run."
    if node.status is Status.NEVER_RAN:
        cause = ""
    elif node.causes:
        cause = f"It is invalid: {_changed(node, node.causes, speak)}. "
    else:
        cause = "It is invalid: it was registered again, or its last commit was refused. "
    if not node.live:
        return f"{cause}It does not run, because nothing observes it."
    gates = _gates(node, now)
    return f"{cause}It waits: {gates}." if gates else f"{cause}It runs in the next pass."


def _demand(node: Node) -> str:
    reasons = [text for bit, text in ((EFFECT, "it is an effect"), (MATERIALIZER, "it is a materializer"), (PROVISIONAL, "a live node has just made it")) if node.roots & bit]
    readers = [reader.id if not reader.passive else "a pull" for reader in node.downstream if reader.live]
    if readers:
        reasons.append(f"{_listed(readers)} {'reads' if len(readers) == 1 else 'read'} what it writes")
    if reasons:
        return f"It is observed: {' and '.join(reasons)}."
    if node.kind is Kind.COMPUTATION and not node.surface.outputs:
        return "It is not observed and cannot be: it declares no output that anybody could read."
    return "It is not observed: no effect, sink, watch or pull reads what it writes, directly or through others."


def _trouble(node: Node) -> str:
    told = []
    if node.failed is not None:
        told.append(f"Its last run failed: {node.failed.message}.")
    if node.attempts:
        told.append(f"{node.attempts} of its commits in a row were refused.")
    if node.streak:
        told.append(f"It did not settle {node.streak} times in a row.")
    return " ".join(told)


def _gates(node: Node, now: float) -> str:
    gate = node.gate
    if gate is None or gate.eligible_at <= now:
        return ""
    closed = (
        ("its debounce", gate.debounce_ready),
        ("its throttle", gate.throttle_ready),
        ("its backoff, for it did not settle", gate.backoff_until),
        ("its first run is held", gate.hold_until),
    )
    return ", ".join(f"{name} until {until:g}" for name, until in closed if until > now)


def _changed(node: Node, causes: Iterable[Address], speak: Speak) -> str:
    return f"{_listed([str(speak(cause, node.space)) for cause in causes])} changed"


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST
    return f"{', '.join(names[:_MOST])} and {more} more" if more > 0 else " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
