"""How answers look in each server and channel."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from bot.frontend.options import FrontendOptions
from bot.frontend.settings.book import SettingsBook
from bot.frontend.view.answers import Look
from bot.sessions.stores.homes import HomeStore


def look_of(
    options: FrontendOptions, *, homes: HomeStore, settings: SettingsBook
) -> Callable[[str], Awaitable[Look]]:
    """Return what tells how the answers of a session look."""

    async def look(session_id: str) -> Look:
        home = await homes.of(session_id)
        buttons = options.answer_buttons
        if home is not None:
            # What another process has just changed counts: that it is shown is noted.
            buttons = (await settings.here(home, fresh=True)).answer_buttons.value
        return Look(buttons=buttons, reasoning=options.show_reasoning)

    return look


def manner_of(options: FrontendOptions) -> str:
    """Name how sessions are shown: by which release, and by what the operator may change."""
    looks = (options.answer_buttons, options.show_reasoning, options.approvals_channel)
    return " ".join(map(str, (_release(), *looks)))


@cache
def _release() -> str:
    try:
        return version("parley")
    except PackageNotFoundError:
        return ""
