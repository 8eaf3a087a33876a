from typing import Any

import aiohttp
import discord
import pytest

from bot.frontend.refusals import (
    ContentRefusedError,
    MessageGoneError,
    PlaceGoneError,
    RefusedError,
    TooLargeError,
    UnavailableError,
    asked,
    translated,
)


class Response:
    """What discord.py reads of a response when it makes its error."""

    def __init__(self, status: int) -> None:
        self.status = status
        self.reason = "because"


def refusal(code: int, status: int = 403) -> discord.HTTPException:
    response: Any = Response(status)
    return discord.HTTPException(response, {"code": code, "message": "no"})


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (10008, MessageGoneError),
        (10003, PlaceGoneError),
        (40005, TooLargeError),
        (200000, ContentRefusedError),
        (50007, RefusedError),
        (77777, RefusedError),
    ],
)
def test_a_refusal_says_by_its_type_who_can_act(code: int, kind: type[Exception]) -> None:
    assert type(translated(refusal(code))) is kind


def test_a_missing_permission_is_named() -> None:
    error = translated(refusal(50013), lacking="Send Messages")
    assert str(error) == "I am missing a permission here: Send Messages"


@pytest.mark.parametrize(
    "error", [refusal(0, 503), TimeoutError(), aiohttp.ClientConnectionError("down")]
)
async def test_what_does_not_answer_is_unavailable(error: Exception) -> None:
    async def request() -> None:
        raise error

    with pytest.raises(UnavailableError):
        await asked(request)
