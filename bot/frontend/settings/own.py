"""What a server or a channel has of its own, and how it is written down."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, TypeVar

from bot.frontend.options import ReplyMode

PROMPT_LIMIT = 8_000
"""Characters of a system prompt."""
PERSONAS = 25
"""Of a server: Discord offers no more at once."""

T = TypeVar("T", bound="Own")


class Answers(StrEnum):
    """What is answered in a channel."""

    MENTIONS = "mentions"
    ALL = "all"
    NOTHING = "nothing"


class PromptMode(StrEnum):
    """What becomes of the operator's prompt."""

    ADD = "add"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """What is set; `None` is what is not.

    Attributes:
        prompt: What the model is told of its task, beside the operator's prompt or in its place.
        extras: Numbers that go with each request, for example `temperature`.
        tools: The tools that may be used.
        roles: The roles that may talk here.
    """

    model: str | None = None
    prompt: str | None = None
    prompt_mode: PromptMode | None = None
    extras: Mapping[str, float] | None = None
    answers: Answers | None = None
    reply_mode: ReplyMode | None = None
    tools: frozenset[str] | None = None
    roles: frozenset[int] | None = None
    answer_buttons: bool | None = None

    def to_json(self) -> str:
        """Return it as it is stored: only what is set."""
        told = {each.name: getattr(self, each.name) for each in fields(self)}
        known = {name: value for name, value in told.items() if value not in (None, {})}
        return json.dumps(known, default=sorted, sort_keys=True)

    @classmethod
    def from_json(cls: type[T], text: str) -> T:
        """Read what was stored; what cannot be read counts as not set."""
        data = json.loads(text)
        names = {each.name for each in fields(cls)} & data.keys()
        return cls(
            **{name: read for name in names if (read := _read(name, data[name])) is not None}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings(Own):
    """What a server has of its own.

    Attributes:
        personas: Prompts by name, of which each channel may have one.
        approvals_channel: Where its requests are shown.
        tokens_per_day: How many tokens all its people have together.
        tokens_per_month: The same for a month.
    """

    personas: Mapping[str, str] = field(default_factory=dict)
    approvals_channel: int | None = None
    tokens_per_day: int | None = None
    tokens_per_month: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSettings(Own):
    """What a channel has of its own.

    Attributes:
        persona: The name of its persona, whose prompt counts before its own.
    """

    persona: str | None = None


def _texts(value: Any) -> Mapping[str, str] | None:
    good = isinstance(value, dict) and all(isinstance(each, str) for each in value.values())
    return value if good else None


def _numbers(value: Any) -> Mapping[str, float] | None:
    good = isinstance(value, dict) and all(_number(each) is not None for each in value.values())
    return value if good else None


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _all(kind: type) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        good = isinstance(value, list) and all(isinstance(each, kind) for each in value)
        return frozenset(value) if good else None

    return read


def _just(kind: type) -> Callable[[Any], Any]:
    return lambda value: value if type(value) is kind else None


def _one_of(kind: type[StrEnum]) -> Callable[[Any], Any]:
    return lambda value: kind(value) if value in list(kind) else None


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "model": _just(str),
    "prompt": _just(str),
    "prompt_mode": _one_of(PromptMode),
    "extras": _numbers,
    "answers": _one_of(Answers),
    "reply_mode": _one_of(ReplyMode),
    "tools": _all(str),
    "roles": _all(int),
    "answer_buttons": _just(bool),
    "personas": _texts,
    "approvals_channel": _just(int),
    "tokens_per_day": _just(int),
    "tokens_per_month": _just(int),
    "persona": _just(str),
}


def _read(name: str, value: Any) -> Any:
    return _READERS[name](value)
