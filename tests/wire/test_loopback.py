"""The seeded transport: one frame a turn, order kept within a pair, the same seed the same run, crashes and successors."""

from collections.abc import Iterator

import pytest
from harness.wiring import Hand, Scribe, fence
from weft.scheduler.errors import Misuse
from weft.wire.loopback import Loopback
from weft.wire.messages import Fence


def told(scribe: Scribe) -> list[tuple[str, int]]:
    return [(sender, message.token) for sender, message in scribe.seen if isinstance(message, Fence)]


def talk(seed: int) -> tuple[Loopback, list[tuple[str, int]]]:
    """Three senders, one receiver, five messages each."""
    loopback = Loopback(seed)
    graph = Scribe.play(loopback, "graph")
    for name in ("a", "b", "c"):
        sender = Scribe.play(loopback, name)
        for token in range(5):
            sender.tell("graph", fence(token))
    loopback.run()
    return loopback, told(graph)


def test_one_seed_gives_one_order() -> None:
    (first, heard), (again, heard_again) = talk(7), talk(7)
    assert first.played == again.played
    assert heard == heard_again


def test_seeds_give_different_orders_and_each_keeps_a_senders_own() -> None:
    orders = [talk(seed)[1] for seed in range(20)]
    assert len({tuple(order) for order in orders}) > 10
    for order in orders:
        assert {name: [token for sender, token in order if sender == name] for name in "abc"} == {name: [0, 1, 2, 3, 4] for name in "abc"}


def test_nothing_is_delivered_inside_the_senders_call() -> None:
    loopback = Loopback()
    graph, settle = Scribe.play(loopback, "graph"), Scribe.play(loopback, "settle")
    settle.tell("graph", fence(1))
    assert told(graph) == []
    loopback.run()
    assert told(graph) == [("settle", 1)]


def test_one_turn_delivers_one_frame() -> None:
    loopback = Loopback()
    Scribe.play(loopback, "graph")
    Scribe.play(loopback, "settle").tell("graph", fence(1))
    before = loopback.waiting
    assert (before, loopback.step(), len(loopback.played)) == (1, True, 1)


def test_C10_a_successor_refuses_the_dead_ones_mail_and_is_met_anew() -> None:
    loopback = Loopback()
    first, settle = Scribe.play(loopback, "graph"), Scribe.play(loopback, "settle")
    settle.tell("graph", fence(1))
    loopback.run()
    settle.tell("graph", fence(2))
    loopback.crash("graph")
    second = Scribe.play(loopback, "graph", 2)
    loopback.run()
    assert (told(first), told(second), dict(second.mailbox.refused)) == ([("settle", 1)], [], {"stale-receiver": 1})
    second.link("settle")
    loopback.run()
    settle.tell("graph", fence(3))
    loopback.run()
    assert told(second) == [("settle", 3)]
    assert settle.peers[-1][:2] == ("graph", 2)


def test_C9_lost_mail_shows_as_a_gap() -> None:
    loopback = Loopback()
    graph = Scribe.play(loopback, "graph")
    hand = Hand()
    loopback.put("hand", "graph", hand.hello())
    loopback.put("hand", "graph", hand.frame(fence(1)))
    hand.frame(fence(2))
    loopback.put("hand", "graph", hand.frame(fence(3)))
    loopback.put("hand", "graph", hand.hello(sent=5, addressed=1))
    loopback.run()
    assert (told(graph), graph.gaps) == ([("hand", 1), ("hand", 3)], [("hand", 1), ("hand", 2)])


def test_a_crash_may_lose_what_was_under_way() -> None:
    loopback = Loopback()
    Scribe.play(loopback, "graph")
    Scribe.play(loopback, "settle").tell("graph", fence(1))
    loopback.crash("graph", keep_mail=False)
    assert loopback.waiting == 0


def test_a_name_has_one_player() -> None:
    loopback = Loopback()
    Scribe.play(loopback, "graph")
    with pytest.raises(Misuse, match="crash it first"):
        Scribe.play(loopback, "graph", 2)


def test_a_conversation_without_end_is_stopped_and_names_its_seed() -> None:
    class Echo(Scribe):
        def on_fence(self, message: Fence, sender: str) -> None:
            self.tell(sender, message)

    loopback = Loopback(seed=41)
    Echo.play(loopback, "a")
    Echo.play(loopback, "b").tell("a", fence(1))
    with pytest.raises(Misuse, match="seed 41"):
        loopback.run(turns=200)


@pytest.fixture(autouse=True)
def _no_noise(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    yield
    assert caplog.records == []
