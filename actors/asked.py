"""An actor of the ring that can be asked about what it has seen (`inquiry` has the words), and tells its listeners what a person should know.

A question that names a version which has not come yet waits for it. Answering changes nothing that is decided (P10).
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ..scheduler.errors import ErrorInfo, WeftError
from ..scheduler.model import Version
from ..scheduler.values import freeze
from ..wire.edge import News, Question, Told
from ..wire.table import Message
from .component import Component
from .questions import Owed, failure
from .topics import spread, unknown, version_of

Answer: TypeAlias = Callable[[Mapping[str, Any]], Any]


class Asked(Component):
    """`answers` by word; `version` is what has been seen."""

    version = Version(0, 0)

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.answers: dict[str, Answer] = {}
        self._listeners: dict[str, None] = {}
        self._open: list[tuple[Question, Owed]] = []

    def on_question(self, message: Question, sender: str) -> Message | None:
        if message.about == "listen":
            self._listeners[sender] = None
            return Told(None)
        if self._covers(version_of(message)):
            return self._say(message)
        self._open.append((message, self.owed))
        return None

    def seen(self) -> None:
        """A version has come."""
        if self._open:
            ready = [each for each in self._open if self._covers(version_of(each[0]))]
            self._open = [each for each in self._open if each not in ready]
            for question, owed in ready:
                self.answer(owed, self._say(question))

    def spread(self, error: ErrorInfo) -> None:
        """To everybody who listens."""
        for listener in self._listeners:
            self.tell(listener, News("error", self.version, spread(error)))

    def _say(self, question: Question) -> Message:
        answer = self.answers.get(question.about)
        try:
            if answer is None:
                raise unknown(question.about, self.name)
            return Told(freeze(answer(question.arguments)))
        except WeftError as error:  # what was asked cannot be had: the asker is told, and nobody else
            return failure(error)

    def _covers(self, version: Version) -> bool:
        return version.n == 0 or (version.epoch != self.version.epoch and self.version.n > 0) or version <= self.version
