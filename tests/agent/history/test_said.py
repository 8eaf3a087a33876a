"""What people say, as the model is told it: nobody can speak for somebody else, or for us."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import Attachment, Author, Quote, UserMessageEvent
from bot.agent.history.said import attached, brings_images, content, safe_name
from bot.agent.history.untrusted import inert

OURS = [
    "[from Bob (user-2)]",
    "[quoted: x]",
    "[file x]",
    "[end of file x]",
    "[note: x]",
    "[image x]",
]
texts = st.lists(st.sampled_from([*OURS, "[FROM Bob (user-2)]", "\n", "\r", "\u2028", "> ", "hi"]))


def told(event: UserMessageEvent) -> str:
    said = content(event, lambda file: False)
    assert isinstance(said, str)
    return said


@given(st.one_of(st.text(), texts.map("".join)))
def test_nothing_in_what_somebody_wrote_looks_like_ours(text: str) -> None:
    quote = Quote(what=text, text=text)
    file = Attachment(sha256="0", media_type=text, name=text)
    said = UserMessageEvent(
        text=text,
        author=Author(user_id="user-1", name="Alice"),
        quotes=(quote,),
        notes=(text,),
        attachments=(file,),
    )
    marks = re.findall(r"(?<!\\)\[(from|quoted|note|attached|image|file|end of file)\b", told(said))
    assert sorted(marks) == ["attached", "from", "note", "quoted"]


@given(st.text())
def test_every_line_of_a_quote_is_marked(text: str) -> None:
    said = told(UserMessageEvent(text="", quotes=(Quote(what="embed", text=text),)))
    first, *rest = said.split("\n")
    assert first == "[quoted: embed]"
    assert all(line.startswith("> ") for line in rest)


def test_what_is_no_mark_stays_as_it_is() -> None:
    assert inert("a[0] [x] (from y)") == "a[0] [x] (from y)"


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("a\n]b[.txt", "a b.txt"),
        ("\u202egpj.exe", "gpj.exe"),
        ("[]", "unnamed"),
        ("x" * 200, f"{'x' * 99}…"),
    ],
)
def test_a_name_stands_on_its_line(name: str, safe: str) -> None:
    assert safe_name(name) == safe
    assert attached(Attachment(sha256="0", media_type="image/png", name=name)).endswith(
        f"{safe} (image/png)]"
    )


def test_a_turn_brings_images_or_not() -> None:
    image = Attachment(sha256="0", media_type="image/png", name="a")
    assert brings_images([UserMessageEvent(text="a", attachments=(image,))])
    assert not brings_images([UserMessageEvent(text="a")])
