"""The forms of the panel: what is written rather than chosen."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from typing import Any

import discord
from discord import ui

from bot.frontend.commands.interactions import tell_failure
from bot.frontend.commands.settings.edits import checked_prompt, extras_to, prompt_to, to, tokens_of
from bot.frontend.commands.settings.topics import TITLES, Topic
from bot.frontend.settings.book import Edit
from bot.frontend.settings.effective import Operator
from bot.frontend.settings.extras import EXTRAS
from bot.frontend.settings.own import Own, PromptMode, ServerSettings

FORM = "settings-form:"
"""What the ids of forms begin with."""
OPEN_FOR = 15 * 60.0  # seconds; one that was closed unsent is forgotten then
WRITTEN = 4_000  # characters of a text in a form; Discord takes no more
TOO_LONG_HERE = "It is longer than fits in here. Sent off empty, the default holds again."

Done = Callable[[discord.Interaction, Callable[[], Edit]], Awaitable[None]]


class Form(ui.Modal):
    """A form that makes a change of what was written.

    Args:
        title: What stands above it.
        done: Called when it was sent off, with what makes the change, or says what is wrong.
    """

    def __init__(self, title: str, done: Done) -> None:
        super().__init__(title=title, timeout=OPEN_FOR, custom_id=f"{FORM}{secrets.token_hex(8)}")
        self._done = done

    def edit(self) -> Edit:
        """Return the change.

        Raises:
            SettingError: if it cannot be made.
        """
        raise NotImplementedError

    async def on_submit(self, interaction: discord.Interaction) -> None:
        """Make the change."""
        await self._done(interaction, self.edit)

    async def on_error(  # type: ignore[override] # discord.py's own says it of forms that way
        self, interaction: discord.Interaction, error: Exception
    ) -> None:
        """Tell that it failed."""
        await tell_failure(interaction, error)


def form(topic: Topic, own: Own, operator: Operator, done: Done) -> Form | None:
    """Return the form of a topic, with what is set; `None` where there is nothing to write."""
    match topic:
        case Topic.PROMPT:
            return PromptForm(own, done)
        case Topic.EXTRAS if operator.extras:
            return ExtrasForm(own, sorted(operator.extras), done)
        case Topic.TOKENS if isinstance(own, ServerSettings):
            return TokensForm(own, done)
        case _:
            return None


class PromptForm(Form):
    """Writes a system prompt."""

    def __init__(self, own: Own, done: Done) -> None:
        super().__init__(TITLES[Topic.PROMPT], done)
        text = own.prompt or ""
        fits = len(text) <= WRITTEN
        self._text = _text(text if fits else "", WRITTEN, long=True)
        self._text.placeholder = None if fits else TOO_LONG_HERE
        self._mode: ui.Select[Any] = ui.Select(options=_modes(own.prompt_mode))
        self.add_item(ui.Label(text="Prompt (empty: the default)", component=self._text))
        self.add_item(ui.Label(text="The operator's prompt", component=self._mode))

    def edit(self) -> Edit:
        """Return the change; nothing written is the default."""
        text = checked_prompt(self._text.value) or None
        return prompt_to(text, PromptMode(self._mode.values[0]) if text else None)


def _modes(chosen: PromptMode | None) -> list[discord.SelectOption]:
    labels = {PromptMode.ADD: "comes first", PromptMode.REPLACE: "is left out"}
    return [
        discord.SelectOption(label=label, value=mode, default=mode is (chosen or PromptMode.ADD))
        for mode, label in labels.items()
    ]


class ExtrasForm(Form):
    """Writes the numbers that go with each request."""

    def __init__(self, own: Own, names: list[str], done: Done) -> None:
        super().__init__(TITLES[Topic.EXTRAS], done)
        known = own.extras or {}
        self._fields = {
            name: _text(f"{known[name]:g}" if name in known else "", 20) for name in names
        }
        for name, written in self._fields.items():
            about = f"{str(EXTRAS[name]).capitalize()}; empty: the default"
            self.add_item(ui.Label(text=name, description=about, component=written))

    def edit(self) -> Edit:
        """Return the change."""
        return extras_to({name: written.value for name, written in self._fields.items()})


class TokensForm(Form):
    """Writes how many tokens a server has."""

    def __init__(self, own: ServerSettings, done: Done) -> None:
        super().__init__(TITLES[Topic.TOKENS], done)
        self._day = _text(_number(own.tokens_per_day), 20)
        self._month = _text(_number(own.tokens_per_month), 20)
        for name, written in (("A day", self._day), ("A month", self._month)):
            about = "Of all people here together; empty: the default"
            self.add_item(ui.Label(text=name, description=about, component=written))

    def edit(self) -> Edit:
        """Return the change."""
        day, month = tokens_of(self._day.value), tokens_of(self._month.value)
        return to(tokens_per_day=day, tokens_per_month=month)


class PersonaForm(Form):
    """Writes the prompt of a persona."""

    def __init__(self, name: str, text: str, edit: Callable[[str], Edit], done: Done) -> None:
        super().__init__(f"Persona {name}"[:45], done)
        self._edit = edit
        self._text = _text(text if len(text) <= WRITTEN else "", WRITTEN, long=True, needed=True)
        self.add_item(ui.Label(text="Prompt", component=self._text))

    def edit(self) -> Edit:
        """Return the change."""
        return self._edit(checked_prompt(self._text.value))


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def _text(value: str, most: int, *, long: bool = False, needed: bool = False) -> ui.TextInput[Any]:
    style = discord.TextStyle.long if long else discord.TextStyle.short
    return ui.TextInput(style=style, default=value or None, max_length=most, required=needed)
