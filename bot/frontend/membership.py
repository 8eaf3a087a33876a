"""Whether whoever writes a direct message may talk in a server: found out with few questions.

Nothing tells which servers somebody is in: without a privileged intent the client knows no members,
and Discord is asked about one server at a time. A bot has 50 requests a second in all, and anybody
can write to it. So the servers where somebody has talked to the bot are asked first; of the others
only some, the largest first, and no two of them for two people at the same moment; and the answers
are kept. In a bot of more servers somebody is known once they have talked to it in one of them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import discord

from bot.frontend.access import Speaker
from bot.frontend.ids import user_id_of
from bot.frontend.locks import Locks
from bot.frontend.options import FrontendOptions
from bot.frontend.refusals import RefusedError, asked
from bot.sessions.stores.usage import UsageStore

LAST = 3  # servers where somebody talked last
ASKED = 100  # servers, of one person, while their answers are kept
FRESH = 600.0  # seconds until a server where somebody may talk, or did, is asked again
KEPT = 3600.0  # seconds until any other one is
PEOPLE = 2000  # of whom answers are kept
PAGE = 100  # servers of other shards that may be asked


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server told: somebody's roles there, `None` if they are not in it."""

    at: float
    roles: frozenset[int] | None

    def is_fresh(self, seconds: float) -> bool:
        """Return whether it was told no longer ago."""
        return time.monotonic() - self.at < seconds


Answers = dict[int, Answer]


class Membership:
    """Looks for a server in which somebody may talk.

    Args:
        client: Asks Discord.
        options: The servers that count, and the shards.
        usage: Knows where somebody talked last.
        may_talk: Whether somebody in a server may talk there.
    """

    def __init__(
        self,
        client: discord.Client,
        options: FrontendOptions,
        usage: UsageStore,
        may_talk: Callable[[Speaker], Awaitable[bool]],
    ) -> None:
        self._client = client
        self._options = options
        self._usage = usage
        self._may_talk = may_talk
        self._locks = Locks[int]()
        self._turn = asyncio.Lock()
        self._people: dict[int, Answers] = {}
        self._elsewhere: tuple[float, Sequence[int]] = (-KEPT, ())

    async def found(self, user: int) -> bool:
        """Return whether somebody may talk in one of the servers, as far as it was asked.

        Raises:
            DiscordError: if Discord cannot be asked.
            StorageError: if it cannot be read where they talked.
        """
        async with self._locks[user]:
            answers = self._answers_of(user)
            return await self._in_known(user, answers) or await self._in_others(user, answers)

    def heard(self, who: Speaker) -> None:
        """Note that somebody, of whom it was asked, is in a server."""
        answers = self._people.get(who.user)
        if answers is not None and (who.guild in answers or len(answers) < ASKED):
            answers[who.guild] = Answer(time.monotonic(), who.roles)

    def _answers_of(self, user: int) -> Answers:
        """Return what is kept of somebody; those who wrote longest ago are forgotten."""
        kept = self._people.pop(user, {})
        answers = {server: each for server, each in kept.items() if each.is_fresh(KEPT)}
        self._people[user] = answers
        while len(self._people) > PEOPLE:
            del self._people[next(iter(self._people))]
        return answers

    async def _in_known(self, user: int, answers: Answers) -> bool:
        found = await self._usage.servers_of(user_id_of(user), limit=LAST)
        talked = list(filter(self._counts, found))
        for server in dict.fromkeys((*answers, *talked)):
            if server not in talked and not await self._talks(user, server, answers):
                continue
            if server not in answers or not answers[server].is_fresh(FRESH):
                await self._ask(user, server, answers)
            if await self._talks(user, server, answers):
                return True
        return False

    async def _in_others(self, user: int, answers: Answers) -> bool:
        for server in await self._servers() if len(answers) < ASKED else ():
            if len(answers) >= ASKED:
                break
            if server not in answers:
                async with self._turn:
                    await self._ask(user, server, answers)
                if await self._talks(user, server, answers):
                    return True
        return False

    async def _ask(self, user: int, server: int, answers: Answers) -> None:
        try:
            found = await asked(lambda: self._client.http.get_member(server, user))
        except RefusedError:
            roles = None
        else:
            roles = frozenset(int(role) for role in found["roles"])
        answers[server] = Answer(time.monotonic(), roles)

    async def _talks(self, user: int, server: int, answers: Answers) -> bool:
        roles = answers[server].roles
        return roles is not None and await self._may_talk(
            Speaker(user=user, guild=server, roles=roles)
        )

    def _counts(self, server: int) -> bool:
        return not self._options.guild_ids or server in self._options.guild_ids

    async def _servers(self) -> Sequence[int]:
        """Return servers of the bot: those that count, or else ours, and some of other shards."""
        if self._options.guild_ids:
            return sorted(self._options.guild_ids)
        guilds = sorted(self._client.guilds, key=lambda each: -(each.member_count or 0))
        ours = [each.id for each in guilds]
        if self._options.shards.all or len(ours) >= ASKED:
            return ours
        return [*ours, *await self._of_other_shards()]

    async def _of_other_shards(self) -> Sequence[int]:
        at, found = self._elsewhere
        if time.monotonic() - at >= KEPT:
            found = await asked(self._page)
            self._elsewhere = time.monotonic(), found
        return [each for each in found if not self._options.shards.has(each)]

    async def _page(self) -> Sequence[int]:
        return [each.id async for each in self._client.fetch_guilds(limit=PAGE, with_counts=False)]
