"""Whose a database is: the application of Discord that uses it, and where that never was.

Servers and channels are the same for every application, and one that is not in a server cannot
tell whether it has left it. So a database belongs to one application, and what others left behind
in it is noted: servers in which its present owner was not seen yet.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from bot.errors import OtherApplicationError
from bot.sessions.stores.marks import MarkStore
from bot.storage import Database

OWNER = "application"
TOLD = "commands-"
"""What begins the marks of applications that told Discord their commands: older than the owner."""
UNSEEN = "unseen-"

_NOTE_UNSEEN = f"""
    INSERT INTO marks (key, value)
    SELECT DISTINCT '{UNSEEN}' || server_id, '' FROM homes WHERE true
    ON CONFLICT (key) DO NOTHING"""  # noqa: S608 - ours


class ApplicationStore:
    """The one owner of a database; several processes at once agree on it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._marks = MarkStore(database)

    async def check(self, application_id: int) -> None:
        """Refuse an application that the database does not belong to; write nothing.

        Raises:
            OtherApplicationError: if it belongs to another one.
        """
        owner = await self._marks.get(OWNER)
        if owner is None:
            told = await self._told()
            owner = told[0] if told and str(application_id) not in told else str(application_id)
        if owner != str(application_id):
            raise OtherApplicationError(owner, application_id)

    async def claim(self, application_id: int) -> None:
        """Let a database that is nobody's belong to an application.

        Raises:
            OtherApplicationError: if it belongs to another one.
        """
        await self.check(application_id)
        if await self._marks.get(OWNER) is None:
            if await self._told() != [str(application_id)]:
                await self._database.execute(_NOTE_UNSEEN)
            await self._marks.replace(OWNER, None, str(application_id))
        await self.check(application_id)  # of several at once the first one has it

    async def adopt(self, application_id: int) -> bool:
        """Let a database belong to an application, whosever it was; return whether that is news."""
        if await self._marks.get(OWNER) == str(application_id):
            return False
        await self._database.execute(_NOTE_UNSEEN)
        await self._marks.set(OWNER, str(application_id))
        return True

    async def unseen(self) -> AbstractSet[int]:
        """Return the servers with conversations in which the owner was not seen yet."""
        keys = await self._marks.beginning_with(UNSEEN)
        return {int(key.removeprefix(UNSEEN)) for key in keys}

    async def seen_in(self, server_id: int) -> None:
        """Note that the owner is in a server."""
        await self._marks.remove(f"{UNSEEN}{server_id}")

    async def _told(self) -> list[str]:
        keys = await self._marks.beginning_with(TOLD)
        return [key.removeprefix(TOLD) for key in keys]
