"""Work, counted: how many bytecode instructions a call takes. The same call takes the same number on every machine, so growth is an exact statement and needs no clock."""
from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def opcodes(call: Callable[[], object]) -> int:
    """What this call costs, all that it calls in Python included."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        if event == "opcode":
            count += 1
        return trace

    was = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(was)
    return count
