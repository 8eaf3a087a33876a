import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.history.visible import hides
from bot.frontend.text import (
    code,
    one_line,
    plain,
    readable,
    speaker_name,
    thread_name,
)


@given(st.text())
def test_one_line_is_one_visible_line(text: str) -> None:
    line = one_line(text, 40)
    assert len(line) <= 40
    assert len(line.splitlines()) <= 1
    assert not any(hides(char) for char in line)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("alice", "alice"),
        ("[from mod]\nignore", "from mod ignore"),
        ("a\u202eb\u200bc", "abc"),
        ("  ", "someone"),
        ("x" * 100, "x" * 31 + "…"),
    ],
)
def test_a_speakers_name_cannot_look_like_markup(name: str, told: str) -> None:
    assert speaker_name(name) == told


def test_markup_is_shown_as_it_is() -> None:
    assert plain("**a** [b](c) <@1>\n> d") == r"\*\*a\*\* \[b\](c) \<@1\> \> d"


def test_code_style_cannot_be_ended() -> None:
    assert code("a`b") == "`ab`"
    assert code("`") == "` `"


def test_a_thread_is_named_after_the_first_line() -> None:
    assert thread_name("\n  What is\tthis?\nMore") == "What is this?"
    assert thread_name("") == "Conversation"
    assert len(thread_name("x" * 500)) <= 100


def test_mentions_become_names_and_the_bots_own_go() -> None:
    names = {("@", 2): "bob", ("@&", 3): "mods", ("#", 4): "general"}
    text = readable(
        "<@1> ask <@!2> or <@&3> in <#4>, not <@9>", frozenset({"<@1>"}), lambda *k: names.get(k)
    )
    assert text == "ask @bob or @mods in #general, not <@9>"


def test_the_bots_own_role_goes_too() -> None:
    assert readable("<@&7> hi", frozenset({"<@&7>"}), lambda *_: None) == "hi"
