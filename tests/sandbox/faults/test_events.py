"""Events that come twice, or late."""

from collections.abc import Callable

import discord

from bot.sandbox import Gate, Sandbox
from tests.sandbox.clients import PATIENCE, Client, Home, running


def says(content: str) -> Callable[[discord.Message], bool]:
    return lambda message: message.content == content


async def test_an_event_comes_twice(home: Home, sandbox: Sandbox) -> None:
    client = Client()
    async with running(client, home.bot):
        sandbox.faults.duplicates_next("MESSAGE_CREATE", to=home.bot)
        done = client.wait_for("message", check=says("b"), timeout=PATIENCE)
        await home.alice.says("a", in_=home.general)
        await home.alice.says("b", in_=home.general)
        await done
    assert [each.content for each in client.heard] == ["a", "a", "b"]
    assert client.heard[0].id == client.heard[1].id


async def test_an_event_comes_late(home: Home, sandbox: Sandbox) -> None:
    client, gate = Client(), Gate()
    async with running(client, home.bot):
        sandbox.faults.delays_next("MESSAGE_CREATE", until=gate)
        overtaken = client.wait_for("message", check=says("b"), timeout=PATIENCE)
        late = client.wait_for("message", check=says("a"), timeout=PATIENCE)
        await home.alice.says("a", in_=home.general)
        await home.alice.says("b", in_=home.general)
        await overtaken
        assert await gate.reached() == 1
        gate.release()
        await late
        sandbox.faults.delays_next("MESSAGE_CREATE", until=gate)
        passes = client.wait_for("message", check=says("c"), timeout=PATIENCE)
        await home.alice.says("c", in_=home.general)
        await passes
    assert [each.content for each in client.heard] == ["b", "a", "c"]
    assert gate.is_open
