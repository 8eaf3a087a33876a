"""People as Discord knows them, as the plain data that decisions are made on."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

import discord

from bot.agent import Actor
from bot.events import Author
from bot.frontend.access import Speaker, may_talk, may_talk_here, may_write_dms
from bot.frontend.ids import Place, PlaceKind, user_id_of, user_of
from bot.frontend.membership import Membership
from bot.frontend.options import DMPolicy, FrontendOptions
from bot.frontend.refusals import DiscordError, RefusedError, asked
from bot.frontend.settings.book import SettingsBook
from bot.frontend.text import speaker_name
from bot.sessions.stores.homes import Home
from bot.sessions.stores.usage import UsageStore

logger = logging.getLogger(__name__)

SPOKEN = {discord.MessageType.default, discord.MessageType.reply}
REMEMBERED = 60.0  # seconds: Discord is not asked about the same person more often


def speaker(user: discord.User | discord.Member, place: Place) -> Author:
    """Return somebody as the model is told them: in a DM nobody else speaks, so without a name."""
    name = "" if place.kind is PlaceKind.DM else speaker_name(user.display_name)
    return Author(user_id=user_id_of(user.id), name=name)


class People:
    """Looks people up."""

    def __init__(
        self,
        client: discord.Client,
        options: FrontendOptions,
        settings: SettingsBook,
        usage: UsageStore,
    ) -> None:
        self._client = client
        self._options = options
        self._settings = settings
        self._membership = Membership(client, options, usage, self._talks)
        self._members: dict[tuple[int, int], tuple[float, discord.Member | None]] = {}

    def is_owner(self, user: int) -> bool:
        """Whether this is an owner of the bot, by setting or by what Discord says."""
        application = self._client.application
        if user in self._options.owner_ids:
            return True
        if application is None:
            return False
        members = application.team.members if application.team else ()
        accepted = discord.TeamMembershipState.accepted
        team = {each.id for each in members if each.membership_state is accepted}
        return user in team or (not team and user == application.owner.id)

    def actor(self, interaction: discord.Interaction) -> Actor:
        """Return who clicked or commanded; a moderator has Manage Server here."""
        user = interaction.user
        roles = user.roles if isinstance(user, discord.Member) else ()
        in_server = interaction.guild_id is not None
        return Actor(
            user_id=user_id_of(user.id),
            roles=frozenset(str(role.id) for role in roles),
            moderator=in_server and interaction.permissions.manage_guild,
            owner=self.is_owner(user.id),
        )

    async def actor_of(self, user_id: str, server: int | None) -> Actor:
        """Return who somebody is in a server: their roles, of which in none they have none.

        Where Discord cannot be asked nobody has any.
        """
        number = user_of(user_id)
        if number is None:
            return Actor(user_id=user_id)
        guild = None if server is None else self._client.get_guild(server)
        member = await self._known_member(guild, number) if guild else None
        roles = frozenset(str(role.id) for role in member.roles) if member else frozenset[str]()
        return Actor(user_id=user_id, roles=roles, owner=self.is_owner(number))

    async def _known_member(self, guild: discord.Guild, user: int) -> discord.Member | None:
        try:
            return await self._member(guild, user)
        except DiscordError as exc:
            logger.warning("the roles of user %s are not known: %s", user, exc)
            return None

    async def names(self, guild: discord.Guild, users: Sequence[int]) -> Sequence[str]:
        """Return what people are called in a server; ids for those who are not there."""
        members = [await self._known_member(guild, user) for user in users]
        return [
            speaker_name(member.display_name) if member else str(user)
            for user, member in zip(users, members, strict=True)
        ]

    def speaker(self, user: discord.User | discord.Member, guild: int) -> Speaker:
        """Return who writes in a server."""
        roles = user.roles if isinstance(user, discord.Member) else ()
        return Speaker(
            user=user.id,
            guild=guild,
            roles=frozenset(role.id for role in roles),
            owner=self.is_owner(user.id),
        )

    async def may_talk(
        self, user: discord.User | discord.Member, guild: int | None, channel: int = 0
    ) -> bool:
        """Whether somebody is answered in a channel of a server, or in a DM.

        Args:
            user: Who it is.
            guild: The server, `None` for a DM.
            channel: The channel, of a thread the one that it hangs on; 0: whichever.
        """
        if guild is not None:
            who = self.speaker(user, guild)
            if isinstance(user, discord.Member):
                self._membership.heard(who)
            return await self._talks(who, channel)
        owner, options = self.is_owner(user.id), self._options
        if may_write_dms(options, user.id, owner=owner, member=False):
            return True
        member = options.dms is DMPolicy.MEMBERS and await self._membership.found(user.id)
        return may_write_dms(options, user.id, owner=owner, member=member)

    async def _talks(self, who: Speaker, channel: int = 0) -> bool:
        here = await self._settings.here(Home(who.guild, channel))
        return may_talk(self._options, who) and may_talk_here(here, who)

    async def recognised(
        self, user: discord.User | discord.Member, guild: discord.Guild | None
    ) -> discord.User | discord.Member:
        """Return somebody with roles and nickname, which a message read later does not tell.

        Raises:
            DiscordError: if Discord cannot be asked.
        """
        if guild is None or isinstance(user, discord.Member):
            return user
        return await self._member(guild, user.id) or user

    async def _member(self, guild: discord.Guild, user: int) -> discord.Member | None:
        now, key = time.monotonic(), (guild.id, user)
        fresh = {k: (at, m) for k, (at, m) in self._members.items() if now - at < REMEMBERED}
        self._members = fresh
        if key not in fresh:
            fresh[key] = (now, await self._fetched(guild, user))
        return fresh[key][1]

    @staticmethod
    async def _fetched(guild: discord.Guild, user: int) -> discord.Member | None:
        try:
            return await asked(lambda: guild.fetch_member(user))
        except RefusedError:
            return None


def is_from_a_person(message: discord.Message, client: discord.Client) -> bool:
    """Whether a human wrote a message: not a bot, a webhook, Discord itself, or this bot."""
    author = message.author
    automatic = author.bot or author.system or message.webhook_id is not None
    return not automatic and author != client.user and message.type in SPOKEN
