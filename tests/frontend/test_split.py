import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.frontend.split import LIMIT, pieces, split

texts = st.lists(
    st.sampled_from(["word ", "\n", "\n\n", "```python\n", "```", "`", "x" * 700, "a b c\n" * 90])
    | st.text(max_size=20),
    max_size=60,
).map("".join)


@given(texts)
@example("```" * 3000)
@example("`" * 5000)
@example(" " * 5000 + "x")
@example("```python\n" + "x" * 5000)
def test_nothing_is_lost_and_no_part_is_too_long_or_blank(text: str) -> None:
    assert "".join(piece.text for piece in pieces(text)) == text
    for part in split(text):
        assert len(part) <= LIMIT
        assert part.strip()


@given(texts, st.integers(min_value=0))
def test_while_a_text_grows_finished_parts_stay(text: str, cut: int) -> None:
    before, after = split(text[: cut % (len(text) + 1)]), split(text)
    assert after[: max(0, len(before) - 1)] == before[:-1]


@pytest.mark.parametrize("text", ["", " ", "\n\n", " \n" * 3000])
def test_a_blank_text_has_no_parts(text: str) -> None:
    assert split(text) == []


def test_a_short_text_is_one_part() -> None:
    assert split("hello\n\nthere") == ["hello\n\nthere"]


def test_paragraphs_come_before_lines_and_words() -> None:
    text = "a" * 1500 + "\n\n" + "b " * 200 + "\n" + "c" * 400
    assert split(text)[0] == "a" * 1500 + "\n\n"


def test_a_long_code_block_is_closed_and_opened_again() -> None:
    code = "".join(f"line {number}\n" for number in range(300))
    parts = split(f"Look:\n```python\n{code}```\nDone.")
    assert len(parts) > 1
    assert all(part.count("```") % 2 == 0 for part in parts)
    assert all(part.startswith("```python\n") for part in parts[1:])
    bare = "".join(parts).replace("```python\n", "").replace("```", "")
    assert bare == f"Look:\n{code}\nDone."


def test_an_open_code_block_is_shown_closed() -> None:
    assert split("```py\nx = 1") == ["```py\nx = 1\n```"]
