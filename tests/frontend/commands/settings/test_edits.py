"""What people who manage a server write, and what comes of it."""

from __future__ import annotations

import pytest

from bot.frontend.commands.settings.edits import (
    FILE_LIMIT,
    NO_TEXT,
    TOO_LONG,
    SettingError,
    checked_prompt,
    extras_to,
    persona_name,
    prompt_of_file,
    prompt_to,
    tokens_of,
    with_persona,
    without_persona,
)
from bot.frontend.settings.own import PERSONAS, ChannelSettings, PromptMode, ServerSettings


@pytest.mark.parametrize(
    ("written", "tokens"),
    [("", None), ("  ", None), ("100000", 100_000), ("100,000", 100_000), ("1 000", 1000)],
)
def test_tokens_are_read_as_people_write_them(written: str, tokens: int | None) -> None:
    assert tokens_of(written) == tokens


@pytest.mark.parametrize("written", ["many", "0", "-5", "1e6", "9" * 13, "٣"])
def test_what_is_no_number_of_tokens_is_refused(written: str) -> None:
    with pytest.raises(SettingError, match="a whole number"):
        tokens_of(written)


def test_a_prompt_in_a_channel_takes_the_personas_place() -> None:
    edit = prompt_to("Be kind.", PromptMode.ADD)
    channel = edit(ChannelSettings(persona="pirate", model="m"))
    assert channel == ChannelSettings(prompt="Be kind.", prompt_mode=PromptMode.ADD, model="m")
    personas = {"pirate": "Arr."}
    server = edit(ServerSettings(personas=personas))
    assert isinstance(server, ServerSettings)
    assert server.personas == personas


def test_a_prompt_is_kept_without_blanks_around_it() -> None:
    assert checked_prompt(" a\r\nb \n") == "a\nb"
    assert checked_prompt("x" * 8_000)


@pytest.mark.parametrize(("text", "why"), [("a\0b", NO_TEXT), ("x" * 8_001, TOO_LONG)])
def test_a_prompt_that_cannot_be_is_refused(text: str, why: str) -> None:
    with pytest.raises(SettingError) as refused:
        checked_prompt(text)
    assert str(refused.value) == why


@pytest.mark.parametrize(
    "data", ["Größe".encode(), "Größe".encode("utf-16"), "\ufeffGröße".encode()]
)
def test_a_prompt_comes_from_a_file_of_any_encoding(data: bytes) -> None:
    assert prompt_of_file(data) == "Größe"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (bytes(range(256)), NO_TEXT),
        (b"", "That file is empty."),
        (b"x" * (FILE_LIMIT + 1), TOO_LONG),
        ("ж".encode() * 8_001, TOO_LONG),
    ],
)
def test_a_file_that_is_no_prompt_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(SettingError) as refused:
        prompt_of_file(data)
    assert str(refused.value) == why


def test_numbers_that_are_left_empty_are_not_set() -> None:
    before = ServerSettings(extras={"temperature": 1.0})
    assert extras_to({"temperature": " ", "top_p": "0.5"})(before).extras == {"top_p": 0.5}
    assert extras_to({"temperature": ""})(before).extras is None
    with pytest.raises(SettingError, match="temperature is a number from 0 to 2"):
        extras_to({"temperature": "hot"})


def test_personas_are_added_changed_and_removed() -> None:
    one = with_persona("a", "Be a.")(ServerSettings())
    two = with_persona("a", "Be A.")(with_persona("b", "Be b.")(one))
    assert isinstance(two, ServerSettings)
    assert two.personas == {"a": "Be A.", "b": "Be b."}
    assert without_persona("b")(with_persona("b", "x")(one)) == one
    with pytest.raises(SettingError, match="no persona of that name"):
        without_persona("c")(one)


def test_a_server_has_no_more_personas_than_can_be_shown() -> None:
    full = ServerSettings(personas={str(number): "text" for number in range(PERSONAS)})
    with_persona("0", "another text")(full)
    with pytest.raises(SettingError, match="there can be no more"):
        with_persona("one more", "text")(full)


def test_a_personas_name_is_one_visible_line() -> None:
    assert persona_name(" Sir\u202e\nHenry ") == "Sir Henry"
    with pytest.raises(SettingError, match="needs a name"):
        persona_name("\u200b ")
