"""Sending, where Discord refuses; in SimCord, which can be told to."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import discord
import pytest
import simcord

from bot.frontend.ids import source_id_of
from bot.frontend.refusals import MessageGoneError, RefusedError, UnavailableError
from bot.frontend.showing.outbox import Outbox, nonce_of
from bot.frontend.view.shown import Button, File, Key, Purpose, Shown

SEND, EDIT = ("POST", "/channels/*/messages"), ("PATCH", "/channels/*/messages/*")
KEY = Key("turn-1", "m0", Purpose.ANSWER)


class Room:
    """A channel of SimCord's, with an outbox that writes to it."""

    def __init__(self, env: simcord.Env, client: discord.Client) -> None:
        self.env = env
        self.channel = env.create_guild().create_text_channel("general")
        self.outbox = Outbox(client)

    @property
    def said(self) -> list[str]:
        return [message.content for message in self.channel.history()]

    async def send(self, shown: Shown) -> int:
        return await self.outbox.send(self.channel.id, shown, nonce="1")


@asynccontextmanager
async def a_room() -> AsyncIterator[Room]:
    client = discord.AutoShardedClient(intents=discord.Intents.default())
    async with simcord.run(client, shard_count=1) as env:
        yield Room(env, client)


def shown(content: str, **more: object) -> Shown:
    return Shown(key=KEY, content=content, **more)  # type: ignore[arg-type]


async def test_a_file_that_is_too_large_becomes_a_note() -> None:
    async with a_room() as room:
        room.env.inject_error(*SEND, status=413, code=40005)
        await room.send(shown("See the file.", files=(File("a.json", "{}"),)))
        assert room.said == ["See the file.\n(Too large for Discord: a.json.)"]


async def test_what_is_blocked_is_told() -> None:
    async with a_room() as room:
        room.env.inject_error(*SEND, status=400, code=200000)
        sent = await room.send(shown("A bad word."))
        assert room.said == ["Discord did not let me say this: the server's AutoMod blocked it."]
        room.env.inject_error(*EDIT, status=400, code=240000)
        await room.outbox.edit(room.channel.id, sent, shown("A bad link."))
        assert "a link that Discord blocks" in room.said[0]


async def test_a_reply_that_may_not_be_one_is_sent_all_the_same() -> None:
    async with a_room() as room:
        first = await room.send(shown("One."))
        room.env.inject_error(*SEND, status=400, code=160002)
        await room.outbox.send(
            room.channel.id, shown("Two.", reply_to=source_id_of(first)), nonce="2"
        )
        assert room.said == ["One.", "Two."]


async def test_a_refusal_is_an_error_of_ours() -> None:
    async with a_room() as room:
        room.env.inject_error(*SEND, status=403, code=50013)
        with pytest.raises(RefusedError, match="missing a permission"):
            await room.send(shown("One."))


async def test_a_failure_of_discord_is_unavailable() -> None:
    async with a_room() as room:
        room.env.inject_error(*SEND, status=503)
        with pytest.raises(UnavailableError):
            await room.send(shown("One."))


async def test_a_deleted_message_is_gone_for_an_edit_and_fine_for_a_deletion() -> None:
    async with a_room() as room:
        sent = await room.send(shown("One."))
        await room.outbox.delete(room.channel.id, sent)
        await room.outbox.delete(room.channel.id, sent)
        with pytest.raises(MessageGoneError):
            await room.outbox.edit(room.channel.id, sent, shown("Two."))


async def test_a_message_is_found_by_its_button_before_its_text() -> None:
    async with a_room() as room:
        same = await room.send(shown("Same."))
        marked = await room.outbox.send(
            room.channel.id,
            shown("Other.", buttons=(Button("Stop", "stop:turn-1:m0:0"),)),
            nonce="2",
        )
        assert await room.outbox.find(room.channel.id, shown("Same.")) == [marked, same]


async def test_a_place_that_cannot_be_read_refuses_to_look() -> None:
    async with a_room() as room:
        room.env.inject_error("GET", "/channels/*/messages", status=403, code=50001)
        with pytest.raises(RefusedError):
            await room.outbox.find(room.channel.id, shown("Same."))


def test_a_nonce_is_the_messages_own_and_short_enough() -> None:
    nonces = {
        nonce_of("dm-1", KEY, None),
        nonce_of("dm-2", KEY, None),
        nonce_of("dm-1", KEY, 7),
        nonce_of("dm-1", Key("turn-1", "m1", Purpose.ANSWER), None),
    }
    assert len(nonces) == 4
    assert all(len(nonce) <= 25 for nonce in nonces)
