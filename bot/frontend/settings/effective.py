"""What holds in a channel: what it has of its own, else its server, else the operator's default.

The operator's settings are the ceiling too: what they do not allow, or no more, is as if it had
not been set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

from bot.frontend.options import FrontendOptions, ReplyMode
from bot.frontend.settings.extras import within
from bot.frontend.settings.own import Answers, ChannelSettings, Own, PromptMode, ServerSettings

T = TypeVar("T")


class Source(StrEnum):
    """Who has set what holds."""

    OPERATOR = "operator"
    SERVER = "server"
    CHANNEL = "channel"


@dataclass(frozen=True, slots=True)
class Chosen(Generic[T]):
    """A value that holds, and who has set it."""

    value: T
    source: Source = Source.OPERATOR


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """What the operator has set, and allows.

    Attributes:
        models: Those that may be chosen; the first is the default.
        prompt: The operator's part of the system prompt.
        fixed: The part that stays, whatever anybody sets.
        extras: The names of those that may be set.
        tools: The tools that there are.
        options: How the bot behaves in Discord, and what servers have.
    """

    models: tuple[str, ...] = ()
    prompt: str = ""
    fixed: str = ""
    extras: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    options: FrontendOptions = field(default_factory=FrontendOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effective:
    """What holds in a channel, or in a server as far as its channels have nothing of their own.

    Attributes:
        model: Empty where the operator names none.
        prompt: What is told of the task, the fixed part aside.
        persona: The name of the persona that gives the prompt; empty: none does.
        system_prompt: All that the model is told before the conversation.
        roles: Those that may talk, of the people who may as far as the operator is concerned;
            `None`: all of them.
        approvals_channel: Where requests are shown; `None`: where the conversation is.
        tokens_per_day: What a server has, `None`: any number.
    """

    model: Chosen[str]
    prompt: Chosen[str]
    persona: str
    system_prompt: str
    extras: Chosen[Mapping[str, float]]
    answers: Chosen[Answers]
    reply_mode: Chosen[ReplyMode]
    tools: Chosen[frozenset[str]]
    roles: Chosen[frozenset[int] | None]
    answer_buttons: Chosen[bool]
    approvals_channel: Chosen[int | None]
    tokens_per_day: Chosen[int | None]
    tokens_per_month: Chosen[int | None]


def effective(
    operator: Operator,
    server: ServerSettings,
    channel: ChannelSettings,
    channel_ids: frozenset[int] = frozenset(),
) -> Effective:
    """Return what holds.

    Args:
        operator: The default and the ceiling.
        server: What the server has of its own.
        channel: What the channel has of its own.
        channel_ids: Where it is, by which the operator's settings may know it.
    """
    options = operator.options
    own = _Chooser(server, channel)
    prompt, persona = _prompt(operator, server, channel)
    listens = bool(options.channel_ids & channel_ids)
    default = operator.models[0] if operator.models else ""
    return Effective(
        model=own.first(
            lambda each: each.model if each.model in operator.models else None, default
        ),
        prompt=prompt,
        persona=persona,
        system_prompt="\n\n".join(filter(None, [prompt.value.strip(), operator.fixed])),
        extras=own.first(lambda each: within(each.extras or {}, operator.extras) or None, {}),
        answers=own.first(lambda each: each.answers, Answers.ALL if listens else Answers.MENTIONS),
        reply_mode=own.first(lambda each: each.reply_mode, options.reply_mode),
        tools=own.first(
            lambda each: None if each.tools is None else each.tools & operator.tools,
            operator.tools,
        ),
        roles=own.first(lambda each: each.roles, None),
        answer_buttons=own.first(
            lambda each: each.answer_buttons if options.answer_buttons else None,
            options.answer_buttons,
        ),
        approvals_channel=own.first(
            lambda each: each.approvals_channel if isinstance(each, ServerSettings) else None,
            options.approvals_channel,
        ),
        tokens_per_day=_tokens(options.budgets.server.day, server.tokens_per_day),
        tokens_per_month=_tokens(options.budgets.server.month, server.tokens_per_month),
    )


@dataclass(frozen=True, slots=True)
class _Chooser:
    server: ServerSettings
    channel: ChannelSettings

    def first(self, of: Callable[[Own], T | None], default: T) -> Chosen[T]:
        """Return what the channel says, else what the server says, else the default."""
        for own, source in ((self.channel, Source.CHANNEL), (self.server, Source.SERVER)):
            value = of(own)
            if value is not None:
                return Chosen(value, source)
        return Chosen(default)


def _prompt(
    operator: Operator, server: ServerSettings, channel: ChannelSettings
) -> tuple[Chosen[str], str]:
    """Return the prompt, and the persona it is of."""
    persona = channel.persona or ""
    text = server.personas.get(persona)
    if text is not None:
        return Chosen(text, Source.CHANNEL), persona
    for own, source in ((channel, Source.CHANNEL), (server, Source.SERVER)):
        if own.prompt is not None:
            adds = own.prompt_mode is not PromptMode.REPLACE
            parts = [operator.prompt, own.prompt] if adds else [own.prompt]
            return Chosen("\n\n".join(filter(None, parts)), source), ""
    return Chosen(operator.prompt), ""


def _tokens(ceiling: int, own: int | None) -> Chosen[int | None]:
    if not own or (ceiling and own >= ceiling):
        return Chosen(ceiling or None)
    return Chosen(own, Source.SERVER)
