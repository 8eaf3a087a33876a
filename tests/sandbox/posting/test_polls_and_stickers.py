"""Polls and stickers, as people send them and as clients read them."""

from __future__ import annotations

import asyncio
from typing import Any

import discord
import pytest

from bot.sandbox import Sandbox
from tests.sandbox.clients import PATIENCE, Client, Home, Http, running


async def heard(home: Home, doing: Any) -> discord.Message:
    """Return the message that a real client hears of while something is done."""
    client = Client()
    async with running(client, home.bot):
        waiting = asyncio.create_task(client.wait_for("message", timeout=PATIENCE))
        await asyncio.sleep(0)
        await doing()
        return await waiting


async def test_a_poll_arrives_with_its_answers(home: Home, sandbox: Sandbox) -> None:
    message = await heard(home, lambda: home.alice.asks("Tea?", ["Yes", "No"], in_=home.general))
    assert message.poll is not None
    assert message.poll.question == "Tea?"
    assert [answer.text for answer in message.poll.answers] == ["Yes", "No"]
    assert message.poll.duration.total_seconds() == 24 * 3600


async def test_a_sticker_arrives_with_its_name(home: Home, sandbox: Sandbox) -> None:
    wave = home.guild.sticker("wave")
    message = await heard(
        home, lambda: home.alice.says("", in_=home.general, sticker_ids=[str(wave.id)])
    )
    assert [each.name for each in message.stickers] == ["wave"]
    assert message.guild is not None
    assert [each.name for each in message.guild.stickers] == ["wave"]


async def test_a_forward_carries_stickers(home: Home, sandbox: Sandbox) -> None:
    wave = home.guild.sticker("wave")
    said = await home.alice.says("hi", in_=home.general, sticker_ids=[str(wave.id)])
    message = await heard(home, lambda: home.alice.forwards(said, to=home.general))
    assert [each.name for each in message.message_snapshots[0].stickers] == ["wave"]


@pytest.mark.parametrize(
    "poll",
    [
        {},
        {"question": {"text": "Tea?"}},
        {"question": {"text": "Tea?"}, "answers": []},
        {"question": {"text": ""}, "answers": [{"poll_media": {"text": "Yes"}}]},
        {"question": {"text": "Tea?"}, "answers": [{"poll_media": {"text": "y" * 56}}]},
        {"question": {"text": "Tea?"}, "answers": [{"poll_media": {}}]},
        {"question": {"text": "Tea?"}, "answers": [{}]},
        {"question": {"text": "Tea?"}, "answers": [{"poll_media": {"text": "Yes"}}] * 11},
        {"question": {"text": "Tea?"}, "answers": [{"poll_media": {"text": "Y"}}], "duration": 769},
    ],
)
async def test_a_poll_that_is_none_is_refused(home: Home, http: Http, poll: Any) -> None:
    status, answer = await http("POST", f"/channels/{home.general.id}/messages", {"poll": poll})
    assert (status, answer["code"]) == (400, 50035)


async def test_an_answer_may_be_an_emoji(home: Home) -> None:
    poll = {
        "question": {"text": "Tea?"},
        "answers": [{"poll_media": {"emoji": {"name": "🍵"}}}],
        "duration": 1,
        "allow_multiselect": True,
    }
    said = await home.alice.says("", in_=home.general, poll=poll)
    assert said.poll is not None
    assert said.poll.answers == [{"emoji": {"name": "🍵"}}]


async def test_who_may_ask(home: Home) -> None:
    home.guild.permits(home.alice, in_=home.general, deny={"SEND_POLLS"})
    with pytest.raises(PermissionError):
        await home.alice.asks("Tea?", ["Yes"], in_=home.general)
    said = await home.alice.asks("Tea?", ["Yes"], in_=home.alice.dm(home.bot))
    assert said.poll is not None


async def test_a_poll_is_not_forwarded(home: Home) -> None:
    said = await home.alice.asks("Tea?", ["Yes"], in_=home.general)
    with pytest.raises(ValueError, match="50035"):
        await home.alice.forwards(said, to=home.general)


async def test_stickers_of_elsewhere_are_refused(home: Home) -> None:
    elsewhere = home.world.guild("Elsewhere", owner=home.alice)
    theirs = elsewhere.sticker("theirs")
    for place in (home.general, home.alice.dm(home.bot)):
        with pytest.raises(ValueError, match="50081"):
            await home.alice.says("", in_=place, sticker_ids=[str(theirs.id)])


async def test_without_message_content_a_poll_is_hidden(home: Home, http: Http) -> None:
    said = await home.alice.asks("Tea?", ["Yes"], in_=home.general)
    _, shown = await http("GET", f"/channels/{home.general.id}/messages/{said.id}")
    assert shown["poll"]["question"] == {"text": "Tea?"}
    home.bot.privileged &= 0
    _, shown = await http("GET", f"/channels/{home.general.id}/messages/{said.id}")
    assert "poll" not in shown
