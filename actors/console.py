"""What user code prints while a node runs, line by line, with the node's name; everything else that is printed goes where it went before.

Standard output belongs to the whole process, and an embedded runtime shares it with its program: so one stream stands in for it and asks, for each text, whether the printing
thread runs a node at the moment. When the last worker ends, standard output is what it was.
"""
from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any, TextIO

LONGEST = 10_000  # characters of a line that are told; a longer one is cut into several


class Console:
    """`told` gets (node, line). `node` is set while one runs."""

    def __init__(self, told: Callable[[str, str], None]) -> None:
        self._told = told
        self._begun = ""
        self._node: str | None = None
        self._stream: _Stream | None = None
        self._thread = 0

    def open(self) -> None:
        """In the thread that runs the nodes."""
        standing = sys.stdout
        self._stream = standing if isinstance(standing, _Stream) else _Stream(standing)
        self._thread = threading.get_ident()
        self._stream.consoles[self._thread] = self
        sys.stdout = self._stream

    def close(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.consoles.pop(self._thread, None)
            if not stream.consoles and sys.stdout is stream:
                sys.stdout = stream.standing

    def enter(self, node: str) -> None:
        self._node = node

    def leave(self) -> None:
        if self._begun and self._node is not None:
            self._told(self._node, self._begun)
        self._begun, self._node = "", None

    @property
    def listens(self) -> bool:
        return self._node is not None

    def write(self, text: str) -> None:
        if self._node is None:
            return
        *lines, self._begun = (self._begun + text).split("\n")
        for line in lines:
            self._tell(line)
        if len(self._begun) >= LONGEST:
            line, self._begun = self._begun, ""
            self._tell(line)

    def _tell(self, line: str) -> None:
        assert self._node is not None
        for start in range(0, max(1, len(line)), LONGEST):
            self._told(self._node, line[start : start + LONGEST])


class _Stream:
    """Standard output, for everybody. What it does not do itself, the one that it stands for does."""

    def __init__(self, standing: TextIO) -> None:
        self.standing = standing
        self.consoles: dict[int, Console] = {}  # by thread

    def write(self, text: str) -> int:
        console = self.consoles.get(threading.get_ident())
        if console is None or not console.listens:
            return self.standing.write(text)
        console.write(text)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.standing, name)
