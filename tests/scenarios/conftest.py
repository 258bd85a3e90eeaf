"""Every scenario runs on each placement; those that look into the parts of an inline runtime (hook) skip the others."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from harness.scene import PLACEMENT

YET = {  # what the actors do not have yet, by the beginning of a test's name
    "test_IDEM_": "the validator runs inline only",
    "test_MAT_008_": "events are handled inline only",
    "test_members_of_a_family_that_read": "graph makes no members of families yet",
}


@pytest.fixture(params=["inline", "embedded"], autouse=True)
def placement(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param != "inline":
        for name, why in YET.items():
            if request.node.name.startswith(name):
                pytest.skip(why)
    token = PLACEMENT.set(request.param)
    yield request.param
    PLACEMENT.reset(token)
