"""What a runtime can be asked about itself, wherever its parts run. Nothing here takes part (P10), but for the validator, which is asked to."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

from ..scheduler.errors import ErrorInfo
from ..scheduler.introspection import NodeView
from ..scheduler.model import Address
from .results import Run
from .traces import Kind


class Outlook(Protocol):
    """Nodes are named by the ids that may be meant, the likeliest first."""

    def node(self, ids: Sequence[str], kind: Literal["computation", "effect"] | None) -> NodeView | None:
        """As it is now. One that is not registered: what waits for it; with a `kind`, in any case."""

    def why(self, ids: Sequence[str]) -> str | None:
        """Why it ran last, or why it has not; None: it is not registered."""

    def plan(self, addresses: Sequence[Address]) -> list[str]: ...

    def graph(self) -> dict[str, Any]: ...

    def stats(self) -> dict[str, Any]: ...

    def reset(self) -> None:
        """Count from here on."""

    def ran(self) -> list[str]: ...

    def run_log(self) -> list[Run]: ...

    def trace(self, kind: Kind) -> list[dict[str, Any]]: ...

    def set_trace(self, kind: Kind, on: bool) -> None: ...

    def on_error(self, told: Callable[[ErrorInfo], object]) -> None: ...

    def on_console(self, told: Callable[[str, str], object]) -> None: ...

    def diagnose(self) -> list[str]: ...

    def check(self) -> None: ...

    def validate(self, on: bool) -> None: ...

    def violations(self) -> list[dict[str, Any]]: ...
