"""Every scenario runs on each placement; those that look into the parts of an inline runtime (hook) skip the others."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import weft
from harness.scene import PLACEMENT, SCENES

YET = {  # what the actors do not have yet, by the beginning of a test's name
    "test_IDEM_": "the validator runs inline only",
    "test_MAT_008_": "events are handled inline only",
    "test_members_of_a_family_that_read": "a run does not give way yet to a member that is only made because of it",
}


@pytest.fixture(params=["inline", "embedded"], autouse=True)
def placement(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param != "inline":
        for name, why in YET.items():
            if request.node.name.startswith(name):
                pytest.skip(why)
    token, opened = PLACEMENT.set(request.param), SCENES.set([])
    yield request.param
    for rt in SCENES.get():
        with suppress(weft.WeftError):  # what a test has left stuck is let go all the same
            rt.close()
    PLACEMENT.reset(token)
    SCENES.reset(opened)
