"""How the agent answers in each server and channel."""

from __future__ import annotations

from bot.agent import Profile
from bot.frontend.settings.book import SettingsBook
from bot.frontend.settings.effective import Effective, Source
from bot.sessions.stores.homes import HomeStore


class ServerProfiles:
    """Reads the profile of a session from the settings of where it is."""

    def __init__(self, *, homes: HomeStore, book: SettingsBook) -> None:
        self._homes = homes
        self._book = book

    async def of(self, session_id: str) -> Profile:
        """Return how a session is answered; a DM as the operator has set."""
        home = await self._homes.of(session_id)
        return Profile() if home is None else profile(await self._book.here(home, fresh=True))


def profile(here: Effective) -> Profile:
    """Return what the agent does otherwise than in general."""
    operator = Source.OPERATOR
    return Profile(
        model=None if here.model.source is operator else here.model.value,
        system_prompt=None if here.prompt.source is operator else here.system_prompt,
        extra=here.extras.value,
        tools=None if here.tools.source is operator else here.tools.value,
    )
