"""What weft does today, as a story with figures: `weft demo`.

Every sentence that is printed is about something that has just happened in the real parts; a scene that does not go as told raises. Everything is made in a temporary folder.
The chapters: a reactive program, two sessions and a conflict, a rejected layer and what rested on it, a killed process, two actors and their mail.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import weft
from weft.examples.committer import COUNTER
from weft.examples.correspondence import check_room, correspond
from weft.examples.shelf import shelf
from weft.scheduler.log import Entry
from weft.scheduler.rejection import Rejection
from weft.scheduler.values import Value
from weft.storage.commit import Rejected
from weft.storage.desks import Desks
from weft.storage.engine import open_engine
from weft.storage.place import place
from weft.storage.replica import Replica
from weft.storage.ticket import Committed, Ticket
from weft.storage.transaction import Transaction
from weft.wire.codec import VALUES

ACKNOWLEDGED = 200  # commits to wait for before the process is killed: enough that it is busy, few enough that nobody waits
stock = weft.cell("stock", of=int)
order = weft.cell("order", of=dict)


def tell() -> Iterator[str]:
    """The whole story, line by line as it happens."""
    with tempfile.TemporaryDirectory(prefix="weft-") as folder:
        check_room(Path(folder))
        yield f"weft {weft.__version__}: what there is today. The process tree is not there yet; this is what it will carry, and what it will stand on.\n"
        yield "1. Computations that run only when they must"
        yield from shelf()
        yield from two_sessions()
        yield from rolled_back()
        yield from killed(Path(folder))
        yield from correspond(Path(folder))


class Shop:
    """An engine in memory and two replicas of it, served by hand, so that the story decides what overtakes what."""

    def __init__(self) -> None:
        self.problems: list[Exception] = []
        self.desks = Desks(lambda space: open_engine("memory:", space, runtime="demo", codec=VALUES), report=self.problems.append)
        self.ann, self.bob = Replica(self.desks.connect, epoch=1), Replica(self.desks.connect, epoch=1)
        self.write(self.ann, stock, 3)
        self.decide()

    def write(self, replica: Replica, cell: weft.Cell[Value], value: Value, because: weft.Cell[Value] | None = None) -> Ticket:
        """One commit. `because` is a cell that it reads: should that turn out to be stale, the commit falls."""
        tx = Transaction(replica, "main")
        if because is not None:
            tx.get(*place(because, "main"))
        tx.set(*place(cell, "main"), value)
        (proposal,) = tx.finish()
        answer = replica.commit(proposal)
        if not isinstance(answer, Committed):
            raise RuntimeError(f"the commit was not sent: {answer}")
        return answer.ticket

    def seen(self, replica: Replica, cell: weft.Cell[Value]) -> Value:
        return Transaction(replica, "main").get(*place(cell, "main"))

    def take(self, replica: Replica, n: int) -> Ticket:
        return self.write(replica, stock, self.seen(replica, stock) - n, because=stock)

    def decide(self) -> None:
        self.desks.pump()
        if self.problems:
            raise self.problems[0]


def two_sessions() -> Iterator[str]:
    yield "2. Two sessions, one document, one conflict"
    shop = Shop()
    yield f"   Three are in stock, and both know it: ann sees {shop.seen(shop.ann, stock)}, bob sees {shop.seen(shop.bob, stock)}."
    first, second = shop.take(shop.ann, 1), shop.take(shop.bob, 2)
    yield f"   Ann takes one, bob takes two. Nobody waited: ann sees {shop.seen(shop.ann, stock)}, bob sees {shop.seen(shop.bob, stock)}, the engine has decided nothing."
    shop.decide()
    yield f"   The engine decides. Ann's commit: {'accepted' if first.accepted else 'refused'}. Bob's: {_refusal(second).name}, because what he read is no longer so."
    yield f"   Both see {shop.seen(shop.ann, stock)} and {shop.seen(shop.bob, stock)}. Bob tries again with what is true now, and takes one:"
    third = shop.take(shop.bob, 1)
    shop.decide()
    yield f"   {'accepted' if third.accepted else 'refused'}; {shop.seen(shop.ann, stock)} left, for both.\n"
    shop.desks.close()


def rolled_back() -> Iterator[str]:
    yield "3. An optimistic layer that is rejected, and what rested on it"
    shop = Shop()
    entries: list[Entry] = []
    shop.seen(shop.bob, stock), shop.seen(shop.bob, order)
    shop.bob.journal.subscribe(entries.append)
    shop.take(shop.ann, 3)
    base, resting = shop.take(shop.bob, 1), shop.write(shop.bob, order, {"by": "bob"}, because=stock)
    yield f"   Bob takes one and, reading that, writes an order: {dict(shop.seen(shop.bob, order))}. But ann was faster and took all three."
    shop.decide()
    yield f"   Taken back: the stock he saw ({_refusal(base).name}) and the order that rested on it ({_refusal(resting).name})."
    yield f"   Bob sees stock {shop.seen(shop.bob, stock)} and order {shop.seen(shop.bob, order)}. His log: {', '.join(f'{entry.version} {entry.kind}' for entry in entries)}.\n"
    shop.desks.close()


def killed(folder: Path) -> Iterator[str]:
    yield "4. A process that is killed in the middle of its work"
    url = f"sqlite:{folder / 'store'}"
    acknowledged, rate = _commit_and_kill(url)
    started = perf_counter()
    engine = open_engine(url, COUNTER.space, runtime="committer", codec=VALUES)
    milliseconds = (perf_counter() - started) * 1000
    found = engine.read(COUNTER).document["value"]
    engine.close()
    if found < acknowledged:
        raise RuntimeError(f"{acknowledged} commits were acknowledged and {found} are there")
    yield f"   Another process committed to SQLite, one number a commit, {rate:,.0f} a second, until SIGKILL. It was told of {acknowledged} commits."
    yield f"   Opened again in {milliseconds:.1f} ms, as epoch {engine.epoch}: the newest number is {found}. Every acknowledged commit is there.\n"


def _commit_and_kill(url: str) -> tuple[int, float]:
    """The newest number that the process was told is durable, and how many a second it committed."""
    numbers: list[int] = []
    with subprocess.Popen([sys.executable, "-m", "weft.examples.committer", url], stdout=subprocess.PIPE, text=True) as committer:
        try:
            for line in committer.stdout or ():
                if line.endswith("\n"):  # the last one may be cut short by the kill
                    numbers.append(int(line))
                if len(numbers) == 1:
                    started = perf_counter()
                elif len(numbers) == ACKNOWLEDGED:
                    rate = (len(numbers) - 1) / (perf_counter() - started)
                    committer.kill()
        finally:
            committer.kill()
    if len(numbers) < ACKNOWLEDGED:
        raise RuntimeError(f"the committing process ended by itself after {len(numbers)} commits (exit code {committer.returncode})")
    return numbers[-1], rate


def _refusal(ticket: Ticket) -> Rejection:
    """Why a commit was refused."""
    if not isinstance(ticket.verdict, Rejected):
        raise RuntimeError(f"commit {ticket.id} was to be refused, and is {ticket.verdict}")
    return ticket.verdict.rejection
