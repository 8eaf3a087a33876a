"""Accounts: what every author has in common, and the bot under test."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from enum import IntFlag
from typing import TYPE_CHECKING

from bot.sandbox.refusals.errors import Json

if TYPE_CHECKING:
    from bot.sandbox.resources.messages import Message
    from bot.sandbox.resources.state import State


class Intents(IntFlag):
    """Which events a connection asks for (reference, "Gateway Intents")."""

    GUILDS = 1 << 0
    GUILD_MEMBERS = 1 << 1
    GUILD_PRESENCES = 1 << 8
    GUILD_MESSAGES = 1 << 9
    GUILD_MESSAGE_REACTIONS = 1 << 10
    GUILD_MESSAGE_TYPING = 1 << 11
    DIRECT_MESSAGES = 1 << 12
    DIRECT_MESSAGE_REACTIONS = 1 << 13
    DIRECT_MESSAGE_TYPING = 1 << 14
    MESSAGE_CONTENT = 1 << 15
    GUILD_SCHEDULED_EVENTS = 1 << 16


PRIVILEGED = Intents.GUILD_MEMBERS | Intents.GUILD_PRESENCES | Intents.MESSAGE_CONTENT
EVERY_INTENT_BIT = (1 << 26) - 1


class User:
    """An account that can be an author."""

    def __init__(self, world: State, name: str, *, is_bot: bool = False) -> None:
        self.world, self.name, self.is_bot = world, name, is_bot
        self.id = world.ids.next()

    @property
    def mention(self) -> str:
        """The text that mentions this account."""
        return f"<@{self.id}>"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


class Bot(User):
    """An application with its bot account, as its developer set it up.

    Attributes:
        token: What the client logs in with.
        privileged: The privileged intents switched on for it.
        commands: The registered application commands, by guild id; global ones under None.
    """

    def __init__(self, world: State, name: str, privileged: Iterable[str]) -> None:
        super().__init__(world, name, is_bot=True)
        self.token = f"sandbox.{self.id}.{secrets.token_hex(8)}"
        self.commands: dict[int | None, list[Json]] = {}
        self.privileged = Intents(0)
        for intent in privileged:
            self.privileged |= Intents[intent]

    @property
    def application_id(self) -> int:
        """The application's id; like that of most bots it equals the account's."""
        return self.id

    @property
    def reads_content(self) -> bool:
        """Whether Message Content is switched on for the application."""
        return Intents.MESSAGE_CONTENT in self.privileged

    def may_read(self, message: Message, *, allowed: bool) -> bool:
        """Whether the bot is shown what a message says.

        Without the intent it reads DMs, its own messages and those that mention it.
        """
        return (
            allowed
            or message.place.guild is None
            or message.author is self
            or self in message.mentions
        )


class WebhookAuthor(User):
    """Who a webhook's message says it is from."""

    def __init__(self, world: State, name: str, webhook_id: int) -> None:
        super().__init__(world, name, is_bot=True)
        self.id = webhook_id
