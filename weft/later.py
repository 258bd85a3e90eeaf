"""Names that are promised and not there yet: who uses one is told what it is for and what to do today.

The error is an AttributeError too, so that `hasattr(weft, name)` is the honest way to ask. The front door looks here when it does not know a name.
"""
from weft.scheduler.errors import WeftError

_PARTS = {
    "jobs run outside a transaction; do the work in the node, or before rt.set": ("job", "Job", "JobSpec", "JobState"),
    "patterns and pieces declare several nodes at once; declare the nodes, and bind them to their arguments with spec.bind": ("pattern", "Pattern", "Piece"),
    "list builtins keep one child per element; register a child per element with tx.register(spec.bind(args=…))": ("map_cells", "filter_cells", "flat_map_cells"),
    "timers send events on time; send them with rt.send(stream, payload, after=seconds)": ("every", "TimerSpec"),
    "migrations rewrite stored documents; rewrite them with rt.transact, found with rt.documents": ("migration", "MigrationSpec"),
    "actors and their mailboxes come with placements other than inline; look with stats(), trace() and diagnose()": ("ActorView", "MailboxView", "Pending"),
}
LATER = {name: use for use, names in _PARTS.items() for name in names}


class NotYet(WeftError, AttributeError):
    """A promised name that this version has not."""
    code = "not-yet"


def missing(name: str) -> AttributeError:
    """What to raise for a name that the front door has not."""
    if name in LATER:
        return NotYet(f"this version has no weft.{name} yet: {LATER[name]}")
    return AttributeError(f"weft has no name {name!r}; dir(weft) lists those it has", name=name)
