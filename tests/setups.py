"""A Discord on loopback, a scripted model, and settings that fit both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from bot.sandbox import Bot, Channel, Message, Person, Sandbox, World, serve
from bot.sandbox.model import ScriptedModel, serve_model

PATIENCE = 60.0
"""Seconds that a process has for anything: on a busy machine it takes long to start."""


def labels(message: Message) -> list[str]:
    """Return what the buttons of a message say."""
    return [str(button.get("label")) for button in message.buttons]


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What a bot that runs as a process finds around it.

    Attributes:
        desk: A channel where the bot answers everything.
    """

    world: World
    sandbox: Sandbox
    model: ScriptedModel
    bot: Bot
    alice: Person
    desk: Channel
    settings: dict[str, str]

    async def said(self, text: str) -> Message:
        """Return the bot's message with this text at the desk, once it is complete."""

        def found(messages: list[Message]) -> list[Message]:
            return [each for each in messages if each.author is self.bot and text in each.content]

        message = found(await self.desk.until(lambda each: bool(found(each)), PATIENCE))[0]
        return await message.until(lambda each: "Stop" not in labels(each), PATIENCE)


@asynccontextmanager
async def set_up(world: World | None = None, *, servers: int = 1) -> AsyncIterator[Setup]:
    """Serve a world, by default one with a bot of its own, and a model."""
    world = world or World(ack_timeout=PATIENCE)
    bot = world.bots[0] if world.bots else world.bot("Parley")
    home, alice = world.guild("Home"), world.person("alice")
    home.join(alice)
    desk = home.channel("desk")
    if servers:
        home.join(bot)
    model = ScriptedModel()
    async with AsyncExitStack() as stack:
        sandbox = await stack.enter_async_context(serve(world))
        service = await stack.enter_async_context(serve_model(model))
        settings = {
            "DISCORD_TOKEN": bot.token,
            "DISCORD_API_BASE": sandbox.api_base,
            "OPENAI_BASE_URL": service.base_url,
            "OPENAI_MODEL": "scripted",
            "CHANNELS": str(desk.id),
        }
        yield Setup(
            world=world,
            sandbox=sandbox,
            model=model,
            bot=bot,
            alice=alice,
            desk=desk,
            settings=settings,
        )
