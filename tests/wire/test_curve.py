"""tcp: only with keys, only for clients on the list, and each only under its own name. Real sockets on loopback."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from harness.wiring import PATIENCE, Hand, Scribe, fence, until
from weft.scheduler.errors import Misuse
from weft.wire.endpoints import Peer, Tcp
from weft.wire.feeding import Fetched
from weft.wire.messages import Fence
from weft.wire.post import Post
from weft.wire.sockets import Keys, Sockets, new_keys


def free_ports(count: int) -> list[int]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


class Net:
    """A store and a client, with a key each."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self.store, self.client, self.stranger = new_keys(), new_keys(), new_keys()
        first, second = free_ports(2)
        self.address = f"tcp://{host}:{first}"
        self.plan = {"store": Peer(f"{host}:{first}", self.store.public), "client": Peer(f"{host}:{second}", self.client.public)}


@contextmanager
def running(name: str, keys: Keys, net: Net) -> Iterator[tuple[Scribe, Sockets]]:
    sockets = Sockets()
    try:
        ref = Scribe.start(Post(sockets, Tcp(keys, net.plan)), name)
        actor = ref._actor_weakref()
        assert actor is not None
        yield actor, sockets
        ref.stop(timeout=PATIENCE)
    finally:
        sockets.close()


def test_actors_with_keys_talk_over_tcp() -> None:
    net = Net()
    with running("store", net.store, net), running("client", net.client, net) as (client, _):
        client.actor_ref.proxy().put_question("store", 5)
        assert until(client.news, lambda piece: isinstance(piece, Fetched)).version.n == 5


def test_a_stranger_and_a_client_without_keys_never_reach_the_mailbox() -> None:
    """Their frames are sent first; the honest client's arrive, theirs do not, not even as refusals."""
    net = Net()
    with running("store", net.store, net) as (store, _), running("client", net.client, net) as (client, _):
        outside = Sockets()
        ways = [outside.outlet(net.address, keys=net.stranger, server=net.store.public), outside.outlet(net.address)]
        hand = Hand("client")
        for way in ways:
            way.send(hand.hello())
            way.send(hand.frame(fence(666)))
        client.actor_ref.proxy().tell("store", fence(1)).get(timeout=PATIENCE)
        assert until(store.news, lambda piece: isinstance(piece, Fence)) == fence(1)
        assert dict(store.mailbox.refused) == {}
        for way in ways:
            way.close()
        outside.close()


def test_a_client_on_the_list_may_not_speak_under_another_name() -> None:
    net = Net()
    with running("store", net.store, net) as (store, _), running("client", net.client, net) as (client, sockets):
        forged = sockets.outlet(net.address, keys=net.client, server=net.store.public)
        hand = Hand("store")
        forged.send(hand.hello())
        forged.send(Hand("client").hello())  # the same connection, so the forged one has been looked at when this one is met
        until(store.news, lambda piece: piece[:2] == ("met", "client"))
        assert store.mailbox.refused["impostor"] == 1
        client.actor_ref.proxy().tell("store", fence(2)).get(timeout=PATIENCE)
        assert until(store.news, lambda piece: isinstance(piece, Fence)) == fence(2)
        forged.close()


def test_posts_with_other_plans_may_share_the_sockets() -> None:
    """The store's sockets serve a second plan, which knows nobody of the first; its clients are still let in, and those of the other plan are not."""
    net, other = Net(), Net()
    with running("store", net.store, net) as (store, sockets), running("client", net.client, net) as (client, _):
        Post(sockets, Tcp(other.store, other.plan))
        outside = Sockets()
        way = outside.outlet(net.address, keys=other.client, server=net.store.public)
        way.send(Hand("client").hello())
        client.actor_ref.proxy().put_question("store", 5)
        assert until(client.news, lambda piece: isinstance(piece, Fetched)).version.n == 5
        assert dict(store.mailbox.refused) == {}
        way.close()
        outside.close()


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_actors_talk_over_ipv6() -> None:
    net = Net("[::1]")
    with running("store", net.store, net), running("client", net.client, net) as (client, _):
        client.actor_ref.proxy().put_question("store", 5)
        assert until(client.news, lambda piece: isinstance(piece, Fetched)).version.n == 5


def test_an_inlet_with_keys_needs_the_list_of_clients() -> None:
    sockets = Sockets()
    with pytest.raises(Misuse, match="allowed clients"):
        sockets.inlet(keys=new_keys())
    sockets.close()
