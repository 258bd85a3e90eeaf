"""100,000 hostile frames to a live actor over ipc: each is refused and counted, memory stays where it was, and the next good message is answered."""

import random
import struct
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]
from harness.wiring import Hand, fence, posts, running, until
from weft.scheduler.errors import WeftError
from weft.scheduler.model import Change, Entity, Version
from weft.scheduler.values import freeze
from weft.wire.endpoints import Ipc
from weft.wire.feeding import Fed, Feed, Fetched
from weft.wire.ring import Changes, Logged
from weft.wire.sockets import Sockets

FRAMES, BATCH = 100_000, 1000
SEED = 20
WORDS = ("truncated", "trailing", "malformed", "too-deep", "too-many", "field", "envelope", "unknown-type", "stale-receiver", "unknown-peer")
GROWTH = 120 << 20  # bytes; the frames together would be gigabytes if each cost what it could


def hostile(rng: random.Random) -> Iterator[bytes]:
    """Frames of every kind, for ever."""
    entity = Entity("main", "space", "cart")
    document = freeze({"value": [{"a": 1, "b": "text"}, b"raw", 1.5]})
    good = Hand("fuzz", to_epoch=1)
    models = [
        good.hello(),
        good.frame(fence(1)),
        good.frame(Feed(1, Version(1, 1), (), (Fed(entity, 1, document),), False)),
        good.frame(Changes(1, Version(1, 1), 0, (Logged(1, "commit", "n", 1, 1, (), (Change(entity, ("value",), document, 1),), (), 0.0, None),), (), True)),
    ]
    bomb = b"\x97\x14\xa4fuzz\x01\x01\x01\x00"  # the envelope of a Feed; what follows is its body
    large = [
        bomb + b"\xdd\x00\x01\xff\xff" * 1024 + b"\xc0" * 100,
        bomb + b"\xdc\xff\xff" + b"\x91\xc0" * 65535,
        bomb + b"\x95\x01\x92\x01\x01\x90\x91\x93\x93\xa1m\xa5space\xa1a\x01\xc9" + struct.pack(">I", 65538) + b"\x02\xdc\xff\xff" + b"\x80" * 65535 + b"\xc2",
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
    """After every thousand the actor is asked something. The attacker's last frame is one that is met, so that all before it have been looked at."""
    process, attacker = psutil.Process(), Sockets()
    with posts(lambda: Ipc(tmp_path / "run")) as post, running(post, "target", "worker") as (target, worker):
        way = attacker.outlet(f"ipc://{tmp_path}/run/target.sock")
        try:
            answers = []
            frames = hostile(random.Random(SEED))
            before = peak = process.memory_info().rss
            for number in range(FRAMES // BATCH):
                for _ in range(BATCH):
                    way.send(next(frames))
                worker.actor_ref.proxy().put_question("target", 100 + number)
                answers.append(until(worker.news, lambda piece: isinstance(piece, (Fetched, WeftError))))
                peak = max(peak, process.memory_info().rss)
            way.send(Hand("worker", epoch=9).hello())
            until(target.news, lambda piece: piece == ("met", "worker", 9))
        finally:
            way.close()
            attacker.close()
        assert answers == [Fetched(Version(1, 100 + number), (), ()) for number in range(FRAMES // BATCH)]
        assert sum(target.mailbox.refused.values()) == FRAMES
        assert {*WORDS} <= set(target.mailbox.refused)
        assert peak - before < GROWTH
        assert {sender for sender, _ in target.seen} == {"worker"}
