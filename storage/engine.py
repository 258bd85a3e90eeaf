"""The engine: the authority for one space. It decides commits, in groups, and reads what was committed.

- One backend transaction for a group; each commit keeps its own sequence number and verdict, and one that is refused leaves its neighbours alone. When the backend fails a group,
  its commits are tried one by one, and those that cannot be stored are refused with the reason. When it does not even let the group begin, all are refused at once.
- The runtime's epoch is raised when the engine opens and checked inside every later transaction, so a predecessor that wakes up commits nothing (PROTOCOL C12).
- What it shows is one state of the log, that of `head()`; other processes' commits come in when it polls or commits.
One thread uses it. `reader()` is for others. More is added by composition: take `tables`, `codec` and `transaction()`.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import time

from ..scheduler.errors import Misuse, ProtocolError, StaleEpoch, StorageUnavailable, WeftError
from ..scheduler.ids import checked_id, shown
from ..scheduler.log import NO_STAMP
from ..scheduler.model import CommitId, Entity
from ..scheduler.rejection import rejection
from . import faults as at
from .algorithm import Algorithm
from .batch import Batch
from .branches import check_range, forked, readable, without
from .codec import Codec
from .collection import Collected, collect
from .commit import Commit, Provenance, Rejected, Verdict
from .current import Current
from .direct import Direct
from .faults import Faults
from .forms import decode_triggers
from .history import History
from .link import Delivered
from .listing import Listing, exists, list_ids
from .memory import MemoryTables
from .seal import check_entity, is_sequence
from .snapshots import SnapshotPolicy
from .spaces import Store
from .tables import Branch, Landed, Tables

__all__ = ["Engine", "Landed", "Reader", "open_engine"]

ALL = 2**31  # no limit on what `after` returns


class Engine:
    """`epoch` is this runtime's in this space; 0 as long as the store could not be written."""

    def __init__(
        self, space: str, tables: Tables, codec: Codec, *, runtime: str, snapshot_interval: int | None = None, faults: Faults | None = None, clock: Callable[[], float] = time
    ) -> None:
        self.space = space
        self.tables = tables
        self.codec = codec
        self.epoch = 0
        self._runtime = runtime
        self._faults = faults or Faults()
        self._current = Current(tables, codec)
        self._algorithm = Algorithm(space, codec, SnapshotPolicy(snapshot_interval), self._faults, clock)
        self._direct = Direct(tables, self._current, codec, clock) if type(tables) is MemoryTables and faults is None else None
        self._stale = True  # the caches may be behind the tables: nothing was read yet, or a transaction did not end as it should
        self._foreign = False  # another process has committed since the last poll
        self._begun = False  # the newest transaction was let in
        try:
            with self.transaction():
                pass
        except StorageUnavailable:  # what is there can be read; the epoch is raised with the first commit that finds the store writable
            self._catch_up()
        self._foreign = False

    # commits
    def apply(self, commits: Sequence[Commit]) -> list[Verdict]:
        """One transaction for all of them; verdicts in their order."""
        verdicts: list[Verdict] = []
        step = len(commits)
        while rest := commits[len(verdicts) :]:
            try:
                verdicts += self._group(rest[:step])
            except (StorageUnavailable, StaleEpoch) as error:
                if not self._begun or isinstance(error, StaleEpoch):  # it is not for what they hold: the next would only wait as long
                    verdicts += [self._rejected(commit, error) for commit in rest]
                elif step == 1:
                    verdicts.append(self._rejected(rest[0], error))
                else:
                    step = 1
        return verdicts

    def take(self, commits: Sequence[Commit]) -> list[Verdict]:
        """As `apply`, for commits that a sender in this process has made, and sends once."""
        verdicts = None if self._direct is None or self._stale else self._direct.take(commits, self._runtime, self.epoch)
        return self.apply(commits) if verdicts is None else verdicts

    def _group(self, commits: Sequence[Commit]) -> list[Verdict]:
        with self.transaction() as current:
            batch = Batch(current)
            verdicts = [self._decided(batch, commit) for commit in commits]
            if batch.commits:
                batch.flush(self.tables, self._faults)
        if batch.commits:
            batch.publish()
        self._faults.point(at.AFTER_PUBLISH)
        return verdicts

    def _decided(self, batch: Batch, commit: Commit) -> Verdict:
        try:
            return self._algorithm.decide(batch, commit)
        except StorageUnavailable:
            raise
        except WeftError as error:
            return Rejected(_id_of(commit), rejection(error), batch.seq)
        except Exception as error:  # what no check foresaw costs this commit, not its neighbours; nothing of it was staged
            return Rejected(_id_of(commit), rejection(ProtocolError(f"the commit cannot be decided: {type(error).__name__}: {shown(error)}")), batch.seq)

    def _rejected(self, commit: Commit, error: WeftError) -> Rejected:
        return Rejected(_id_of(commit), rejection(error), self._current.seq)

    @contextmanager
    def transaction(self) -> Iterator[Current]:
        """A write transaction of this runtime's epoch, on what is newest. What goes wrong inside undoes it all."""
        self._faults.point(at.BEFORE_BEGIN)
        self._begun = False
        self.tables.begin()
        self._begun = True
        behind, self._stale = self._stale, True
        try:
            self._faults.point(at.AFTER_BEGIN)
            epoch = self._admit()
            self._faults.point(at.AFTER_EPOCH)
            if self.tables.changed() or behind:
                self._refresh()
            yield self._current
            self._faults.point(at.BEFORE_COMMIT)
            self.tables.commit()
        except BaseException:
            self.tables.rollback()
            raise
        self.epoch = epoch
        self._faults.point(at.AFTER_COMMIT)
        self._stale = False

    def _admit(self) -> int:
        known = self.tables.epoch(self._runtime)
        if not self.epoch:
            self.tables.set_epoch(self._runtime, known + 1)
            return known + 1
        if known != self.epoch:
            raise StaleEpoch(f"runtime {self._runtime!r} is at epoch {known} in space {self.space!r}, and this is its epoch {self.epoch}: it was replaced and commits nothing more")
        return known

    # what is committed
    def head(self) -> int:
        """The newest sequence number."""
        return self._current.seq

    def read(self, entity: Entity, branch: str = "", at: int | None = None) -> Delivered:
        """The document as it is, or as it was after commit `at`; with the sequence number and stamp of its newest revision up to there."""
        check_entity(self.space, entity)
        self.branch(branch)
        if at is None and (branch, entity) in self._current.documents:
            return self._current.read(branch, entity)
        with self.tables.reading():
            if self.tables.horizon() > self._current.seq:  # another process has collected the state that is shown here
                self._refresh()
            return self._current.read(branch, entity, at)

    def after(self, seq: int, limit: int = ALL) -> list[Landed]:
        """The commits after a sequence number, up to `head()`, in order."""
        if not is_sequence(seq):
            raise ProtocolError(f"no commits come after {shown(seq)}: it is a sequence number from 0")
        if seq >= self._current.seq:
            return []
        return [landed for landed in self.tables.landed(seq, min(limit, self._current.seq - seq)) if landed.seq <= self._current.seq]

    def seq_of(self, id: CommitId) -> int | None:
        """Of an accepted commit; None for any other."""
        row = self._current.commit(id)
        return None if row is None else row.seq

    def provenance(self, seq: int) -> Provenance | None:
        """Why a commit exists."""
        row = self.tables.commit_row(seq) if is_sequence(seq) else None
        return None if row is None else Provenance(row.node, row.run, decode_triggers(self.codec, row.triggers, f"commit {seq}"), row.event)

    def poll(self) -> bool:
        """Whether another process has committed since the last poll. What it committed is visible from here on."""
        if self.tables.changed() or self._stale:
            self._catch_up()
        foreign, self._foreign = self._foreign, False
        return foreign

    def _catch_up(self) -> None:
        with self.tables.reading():
            self._refresh()
        self._stale = False

    def _refresh(self) -> None:
        self._current.refresh()
        self._foreign = True

    # branches
    def fork(self, name: str, parent: str = "", at: int | None = None) -> Branch:
        """A new branch that sees its parent's history up to `at`, or all there is now. Forking again is harmless."""
        with self.transaction() as current:
            branch = forked(current.branches, name, parent, at, current.seq, current.horizon)
            self.tables.put_branch(branch)
        current.branches[name] = branch
        return branch

    def delete_branch(self, name: str) -> None:
        """It takes no more commits; it can still be read."""
        with self.transaction() as current:
            branch = without(current.branches, name)
            self.tables.put_branch(branch)
        current.branches[name] = branch

    def branches(self) -> list[Branch]:
        return sorted(self._current.branches.values())

    def branch(self, name: str) -> Branch:
        return readable(self._current.branches, name)

    # which documents there are, and which history
    def list(self, *, scope: str = "space", branch: str = "", limit: int | None = None, after: str | None = None, seq: int | None = None) -> Listing:
        """The ids of live documents, in order; a page of them with `limit`, the next with `after` and `seq` of the page before."""
        with self.tables.reading():
            return list_ids(self.tables, {row.name: row for row in self.tables.branches()}, scope=scope, branch=branch, limit=limit, after=after, seq=seq)

    def exists(self, entity: Entity, branch: str = "") -> bool:
        """Whether there is a document now; one that was deleted is not."""
        check_entity(self.space, entity)
        with self.tables.reading():
            return exists(self.tables, {row.name: row for row in self.tables.branches()}, entity, branch)

    def collect(self, horizon: int) -> Collected:
        """Forgets history before a sequence number. What is, and that something was, stays known."""
        return collect(self.transaction, self.codec, horizon)

    # others
    def reader(self) -> Reader:
        """For one other thread: reads what is committed, by a connection of its own."""
        return Reader(self.space, self.tables.reader(), self.codec)

    def close(self) -> None:
        self.tables.close()


