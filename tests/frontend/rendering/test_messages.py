"""What people see: examples, each of them a fault that others shipped or a promise of ours."""

from __future__ import annotations

import pytest

from bot.frontend.rendering.markdown import MAX_PARTS, NOTE, render, split, undo
from tests.frontend.rendering.flat import code_of

WORDS = "Some words and then a few more of them. "


def shown(text: str) -> str:
    (message,) = split(text)
    return message


def test_a_short_text_is_its_own_bytes() -> None:
    text = "Hello, **you**.\n\n- `a`\n- b\n\n```py\nx\n```"
    assert render(text).parts[0].pieces == ((text, text),)


@pytest.mark.parametrize("text", ["", "\n\n", " \t\r\n", "<!-- quiet -->", ">\n>\n"])
def test_nothing_to_show_is_no_message(text: str) -> None:
    assert split(text) == []


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("[https://bank.test](https://evil.test/x)", "https://bank.test (https://evil.test/x)"),
        ("see [the WWW.bank.test](http://evil.test)!", "see the WWW.bank.test (http://evil.test)!"),
        ("[**https://bank.test@evil.test**](x:y)", "https://bank.test@evil.test (x:y)"),
    ],
)
def test_a_link_that_names_another_host_shows_where_it_leads(text: str, seen: str) -> None:
    assert shown(text) == seen


@pytest.mark.parametrize(
    "text",
    [
        "[https://bank.test](https://www.bank.test/login)",
        "[the bank](https://bank.test) and [x.py](https://code.test/x.py)",
        "`[https://bank.test](https://evil.test)`",
    ],
)
def test_other_links_stay_as_they_are(text: str) -> None:
    assert shown(text) == text


def test_a_long_code_block_is_closed_and_reopened_with_its_language() -> None:
    code = "".join(f"line {number}\n" for number in range(300))
    messages = split(f"```python\n{code}```")
    assert len(messages) > 1
    assert all(each.startswith("```python\n") and each.endswith("\n```") for each in messages)
    assert code_of(messages) == code


def test_a_code_block_in_a_list_in_a_quote_stays_in_the_quote() -> None:
    code = "".join(f">   line {number}\n" for number in range(300))
    messages = split(f"> - ```py\n{code}>   ```")
    assert all(each.startswith("> ```py\n> line") for each in messages[1:])
    assert all(each.endswith("\n> ```") for each in messages)


def test_a_line_of_code_is_cut_only_where_no_message_can_hold_it() -> None:
    code = f"{'a' * 80}\n" * 10 + "b" * 5000 + f"\n{'c' * 80}\n"
    messages = split(f"```\n{code}```")
    assert code_of(messages).replace("\n", "") == code.replace("\n", "")
    assert [set(each.strip("`\n")) - {"\n"} for each in messages] == [{*"ab"}, {"b"}, {*"bc"}]


def test_a_line_of_code_that_is_cut_in_a_quote_keeps_its_prefix() -> None:
    messages = split(f"> ```\n> {'b' * 5000}\n> ```")
    assert all(line.startswith("> ") for each in messages for line in each.split("\n"))
    assert code_of(messages).count("b") == 5000


@pytest.mark.parametrize(
    ("around", "begin"), [("", ""), ("> ", "> "), ("  ", "- "), (">   ", "> - "), ("  > ", "- > ")]
)
@pytest.mark.parametrize("end", ["\n{}z\n{}```", "\n{}```", "", "\n\nafter"])
def test_a_line_of_code_of_any_length_is_shown_in_its_block(
    around: str, begin: str, end: str
) -> None:
    for size in (*range(1970, 2010), *range(2225, 2245)):
        messages = split(f"{begin}```py\n{around}{'y' * size}{end.format(around, around)}")
        assert max(map(len, messages)) <= 2000
        assert code_of(messages).count("y") == size
        assert all("y" in code_of([each]) for each in messages[:-1])


def test_a_word_longer_than_a_message_is_cut_between_characters() -> None:
    family = "👨‍👩‍👧"
    messages = split(family * 1000)
    assert "".join(messages) == family * 1000
    assert all(len(each) % len(family) == 0 for each in messages)


def test_what_looks_like_one_endless_character_is_cut_all_the_same() -> None:
    text = "e" + "\u0301" * 5000
    assert "".join(split(text)) == text


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (f"{WORDS * 40}\n\n{WORDS * 20}", f"{WORDS * 40}".strip()),
        (f"{WORDS * 40}\n{WORDS * 20}", f"{WORDS * 40}".strip()),
        (WORDS * 60, "of them."),
        ("漢" * 1500 + "。" + "漢" * 900, "。"),
        ("漢" * 2500, "漢" * 2000),
        ("word " * 500, "word"),
        (f"{WORDS * 45}\n\n# A heading\n\n{WORDS * 10}", "of them."),
    ],
)
def test_a_cut_is_at_the_best_place(text: str, end: str) -> None:
    first, *_ = split(text)
    assert first.endswith(end)
    assert len(first) > 1200


