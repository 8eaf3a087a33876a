"""A model that says what a test wrote down."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from bot.sandbox.model.replies import (
    Answer,
    Breaks,
    Call,
    Chunks,
    Failure,
    Gate,
    Hangs,
    Item,
    Pauses,
    Reply,
)

Rule = Callable[[Mapping[str, Any]], "Reply | str"]


class ScriptedModel:
    """Replies in the order in which they were scripted, each to one request.

    With nothing left the rule given to `answers` is asked; without one the request fails with
    500, and the message says for what.

    Attributes:
        requests: the body of every request.
        headers: the headers of every request.
        repeats_ids: call ids start from `call_0` in each answer, as some services do it.
    """

    def __init__(self, *, repeats_ids: bool = False) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.repeats_ids = repeats_ids
        self._script: deque[Reply] = deque()
        self._rule: Rule | None = None
        self._calls = 0

    def says(self, text: str = "", *, calls: Sequence[Call] = ()) -> ScriptedModel:
        """Answer with a text, with tool calls, or with both."""
        return self._add(Answer(text, calls))

    then = says

    def answers(self, rule: Rule) -> ScriptedModel:
        """Answer by a rule whatever the script has no reply for."""
        self._rule = rule
        return self

    def chunks(self, items: Iterable[Item]) -> ScriptedModel:
        """Send recorded chunks (objects), event data (text) or raw bytes; wait at gates."""
        return self._add(Chunks(list(items)))

    def fails(
        self, status: int = 500, body: object = None, headers: Mapping[str, str] | None = None
    ) -> ScriptedModel:
        """Answer with an HTTP error."""
        error = {"error": {"message": f"scripted failure {status}", "type": "scripted"}}
        return self._add(Failure(status, error if body is None else body, headers or {}))

    def breaks_after(self, text: str = "") -> ScriptedModel:
        """Cut the connection after some text."""
        return self._add(Breaks(text))

    def hangs(self, after: str = "") -> Gate:
        """Say nothing more after some text; released, the connection is cut."""
        gate = Gate()
        self._add(Hangs(gate, after))
        return gate

    def pauses(self, before: str = "", then: str = "", *, calls: Sequence[Call] = ()) -> Gate:
        """Wait between two parts of an answer until the gate is released."""
        gate = Gate()
        self._add(Pauses(gate, before, Answer(then, calls)))
        return gate

    def reply(self, request: dict[str, Any], headers: Mapping[str, str]) -> Reply:
        """Choose the reply to a request, and note the request."""
        self.requests.append(request)
        self.headers.append(headers)
        reply = self._next(request)
        answer = reply.rest if isinstance(reply, Pauses) else reply
        if isinstance(answer, Answer) and not answer.ids:
            answer.ids = self._ids(len(answer.calls))
        return reply

    def _add(self, reply: Reply) -> ScriptedModel:
        self._script.append(reply)
        return self

    def _next(self, request: Mapping[str, Any]) -> Reply:
        if self._script:
            return self._script.popleft()
        if self._rule is not None:
            reply = self._rule(request)
            return Answer(reply) if isinstance(reply, str) else reply
        return self._exhausted(request)

    def _exhausted(self, request: Mapping[str, Any]) -> Reply:
        last = (request.get("messages") or [{}])[-1]
        message = (
            f"the script has no reply for request {len(self.requests)}, "
            f"which ends with {last.get('role')}: {last.get('content')!r}"
        )
        error = {"error": {"message": message, "type": "script_exhausted"}}
        return Failure(500, error, {"x-should-retry": "false"})

    def _ids(self, count: int) -> list[str]:
        first = 0 if self.repeats_ids else self._calls
        self._calls += count
        return [f"call_{number}" for number in range(first, first + count)]
