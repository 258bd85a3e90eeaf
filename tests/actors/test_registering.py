"""The registry's own rules, and the gates actor's one timer."""
from __future__ import annotations

import math
import time

import pytest
import weft
from weft.actors.component import Component
from weft.actors.gating import Gating
from weft.actors.registering import Register
from weft.wire.loopback import Loopback
from weft.wire.ring import Declared, Wake, Woken


def one(node: str, kind: str = "computation", spec: object = None) -> Declared:
    return Declared(node, kind, "main", (), (), (), None, None, None, True, None, False, spec)  # type: ignore[arg-type]


def test_what_is_registered_again_is_entered_again_unless_it_is_resumed_equal() -> None:
    register = Register()
    first, other = one("a"), one("a", spec="other")
    assert register.admit((first,), False) == (first,)
    assert register.admit((first,), False) == (first,)
    assert register.admit((first,), True) == ()
    assert register.admit((other,), True) == (other,)
    register.withdraw(("a",))
    assert register.admit((other,), True) == (other,)


def test_a_computation_may_become_an_effect_and_never_the_other_way_and_then_none_is_taken() -> None:
    register = Register()
    register.admit((one("a"),), False)
    register.admit((one("a", "effect"),), False)
    with pytest.raises(weft.Misuse, match="a is an effect and cannot become a computation"):
        register.admit((one("b"), one("a")), False)
    assert register.admit((one("b"),), True) == (one("b"),)


class Settle(Component):
    def begin(self) -> None:
        self.woken: list[float] = []
        self.link("gates")

    def on_woken(self, message: Woken, sender: str) -> None:
        self.woken.append(message.at)


def test_the_last_wake_that_was_said_holds() -> None:
    loopback, now = Loopback(), [0.0]
    gates = Gating.play(loopback, "gates", now=lambda: now[0], clock=lambda: now[0])
    settle = Settle.play(loopback, "settle", clock=lambda: now[0])
    for at in (5.0, 2.0):
        settle.tell("gates", Wake(at))
    loopback.run()
    assert gates.mailbox.alarm <= 2.0
    now[0] = 2.0
    gates.tick(2.0)
    loopback.run()
    assert settle.woken == [2.0]
    settle.tell("gates", Wake(9.0))
    settle.tell("gates", Wake(math.inf))
    loopback.run()
    now[0] = 10.0
    gates.tick(10.0)
    loopback.run()
    assert settle.woken == [2.0]


def test_what_is_debounced_runs_by_itself_when_its_time_has_come() -> None:
    a = weft.cell("a")
    seen: list[float | None] = []

    def show(tx: weft.Tx) -> None:
        seen.append(tx.get(a))

    with weft.Runtime(placement="embedded") as rt:
        rt.set(a, 1)
        began = time.monotonic()
        rt.register(weft.effect(id="e", debounce=0.05)(show))
        rt.idle()
        assert seen == []
        rt.idle(timeout=10, gated=True)
        assert seen == [1]
        assert time.monotonic() - began >= 0.05
        rt.set_debounce("e", 20.0)
        rt.set(a, 2)
        rt.idle()
        rt.clear_debounce("e")
        rt.idle(timeout=10, gated=True)
        assert (seen, rt.node("e").debounce) == ([1, 2], None)
