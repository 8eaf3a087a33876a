"""Strategies: answers as models write them, and what nobody would write."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

unhurried = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])

WORDS = st.sampled_from(
    [
        "a",
        "word",
        "sentence.",
        "Longer,",
        "naïve",
        "漢字かな",
        "👨‍👩‍👧",
        "e\u0301",
        "🇩🇪",
        "don't",
        "1.5",
        "2 * 3",
        "**bold words**",
        "*it*",
        "`code span`",
        "~~gone~~",
        "||secret||",
        "[a link](https://x.y/z)",
        "<@123>",
        "<t:1700000000:R>",
        "<:name:42>",
        "<https://a.b>",
        "**bold `code` and *it***",
        "https://example.com/" + "path/" * 8,
        "漢" * 30 + "。",
        "$x^2$",
        "![alt](https://i.j/k.png)",
        "<b>tag</b>",
        "snake_case_name",
        "\\*",
        "**" + "long bold " * 30 + "end**",
        "`" + "x y " * 20 + "z`",
    ]
)
PROSE = st.lists(WORDS, min_size=1, max_size=60).map(" ".join)
LINES = st.lists(PROSE, min_size=1, max_size=3).map("\n".join)
CODE_LINES = st.lists(
    st.sampled_from(
        [
            "",
            "x = 1",
            "    indented",
            "# comment",
            "> q",
            "- l",
            "| a | b |",
            "~~~",
            "y" * 90,
            "  **z**",
        ]
    ),
    max_size=60,
)


@st.composite
def fences(draw: st.DrawFn, marks: str = "```") -> str:
    lines = draw(CODE_LINES)
    if marks[0] == "~":
        lines = [line for line in lines if "~~~" not in line]
    return "\n".join([marks + draw(st.sampled_from(["", "py", "c++"])), *lines, marks])


@st.composite
def tables(draw: st.DrawFn) -> str:
    columns = draw(st.integers(1, 4))
    cell = st.sampled_from(
        ["", "a", "42", "漢字", "`x`", "**b**", "a \\| b", "words " * 6, "e\u0301" * 5]
    )
    row = st.lists(cell, min_size=columns, max_size=columns).map(
        lambda each: f"| {' | '.join(each)} |"
    )
    rows = draw(st.lists(row, min_size=1, max_size=40))
    return "\n".join([draw(row), "|" + "---|" * columns, *rows])


def quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.split("\n"))


def listed(text: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([f"- {first}", *(f"  {line}" if line else "" for line in rest)])


HEADINGS = st.builds(
    "{} {}".format,
    st.sampled_from(["#", "##", "###", "####"]),
    st.lists(WORDS, min_size=1, max_size=5).map(" ".join),
)
LEAVES = st.one_of(LINES, fences(), fences("~~~"), fences("````"), HEADINGS)
ITEMS = st.lists(LINES, min_size=1, max_size=6).map(lambda each: "\n".join(map(listed, each)))
BLOCKS = st.one_of(
    LEAVES,
    ITEMS,
    LEAVES.map(quoted),
    fences().map(listed),
    fences().map(listed).map(quoted),
    fences().map(listed).map(listed).map(listed),
)
# Without tables, of which each piece has a header of its own.
ANSWERS = st.lists(BLOCKS, min_size=1, max_size=8).map("\n\n".join)
WITH_TABLES = st.lists(st.one_of(BLOCKS, tables()), min_size=1, max_size=8).map("\n\n".join)
ATOMS = st.sampled_from(
    [
        "```",
        "```py\n",
        "~~~",
        "\n",
        "\n\n",
        "> ",
        "- ",
        "1. ",
        "    ",
        "**",
        "*",
        "_",
        "`",
        "``",
        "||",
        "~~",
        "[a](http://x.y)",
        "![i](http://u)",
        "[![b](http://i)](http://l)",
        "![r](rel.png)",
        "|a|b|\n|-|-|\n",
        "| 1 | 2 |\n",
        "|",
        "<b>",
        "</b>",
        "<br>",
        "<!-- x -->",
        "<a href='http://q'>",
        "</a>",
        "<img src='http://i'>",
        "<p>",
        "</x>",
        "<x>",
        "<@123>",
        "\\",
        "$x^2$",
        "\\(",
        "\\)",
        "$$\n",
        "[^1]",
        "[^note]: ",
        "# ",
        "#### ",
        "---\n",
        "===\n",
        "[ ] ",
        "word ",
        "A sentence. ",
        "漢字",
        "👨‍👩‍👧",
        "e\u0301",
        "\r\n",
        "\r",
        "\t",
        "\0",
        "\u2028",
        "\x0b",
        "\xa0",
        "\ud800",
        "x" * 50,
        "y" * 700,
        "z" * 5000,
        "`" * 9,
        "| " + "c" * 60 + " | d |\n",
        "\u0301" * 300,
    ]
)
SOUP = st.lists(st.one_of(ATOMS, st.text(max_size=5)), max_size=60).map("".join)
LIMITS = st.sampled_from([200, 300, 500, 2000])
# Without anything that what comes later could change.
PLAIN = st.lists(
    st.one_of(
        st.lists(st.sampled_from(["word", "sentence.", "漢字", "longer,"]), min_size=1, max_size=80)
        .map(" ".join)
        .flatmap(lambda text: st.sampled_from([text, f"- {text}", f"> {text}", f"# {text[:40]}"])),
        fences(),
    ),
    min_size=1,
    max_size=8,
).map("\n\n".join)
