"""What texts cost that were made to be slow, counted in calls of functions."""

from __future__ import annotations

from collections.abc import Callable
from cProfile import Profile

import pytest

from bot.frontend.rendering.markdown import Stream, render, split

MARKS = ["![", "[", "*_", "_a", "||", "a**b", "``` ", "$", "<b>", "<!--", "[a](", "[^", "\\(", "|"]
BLOCKS = ["> ", ">", "- ", "1. ", "- a\n  ", "| a |\n|---|\n", "```\n", "`", "# ", "\t"]
LISTS = "".join(f"{' ' * level}- a\n" for level in range(2000))
DEEP = {"quotes": ">" * 5000 + " a", "lists": LISTS, "backticks": "`" * 100_000}
A_LOOK = 80_000  # calls, which take some 10 ms
MANY_LINES = 5  # times that: what has hundreds of blocks in one message


def calls(work: Callable[[], object]) -> int:
    """Return how many functions a piece of work calls."""
    with Profile(subcalls=False) as profile:
        work()
    return sum(each.callcount for each in profile.getstats())


@pytest.mark.parametrize("each", [*MARKS, *BLOCKS])
def test_twice_the_text_is_twice_the_work(each: str) -> None:
    once, twice = (sized(each, size) for size in (20_000, 40_000))
    split(each)  # what is kept from the first time on is made
    assert calls(lambda: split(twice)) < 2.5 * calls(lambda: split(once)) + 10_000


@pytest.mark.parametrize(
    ("each", "most"),
    [*((each, A_LOOK) for each in MARKS), *((each, MANY_LINES * A_LOOK) for each in BLOCKS)],
)
def test_a_look_at_a_stream_costs_no_more_than_one_message(each: str, most: int) -> None:
    stream, text = Stream(), sized(each, 12_000)
    for start in range(0, len(text), 400):
        stream.add(text[start : start + 400])
        assert calls(stream.preview) < most


@pytest.mark.parametrize("name", DEEP)
def test_depth_costs_no_more_than_length(name: str) -> None:
    text = DEEP[name]
    assert calls(lambda: render(text)) < 3 * A_LOOK


def sized(each: str, size: int) -> str:
    return (each * (size // len(each) + 1))[:size]
