"""An actor that takes the interpreter's lock and never gives it back, as C code can; its process says that it is ready first."""

import re
import threading

from harness.leaves import Leaf


class Stuck(Leaf):
    def begin(self) -> None:
        threading.Timer(0.05, lambda: re.match(r"(a+)+$", "a" * 60 + "b")).start()
