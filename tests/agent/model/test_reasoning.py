"""Leaked reasoning, well-formed or not, and texts that only talk about it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.agent.model.reasoning import Reasoning, split_reasoning
from bot.frontend.view.folded import folded

unhurried = settings(deadline=None)
ATOMS = [
    "<think>",
    "</think>",
    "<Thinking >",
    "</ thought>",
    "`",
    "```",
    "~~~",
    "\n",
    " ",
    "a",
    "<",
]
TEXTS = st.lists(st.sampled_from([*ATOMS, ">", "word", "\r\n", "\n\n", "<b>"])).map("".join)


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"),
    [
        ("Hello", "Hello", ""),
        ("  Hello\n", "  Hello\n", ""),
        ("<think>a</think>\n\nHello", "Hello", "a"),
        ("<THINKING kind=x>a</THINKING>Hello", "Hello", "a"),
        ("<think>a<think>b</think>Hello", "Hello", "ab"),
        ("<think>never closed", "", "never closed"),
        ("never opened\n</think>\nHello", "Hello", "never opened"),
        ("never opened</think>", "", "never opened"),
        ("<think>a</think>b\n</think>\nHello", "Hello", "ab"),
        ("Well.\n<think>a</think>\nHello", "Well.\n\nHello", "a"),
        ("<think></think><think>a</think>Hello", "Hello", "a"),
        ("Write `<think>` and `</think>`.", "Write `<think>` and `</think>`.", ""),
        ("The <think> tag, the </think> tag", "The <think> tag, the </think> tag", ""),
        ("```\n<think>\n```\nHello", "```\n<think>\n```\nHello", ""),
        ("~~~\n```\n</think>\n~~~\n", "~~~\n```\n</think>\n~~~\n", ""),
        ("<think>\n```\na</think>Hello\n<think>b", "Hello\n", "```\nab"),
        ("<thin", "<thin", ""),
        ("a < b > c", "a < b > c", ""),
    ],
)
def test_reasoning_is_told_from_the_answer(text: str, answer: str, reasoning: str) -> None:
    assert split_reasoning(text) == (answer, reasoning)


@unhurried
@given(TEXTS, st.integers(1, 9))
def test_piece_by_piece_it_is_the_same(text: str, step: int) -> None:
    reader, answer = Reasoning(), ""
    for start in range(0, len(text), step):
        grown = reader.add(text[start : start + step])
        answer = reader.answer if grown is None else answer + grown
    grown = reader.close()
    answer = reader.answer if grown is None else answer + grown
    assert (answer, reader.reasoning) == split_reasoning(text)


@unhurried
@given(st.text())
def test_a_text_without_tags_is_its_answer(text: str) -> None:
    assert split_reasoning(text.replace("<", "")) == (text.replace("<", ""), "")


def test_half_a_tag_is_held_back() -> None:
    reader = Reasoning()
    assert reader.add("Hello <thi") == "Hello "
    assert reader.add("s>") == ""
    assert reader.close() == "<this>"


def test_an_answer_that_was_reasoning_is_taken_back() -> None:
    reader = Reasoning()
    assert reader.add("So the user wants\n") == "So the user wants"
    assert reader.add("</think>\nHello") is None
    assert reader.answer == "Hello"


def test_folded_reasoning_is_one_small_spoiler() -> None:
    assert folded("Two and two\n\nis *four*.") == r"-# || Two and two is \*four\*. ||"
    assert folded(" \n") == ""


@given(st.text(st.sampled_from("|`\\*_ \n<>@:/ab-#~")) | st.text())
def test_nothing_in_folded_reasoning_ends_the_spoiler_or_shows_as_markup(reasoning: str) -> None:
    line = folded(reasoning)
    if line:
        inside = line.removeprefix("-# || ").removesuffix(" ||")
        assert "||" not in inside
        assert "```" not in inside
        assert "://" not in inside
        assert "\n" not in line
        assert len(line) < 1500
        assert not re.search(r"(?<!\\)(?:\\\\)*[|`*_~<>#\[\]]", inside)


def test_long_reasoning_is_cut() -> None:
    assert folded("word " * 1000).endswith("… ||")
