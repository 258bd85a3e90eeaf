"""What nodes did that they should not: writes outside of their surface, and runs that are not idempotent. Counted, and named once for each place (semantics C.2, decision 24).

It is a diagnostic: nothing is refused, and nothing runs otherwise because of it (P10).
"""
from __future__ import annotations

from typing import Any, Literal, TypeAlias

from ..scheduler.constants import VIOLATIONS

Kind: TypeAlias = Literal["surface", "idempotency"]

_SAYS: dict[Kind, str] = {
    "surface": "writes outside of what it declares; name the cell in output= or also_writes=, else nobody knows that it depends on this node",
    "idempotency": "wrote something else when it was run again on what it had left behind; derive what it writes from what it reads alone",
}


class Violations:
    def __init__(self) -> None:
        self._counts: dict[tuple[Kind, str, str], int] = {}
        self.unnamed = 0  # beyond what is kept by name

    def __len__(self) -> int:
        return len(self._counts)

    def add(self, kind: Kind, node: str, place: str) -> None:
        key = (kind, node, place)
        count = self._counts.get(key)
        if count is None and len(self._counts) >= VIOLATIONS:
            self.unnamed += 1
        else:
            self._counts[key] = (count or 0) + 1

    def listed(self) -> list[dict[str, Any]]:
        """In the order in which they were first seen."""
        return [{"kind": kind, "node": node, "cell": place, "count": count, "message": f"{node}: {place}: {_SAYS[kind]}"} for (kind, node, place), count in self._counts.items()]
