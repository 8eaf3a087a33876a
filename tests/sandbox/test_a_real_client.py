import discord

from bot.sandbox import Sandbox
from tests.sandbox.clients import Client, Home, running


async def test_it_logs_in_and_sees_the_guild(home: Home, sandbox: Sandbox) -> None:
    client = Client()
    async with running(client, home.bot):
        session = await sandbox.connected(home.bot)
        assert session.bot is home.bot
        guild = client.get_guild(home.guild.id)
        assert guild is not None
        assert [channel.name for channel in guild.text_channels] == ["general"]
        assert {member.name for member in guild.members} >= {"alice", "mod", "Parley"}
    assert home.world.unknown_routes == []
    await sandbox.disconnected(home.bot)
    assert sandbox.connections == []


async def test_it_gets_a_message_and_replies(home: Home, sandbox: Sandbox) -> None:
    client = Client()

    async def answer(message: discord.Message) -> None:
        await message.reply(f"you said {message.content}")

    client.answer = answer
    async with running(client, home.bot):
        said = await home.alice.says("hello", in_=home.general)
        reply = await home.general.next_message_from(home.bot)
    assert reply.content == "you said hello"
    assert reply.reference is not None
    assert reply.reference.target is said
    assert [ping.who for ping in home.world.pings] == [home.alice]
