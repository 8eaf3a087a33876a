"""The preview of a text that grows."""

from __future__ import annotations

import pytest

from bot.frontend.rendering.markdown import LIMIT, NOTE, Stream, render

WORDS = "Some words and then a few more of them. "


def preview(text: str) -> list[str]:
    stream = Stream()
    stream.add(text)
    return stream.preview()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hel", "Hel …"),
        ("```py\nx = 1", "```py\nx = 1\n```\n…"),
        ("**bold", "**bold** …"),
        ("a `code", "a `code` …"),
        ("**bold and `code", "**bold and `code`** …"),
        ("2 * 3", "2 * 3 …"),
        ("*a **b*", "*a **b* …"),
        ("| A |\n|---|\n| 1 |", "```\nA\n─\n1\n```\n…"),
        ("~~a", "~~a~~ …"),
        ("- ||a", "- ||a|| …"),
    ],
)
def test_a_preview_is_balanced_and_says_that_more_comes(text: str, expected: str) -> None:
    assert preview(text) == [expected]


def test_a_list_that_begins_is_no_heading() -> None:
    assert preview("text\n-") == ["text …"]
    assert preview("text\n- a") == ["text\n- a …"]
    stream = Stream()
    stream.add("text\n-")
    stream.preview()
    stream.add("--\n")
    assert stream.preview() == ["## text …"]


def test_nothing_yet_is_no_message() -> None:
    assert Stream().preview() == []
    assert preview(" \n") == []


def test_the_sign_is_left_away_where_it_does_not_fit() -> None:
    (message,) = preview("x" * LIMIT)
    assert message == "x" * LIMIT


def test_finished_messages_stay_and_the_text_is_not_touched() -> None:
    stream, shown = Stream(max_parts=None), list[str]()
    for number in range(400):
        stream.add(f"{number}: {WORDS}")
        before, shown = shown, stream.preview()
        assert shown[: max(len(before) - 1, 0)] == before[:-1]
    text = "".join(f"{number}: {WORDS}" for number in range(400))
    assert stream.rendered() == render(text, max_parts=None)


def test_a_stream_beyond_the_last_message_keeps_its_opening() -> None:
    stream = Stream(max_parts=2)
    stream.add(WORDS * 200)
    shown = stream.preview()
    stream.add(WORDS)
    assert stream.preview() == shown
    assert shown[-1].endswith(NOTE)
    assert stream.rendered().attachment == WORDS * 201


def test_a_long_comment_in_between_shows_nothing() -> None:
    text = f"a\n\n<!-- {'x' * 9000} -->\n\nb\n\n<!-- {'y' * 9000} -->"
    assert render(text, max_parts=None).messages[0].startswith("a")


def test_nothing_is_finished_before_what_is_open_in_front_of_it() -> None:
    text = f"**{WORDS * 70}{'x' * 2500} {'y' * 2500}\n\n{WORDS * 70}\n\n{WORDS * 70}"
    stream = Stream(max_parts=None)
    for start in range(0, len(text), 500):
        stream.add(text[start : start + 500])
        stream.preview()
    assert stream.rendered() == render(text, max_parts=None)


def test_blank_lines_at_the_end_are_no_reason_for_a_file() -> None:
    rendered = render("x" * LIMIT + "\n\n\n\n", max_parts=1)
    assert rendered.attachment is None
    assert rendered.messages == ["x" * LIMIT]
