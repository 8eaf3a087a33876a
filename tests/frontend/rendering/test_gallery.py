"""The answers of the gallery, each under Discord's rules and ours."""

from __future__ import annotations

import pytest

from bot.frontend.rendering.markdown import LIMIT, Stream, render, undo
from bot.playground.exhibits import Exhibit, exhibits
from tests.frontend.rendering.flat import code_of, flat

EACH = pytest.mark.parametrize("exhibit", exhibits(), ids=lambda each: each.name)
SHOWN = [each for each in exhibits() if each.text.strip()]
WHOLE = 10**6


@EACH
def test_nothing_is_lost_and_no_message_is_refused(exhibit: Exhibit) -> None:
    parts = render(exhibit.text, max_parts=None).parts
    assert undo(parts) == (exhibit.text if exhibit.text.strip() else "")
    for part in parts:
        assert len(part.text) <= LIMIT
        assert part.text.strip()
        assert "\r" not in part.text
        assert not part.text[0].isspace()  # which Discord would take away


@EACH
def test_each_part_is_shown_as_the_same_piece_of_the_whole(exhibit: Exhibit) -> None:
    parts, whole = (
        render(exhibit.text, limit=limit, max_parts=None).messages for limit in (LIMIT, WHOLE)
    )
    if not exhibit.name.startswith("37"):  # of a table each piece has the header
        assert flat(parts) == flat(whole)
        assert code_of(parts).replace("\n", "") == code_of(whole).replace("\n", "")


@EACH
def test_no_message_but_the_last_leaves_much_room(exhibit: Exhibit) -> None:
    *full, _ = render(exhibit.text, max_parts=None).messages or [""]
    assert all(len(each) > LIMIT - 17 * 42 - 20 for each in full)


@EACH
def test_a_stream_ends_as_the_whole_does(exhibit: Exhibit) -> None:
    stream = Stream()
    for start in range(0, len(exhibit.text), 97):
        stream.add(exhibit.text[start : start + 97])
        assert all(len(each) <= LIMIT and each.strip() for each in stream.preview())
    assert stream.rendered() == render(exhibit.text)


@pytest.mark.parametrize("exhibit", SHOWN, ids=lambda each: each.name)
def test_every_fence_is_closed(exhibit: Exhibit) -> None:
    for message in render(exhibit.text).messages:
        assert message.count("```") % 2 == 0
