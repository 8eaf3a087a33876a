"""Clicks and commands on their way to a bot, and its answers (reference, "Interactions")."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from . import interaction_payloads
from .channels import Place
from .errors import Json, Refusal
from .messages import Message
from .users import Bot

if TYPE_CHECKING:
    from .people import Person
    from .world import World

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


@dataclass(eq=False)
class Interaction:
    """One click or command, from the person's hand to the bot's last word on it."""

    world: World
    bot: Bot
    person: Person
    place: Place
    kind: InteractionKind
    data: Json
    message: Message | None = None
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    response: Response | None = None
    lost: bool = False
    original: Message | None = None
    followups: list[Message] = field(default_factory=list)
    choices: list[tuple[str, str | int | float]] = field(default_factory=list)
    modal: Json | None = None

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


class Answer:
    """What the person sees of a bot's answer; it goes on changing with it."""

    def __init__(self, interaction: Interaction) -> None:
        self.interaction = interaction

    @property
    def failed(self) -> bool:
        """Whether Discord says "This interaction failed": nothing came in time."""
        return self.interaction.lost

    @property
    def deferred(self) -> bool:
        """Whether the bot first asked for time."""
        return self.interaction.response in (Response.DEFERRED, Response.DEFERRED_UPDATE)

    @property
    def messages(self) -> list[Message]:
        """The messages that answer, oldest first."""
        original = [self.interaction.original] if self.interaction.original else []
        return [each for each in original + self.interaction.followups if not each.deleted]

    @property
    def message(self) -> Message | None:
        """The first message that answers; failing that the one that was updated."""
        return next(iter(self.messages), self.updated_message)

    @property
    def updated_message(self) -> Message | None:
        """The message that was clicked, if that has changed since."""
        return self.interaction.updated

    @property
    def text(self) -> str:
        """What the answer says; empty when nothing was said."""
        return self.message.content if self.message else ""

    @property
    def ephemeral(self) -> bool:
        """Whether only the person sees it."""
        return self.message is not None and self.message.ephemeral

    @property
    def choices(self) -> list[tuple[str, str | int | float]]:
        """The choices that were offered, as (name, value)."""
        return self.interaction.choices

    @property
    def modal(self) -> Json | None:
        """The form that was opened."""
        return self.interaction.modal

    def until(
        self, predicate: Callable[[Answer], bool], timeout: float = 5.0
    ) -> Coroutine[Any, Any, Answer]:
        """Return the answer once the predicate holds.

        Raises:
            TimeoutError: It never held.
        """
        return self.interaction.world.pulse.until(
            lambda: self if predicate(self) else None, timeout, lambda: f"it never held of {self}"
        )

    def __repr__(self) -> str:
        state = "failed" if self.failed else "ephemeral" if self.ephemeral else "shown"
        return f"<Answer {state} {self.text!r}>"


async def answer_to(interaction: Interaction, within: float | None = None) -> Answer:
    """Send an interaction and wait until the person sees its answer, or that it failed.

    Raises:
        TimeoutError: It was only deferred, and nothing more came within so many seconds.
    """
    world = interaction.world
    within = world.patience if within is None else within
    interaction.send()
    if not await _acknowledged(interaction, within):
        interaction.lost = True
        return Answer(interaction)
    await world.pulse.until(
        lambda: True if interaction.is_visible else None,
        within,
        lambda: f"acknowledged, but nothing to see\n{interaction.place.dump()}",
    )
    return Answer(interaction)


async def _acknowledged(interaction: Interaction, within: float) -> bool:
    world = interaction.world
    deadline = asyncio.ensure_future(world.clock.sleep(world.ack_timeout))
    deadline.add_done_callback(lambda _: world.pulse.beat())
    try:
        await world.pulse.until(
            lambda: True if interaction.response or deadline.done() else None,
            within + world.ack_timeout,
            lambda: "the clock stood still",
        )
    finally:
        deadline.cancel()
        await asyncio.wait({deadline})
    return interaction.response is not None
