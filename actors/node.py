"""A registered node, as its registrar holds it."""
from __future__ import annotations

from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from ..scheduler.introspection import NodeView
    from .client import Client


class Node:
    """A registered node, as its registrar holds it: `cancel` removes it, and so does leaving a `with` block."""

    def __init__(self, id: str, client: Client) -> None:
        self.id = id
        self._client = client

    def cancel(self) -> None:
        """Remove it. It does not run again, and what it wrote stays."""
        self._client.remove(self)

    def view(self) -> NodeView:
        """As it is at this moment."""
        return self._client.node(self.id)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.cancel()

    def __repr__(self) -> str:
        return f"<node {self.id}>"
