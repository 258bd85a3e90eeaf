"""White box: the parts of an inline runtime."""
from __future__ import annotations

import weft
from weft.actors.inline import Inline


def parts(rt: weft.Client) -> Inline:
    assert isinstance(rt._shared, Inline)
    return rt._shared
