"""Tables: aligned where a phone is wide enough, else records."""

from __future__ import annotations

from hypothesis import given
from wcwidth import width

from bot.frontend.rendering.markdown import render, split, undo
from tests.frontend.rendering.texts import LIMITS, tables, unhurried

ROWS = "".join(f"| row {number} | {number} |\n" for number in range(200))


def test_columns_are_aligned_by_what_characters_take() -> None:
    (message,) = split("| Name | N |\n|---|--:|\n| 漢字 | 1 |\n| `a\\|b` | **22** |")
    assert message == "```\nName │  N\n─────┼───\n漢字 │  1\na|b  │ 22\n```"
    assert len({width(line) for line in message.split("\n")[1:-1]}) == 1


def test_a_wide_table_is_records() -> None:
    text = f"| A | B | C |\n|---|---|---|\n| x | {'wide ' * 9} | |\n| `y` | z<br>z | 1 |"
    (message,) = split(text)
    assert message == f"**x**\n- B: {('wide ' * 9).strip()}\n\n`y`\n- B: z z\n- C: 1"


def test_links_in_a_table_stay_links() -> None:
    (message,) = split("| A | |\n|---|---|\n| | [x](https://y.z) |")
    assert message == "**?**\n[x](https://y.z)"


def test_a_wide_column_alone_is_a_list() -> None:
    (message,) = split(f"| A |\n|---|\n| {'b' * 50} |\n| c |")
    assert message == f"- {'b' * 50}\n\n- c"


def test_a_table_in_a_list_in_a_quote_stays_in_the_quote() -> None:
    (message,) = split("> - | A | B |\n>   |---|---|\n>   | 1 | 2 |")
    assert message == "> - \n> ```\n> A │ B\n> ──┼──\n> 1 │ 2\n> ```"


def test_a_long_table_is_cut_between_rows_and_has_its_header_again() -> None:
    messages = split(f"| Name | N |\n|---|---|\n{ROWS}")
    assert len(messages) > 1
    assert all(each.startswith("```\nName") and each.endswith("\n```") for each in messages)


def test_a_table_that_would_fit_into_the_next_message_is_not_cut() -> None:
    rows = "\n".join(ROWS.split("\n")[:40])
    messages = split("x " * 900 + f"\n\n| Name | N |\n|---|---|\n{rows}")
    assert [each.startswith("```\nName") for each in messages] == [False, True]


def test_a_table_without_rows_or_with_a_cell_no_message_holds_stays_as_it_is() -> None:
    text = f"| A |\n|---|\n| {'x' * 3000} |"
    assert "".join(split(text)) == text
    assert split(f"> | {'x' * 90} |\n> |---|") == [f"> ```\n> {'x' * 90}\n> {'─' * 90}\n> ```"]
    deep = "> " * 150 + "| A |\n" + "> " * 150 + "|---|"
    assert split(deep) == [deep]


@unhurried
@given(tables(), LIMITS)
def test_every_row_is_in_exactly_one_part(text: str, limit: int) -> None:
    parts = render(text, limit=limit, max_parts=None).parts
    assert undo(parts) == text
    assert all(len(part.text) <= limit for part in parts)


def test_a_table_without_room_behind_a_heading_goes_to_the_next_message() -> None:
    heading = f"# {'x' * 1985}"
    assert split(f"{heading}\n\n| A |\n|---|\n| 1 |")[1] == "```\nA\n─\n1\n```"
