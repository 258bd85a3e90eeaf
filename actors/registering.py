"""The registry actor: which nodes there are, as clients have declared them (seed 000 section 4.4; decision 6).

- What may be registered is entered into storage's log, in the order in which it came; the client is answered when it is there (PROTOCOL H5, H10).
- Registered equal already, with `resume`: left alone. An effect never becomes a computation.
- Observers come and go without a look at what they were before.
"""
from __future__ import annotations

from ..scheduler.errors import Misuse, WeftError
from ..scheduler.model import Version
from ..wire.edge import Declare, Enter, Entered, Withdraw
from ..wire.messages import Failed
from ..wire.ring import Declared
from ..wire.table import Message
from .component import Component
from .questions import Owed, failure

WITHIN = 60.0  # seconds for storage to take a registration


class Register:
    """What is declared, by node. Thread-free."""

    def __init__(self) -> None:
        self._known: dict[str, Declared] = {}

    def admit(self, declared: tuple[Declared, ...], resume: bool) -> tuple[Declared, ...]:
        """Those that have to be entered. Raises Misuse, and takes none, if one of them cannot be."""
        entered: dict[str, Declared] = {}
        for one in declared:
            known = entered.get(one.node) or self._known.get(one.node)
            if known is not None and known.kind == "effect" and one.kind == "computation":
                raise Misuse(f"{one.node} is an effect and cannot become a computation; remove it first, or give the computation another id")
            if resume and known == one and one.kind != "observer":
                continue
            entered[one.node] = one
        self._known.update(entered)
        return tuple(entered.values())

    def withdraw(self, nodes: tuple[str, ...]) -> None:
        for node in nodes:
            self._known.pop(node, None)


class Registering(Component):
    def begin(self) -> None:
        self._register = Register()
        self._version = Version(0, 0)
        self.link("storage")

    def on_declare(self, message: Declare, sender: str) -> Message | None:
        try:
            entered = self._register.admit(message.declared, message.resume)
        except Misuse as error:  # the client's own mistake: it is told, and nobody else
            return failure(error)
        if not entered:
            return Entered(self._version)
        self._enter(Enter(entered, ()), self.owed)
        return None

    def on_withdraw(self, message: Withdraw, sender: str) -> Message | None:
        """One that is not known here may still be a child that a run has made: storage knows."""
        self._register.withdraw(message.nodes)
        self._enter(Enter((), message.nodes), self.owed)
        return None

    def _enter(self, enter: Enter, owed: Owed) -> None:
        def entered(outcome: Message | WeftError) -> None:
            if isinstance(outcome, Entered):
                self._version = max(self._version, outcome.version)
            self.answer(owed, _answer(outcome))

        self.ask("storage", enter, entered, within=WITHIN)


def _answer(outcome: Message | WeftError) -> Message | Failed:
    return failure(outcome) if isinstance(outcome, WeftError) else outcome
