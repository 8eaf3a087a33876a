"""The gateway, spoken to directly."""

import time
import zlib
from typing import Any

import aiohttp
import pytest

from bot.sandbox import Intents, Sandbox
from bot.sandbox.gateway.connection import ACK_AFTER
from tests.sandbox.clients import PATIENCE, Home, Line, connected


async def test_a_heartbeat_is_answered_but_not_faster_than_over_a_network(line: Line) -> None:
    said = time.monotonic()
    await line.says(1, None)
    assert (await line.hears())["op"] == 11
    assert time.monotonic() - said >= ACK_AFTER


async def test_ready_names_where_to_resume(home: Home, sandbox: Sandbox, line: Line) -> None:
    await line.identifies(home, Intents.GUILDS, shard=[0, 1])
    ready = await line.hears("READY")
    assert ready["resume_gateway_url"] == sandbox.gateway_url
    assert ready["guilds"] == [{"id": str(home.guild.id), "unavailable": True}]
    guild = await line.hears("GUILD_CREATE")
    # Without the members intent a bot sees itself only.
    assert [each["user"]["username"] for each in guild["members"]] == ["Parley"]


async def test_events_are_numbered_without_a_gap(home: Home, line: Line) -> None:
    await line.identifies(home, Intents.GUILDS | Intents.GUILD_MESSAGES)
    await line.hears("GUILD_CREATE")
    await home.alice.says("a", in_=home.general)
    await home.alice.says("b", in_=home.general)
    assert [(await line.hears())["s"] for _ in range(2)] == [3, 4]


@pytest.mark.parametrize(
    ("op", "data", "code"),
    [
        (2, {"token": "wrong", "intents": 1}, 4004),
        (8, {"guild_id": "1"}, 4003),
        (3, {"status": "online"}, 4003),
        (42, None, 4001),
        ("what", None, 4002),
        (2, None, 4002),
    ],
)
async def test_misbehaviour_ends_the_connection(line: Line, op: Any, data: Any, code: int) -> None:
    await line.says(op, data)
    assert await line.closes() == code


@pytest.mark.parametrize(
    ("intents", "more", "code"),
    [
        (1 << 40, {}, 4013),
        ("all", {}, 4013),
        (1, {"shard": [1, 1]}, 4010),
        (1, {"shard": "first"}, 4010),
        (Intents.MESSAGE_CONTENT, {}, 4014),
    ],
)
async def test_an_identify_is_checked(
    home: Home, line: Line, intents: Any, more: dict[str, Any], code: int
) -> None:
    home.bot.privileged = Intents(0)
    await line.identifies(home, intents, **more)
    assert await line.closes() == code


async def test_identifying_twice_ends_the_connection(home: Home, line: Line) -> None:
    await line.identifies(home, 0)
    await line.hears("READY")
    await line.identifies(home, 0)
    assert await line.closes() == 4005


async def test_members_are_found_by_name_and_by_id(home: Home, line: Line) -> None:
    await line.identifies(home, Intents.GUILDS | Intents.GUILD_MEMBERS)
    request = {"guild_id": str(home.guild.id), "limit": 5, "nonce": "n"}
    await line.says(3, {"status": "idle", "activities": [], "since": None, "afk": False})
    await line.says(8, request | {"query": "al"})
    chunk = await line.hears("GUILD_MEMBERS_CHUNK")
    assert [each["user"]["username"] for each in chunk["members"]] == ["alice"]
    assert chunk["nonce"] == "n"
    await line.says(8, request | {"user_ids": [str(home.mod.id)]})
    chunk = await line.hears("GUILD_MEMBERS_CHUNK")
    assert [each["user"]["username"] for each in chunk["members"]] == ["mod"]
    await line.says(8, request | {"query": "nobody"})
    assert (await line.hears("GUILD_MEMBERS_CHUNK"))["members"] == []


async def test_all_members_need_the_members_intent(home: Home, line: Line) -> None:
    await line.identifies(home, Intents.GUILDS)
    await line.says(8, {"guild_id": "1", "query": "", "limit": 0})  # not a guild of its own
    await line.says(8, {"guild_id": str(home.guild.id), "query": "", "limit": 0})
    assert await line.closes() == 4014


async def test_a_guild_is_told_to_its_shard_only(home: Home, line: Line) -> None:
    count = 2
    other = 1 - (home.guild.id >> 22) % count
    await line.identifies(home, Intents.GUILDS, shard=[other, count])
    assert (await line.hears("READY"))["guilds"] == []


async def test_two_sessions_of_one_shard_both_hear_everything(home: Home, sandbox: Sandbox) -> None:
    async with connected(sandbox) as old, connected(sandbox) as new:
        for line in (old, new):
            await line.begins(home)
        await home.alice.says("hello", in_=home.general)
        heard = [await line.hears("MESSAGE_CREATE") for line in (old, new)]
    assert [each["content"] for each in heard] == ["hello", "hello"]


async def test_frames_are_compressed_when_asked_for(home: Home, sandbox: Sandbox) -> None:
    url = sandbox.gateway_url + "?v=10&encoding=json&compress=zlib-stream"
    async with aiohttp.ClientSession() as session, session.ws_connect(url) as socket:
        packed = await socket.receive_bytes(timeout=PATIENCE)
    assert packed.endswith(b"\x00\x00\xff\xff")
    assert b'"op": 10' in zlib.decompressobj().decompress(packed)
