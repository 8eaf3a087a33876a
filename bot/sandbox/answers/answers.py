"""What a person sees of a bot's answer to a click or command, and waiting for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from bot.sandbox.resources.interactions import Interaction, Response
from bot.sandbox.resources.messages import Message
from bot.sandbox.resources.modals import Modal
from bot.sandbox.timing.pulse import PATIENCE


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
    def modal(self) -> Modal | None:
        """The form that was opened."""
        return self.interaction.modal

    def until(
        self, predicate: Callable[[Answer], bool], timeout: float = PATIENCE
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
    answer = await first_response(interaction, within)
    if answer.failed:
        return answer
    await world.pulse.until(
        lambda: True if interaction.is_visible else None,
        within,
        lambda: f"acknowledged, but nothing to see\n{interaction.place.dump()}",
    )
    return answer


async def first_response(interaction: Interaction, within: float | None = None) -> Answer:
    """Send an interaction and wait until it was acknowledged, or has failed.

    ``within`` is how many seconds the world's clock may be behind the machine's.
    """
    within = interaction.world.patience if within is None else within
    interaction.send()
    if not await _acknowledged(interaction, within):
        interaction.lost = True
    elif interaction.submitted is not None:
        interaction.submitted.closed = True
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