@pytest.mark.parametrize(
    "whole",
    [
        "[a link](https://x.y/a)",
        "<@123456789>",
        "<t:1700000000:R>",
        "<:name:42>",
        "`x y z`",
        "<https://a.b/c>",
        "\\*",
        "https://x.y/zzzzzzzzzzzzzzz",
    ],
)
def test_what_belongs_together_is_not_torn(whole: str) -> None:
    for before in range(1960, 2000):
        text = "x " * (before // 2) + whole + " tail" * 5
        assert any(whole in each for each in split(text)), before


def test_a_style_goes_on_in_the_next_message() -> None:
    messages = split(f"> **{WORDS * 60}**".replace(". **", ".**"))
    assert all(each.startswith("> **") and each.endswith("**") for each in messages)


@pytest.mark.parametrize("mark", ["`", "``` ", "**", "||", "~~"])
def test_what_no_message_can_hold_keeps_its_style_in_each(mark: str) -> None:
    messages = split(f"{mark}{'x' * 5000}{mark[::-1]}")
    assert all(each.startswith(mark.strip()) and each.endswith(mark.strip()) for each in messages)


def test_a_line_that_would_become_something_else_begins_no_message() -> None:
    text = WORDS * 49 + "\n2. is no list here\n" + WORDS * 5
    assert not any(each.startswith("2. ") for each in split(text))


def test_blank_lines_around_a_cut_are_not_shown() -> None:
    for size in range(1980, 2001):
        text = "x" * size + "\n" * 30 + f"> {WORDS}\n>\n" + f"> {WORDS * 60}"
        assert all(each == each.strip() and len(each) <= 2000 for each in split(text))
        assert undo(render(text).parts) == text


def test_a_heading_is_not_left_alone_at_the_end() -> None:
    messages = split(f"{WORDS * 45}\n\n## A heading\n\n{'x' * 400}\n")
    assert messages[1].startswith("## A heading\n\nxxx")


def test_a_style_that_ends_far_behind_the_cut_is_closed_and_reopened() -> None:
    messages = split(f"**{'bold ' * 150}end** **{'bold ' * 900}end**")
    assert all(each.startswith("**") and each.endswith("**") for each in messages)


@pytest.mark.parametrize("size", range(1960, 2001, 4))
@pytest.mark.parametrize("solid", ["***", "$$\nx = y\n$$", "| A |\n|---|\n| 1 |"])
def test_what_changes_as_a_whole_is_in_one_message(size: int, solid: str) -> None:
    text = f"{'x' * size}\n\n{solid}\n\nend"
    assert any(shown(solid) in each for each in split(text))
    assert undo(render(text).parts) == text


@pytest.mark.parametrize("each", ["![a](https://x.y) ", "![](https://x.y)", "$x^2$ ", "<b>x</b>"])
def test_what_changes_in_a_line_is_not_cut(each: str) -> None:
    text = f"{each} and words " * 300
    messages = split(text)
    expected = f"{shown(each)} and words " * 300
    assert "".join(messages).replace(" ", "") == expected.replace(" ", "")
    assert undo(render(text, max_parts=None).parts) == text


def test_a_formula_too_long_for_a_message_stays_as_it_is() -> None:
    text = "$$\n" + "x = y\n" * 400 + "$$"
    assert "\n".join(split(text)) == text


@pytest.mark.parametrize("size", range(1985, 2000))
def test_no_message_ends_with_the_mark_of_a_list(size: int) -> None:
    first, second = split(f"{'x' * size}\n- **{'long bold ' * 90}end**")
    assert first == "x" * size
    assert second.startswith("- **")


@pytest.mark.parametrize("size", range(2240, 2256))
def test_a_list_behind_a_long_paragraph_makes_no_heading_of_it(size: int) -> None:
    assert split(f"{'word ' * 500}"[:size] + "\n- a\n- b")[0].startswith("word")


def test_a_long_heading_stays_one() -> None:
    assert all(each.startswith("## Some") for each in split(f"## {WORDS * 60}"))


def test_a_fence_that_its_list_ends_is_closed() -> None:
    assert shown("- ```py\n  x\n\ntext") == "- \n```py\nx\n\n```\ntext"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("    x\ny", "\u200b    x\ny"),
        ("  - x\n  - y", "\u200b\n  - x\n  - y"),
        ("  # x", "  # x"),
        ("\n\n x", "\u200b x"),
    ],
)
def test_blanks_that_discord_would_take_away_are_kept(text: str, expected: str) -> None:
    assert shown(text) == expected
    assert undo(render(text).parts) == text


