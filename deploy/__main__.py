"""`python -m weft.deploy PLAN`: the root of a tree, as `launching` starts it."""
from __future__ import annotations

import sys

from .root import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
