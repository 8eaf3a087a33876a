"""What can be set, and how it is told in a few words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from bot.frontend.options import ReplyMode
from bot.frontend.settings.effective import Chosen, Effective, Operator, Source
from bot.frontend.settings.own import Answers
from bot.frontend.text import code, plain
from bot.frontend.view.card import person
from bot.sessions.stores.settings import Change, Scope


class Topic(StrEnum):
    """What can be set in the panel; the values are names of fields."""

    MODEL = "model"
    PROMPT = "prompt"
    EXTRAS = "extras"
    ANSWERS = "answers"
    REPLY_MODE = "reply_mode"
    TOOLS = "tools"
    ROLES = "roles"
    ANSWER_BUTTONS = "answer_buttons"
    APPROVALS = "approvals_channel"
    TOKENS = "tokens"


OF_SERVERS = frozenset({Topic.APPROVALS, Topic.TOKENS})
"""What channels cannot have of their own."""


TITLES: Mapping[Topic, str] = {
    Topic.MODEL: "Model",
    Topic.PROMPT: "System prompt",
    Topic.EXTRAS: "Temperature and the like",
    Topic.ANSWERS: "What I answer",
    Topic.REPLY_MODE: "Thread or reply",
    Topic.TOOLS: "Tools",
    Topic.ROLES: "Who may talk to me",
    Topic.ANSWER_BUTTONS: "Buttons under answers",
    Topic.APPROVALS: "Where requests are shown",
    Topic.TOKENS: "Tokens a day and a month",
}
_ANSWERS = {
    Answers.MENTIONS: "When mentioned",
    Answers.ALL: "Everything",
    Answers.NOTHING: "Nothing",
}
_MODES = {ReplyMode.THREAD: "Open a thread", ReplyMode.REPLY: "Reply in the channel"}
_YES_NO = {"yes": "Yes", "no": "No"}


@dataclass(frozen=True, slots=True)
class Menu:
    """A topic whose values are chosen from a list.

    Attributes:
        choices: Their names by value.
        chosen: Those that hold.
        read: Makes the field's value of what was chosen.
        many: Whether several may be chosen, or none.
    """

    choices: Mapping[str, str]
    chosen: frozenset[str]
    read: Callable[[frozenset[str]], Any]
    many: bool = False


def menu(topic: Topic, here: Effective, operator: Operator) -> Menu | None:
    """Return what can be chosen; `None` for topics that are not chosen from a list."""
    match topic:
        case Topic.MODEL:
            return _single({name: name for name in operator.models}, here.model.value, str)
        case Topic.ANSWERS:
            return _single(_ANSWERS, here.answers.value, Answers)
        case Topic.REPLY_MODE:
            return _single(_MODES, here.reply_mode.value, ReplyMode)
        case Topic.ANSWER_BUTTONS:
            chosen = "yes" if here.answer_buttons.value else "no"
            return _single(_YES_NO, chosen, lambda value: value == "yes")
        case Topic.TOOLS:
            names = {name: name for name in sorted(operator.tools)}
            return Menu(names, here.tools.value, frozenset, many=True)
        case _:
            return None


def _single(choices: Mapping[Any, str], chosen: str, read: Callable[[str], Any]) -> Menu:
    return Menu(
        {str(value): name for value, name in choices.items()},
        frozenset({str(chosen)}),
        lambda values: read(next(iter(values))),
    )


def overview(here: Effective, scope: Scope) -> str:
    """Return all that holds, and who has set it."""
    where = f"<#{scope.channel_id}>" if scope.channel_id else "this server"
    lines = [f"**What holds in {where}**", *(_line(here, topic) for topic in Topic)]
    return "\n".join(lines)


def _line(here: Effective, topic: Topic) -> str:
    told, source = told_of(here, topic)
    return f"- {TITLES[topic]}: {told} *({_SOURCES[source]})*"


def source_of(here: Effective, topic: Topic) -> str:
    """Return who has set what holds of a topic."""
    return _SOURCES[told_of(here, topic)[1]]


_SOURCES = {
    Source.OPERATOR: "default",
    Source.SERVER: "set for the server",
    Source.CHANNEL: "set for the channel",
}


def told_of(here: Effective, topic: Topic) -> tuple[str, Source]:
    """Return what holds of a topic in a few words, and who has set it."""
    match topic:
        case Topic.MODEL:
            return code(here.model.value or "the operator's"), here.model.source
        case Topic.PROMPT:
            persona = f"persona {code(here.persona)}: " if here.persona else ""
            text = plain(here.prompt.value, 150) or "none"
            return f"{persona}{text}", here.prompt.source
        case Topic.EXTRAS:
            pairs = [f"{name} {number:g}" for name, number in here.extras.value.items()]
            return ", ".join(pairs) or "as the model has it", here.extras.source
        case Topic.ANSWERS:
            return _ANSWERS[here.answers.value].lower(), here.answers.source
        case Topic.REPLY_MODE:
            return _MODES[here.reply_mode.value].lower(), here.reply_mode.source
        case Topic.TOOLS:
            return _listed(sorted(map(code, here.tools.value))), here.tools.source
        case Topic.ROLES:
            return _roles(here.roles), here.roles.source
        case Topic.ANSWER_BUTTONS:
            return "yes" if here.answer_buttons.value else "no", here.answer_buttons.source
        case Topic.APPROVALS | Topic.TOKENS:
            return _of_server(here, topic)


def _roles(roles: Chosen[frozenset[int] | None]) -> str:
    if roles.value is None:
        return "whoever the operator lets"
    return _listed([f"<@&{role}>" for role in sorted(roles.value)], "nobody")


def _of_server(here: Effective, topic: Topic) -> tuple[str, Source]:
    if topic is Topic.TOKENS:
        return _tokens(here)
    channel = here.approvals_channel.value
    told = "where the conversation is" if channel is None else f"<#{channel}>"
    return told, here.approvals_channel.source


def _tokens(here: Effective) -> tuple[str, Source]:
    day, month = here.tokens_per_day, here.tokens_per_month
    told = ["any number" if each.value is None else f"{each.value:,}" for each in (day, month)]
    is_own = Source.SERVER in (day.source, month.source)
    return f"{told[0]} a day, {told[1]} a month", Source.SERVER if is_own else Source.OPERATOR


def _listed(names: Sequence[str], none: str = "none", most: int = 10) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(names[:most]) or none) + more


def history(changes: Sequence[Change]) -> str:
    """Return who changed what, and when."""
    lines = [_told(change) for change in changes] or ["Nothing was ever changed."]
    return "\n".join(["**The last changes**", *lines])


def _told(change: Change) -> str:
    where = f" for <#{change.scope.channel_id}>" if change.scope.channel_id else ""
    when = f"<t:{int(change.at.timestamp())}:f>"
    who = person(change.by) if change.by else "somebody"
    return f"- {when} {who}: {plain(change.field, 80)}{where}"
