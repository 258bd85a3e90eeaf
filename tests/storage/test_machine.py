"""The engine against a model of dictionaries: two sessions, commits, patches, branches, replays, rejections, in whatever order hypothesis thinks of."""
from __future__ import annotations

import tempfile
from typing import Any, ClassVar

import hypothesis.strategies as st
from harness.engine_model import ABSENT, Model, Refused, plain
from hypothesis import settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, precondition, rule
from weft.scheduler.model import CommitId, Entity
from weft.scheduler.values import MISSING
from weft.storage.commit import Accepted, Commit, ConfirmedRead, Delete, EntityAbsent, Operation, OriginCommitted, Patch, PendingRead, Precondition, Rejected, Set
from weft.storage.engine import Engine, open_engine
from weft.storage.patch import Add, AddUnique, Append, Increment, Move, Remove, RemoveByValue, Replace, Splice
from weft.wire.codec import VALUES

DOCUMENTS = [Entity("main", "space", id) for id in ("x", "y")]
SESSIONS = ("ann:1", "bob:1")
PATHS = [
    *((), ("value",), ("meta",), ("value", "a"), ("value", "b"), ("value", "n"), ("value", "gone", "k")),
    *(("value", "deep"), ("value", "deep", "c"), ("value", "deep", "d"), ("value", "deep", "e", "f")),
    *(("value", "list"), ("value", "list", "length"), ("value", "list", "0"), ("value", "list", "1"), ("value", "list", "1", "k"), ("value", "list", "4")),
]

small = st.integers(0, 3)
keys = st.sampled_from(["a", "b"])
inner = st.sampled_from([("value", "deep", "c"), ("value", "deep", "d"), ("value", "deep", "e", "f"), ("value", "list", "1", "k"), ("meta",)])
elements = st.sampled_from(["0", "1", "2", "-"]).map(lambda step: ("value", "list", step))
items = small | st.just({"k": 0})
flags = st.booleans()
patches = st.one_of(
    st.builds(lambda key, n: Replace(("value", key), n), keys, small),
    st.builds(lambda key, n: Add(("value", key), n), keys, small),
    st.builds(Replace, inner | elements | st.just(("value", "list")), small | st.just([1, 2, 3])),
    st.builds(Add, inner | elements, items),
    st.builds(Remove, inner | elements | st.just(("value", "deep"))),
    st.builds(lambda key: Remove(("value", key)), keys),
    st.builds(Move, elements, elements | inner).filter(lambda op: op.path[:3] != op.source or len(op.path) == 3),
    st.builds(Splice, st.just(("value", "list")), small, small, st.lists(items, max_size=1).map(tuple)),
    st.builds(lambda path, n, flag: Append(path, (n,), flag), st.sampled_from([("value", "list"), ("value", "deep", "l"), ("other",)]), items, flags),
    st.builds(lambda n, flag: AddUnique(("value", "list"), (n, n), flag), items, flags),
    st.builds(lambda n: RemoveByValue(("value", "list"), n), items),
    st.builds(Increment, st.sampled_from([("value", "n"), ("value", "deep", "n"), ("value", "list", "0")]), st.integers(1, 4), flags),
)
starts = st.sampled_from([[], [0, {"k": 1}, 2], [3]])
operations: st.SearchStrategy[Operation] = st.one_of(
    st.builds(lambda e, a, b, some: Set(e, {"value": {"a": a, "b": b, "list": some}}), st.sampled_from(DOCUMENTS), small, small, starts),
    st.builds(lambda e, some: Set(e, {"value": {"deep": {"c": 1}, "list": some}, "meta": 1}), st.sampled_from(DOCUMENTS), starts),
    st.builds(lambda e, ops: Patch(e, tuple(ops)), st.sampled_from(DOCUMENTS), st.lists(patches, min_size=1, max_size=3)),
    st.builds(lambda e, op: Patch(e, (op,)), st.sampled_from(DOCUMENTS), patches),
    st.builds(Delete, st.sampled_from(DOCUMENTS)),
)
NOWHERE = (Patch(Entity("main", "space", "z"), (Remove(("nowhere",)),)),)  # applies to no document
reads = st.tuples(st.sampled_from(DOCUMENTS), st.sampled_from(PATHS), st.booleans(), st.integers(0, 4))


