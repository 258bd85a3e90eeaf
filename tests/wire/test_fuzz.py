"""100,000 hostile frames to a live actor over ipc: each is refused and counted, memory stays where it was, and the next good message is answered."""

import random
import struct
from collections.abc import Iterator
from pathlib import Path

import psutil
from harness.wiring import Hand, Scribe, fence, posts, until
from weft.actors.reporter import Record
from weft.scheduler.model import Change, Entity, Version
from weft.scheduler.values import freeze
from weft.wire.endpoints import Ipc
from weft.wire.messages import Changes, Fed, Feed, Fence, Fetched, Logged
from weft.wire.sockets import Sockets

FRAMES = 100_000
SEED = 20
GROWTH = 120 << 20  # bytes; the frames together would be gigabytes if each cost what it could


def hostile(rng: random.Random) -> Iterator[bytes]:
    """Frames of every kind, for ever."""
    entity = Entity("main", "space", "cart")
    document = freeze({"value": [{"a": 1, "b": "text"}, b"raw", 1.5]})
    good = Hand("fuzz", to_epoch=1)
    models = [
        good.hello(),
        good.frame(fence(1)),
        good.frame(Feed(Version(1, 1), (Fed(entity, 1, document),), False)),
        good.frame(Changes(1, Version(1, 1), (Logged(Version(1, 1), "commit", "n", 1, 1, (), (Change(entity, ("value",), document, 1),), ()),), True)),
    ]
    bomb = b"\x97\x14\xa4fuzz\x01\x01\x01\x00"  # the envelope of a Feed; what follows is its body
    large = [
        bomb + b"\xdd\x00\x01\xff\xff" * 1024 + b"\xc0" * 100,
        bomb + b"\xdc\xff\xff" + b"\x91\xc0" * 65535,
        bomb + b"\x93\x92\x01\x01\x91\x93\x93\xa1m\xa5space\xa1a\x01\xc9" + struct.pack(">I", 65538) + b"\x02\xdc\xff\xff" + b"\x80" * 65535 + b"\xc2",
    ]
    makers = (
        lambda: rng.randbytes(rng.randrange(200)),
        lambda: mutated(rng.choice(models), rng),
        lambda: rng.choice(models)[: rng.randrange(20)],
        lambda: rng.choice(models) + rng.randbytes(1 + rng.randrange(4)),
        lambda: rng.choice([b"\x91", b"\x81\xa1a", b"\xc7\x02\x02"]) * rng.randrange(100, 3000),
        lambda: rng.choice([b"\xdd", b"\xdf", b"\xdb", b"\xc6", b"\xc9"]) + rng.randbytes(4),
        lambda: Hand("fuzz", rng.randrange(1, 9), rng.randrange(2, 9)).frame(fence(1)),
        lambda: Hand(f"x{rng.randrange(9999)}").hello(),
        lambda: bytes([0x97, rng.randrange(23, 128)]) + models[1][2:],
    )
    number = 0
    while True:
        number += 1
        yield rng.choice(large) if number % 500 == 0 else rng.choice(makers)()


def mutated(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(1 + rng.randrange(4)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def test_a_live_actor_survives_a_hundred_thousand_hostile_frames_and_answers(tmp_path: Path) -> None:
    process = psutil.Process()
    attacker = Sockets()
    with posts(lambda: Ipc(tmp_path / "run")) as post:
        target_ref, worker_ref = Scribe.start(post, "target", reporter=Record()), Scribe.start(post, "worker")
        target, worker = target_ref._actor_weakref(), worker_ref._actor_weakref()
        assert target is not None
        assert worker is not None
        worker_ref.proxy().put_question("target", 1).get()
        until(worker.news, lambda piece: isinstance(piece, Fetched))
        way = attacker.outlet(f"ipc://{tmp_path}/run/target.sock")
        before, peak = process.memory_info().rss, 0
        frames = hostile(random.Random(SEED))
        for batch in range(100):
            for _ in range(FRAMES // 100):
                way.send(next(frames))
            worker_ref.proxy().put_question("target", 2 + batch).get()
            answer = until(worker.news, lambda piece: isinstance(piece, Fetched))
            assert answer.version.n == (2 + batch)
            peak = max(peak, process.memory_info().rss)
        way.send(Hand("worker", epoch=9).hello())  # known, so it is met: everything the attacker sent before it has been looked at
        until(target.news, lambda piece: piece == ("met", "worker", 9))
        refused, handled = sum(target.mailbox.refused.values()), target.mailbox.arrivals.known["worker"]
        assert target_ref.is_alive()
        assert refused + len([1 for sender, _ in target.seen if sender == "fuzz"]) >= FRAMES - 10
        assert {"truncated", "trailing", "malformed", "too-deep", "too-many", "field", "envelope", "unknown-type", "stale-receiver", "unknown-peer"} <= set(target.mailbox.refused)
        assert peak - before < GROWTH
        assert handled.epoch == 9
        assert not [message for _, message in target.seen if isinstance(message, Fence)]
        way.close()
        for ref in (target_ref, worker_ref):
            ref.stop()
    attacker.close()
