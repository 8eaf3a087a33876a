"""What holds of every text: nothing is lost, and each part alone is shown as in the whole."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.frontend.rendering.degrade import BREAK
from bot.frontend.rendering.markdown import Part, Stream, render, split, undo
from tests.frontend.rendering.flat import code_of, flat
from tests.frontend.rendering.texts import (
    ANSWERS,
    LIMITS,
    PLAIN,
    SOUP,
    WITH_TABLES,
    fences,
    listed,
    quoted,
    unhurried,
)

WHOLE = 10**6
ANYTHING = st.one_of(SOUP, WITH_TABLES, WITH_TABLES.map(lambda text: text.replace("\n", "\r\n")))


def parts_of(text: str, limit: int) -> tuple[Part, ...]:
    return render(text, limit=limit, max_parts=None).parts


@unhurried
@given(ANYTHING, LIMITS)
@example("<!-- nothing shows -->", 200)
@example("\n\n", 200)
@example("", 200)
def test_undoing_the_parts_gives_back_the_text(text: str, limit: int) -> None:
    parts = parts_of(text, limit)
    assert undo(parts) == (text if parts else "")


@unhurried
@given(ANYTHING, LIMITS)
def test_no_part_is_too_long_or_blank(text: str, limit: int) -> None:
    for part in parts_of(text, limit):
        assert len(part.text) <= limit
        assert part.text.strip()


ADDED = re.compile(r"[\s>]*(?:```|````|~~~)[\w+]*[\s>]*|[\s>#]*[*~|`]*|\u200b\n?|\*\*")
DROPPED = re.compile(r"[\s>]*|#+|!")


@unhurried
@given(ANSWERS, LIMITS)
@example(f"# {'z' * 172}\n\n> ```\n>     indented\n> ```", 200)  # cut in a line of quoted code
def test_added_are_only_fences_prefixes_and_styles_and_dropped_only_blanks(
    text: str, limit: int
) -> None:
    for shown, source in (piece for part in parts_of(text, limit) for piece in part.pieces):
        if not source:
            assert ADDED.fullmatch(shown)
        if not shown:
            assert DROPPED.fullmatch(source)


@unhurried
@given(ANSWERS, LIMITS)
def test_each_part_is_shown_as_the_same_piece_of_the_whole(text: str, limit: int) -> None:
    whole = [part.text for part in parts_of(text, WHOLE)]
    assert flat(split(text, limit)) == flat(whole)


@unhurried
@given(ANSWERS, LIMITS)
@example(
    f"# {'word ' * 26}\n\n```\n{'y' * 90}\n```", 200
)  # a title stays with it, if that is possible
def test_code_is_identical(text: str, limit: int) -> None:
    assert code_of(split(text, limit)) == code_of([text])


@pytest.mark.parametrize("around", [str, quoted, listed, lambda text: quoted(listed(text))])
@unhurried
@given(inner=fences(), limit=LIMITS)
def test_fences_in_fences_are_shown_as_code(
    around: Callable[[str], str], inner: str, limit: int
) -> None:
    text = around(f"````md\n{inner}\n````") + "\n\nafter"
    shown = split(text, limit)
    assert code_of(shown).replace(BREAK, "") == code_of([text])
    assert shown[-1].endswith("after")
    assert all(message.count("```") % 2 == 0 for message in shown)


@unhurried
@given(SOUP, LIMITS, st.integers(1, 300))
def test_a_stream_ends_as_the_whole_text_does(text: str, limit: int, step: int) -> None:
    stream = Stream(limit=limit, max_parts=3)
    for start in range(0, len(text), step):
        stream.add(text[start : start + step])
        for message in stream.preview():
            assert message.strip()
            assert len(message) <= limit
    assert stream.rendered() == render(text, limit=limit, max_parts=3)


@unhurried
@given(PLAIN, LIMITS)
def test_all_messages_but_the_last_stay_while_a_text_grows(text: str, limit: int) -> None:
    shown = [split(text[:end], limit) for end in range(0, len(text), 37)]
    for before, after in pairwise([*shown, split(text, limit)]):
        assert after[: len(before) - 1] == before[:-1]


@unhurried
@given(ANYTHING, LIMITS)
def test_an_attachment_is_the_whole_and_the_parts_its_opening(text: str, limit: int) -> None:
    rendered = render(text, limit=limit, max_parts=2)
    assert len(rendered.parts) <= 2
    if rendered.attachment is None:
        assert rendered.parts == parts_of(text, limit)
    else:
        assert rendered.attachment == text
        assert text.startswith(undo(rendered.parts))
        assert len(rendered.messages[-1]) <= limit
