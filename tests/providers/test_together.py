"""What came together is told as one."""

from collections.abc import Iterator

import pytest

from bot.agent.model.service import ReasoningDelta, Reported, TextDelta
from bot.errors import ModelUnavailableError
from bot.events import Usage
from bot.providers.assemble import Delta
from bot.providers.together import together

REPORTED = Reported(Usage(input_tokens=1, output_tokens=1))


def test_pieces_of_one_text_are_one_and_keep_their_place() -> None:
    deltas: list[Delta] = [
        *(ReasoningDelta("hm"), ReasoningDelta("m")),
        *(TextDelta("Hel"), TextDelta("lo")),
        REPORTED,
        TextDelta("!"),
    ]
    assert list(together(iter(deltas))) == [
        ReasoningDelta("hmm"),
        TextDelta("Hello"),
        REPORTED,
        TextDelta("!"),
    ]
    assert list(together(iter([]))) == []


def test_what_came_before_an_error_is_told_before_it() -> None:
    def broken() -> Iterator[Delta]:
        yield from (TextDelta("Hel"), TextDelta("lo"))
        raise ModelUnavailableError("broken")

    told = together(broken())
    assert next(told) == TextDelta("Hello")
    with pytest.raises(ModelUnavailableError):
        next(told)