def test_a_list_that_is_cut_inside_of_another_keeps_its_level() -> None:
    messages = split("- a\n" + f"  - {WORDS}\n" * 100)
    assert all(each.startswith("\u200b\n  - Some") for each in messages[1:])
    assert all(len(each) <= 2000 for each in messages)


def test_what_comes_behind_deep_lists_is_read() -> None:
    deep = "".join(f"{'  ' * level}- a\n" for level in range(40))
    assert shown(f"{deep}\n#### Deep").endswith("\n\n### Deep")


def test_many_messages_are_an_opening_and_a_file() -> None:
    text = f"{WORDS * 10}\n\n" * 150
    rendered = render(text)
    assert len(rendered.parts) == MAX_PARTS
    assert rendered.messages[-1].endswith(NOTE)
    assert rendered.attachment == text
    assert text.startswith(undo(rendered.parts))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#### Deep", "### Deep"),
        ("###### Deeper ##", "### Deeper"),
        ("Title\n=====", "# Title"),
        ("Title\n---\ntext", "## Title\ntext"),
        ("two\nlines\n---", "two\nlines"),
        ("- [ ] to do\n- [x] done", "- ☐ to do\n- ☑ done"),
        ("![alt](https://x.y/z.png)", "[alt](https://x.y/z.png)"),
        ("![](https://x.y/z.png)", "https://x.y/z.png"),
        ("![alt](local.png)", "alt (local.png)"),
        ("![alt](data:image/png;base64,AA)", "alt"),
        ("[![alt](https://i)](https://l)", "[alt](https://l)"),
        ("[![](https://i)](https://l)", "https://l"),
        ("a<br>b", "a\nb"),
        ("<b>x</b> <i>y</i> <del>z</del> <kbd>k</kbd>", "**x** *y* ~~z~~ `k`"),
        ('<a href="https://x.y">z</a>', "[z](https://x.y)"),
        ("<a name=x>z</a>", "<a name=x>z</a>"),
        ("<b><i>x</b>", "**<i>x**"),
        ("<x>y</x> List<String>", "<x>y</x> List<String>"),
        ('<img src="https://x.y/z.png"/>', "https://x.y/z.png"),
        ("<details>\n<summary>More</summary>\nx\n</details>", "**More**\nx"),
        ("a <!-- note --> b", "a  b"),
        ("$x^2$ and \\(y\\) but $5 and $6", "`x^2` and `y` but $5 and $6"),
        ("$$\nx = y\n$$", "```tex\nx = y\n```"),
        ("$$\nx\n\n$$", "$$\nx\n\n$$"),
        ("so \\[ a`b \\]", "so \\[ a`b \\]"),
        ("See [^1] and [^note].", "See ¹ and [note]."),
        ("[^1]: The note.", "-# ¹ The note."),
        ("[^1](https://x.y)", "[^1](https://x.y)"),
        ("a\n\n***\n\nb", f"a\n\n{'─' * 16}\n\nb"),
        ("~~~py\nx\n~~~", "```py\nx\n```"),
        ("```python title=x\ny\n```", "```python\ny\n```"),
        ("```{.python}\ny\n```", "```\ny\n```"),
        ("````md\n```\nx\n```\n````", "```md\n``\u200b`\nx\n``\u200b`\n```"),
        ("```py\nunclosed", "```py\nunclosed\n```"),
        ("a\rb\r\nc", "a\nb\nc"),
        ("1. a\n\n   ```py\n   x\n     y\n   ```\n2. b", "1. a\n\n```py\nx\n  y\n```\n2. b"),
        ("> > ```\n> > x\n> > ```", "> ```\n> x\n> ```"),
        ("- ```\n  x\n  ```", "- \n```\nx\n```"),
        ("\t```\n\tx\n\t```", "```\nx\n```"),
        (">a\n>>b\n>\n> c", "> a\n> > b\n> \n> c"),
        (">- a\n> ```\n>x\n>```", "> - a\n> ```\n> x\n> ```"),
        ("+ a\n+ b", "- a\n- b"),
        ("* a\n+ b\n- c\n1) d", "* a\n- b\n- c\n1. d"),
        ("a\n<!-- x -->\nb", "a\nb"),
        ("1) a\n2) b (c) d", "1. a\n2. b (c) d"),
        ("a\\\nb", "a\nb"),
        ("a ``` b ``` c", "a ` b ` c"),
        ("a ```` b`c ```` d", "a `` b`c `` d"),
        ("a\n\n<div>\n\n<!-- x -->\n\n<p>\n\nb\n\n</div>", "a\n\nb"),
    ],
)
def test_what_discord_does_not_show_becomes_what_it_does(text: str, expected: str) -> None:
    assert shown(text) == expected
    assert undo(render(text).parts) == text
