"""What is shown before a decision is exactly what will run."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.history.visible import MARKS, hides, one_line, visible_json

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(json_values)
def test_it_is_exactly_the_value_and_hides_nothing(value: object) -> None:
    text = visible_json(value)
    assert json.loads(text) == value
    assert not any(hides(char) for char in text if char != "\n")


@given(json_values)
def test_it_does_without_what_could_end_a_block(value: object) -> None:
    text = visible_json(value, without="`")
    assert json.loads(text) == value
    assert "`" not in text


def test_letters_stay_readable() -> None:
    assert visible_json({"a": "\u200b\u3164\u00e9\x1b\n"}) == (
        '{\n  "a": "\\u200b\\u3164\u00e9\\u001b\\n"\n}'
    )


@pytest.mark.parametrize(
    "char",
    [
        *("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad"),  # of no width
        *("\u200e", "\u200f", "\u061c", "\u202a", "\u202e", "\u2066", "\u2069"),  # directions
        *("\U000e0001", "\U000e0041", "\U000e007f"),  # tags
        *("\ufe00", "\ufe0f", "\U000e0100", "\U000e01ef", "\u180b"),  # variants
        *("\u00a0", "\u2003", "\u3000", "\u2028", "\u2029", "\u0085"),  # other spaces and lines
        *("\u3164", "\uffa0", "\u115f", "\u2800", "\U0001d159", "\U00016fe4"),  # empty letters
        *("\x00", "\x1b", "\x7f", "\ud800", "\ue000", "\U000f0000", "\ufff9", "\ufffe"),
    ],
)
def test_what_hides_is_shown_by_its_number(char: str) -> None:
    text = visible_json(f"a{char}b")
    assert char not in text
    assert json.loads(text) == f"a{char}b"
    assert one_line(f"a{char}b", 9) in ("ab", "a b")


def test_a_flood_of_marks_stays_within_its_line() -> None:
    flood = "e" + "\u0301" * 100
    assert visible_json(flood).count("\u0301") == MARKS
    assert json.loads(visible_json(flood)) == flood
    assert one_line(flood, 200) == "e" + "\u0301" * MARKS


@pytest.mark.parametrize(
    "word", ["\u05d1\u05bc\u05b0\u0591", "e\u0323\u0302", "\u0e01\u0e35\u0e48", "\U0001f468"]
)
def test_words_with_their_marks_stay_as_they_are(word: str) -> None:
    assert word in visible_json(word)
    assert any(unicodedata.category(char) == "Mn" for char in word) or len(word) == 1
