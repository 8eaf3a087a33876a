"""What tools ask of Discord, with its refusals as errors that the model is told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from bot.errors import ToolError
from bot.frontend.refusals import DiscordError, UnavailableError, asked

T = TypeVar("T")


async def found(request: Callable[[], Awaitable[T]]) -> T | None:
    """Return what a request finds, `None` if it is not there or not for the bot.

    Raises:
        ToolError: if Discord cannot be asked.
    """
    try:
        return await asked(request)
    except UnavailableError as exc:
        raise ToolError("Discord could not be asked whether this may be done.") from exc
    except DiscordError:
        return None


async def done(request: Callable[[], Awaitable[T]]) -> T:
    """Return what comes of a request that changes or reads something.

    Raises:
        ToolError: if it was refused, or it is not known what came of it.
    """
    try:
        return await asked(request)
    except UnavailableError as exc:
        text = "Discord did not answer; it may have been done all the same. Look before you retry."
        raise ToolError(text) from exc
    except DiscordError as exc:
        raise ToolError(f"It could not be done: {exc}.") from exc
