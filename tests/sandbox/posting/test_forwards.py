"""Forwarding: an empty message with a snapshot of what was said elsewhere."""

import asyncio

import discord
import pytest

from bot.sandbox import Sandbox
from tests.sandbox.clients import PATIENCE, Client, Home, Http, running


async def test_a_forward_carries_what_was_said(home: Home, sandbox: Sandbox) -> None:
    other = home.guild.channel("other")
    said = await home.alice.says("the plan", in_=other, attachments=[("plan.txt", b"1. go")])
    client = Client()
    async with running(client, home.bot):
        waiting = asyncio.create_task(client.wait_for("message", timeout=PATIENCE))
        await asyncio.sleep(0)
        forwarded = await home.mod.forwards(said, to=home.general)
        await home.alice.edits(said, "another plan")
        heard = await waiting
        assert heard.content == ""
        (snapshot,) = heard.message_snapshots
        assert (snapshot.content, snapshot.attachments[0].filename) == ("the plan", "plan.txt")
        assert heard.reference is not None
        assert heard.reference.type is discord.MessageReferenceType.forward
        assert heard.reference.channel_id == other.id
    assert forwarded.content == ""
    assert home.world.pings == []


async def test_a_bot_can_forward(home: Home, sandbox: Sandbox) -> None:
    said = await home.alice.says("the plan", in_=home.general)
    client = Client()
    async with running(client, home.bot):
        channel = client.get_channel(home.general.id)
        assert isinstance(channel, discord.TextChannel)
        sent = await (await channel.fetch_message(said.id)).forward(channel)
        assert sent.message_snapshots[0].content == "the plan"


async def test_what_cannot_be_forwarded(home: Home, http: Http) -> None:
    said = await home.alice.says("mine", in_=home.alice.dm(home.bot))
    with pytest.raises(PermissionError):
        await home.mod.forwards(said, to=home.general)
    await home.alice.deletes(said)
    with pytest.raises(ValueError, match="10008"):
        await home.alice.forwards(said, to=home.general)
    await home.alice.opens_thread("story", in_=home.general)
    with pytest.raises(ValueError, match="50021"):
        await home.alice.forwards(home.general.history[-1], to=home.general)
    said.place.world.places.pop(said.place.id)
    with pytest.raises(ValueError, match="10003"):
        await home.alice.forwards(said, to=home.general)


async def test_a_forward_carries_nothing_else(home: Home, http: Http) -> None:
    said = await home.alice.says("the plan", in_=home.general)
    reference = {"type": 1, "message_id": str(said.id), "channel_id": str(home.general.id)}
    body = {"content": "look", "message_reference": reference}
    status, answer = await http("POST", f"/channels/{home.general.id}/messages", body)
    assert (status, answer["code"]) == (400, 50035)
