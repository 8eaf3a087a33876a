"""The stage of every scenario."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import bot.providers.sdk  # noqa: F401 - slow: the first scenario is not to wait for it
from bot.agent.loop import endings
from bot.frontend import FrontendOptions
from bot.frontend.commands import card_buttons
from bot.frontend.commands.settings import desk
from bot.frontend.own import forgetting
from bot.sandbox import ManualClock, World, serve
from bot.sandbox.model import ScriptedModel, serve_model
from tests.clocks import Clock, movable
from tests.e2e.stage import PATIENCE, Stage, Tools


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a busy machine take longer than people, and Discord, would wait."""
    monkeypatch.setattr(card_buttons, "SOON", PATIENCE)
    monkeypatch.setattr(desk, "READ_WITHIN", PATIENCE)
    monkeypatch.setattr(forgetting, "SHOWN_WITHIN", PATIENCE)
    monkeypatch.setattr(endings, "CARRIED_OUT_WITHIN", PATIENCE)


@pytest.fixture
def clock() -> ManualClock:
    """Discord's clock: it goes on by itself, and a scenario can move it."""
    return ManualClock(running=True)


@pytest.fixture
def bots_clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The bot's own clock, which a scenario can move as well."""
    return movable(monkeypatch)


@pytest.fixture
async def stage(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Stage]:
    world, model = World(clock=clock, ack_timeout=PATIENCE), ScriptedModel()
    guild = world.guild("Home")
    general, desk = guild.channel("general"), guild.channel("desk")
    bot = world.bot("Parley")
    alice, bob, mod = world.person("alice"), world.person("bob"), world.person("mod")
    guild.join(bot, permissions={"CREATE_PUBLIC_THREADS", "SEND_MESSAGES_IN_THREADS"})
    guild.join(alice)
    guild.join(bob)
    guild.join(mod, permissions={"MANAGE_GUILD"})
    async with serve(world) as sandbox, serve_model(model) as service:
        options = FrontendOptions(
            api_base=sandbox.api_base,
            channel_ids=frozenset({desk.id}),
            drain_seconds=0.0,
            guilds_within=0.05,
        )
        yield Stage(
            world=world,
            sandbox=sandbox,
            model=model,
            service=service,
            database=tmp_path / "parley.db",
            guild=guild,
            general=general,
            desk=desk,
            bot=bot,
            alice=alice,
            bob=bob,
            mod=mod,
            tools=Tools(),
            options=options,
        )
    assert world.unknown_routes == []
