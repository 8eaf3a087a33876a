"""Long code that becomes a file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.frontend.rendering.lifted import LONG, LONGEST, PROSE, lifted
from bot.frontend.rendering.markdown import LIMIT, MAX_PARTS, render
from tests.frontend.rendering.texts import SOUP, unhurried

CODE = "print('hello, world')\n" * 200


def fenced(code: str = CODE, info: str = "python", fence: str = "```") -> str:
    return f"{fence}{info}\n{code}{fence}"


def test_an_answer_that_is_nearly_all_code_becomes_its_prose_and_a_file() -> None:
    found = lifted(f"Here it is:\n\n{fenced()}\n\nRun it with `python code.py`.")
    assert found is not None
    assert (found.name, found.code) == ("code.py", CODE)
    assert render(found.text).messages == [
        "Here it is:\n\n-# The code is in the file code.py.\n\nRun it with `python code.py`."
    ]


def test_code_alone_leaves_a_line() -> None:
    found = lifted(fenced())
    assert found is not None
    assert render(found.text).messages == ["-# The code is in the file code.py."]


@pytest.mark.parametrize(
    ("info", "name"),
    [
        ("py", "code.py"),
        ("Python title=x.py", "code.py"),
        ("{.rust}", "code.rs"),
        ("c++", "code.cpp"),
        ("c#", "code.cs"),
        ("TypeScript", "code.ts"),
        ("", "code.txt"),
        ("klingon", "code.txt"),
        ("../../etc", "code.txt"),
    ],
)
def test_the_language_gives_the_extension(info: str, name: str) -> None:
    found = lifted(fenced(info=info))
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "word " * 2000,
        fenced("x = 1\n"),
        fenced() + "\n\n" + "word " * 500,
        "> " + fenced().replace("\n", "\n> "),
        "- " + fenced().replace("\n", "\n  "),
        "  " + fenced().replace("\n", "\n  "),
        fenced(CODE * 100),
        fenced(CODE[:2200]) + "\n" + fenced(CODE[:2200]),
    ],
    ids=["nothing", "prose", "short", "much prose", "quoted", "listed", "indented", "huge", "two"],
)
def test_anything_else_stays_as_it_is(text: str) -> None:
    assert lifted(text) is None


def test_a_block_that_was_cut_goes_to_its_end() -> None:
    found = lifted(f"So:\n```js\n{CODE}let x =")
    assert found is not None
    assert (found.name, found.code) == ("code.js", f"{CODE}let x =")


def test_line_ends_and_inner_fences_are_kept() -> None:
    code = CODE.replace("\n", "\r\n") + "```\r\nx\r\n```\r\n"
    found = lifted(f"So:\r\n````md\r\n{code}````\r\nEnd.")
    assert found is not None
    assert (found.name, found.code) == ("code.md", code)
    assert (found.before, found.after) == ("So:\r\n", "End.")


def test_short_code_around_it_stays() -> None:
    found = lifted(f"```sh\npip install x\n```\n{fenced()}")
    assert found is not None
    assert found.before == "```sh\npip install x\n```\n"


@unhurried
@given(SOUP, st.text(st.sampled_from("ab`~\r\n {}#é\U0001f469"), min_size=10), SOUP)
def test_nothing_is_lost(before: str, line: str, after: str) -> None:
    code = (line.replace("~~~~~", "") + "\n") * (LONG // len(line) + 1)
    text = f"{before}\n\n~~~~~python\n{code}~~~~~\n{after}"
    found = lifted(text)
    if found is None:
        return
    assert len(found.code) > LONG
    assert len(text) - len(found.code) <= PROSE
    assert text.startswith(found.before)
    assert text.endswith(found.after)
    middle = text[len(found.before) : len(text) - len(found.after)]
    opening, _, rest = middle.partition("\n")
    assert rest.startswith(found.code)
    assert len(opening) + len(rest) - len(found.code) < 200
    assert all(len(part) <= LIMIT for part in render(found.text).messages)
    assert len(text) <= LONGEST
    assert len(render(found.text).parts) <= MAX_PARTS
