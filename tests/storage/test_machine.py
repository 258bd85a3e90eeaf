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
from weft.storage.commit import Accepted, Commit, ConfirmedRead, Delete, EntityAbsent, Operation, OriginCommitted, Patch, PendingRead, Precondition, Set
from weft.storage.engine import Engine, open_engine
from weft.storage.patch import Add, Append, Increment, Remove, Replace
from weft.wire.codec import VALUES

DOCUMENTS = [Entity("main", "space", id) for id in ("x", "y")]
SESSIONS = ("ann:1", "bob:1")
PATHS = [(), ("value",), ("value", "a"), ("value", "b"), ("value", "list"), ("value", "deep", "c")]

small = st.integers(0, 3)
keys = st.sampled_from(["a", "b"])
patches = st.one_of(
    st.builds(lambda key, n: Replace(("value", key), n), keys, small),
    st.builds(lambda key, n: Add(("value", key), n), keys, small),
    st.builds(lambda n: Add(("value", "deep", "c"), n), small),
    st.builds(lambda key: Remove(("value", key)), keys),
    st.builds(lambda n: Append(("value", "list"), (n,), True), small),
    st.builds(lambda n: Increment(("value", "n"), n + 1, True), small),
)
operations: st.SearchStrategy[Operation] = st.one_of(
    st.builds(lambda e, a, b: Set(e, {"value": {"a": a, "b": b, "list": []}}), st.sampled_from(DOCUMENTS), small, small),
    st.builds(lambda e, ops: Patch(e, tuple(ops)), st.sampled_from(DOCUMENTS), st.lists(patches, min_size=1, max_size=3)),
    st.builds(Delete, st.sampled_from(DOCUMENTS)),
)
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

    @rule(target=commits, session=st.sampled_from(SESSIONS), group=st.lists(operations, min_size=2, max_size=4))
    def several_go_in_one_group(self, session: str, group: list[Operation]) -> Any:
        sent = [Commit(self._id(session), (operation,)) for operation in group]
        verdicts = self.engine.apply(sent)
        for commit, verdict in zip(sent, verdicts, strict=True):
            self._same(commit, verdict)
        return multiple(*sent)

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
