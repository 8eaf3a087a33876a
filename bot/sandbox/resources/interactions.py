"""Clicks and commands on their way to a bot, and its answers (reference, "Interactions")."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum
from typing import TYPE_CHECKING

from bot.sandbox.refusals.errors import Json, Refusal
from bot.sandbox.resources import interaction_payloads
from bot.sandbox.resources.channels import Place
from bot.sandbox.resources.messages import Message
from bot.sandbox.resources.users import Bot

if TYPE_CHECKING:
    from bot.sandbox.resources.modals import Modal
    from bot.sandbox.resources.state import State
    from bot.sandbox.resources.users import User

TOKEN_LIFE = timedelta(minutes=15)


class InteractionKind(IntEnum):
    """What a person did."""

    COMMAND = 2
    COMPONENT = 3
    AUTOCOMPLETE = 4
    MODAL = 5


class Response(IntEnum):
    """How a bot can answer first."""

    PONG = 1
    MESSAGE = 4
    DEFERRED = 5
    DEFERRED_UPDATE = 6
    UPDATE = 7
    CHOICES = 8
    MODAL = 9


@dataclass(eq=False, repr=False)
class Interaction:
    """One click or command, from the person's hand to the bot's last word on it."""

    world: State
    bot: Bot
    person: User
    place: Place
    kind: InteractionKind
    data: Json
    message: Message | None = None
    submitted: Modal | None = None
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    response: Response | None = None
    lost: bool = False
    original: Message | None = None
    followups: list[Message] = field(default_factory=list)
    choices: list[tuple[str, str | int | float]] = field(default_factory=list)
    modal: Modal | None = None

    def __post_init__(self) -> None:
        self.id = self.world.ids.next()
        self.created_at: datetime = self.world.clock.now()
        self._revision = self.message.revision if self.message else 0

    @property
    def owners(self) -> Json:
        """Where the application is installed for this: in the guild, or for DMs."""
        return {"0": str(self.place.guild.id) if self.place.guild else "0"}

    @property
    def updated(self) -> Message | None:
        """The message that was clicked, if it has changed or gone since."""
        source = self.message
        if source is None or (source.revision == self._revision and not source.deleted):
            return None
        return source

    @property
    def is_visible(self) -> bool:
        """Whether the person sees more than that the bot is thinking."""
        match self.response:
            case None | Response.PONG:
                return False
            case Response.DEFERRED:
                original = self.original
                return original is None or original.is_there or original.deleted
            case Response.DEFERRED_UPDATE:
                return bool(self.followups) or self.updated is not None
            case _:
                return True

    def refuse_response(self) -> None:
        """Refuse a first response that comes twice (40060) or too late (10062)."""
        if self.response is not None:
            raise Refusal.ALREADY_ACKNOWLEDGED.error()
        elapsed = (self.world.clock.now() - self.created_at).total_seconds()
        if self.lost or elapsed > self.world.ack_timeout:
            raise Refusal.UNKNOWN_INTERACTION.error()

    def refuse_followup(self) -> None:
        """Refuse what needs the token when it has expired (50027) or nothing was answered."""
        if self.world.clock.now() - self.created_at > TOKEN_LIFE:
            raise Refusal.INVALID_WEBHOOK_TOKEN.error()
        if self.response is None:
            raise Refusal.UNKNOWN_WEBHOOK.error()

    def send(self) -> None:
        """Bring it to the bot."""
        self.world.interactions[self.token] = self
        self.world.hub.to_bot(
            self.bot,
            "INTERACTION_CREATE",
            lambda _: interaction_payloads.interaction(self),
            self.place.guild,
        )