class EngineMachine(RuleBasedStateMachine):
    url: ClassVar[str] = "memory:"
    commits = Bundle("commits")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.engine: Engine = open_engine(self.url.format(self.folder.name), "main", runtime="test", codec=VALUES)
        self.model = Model()
        self.next = dict.fromkeys(SESSIONS, 1)
        self.issued: list[CommitId] = []

    def teardown(self) -> None:
        self.engine.close()
        self.folder.cleanup()

    @initialize()
    def starts_with_a_document(self) -> None:
        self._both(Commit(self._id(SESSIONS[0]), (Set(DOCUMENTS[0], {"value": {"a": 0, "b": 0, "list": []}}),)))

    @rule(
        target=commits,
        session=st.sampled_from(SESSIONS),
        ops=st.lists(operations, max_size=3),
        seen=st.lists(reads, max_size=3),
        through=st.lists(reads, max_size=1),
        data=st.data(),
    )
    def a_session_commits(self, session: str, ops: list[Operation], seen: list[Any], through: list[Any], data: st.DataObject) -> Any:
        branch = data.draw(st.sampled_from(sorted(self.model.lines)))
        layers = tuple(data.draw(st.lists(st.sampled_from(self.issued), min_size=1, max_size=2, unique=True)))
        fork = self.model.forks[branch][1] if branch else 0
        confirmed = tuple(ConfirmedRead(entity, path, max(fork, self.model.head - back), deep) for entity, path, deep, back in seen)
        pending = tuple(PendingRead(entity, path, max(fork, self.model.head - back), layers, deep) for entity, path, deep, back in through)
        condition = st.one_of(st.builds(OriginCommitted, st.sampled_from(self.issued)), st.builds(EntityAbsent, st.sampled_from(DOCUMENTS)))
        conditions = tuple(data.draw(st.lists(condition, max_size=1)))
        return self._one(Commit(self._id(session), tuple(ops), confirmed, pending, _typed(conditions), branch=branch))

    @rule(commit=commits)
    def a_commit_is_sent_again(self, commit: Commit) -> None:
        self._both(commit)

    @rule(commit=consumes(commits), ops=st.lists(operations, min_size=1, max_size=2))
    def another_commit_comes_under_its_number(self, commit: Commit, ops: list[Operation]) -> None:
        self._both(commit._replace(operations=tuple(ops)))

    @rule(target=commits, session=st.sampled_from(SESSIONS), group=st.lists(st.tuples(operations, st.lists(reads, max_size=1)), min_size=2, max_size=4))
    def several_go_in_one_group(self, session: str, group: list[tuple[Operation, list[Any]]]) -> Any:
        sent = [
            Commit(self._id(session), (operation,), tuple(ConfirmedRead(entity, path, max(0, self.model.head - back), deep) for entity, path, deep, back in seen))
            for operation, seen in group
        ]
        verdicts = self.engine.apply(sent)
        for commit, verdict in zip(sent, verdicts, strict=True):
            self._same(commit, verdict)
        return multiple(*sent)

    @rule(entity=st.sampled_from(DOCUMENTS), back=st.integers(1, 3), layers=st.booleans(), data=st.data())
    def every_read_of_a_document_is_asked_about(self, entity: Entity, back: int, layers: bool, data: st.DataObject) -> None:
        """By commits that never land, because their patch fits nothing: they are refused for the stale read, or for the patch."""
        branch = data.draw(st.sampled_from(sorted(self.model.lines)))
        basis = max(self.model.forks[branch][1] if branch else 0, self.model.head - back)
        through = data.draw(st.lists(st.sampled_from(sorted(self.model.accepted)), min_size=1, max_size=2, unique=True)) if layers else []
        asked = [(path, deep) for path in PATHS for deep in (True, False)]
        sent = [
            Commit(self._id(SESSIONS[0]), NOWHERE, (), (PendingRead(entity, path, basis, tuple(through), deep),), branch=branch)
            if through
            else Commit(self._id(SESSIONS[0]), NOWHERE, (ConfirmedRead(entity, path, basis, deep),), branch=branch)
            for path, deep in asked
        ]
        told = {read: verdict.rejection.message.startswith("stale") for read, verdict in zip(asked, self.engine.apply(sent), strict=True) if isinstance(verdict, Rejected)}
        assert told == {(path, deep): self.model.hit(entity, path, deep, basis, frozenset(through), branch) for path, deep in asked}

    @rule()
    def what_patches_reached_is_forgotten_and_told_again_from_the_log(self) -> None:
        self.engine._current.reaches.clear()

    @precondition(lambda self: len(self.model.forks) < 2)
    @rule(data=st.data())
    def a_branch_is_forked(self, data: st.DataObject) -> None:
        parent, name = data.draw(st.sampled_from(sorted(self.model.lines))), f"b{len(self.model.forks)}"
        self.engine.fork(name, parent)
        self.model.fork(name, parent)

    @invariant()
    def every_document_is_the_fold_of_what_was_accepted(self) -> None:
        assert self.engine.head() == self.model.head
        for branch in self.model.lines:
            for entity in DOCUMENTS:
                got, expected = self.engine.read(entity, branch).document, self.model.document(entity, branch)
                assert (ABSENT if got is MISSING else plain(got)) == expected

    def _id(self, session: str) -> CommitId:
        n = self.next[session]
        self.next[session] = n + 1
        self.issued.append(CommitId(session, n))
        return self.issued[-1]

    def _one(self, commit: Commit) -> Commit:
        self._both(commit)
        return commit

    def _both(self, commit: Commit) -> None:
        self._same(commit, self.engine.apply([commit])[0])

    def _same(self, commit: Commit, verdict: Any) -> None:
        expected: int | str
        try:
            expected = self.model.decide(commit)
        except Refused as refused:
            expected = str(refused.args[0])
        assert (verdict.seq if isinstance(verdict, Accepted) else verdict.rejection.name) == expected, f"{commit}: {verdict}"


def _typed(conditions: tuple[Any, ...]) -> tuple[Precondition, ...]:
    return conditions


class SqliteMachine(EngineMachine):
    url = "sqlite:{}"


TestMemory = EngineMachine.TestCase
TestMemory.settings = settings(max_examples=150, stateful_step_count=25, deadline=None)
TestSqlite = SqliteMachine.TestCase
TestSqlite.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
