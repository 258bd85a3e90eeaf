"""An exception of user code, told to people: what `on_error` hears, and what a failed event carries. Whatever was raised can be told."""
from __future__ import annotations

import traceback

from ..scheduler.errors import ErrorInfo, WeftError
from .reporter import wording


def told(error: BaseException, where: str) -> ErrorInfo:
    """`where` is the node, handler or sink that raised it."""
    kind = type(error).__name__
    return ErrorInfo(error.code if isinstance(error, WeftError) else kind, wording(error) or kind, where, "".join(traceback.format_exception(error)))