class Reader:
    """Reads committed documents beside the engine. Each read is of one state of the log, the newest unless told."""

    def __init__(self, space: str, tables: Tables, codec: Codec) -> None:
        self._space = space
        self._tables = tables
        self._history = History(tables, codec)

    def read(self, entity: Entity, branch: str = "", at: int | None = None) -> Delivered:
        check_entity(self._space, entity)
        with self._tables.reading():
            head = self._tables.newest()[0]
            branches = {row.name: row for row in self._tables.branches()}
            return self._history.read(branches, branch, entity, check_range(branches, branch, head if at is None else at, head, 0 if at is None else self._tables.horizon()))

    def close(self) -> None:
        self._tables.close()


def _id_of(commit: object) -> CommitId:
    """Whom the verdict is for; what is no commit at all has no name."""
    id = getattr(commit, "id", None)
    return id if isinstance(id, CommitId) else NO_STAMP


def open_engine(
    store: str | Store,
    space: str,
    *,
    runtime: str,
    codec: Codec,
    full_sync: bool = False,
    snapshot_interval: int | None = None,
    faults: Faults | None = None,
    clock: Callable[[], float] = time,
) -> Engine:
    """The engine of a space, for one runtime, whose epoch is raised: an engine that it opened before commits nothing more.

    `store` is a url, `memory:` or `sqlite:FOLDER`, or a Store. A memory store that is named by its url is this engine's own; to share one, keep a Store.
    """
    if snapshot_interval is not None and snapshot_interval < 1:
        raise Misuse(f"snapshot_interval is a number of patches from 1 on, not {snapshot_interval}")
    checked_id(runtime, "runtime")
    tables = (store if isinstance(store, Store) else Store(store, full_sync=full_sync)).tables(space)
    try:
        return Engine(space, tables, codec, runtime=runtime, snapshot_interval=snapshot_interval, faults=faults, clock=clock)
    except BaseException:
        tables.close()
        raise
