"""Chunks to an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bot.agent.model.growing import Growing
from bot.agent.model.service import ModelAnswer, ReasoningDelta, Reported, TextDelta
from bot.errors import ContentRefusedError, ModelUnavailableError
from bot.events import Usage
from bot.providers.errors import service_error
from bot.providers.opaque import mended, mended_text, merge
from bot.providers.toolcalls import ToolCalls

_KNOWN = frozenset({"role", "content", "tool_calls", "function_call", "refusal"})
_MOST = 10**12
"""A service that tells more tokens of a call, or fewer than none, has not counted."""
_REASONING = ("reasoning_content", "reasoning")


Delta = TextDelta | ReasoningDelta | Reported


class Assembler:
    """Puts one answer together; knows nothing of where chunks come from."""

    def __init__(self, model: str, *, secret: str = "") -> None:
        self._model = model
        self._secret = secret
        self._text = _Text()
        self._reasoning = _Text()
        self._calls = ToolCalls()
        self._extra: dict[str, Any] = {}
        self._usage: Usage | None = None
        self._finish_reason = ""
        self._began = False
        self.is_done = False

    @property
    def ended(self) -> bool:
        """Whether the service said that the answer is whole."""
        return self.is_done or bool(self._finish_reason)

    def done(self) -> None:
        """Note the `[DONE]`."""
        self.is_done = True

    def add(self, chunk: Mapping[str, Any]) -> Sequence[Delta]:
        """Add a chunk and return what of it can be shown, or counts.

        Raises:
            ModelError: the chunk is an error.
        """
        error = chunk.get("error")
        if error:
            raise service_error(error, secret=self._secret)
        deltas: list[Delta] = []
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            self._usage = _usage(usage)
            deltas.append(Reported(self._usage))
        choices = chunk.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            self._choice(choices[0], deltas)
        return deltas

    def finished(self) -> ModelAnswer:
        """Return the whole answer.

        Raises:
            ModelUnavailableError: the stream ended before the answer did, or held none.
            ContentRefusedError: the service's filter ended it.
        """
        if not self.ended:
            raise ModelUnavailableError("the stream ended before the answer did")
        if not self._began:
            raise ModelUnavailableError("the service sent an answer without a choice")
        reason = self._finish_reason or ("tool_calls" if self._calls else "stop")
        if reason.partition(":")[0] == "content_filter":  # Gemini adds ": why"
            raise ContentRefusedError("the service's content filter ended the answer")
        if reason == "error":  # OpenRouter
            raise ModelUnavailableError("the service ended the answer with an error")
        return ModelAnswer(
            text=self._text.whole(),
            tool_calls=self._calls.finished(),
            usage=self._usage,
            model=self._model,
            finish_reason=reason,
            reasoning=self._reasoning.whole(),
            extra=mended(self._extra),
        )

    def _choice(self, choice: Mapping[str, Any], deltas: list[Delta]) -> None:
        self._began = True
        delta = choice.get("delta", choice.get("message"))
        if isinstance(delta, dict):
            self._delta(delta, deltas)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._finish_reason = reason

    def _delta(self, delta: Mapping[str, Any], deltas: list[Delta]) -> None:
        if not _KNOWN.issuperset(delta):
            self._unknown(delta, deltas)
        content = delta.get("content")
        if content:
            self._content(content, deltas)
        if delta.get("refusal"):
            self._content(delta["refusal"], deltas)
        if delta.get("tool_calls"):
            self._calls.add(delta["tool_calls"])

    def _content(self, content: object, deltas: list[Delta]) -> None:
        text = self._text.add(content if isinstance(content, str) else _parts(content))
        if text:
            deltas.append(TextDelta(text))

    def _unknown(self, delta: Mapping[str, Any], deltas: list[Delta]) -> None:
        merge(self._extra, {name: delta[name] for name in delta.keys() - _KNOWN})
        # A service may send the same text under both names.
        thoughts = (delta.get(name) for name in _REASONING)
        text = next((thought for thought in thoughts if thought and isinstance(thought, str)), "")
        text = self._reasoning.add(text)
        if text:
            deltas.append(ReasoningDelta(text))


class _Text:
    """A text in pieces; half a surrogate pair waits for its other half."""

    def __init__(self) -> None:
        self._all = Growing()
        self._half = ""

    def add(self, piece: str) -> str:
        """Add a piece and return what of it is whole."""
        if self._half or not piece.isascii():
            piece = self._mended(piece)
        self._all.add(piece)
        return piece

    def whole(self) -> str:
        return str(self._all)

    def _mended(self, piece: str) -> str:
        piece, self._half = self._half + piece, ""
        if piece and "\ud800" <= piece[-1] <= "\udbff":
            piece, self._half = piece[:-1], piece[-1]
        return mended_text(piece)


def _parts(content: object) -> str:
    """Read the text of a content that is a list of parts."""
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def _usage(usage: Mapping[str, Any]) -> Usage:
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return Usage(
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        cached_tokens=_count(cached),
    )


def _count(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= _MOST else None
