"""An actor that takes the interpreter's lock and never gives it back, as C code can, when it is asked to; it says so first, into a pipe."""

import re

from harness.leaves import Leaf
from weft.wire.edge import Question, Told


class Stuck(Leaf):
    def on_question(self, message: Question, sender: str) -> Told | None:
        with open(self._target, "w") as pipe:
            pipe.write("stuck")
        re.match(r"(a+)+$", "a" * 60 + "b")
        return None
