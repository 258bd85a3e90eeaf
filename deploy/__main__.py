"""`python -m weft.deploy PLAN`: the root of a tree, as `launching` starts it."""
from __future__ import annotations

import os
import sys
import traceback

from .codes import FAILED
from .root import main

if __name__ == "__main__":
    code = FAILED
    try:
        code = main(sys.argv[1:])
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)  # whatever went wrong: at its usual end Python would wait for children that nobody asks to stop; so they end with this process
