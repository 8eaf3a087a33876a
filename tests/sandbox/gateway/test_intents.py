"""What a bot is shown depends on what it asked for and what its application may."""

import discord

from bot.sandbox import Overwrite, Sandbox
from tests.sandbox.clients import PATIENCE, Client, Home, Http, running


def without_content() -> discord.Intents:
    intents = discord.Intents.all()
    intents.message_content = False
    return intents


async def test_without_message_content_a_message_is_empty(home: Home, sandbox: Sandbox) -> None:
    client = Client(without_content())
    async with running(client, home.bot):
        heard = client.wait_for("message", timeout=PATIENCE)
        await home.alice.says("secret", in_=home.general, attachments=[("a.txt", b"a")])
        message = await heard
    assert (message.content, message.attachments, message.embeds) == ("", [], [])


async def test_what_mentions_the_bot_is_readable(home: Home, sandbox: Sandbox) -> None:
    client = Client(without_content())
    async with running(client, home.bot):
        heard = client.wait_for("message", timeout=PATIENCE)
        await home.alice.says(f"{home.bot.mention} hello", in_=home.general)
        assert (await heard).content.endswith("hello")


async def test_own_messages_and_dms_are_readable(home: Home, sandbox: Sandbox) -> None:
    client = Client(without_content())
    async with running(client, home.bot):
        heard = client.wait_for("message", timeout=PATIENCE)
        await home.alice.says("in private", in_=home.alice.dm(home.bot))
        message = await heard
        assert message.content == "in private"
        heard = client.wait_for("message", timeout=PATIENCE)
        await message.channel.send("mine")
        assert (await heard).content == "mine"


async def test_a_reply_to_the_bot_shows_its_own_message_and_not_others(
    home: Home, sandbox: Sandbox
) -> None:
    client = Client(without_content())
    async with running(client, home.bot):
        said = await home.alice.says("unread", in_=home.general)
        heard = client.wait_for("message", timeout=PATIENCE, check=lambda message: message.content)
        await home.mod.says(f"{home.bot.mention} see", in_=home.general, reply_to=said)
        reference = (await heard).reference
        assert reference is not None
        assert isinstance(reference.resolved, discord.Message)
        assert reference.resolved.content == ""


async def test_rest_hides_content_when_the_application_may_not_read_it(
    home: Home, http: Http
) -> None:
    said = await home.alice.says("secret", in_=home.general)
    path = f"/channels/{home.general.id}/messages/{said.id}"
    assert (await http("GET", path))[1]["content"] == "secret"
    home.bot.privileged &= ~home.bot.privileged
    assert (await http("GET", path))[1]["content"] == ""


async def test_without_the_intent_no_message_arrives(home: Home, sandbox: Sandbox) -> None:
    intents = discord.Intents.all()
    intents.guild_messages = intents.dm_messages = False
    client = Client(intents)
    async with running(client, home.bot):
        (session,) = sandbox.connections
        before = session.sequence
        await home.alice.says("hello", in_=home.general)
        await home.alice.says("hello", in_=home.alice.dm(home.bot))
        assert session.sequence == before


async def test_a_hidden_channel_is_silent(home: Home, sandbox: Sandbox) -> None:
    hidden = home.guild.channel(
        "hidden",
        overwrites={
            home.guild.everyone: Overwrite.of(deny={"VIEW_CHANNEL"}),
            home.mod: Overwrite.of(allow={"VIEW_CHANNEL"}),
        },
    )
    client = Client()
    async with running(client, home.bot):
        (session,) = sandbox.connections
        assert client.get_channel(hidden.id) is None
        before = session.sequence
        await home.mod.says("nobody hears", in_=hidden)
        assert session.sequence == before


async def test_a_bot_hears_of_its_own_roles_without_the_members_intent(
    home: Home, sandbox: Sandbox
) -> None:
    intents = discord.Intents.all()
    intents.members = False
    client = Client(intents)
    async with running(client, home.bot):
        told = client.wait_for("member_update", timeout=PATIENCE)
        home.guild.give(home.alice, home.guild.role("helper"))  # of which it hears nothing
        home.guild.grant(home.bot, "CREATE_EVENTS")
        _, after = await told
        assert after.id == home.bot.id
        assert after.guild_permissions.create_events
