"""What a bot may no longer do."""

import discord
import pytest

from bot.sandbox import Sandbox
from tests.sandbox.clients import PATIENCE, Client, Home, Http, running


async def test_a_permission_is_lost_and_regained(home: Home, sandbox: Sandbox) -> None:
    client = Client()
    async with running(client, home.bot):
        place = client.get_partial_messageable(home.general.id)
        channel = client.get_channel(home.general.id)
        assert isinstance(channel, discord.TextChannel)
        told = client.wait_for("guild_channel_update", timeout=PATIENCE)
        home.world.loses_permission(home.bot, "SEND_MESSAGES", in_=home.general)
        await told
        assert not channel.permissions_for(channel.guild.me).send_messages
        with pytest.raises(discord.Forbidden) as caught:
            await place.send("hi")
        assert caught.value.code == 50013
        home.world.regains_permission(home.bot, "SEND_MESSAGES", in_=home.general)
        await place.send("hi again")
    assert home.general.overwrites == {}


async def test_a_thread_asks_its_channel(home: Home, http: Http) -> None:
    thread = await home.alice.opens_thread("t", in_=home.general)
    home.world.loses_permission(home.bot, "SEND_MESSAGES_IN_THREADS", in_=thread)
    path = f"/channels/{thread.id}/messages"
    assert (await http.whole("POST", path, {"content": "hi"})).json["code"] == 50013


async def test_an_owner_loses_nothing(home: Home) -> None:
    with pytest.raises(ValueError, match="cannot lose SEND_MESSAGES"):
        home.world.loses_permission(home.guild.owner, "SEND_MESSAGES", in_=home.general)


@pytest.mark.parametrize(("archived", "code"), [(False, 160005), (True, 50083)])
async def test_a_locked_thread_is_closed_to_the_bot(
    home: Home, http: Http, archived: bool, code: int
) -> None:
    thread = await home.alice.opens_thread("t", in_=home.general)
    path = f"/channels/{thread.id}/messages"
    thread.lock(archived=archived)
    assert (await http.whole("POST", path, {"content": "hi"})).json["code"] == code
    thread.unlock()
    assert (await http.whole("POST", path, {"content": "hi"})).status == 200
