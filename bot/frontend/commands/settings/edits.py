"""What people who manage a server write, checked and made into changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.errors import ParleyError
from bot.frontend.reading.texts import decoded
from bot.frontend.settings.book import Edit
from bot.frontend.settings.extras import read
from bot.frontend.settings.own import PERSONAS, PROMPT_LIMIT, ChannelSettings, Own, ServerSettings
from bot.frontend.text import one_line

FILE_LIMIT = 64 * 1024
"""Bytes of a file with a prompt: more than the characters that a prompt may have, in any script."""
NAME_LIMIT = 40
TOO_LONG = f"A prompt has at most {PROMPT_LIMIT:,} characters, and that has more."
NO_TEXT = "That is not a text. A prompt is a plain text file, best in UTF-8."


class SettingError(ParleyError):
    """What was written cannot be set; the text is a sentence for who wrote it."""


def to(**values: Any) -> Edit:
    """Return the change that sets some fields."""
    return lambda own: replace(own, **values)


def prompt_to(text: str | None, mode: Any) -> Edit:
    """Return the change that sets a prompt; in a channel it takes the persona's place."""

    def edit(own: Own) -> Own:
        own = replace(own, prompt=text, prompt_mode=mode)
        return replace(own, persona=None) if isinstance(own, ChannelSettings) else own

    return edit


def checked_prompt(text: str) -> str:
    """Return a prompt as it is kept.

    Raises:
        SettingError: if it is too long, or no text.
    """
    kept = text.replace("\r\n", "\n").strip()
    if "\0" in kept:
        raise SettingError(NO_TEXT)
    if len(kept) > PROMPT_LIMIT:
        raise SettingError(TOO_LONG)
    return kept


def prompt_of_file(data: bytes) -> str:
    """Return the prompt that a file has.

    Raises:
        SettingError: if it has none, a too long one, or is no text.
    """
    if len(data) > FILE_LIMIT:
        raise SettingError(TOO_LONG)
    text = decoded(data)
    if text is None:
        raise SettingError(NO_TEXT)
    kept = checked_prompt(text)
    if not kept:
        raise SettingError("That file is empty.")
    return kept


def extras_to(written: Mapping[str, str]) -> Edit:
    """Return the change that sets what a request says; what is left empty is not set.

    Raises:
        SettingError: if a number is none, or out of bounds.
    """
    try:
        numbers = {name: read(name, text) for name, text in written.items() if text.strip()}
    except ValueError as exc:
        raise SettingError(str(exc)) from None
    return to(extras=numbers or None)


def tokens_of(written: str) -> int | None:
    """Return the number of tokens that somebody wrote, `None` where it was left empty.

    Raises:
        SettingError: if it is no number.
    """
    digits = "".join(char for char in written if char not in " .,_'\u202f\u00a0")
    if not digits:
        return None
    if not (digits.isascii() and digits.isdigit() and len(digits) < 13 and int(digits)):
        raise SettingError("How many tokens is a whole number, like 100,000; empty: any.")
    return int(digits)


def persona_name(written: str) -> str:
    """Return a persona's name as it is kept.

    Raises:
        SettingError: if there is none.
    """
    name = one_line(written, NAME_LIMIT)
    if not name:
        raise SettingError("A persona needs a name.")
    return name


def with_persona(name: str, text: str) -> Edit:
    """Return the change that adds a persona to a server, or gives it another prompt."""

    def edit(own: Own) -> Own:
        assert isinstance(own, ServerSettings)  # noqa: S101 - channels have none of their own
        personas = {**own.personas, name: text}
        if len(personas) > PERSONAS:
            raise SettingError(f"There are {PERSONAS} personas, and there can be no more.")
        return replace(own, personas=personas)

    return edit


def without_persona(name: str) -> Edit:
    """Return the change that takes a persona from a server."""

    def edit(own: Own) -> Own:
        assert isinstance(own, ServerSettings)  # noqa: S101 - channels have none of their own
        if name not in own.personas:
            raise SettingError("There is no persona of that name.")
        return replace(own, personas={k: v for k, v in own.personas.items() if k != name})

    return edit
