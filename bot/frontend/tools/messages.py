"""Finding the message that somebody means, in a place that was found before."""

from __future__ import annotations

import re

import discord

from bot.errors import ToolError
from bot.frontend.rights.requests import found
from bot.frontend.rights.standing import Place
from bot.frontend.text import plain

_MESSAGE = re.compile(
    r"(?:https://(?:\w+\.)?discord(?:app)?\.com/channels/[0-9]+/(?P<place>[0-9]+)/)?"
    r"(?P<message>[0-9]{15,20})"
)


async def message_called(place: Place, wanted: str) -> discord.Message:
    """Return the message of a place with an id, or a link.

    Raises:
        ToolError: if there is none.
    """
    match = _MESSAGE.fullmatch(wanted.strip())
    if match is not None and match["place"] in (None, str(place.id)):
        number = int(match["message"])
        message = await found(lambda: place.fetch_message(number))
        if message is not None:
            return message
    raise ToolError(f"There is no message {wanted[:100]!r} in #{place.name}.")


def message_worded(wanted: str) -> str:
    """Return a message in the words of a sentence for people."""
    match = _MESSAGE.fullmatch(wanted.strip())
    return f"the message {match['message'] if match else plain(wanted, 100)}"
