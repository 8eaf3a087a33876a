"""Memory as people see it: who lets it be, where, what is kept, and how it goes away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.frontend.ids import Place, PlaceKind, place_of
from bot.frontend.own.purges import Purges
from bot.frontend.tasks import Tasks
from bot.frontend.text import plain
from bot.sessions.stores.consents import ConsentStore
from bot.sessions.stores.homes import HomeStore
from bot.sessions.stores.memories import LONGEST, Memory, MemoryManager

PAGE = 5
EVERYTHING = "everything"
OFF = "Memory is off: nothing is kept for later conversations. `/memory turn:on` turns it on."
ON = (
    "Memory is on. In our DMs I may keep short notes about you, tell you each time, and use them "
    "in later conversations; in a channel only after `/memory here:on` there. `/memory` shows and "
    "removes them."
)
TURNED_OFF = (
    "Memory is off, and every channel forgotten in which it was allowed. Your notes are kept, but "
    "not used; `/memory remove:everything` removes them."
)
HERE = (
    "I may use and keep notes about you here too, in its threads as well, when you speak. What I "
    "recall becomes part of the conversation: others who read along can come to know it."
)
NOT_HERE = "I no longer use or keep notes about you here."
NOR_ABOVE = (
    "I no longer use or keep notes about you in this thread, nor in the channel that it hangs on."
)
DM = "In our DMs memory needs no more than `/memory turn:on`."
TURN_ON_FIRST = "Please turn memory on first: `/memory turn:on`."
GONE = "There is no such note of yours."
FORGOTTEN = "Forgotten. What was said of it in conversations stays there."


@dataclass(frozen=True, slots=True)
class MemoryRules:
    """Where memory may be used: in DMs of who turned it on, and in channels that they named."""

    consents: ConsentStore
    homes: HomeStore

    async def allowed(self, user_id: str, session_id: str) -> bool:
        """Whether somebody lets the agent use memory in a session."""
        place = place_of(session_id)
        if place is None:
            return False
        if place.kind is PlaceKind.DM:
            return await self.consents.is_on(user_id)
        home = await self.homes.of(session_id)
        parent = [home.channel_id] if home else []
        return await self.consents.allows(user_id, [place.channel_id, *parent])


class Remembering:
    """Does what people ask for about their own notes; each method gives a sentence to say."""

    def __init__(
        self,
        *,
        memories: MemoryManager,
        rules: MemoryRules,
        purges: Purges,
        tasks: Tasks,
    ) -> None:
        self.rules = rules
        self._memories = memories
        self._consents = rules.consents
        self._purges = purges
        self._tasks = tasks

    async def turn(self, user_id: str, *, on: bool) -> str:
        """Turn memory on or off."""
        if on:
            await self._consents.turn_on(user_id)
            return ON
        await self._consents.turn_off(user_id)
        return TURNED_OFF

    async def here(self, user_id: str, place: Place, channel_id: int, *, on: bool) -> str:
        """Allow it in a shared channel, or no more.

        Args:
            user_id: Whose memory it is.
            place: Where they say so.
            channel_id: The channel, of a thread the one that it hangs on: what was allowed there
                holds in the thread too, so it goes with it.
            on: Whether it is allowed.
        """
        if place.kind is PlaceKind.DM:
            return DM
        if not on:
            for each in {place.channel_id, channel_id}:
                await self._consents.turn_off(user_id, each)
            return NOT_HERE if place.channel_id == channel_id else NOR_ABOVE
        if not await self._consents.is_on(user_id):
            return TURN_ON_FIRST
        await self._consents.turn_on(user_id, place.channel_id)
        return HERE

    async def shown(self, user_id: str, place: Place, page: int) -> str:
        """Show one page of somebody's notes, and whether they are used here."""
        kept = await self._memories.list(user_id)
        if not await self._consents.is_on(user_id):
            head = OFF
        elif await self.rules.allowed(user_id, place.session_id):
            head = "Memory is on, here too."
        else:
            head = "Memory is on, but not here."
        if not kept:
            return f"{head}\nI remember nothing about you."
        pages = -(-len(kept) // PAGE)
        page = min(page, pages)
        notes = map(_line, kept[(page - 1) * PAGE : page * PAGE])
        tail = f"-# Page {page} of {pages}. `/memory remove:` takes one away."
        return "\n".join([head, *notes, tail])

    async def of(self, user_id: str) -> Sequence[Memory]:
        """Return somebody's notes."""
        return await self._memories.list(user_id)

    async def remove(self, user_id: str, name: str) -> str:
        """Forget one of somebody's notes, or all."""
        if name != EVERYTHING:
            return await self.undo(user_id, name) or GONE
        count = len(await self._memories.list(user_id))
        if count:
            await self._purges.owe()
            await self._memories.forget_user(user_id)
            self._purge()
        return f"Forgotten: {count} {'note' if count == 1 else 'notes'}."

    async def undo(self, user_id: str, name: str) -> str:
        """Forget one of somebody's notes; return nothing if they have none of that name."""
        if name not in {each.memory_id for each in await self._memories.list(user_id)}:
            return ""
        await self._purges.owe()
        await self._memories.forget(user_id, name)
        self._purge()
        return FORGOTTEN

    def _purge(self) -> None:
        self._tasks.start(self._purges.purge(), name="purging")


def _line(memory: Memory) -> str:
    return f"- {plain(memory.text, LONGEST)} (<t:{int(memory.at.timestamp())}:d>)"
