"""White box: the parts of an inline runtime. A test that asks for them holds on `inline` only."""
from __future__ import annotations

import pytest
import weft
from weft.actors.inline import Inline


def parts(rt: weft.Client) -> Inline:
    site = rt._shared
    if not isinstance(site, Inline):
        pytest.skip(f"looks into the parts of an inline runtime, and this one is {site.placement}")
    return site
