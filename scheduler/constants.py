"""The numbers of the specification (semantics C.12), in seconds where they are times."""
from __future__ import annotations

MAX_ITERATIONS = 10  # iterations of one pass
RUN_BUDGET = 10  # runs of one node in one pass
HOLD_PASSES = 3  # backoff passes of one node that hold idle(gated=True)
BACKOFF_BASE = 0.25
BACKOFF_MAX = 2.0
NODE_RETRIES = 10  # attempts of a node whose commit fails for a transient reason other than a stale basis
WARN_EVERY = 100  # off-budget retries between two warnings
AUTO_DEBOUNCE_RUNS = 3
AUTO_DEBOUNCE_MEAN = 0.05
AUTO_DEBOUNCE = 0.1
STATISTICS = 20_000  # nodes whose statistics are kept
SETTLE_TRACE = 20
TRIGGER_TRACE = 400
RUN_TRACE = 2000
EVENT_TRACE = 400  # as many as triggers: a click and what follows from it
VIOLATIONS = 1000  # places that are named; more of them say the same
UNSETTLED_WINDOW = 5.0  # longer than this, and busier than the two below, is reported as non-settling
UNSETTLED_RATIO = 0.3
UNSETTLED_BUSY = 1.0
