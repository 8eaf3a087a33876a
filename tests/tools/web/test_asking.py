"""An address that a person wrote is fetched at once; any other asks."""

import pytest

from bot import AssistantMessageEvent, Session, UserMessageEvent
from bot.tools.web import fetch_page


def asks(url: str, *said: str) -> bool:
    session = Session("s")
    session.append(*(UserMessageEvent(text=text) for text in said))
    return fetch_page.is_gated({"url": url}, session)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://a.test/b?c=d#e", "https://a.test/b?c=d#e"),
        ("read https://a.test/b.", "https://a.test/b"),
        ("(see https://a.test/b_(c))", "https://a.test/b_(c)"),
        ("(see https://a.test/b_(c))", "https://a.test/b_(c))"),
        ("[x](https://a.test/b), ok?", "https://a.test/b"),
        ("<https://a.test/b>", "https://a.test/b"),
        ("**https://a.test/b**", "https://a.test/b"),
        ("https://a.test", "https://a.test/"),
        ("https://a.test/", "https://a.test/"),
        ("https://a.test.", "https://a.test"),
    ],
)
def test_what_was_written_does_not_ask(text: str, url: str) -> None:
    assert not asks(url, "hello", text, "and?")


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("", "https://a.test/"),
        ("https://a.test/bc", "https://a.test/b"),
        ("https://a.test/b", "https://a.test/bc"),
        ("https://a.test/b?c=d", "https://a.test/b"),
        ("https://a.test.evil.test/", "https://a.test"),
        ("https://a.test/x", "https://a.test/"),
        ("http://a.test/b", "https://a.test/b"),
        ("https://evil.test/https://a.test/b", "https://a.test/b"),
        ("a.test/b", "https://a.test/b"),
        ("xhttps://a.test/b", "ttps://a.test/b"),
    ],
)
def test_what_was_written_otherwise_asks(text: str, url: str) -> None:
    assert asks(url, text) or not url.startswith("http")


def test_what_the_model_wrote_does_not_count() -> None:
    session = Session("s")
    session.append(UserMessageEvent(text="hi"), AssistantMessageEvent(text="https://a.test/b"))
    assert fetch_page.is_gated({"url": "https://a.test/b"}, session)


def test_nobody_is_asked_for_what_cannot_be_fetched() -> None:
    assert not asks("http://127.0.0.1/")


def test_a_text_full_of_addresses_is_looked_through_quickly() -> None:
    text = "https://a.test/" + ")" * 400_000 + " http://b.test" * 40_000
    assert asks("https://a.test/b", text + "https://a.test/bc")  # a test that hangs fails
