"""HTML becomes text that can be read, whatever the HTML is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from bot.tools.web.reading import DEEPEST, page_of

HERE = URL("https://page.test/a/b")


def read(html: str, limit: int = 10_000) -> str:
    return page_of(html, HERE, limit).text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("just text", "just text"),
        ("<p>one\n two<p>three", "one two\n\nthree"),
        ("<div>a</div><div>b</div>c", "a\nb\nc"),
        ("a<br>b<br><br>c", "a\nb\n\nc"),
        ("<ul><li>a<li>b <b>c</b></ul>d", "- a\n- b c\n\nd"),
        ("<h1>T</h1>a", "T\n\na"),
        ("<table><tr><td>a<td>b<tr><td>c<td>d</table>", "a | b\nc | d"),
        ("<pre>a\n  b\n</pre>", "a\n  b"),
        ("a<script>x < 1</script><style>p{}</style><noscript>n</noscript>b", "ab"),
        ("<!-- c -->a<?php x ?>", "a"),
        ("<p hidden>h</p>x &amp; &lt;y&gt; &#8364;", "h\n\nx & <y> \u20ac"),
        ('<a href="/q?x=1&amp;y=2">go</a> on', "go (https://page.test/q?x=1&y=2) on"),
        ('<a href="c">go</a>', "go (https://page.test/a/c)"),
        ('<a href="#top">up</a> <a>no</a> <a href="javascript:x()">js</a>', "up no js"),
        ('<a href="http://[">bad</a>', "bad"),
        ('<a href="mailto:a@b.test">mail</a>', "mail (mailto:a@b.test)"),
        ('<img src=x alt=" a  cat "><img src=y>', "(image: a cat)"),
        ("a\0b", "a\ufffdb"),
        ("<a href=x><a href=y>z</a>", "(https://page.test/a/x)z (https://page.test/a/y)"),
    ],
)
def test_html_is_read(html: str, text: str) -> None:
    assert read(html) == text


def test_the_title_is_apart() -> None:
    page = page_of("<title> A\n&amp; B </title><svg><title>s</title></svg>x", HERE, 100)
    assert (page.title, page.text) == ("A & B", "x")


def test_what_is_longer_is_cut() -> None:
    page = page_of("<p>" + "word " * 1000, HERE, 100)
    assert page.cut
    assert len(page.text) <= 100
    assert not page_of("<p>word", HERE, 100).cut


def test_what_is_nested_too_deep_is_cut_there() -> None:
    page = page_of("<p>before" + "<div>" * 100_000 + "x", HERE, 100)
    assert page.cut
    assert page.text == "before"
    assert read("<div>" * (DEEPEST // 2) + "x") == "x"


@pytest.mark.parametrize(
    "html",
    [
        "<b>" * 200_000 + "</i>" * 200_000,
        ("<b>" * 400 + "</i>" * 400) * 500,
        "<!--" * 400_000,
        "<" * 1_000_000,
        "&" * 1_000_000,
        "<p " + " ".join(f"a{number}=b" for number in range(100_000)) + ">x",
        "<table><tr><td>" * 100_000,
        "<a href='" * 200_000,
        "<script>" * 200_000,
    ],
    ids=range(9),
)
def test_html_made_to_take_for_ever_does_not(html: str) -> None:
    page_of(html, HERE, 1_000_000)  # a test that hangs fails


@given(st.text(st.sampled_from("<>/=\"'& \n-!?") | st.sampled_from("abpdivtlri\u20ac\0")))
def test_any_text_is_read_as_some_page(html: str) -> None:
    page = page_of(html, HERE, 50)
    assert len(page.text) <= 50
